package bedrock

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// Body is a Converse answer, or an error's body. Arguments that are no JSON object, which a body in one piece cannot
// hold, are an empty input.
func (a *answer) Body(status int, said []script.Step) []byte {
	if status >= 400 {
		_, message := a.problem(status)
		return appendMessage(nil, message)
	}
	var content content
	finish := script.Finish{}
	for _, step := range said {
		switch s := step.(type) {
		case script.Text:
			content.add(text, s.Chunks)
			a.output += len(s.Chunks)
		case script.Refusal:
			content.add(text, s.Chunks)
			a.output += len(s.Chunks)
		case script.Think:
			content.add(thinking, s.Chunks)
			a.output += len(s.Chunks)
		case script.Tool:
			a.output += len(s.Args)
			if t := a.find(s.Index); t != nil {
				t.number = -1
			}
			t := a.place(s.Index, len(content))
			t.opened, t.id, t.name = true, s.ID, s.Name
			content = append(content, piece{kind: toolUse, id: script.Is(s.ID), name: script.Is(s.Name), value: strings.Join(s.Args, "")})
		case script.ToolChunk:
			for _, p := range s.Parts {
				if p.Args.Set {
					a.output++
				}
				content.part(a, p)
			}
		case script.Usage:
			a.usage, a.reported = s, true
		case script.Finish:
			finish = s
		case script.Error:
			return appendMessage(nil, s.Message)
		}
	}
	b := []byte(`{"output":{"message":{"role":"assistant","content":[`)
	for i, p := range content {
		if i > 0 {
			b = append(b, ',')
		}
		b = a.block(b, p)
	}
	b = append(b, `]}},"stopReason":`...)
	b = append(appendReason(b, finish), ',')
	return append(a.totals(b), '}')
}

// content is the blocks of a message in one piece.
type content []piece

type piece struct {
	kind, value string
	id, name    script.Value
}

func (c *content) add(kind string, chunks []string) {
	if n := len(*c); n == 0 || (*c)[n-1].kind != kind {
		*c = append(*c, piece{kind: kind})
	}
	(*c)[len(*c)-1].value += strings.Join(chunks, "")
}

// part adds a part of a call. A call is at the place in content where it was first spoken of.
func (c *content) part(a *answer, p script.ToolPart) {
	known := len(a.tools)
	at := a.where(p)
	if len(a.tools) > known {
		at.index = len(*c)
		*c = append(*c, piece{kind: toolUse})
	}
	to := &(*c)[at.index]
	if !at.opened && (p.ID.Set || p.Name.Set) {
		at.opened, at.id, at.name = true, p.ID.Text, p.Name.Text
		to.id, to.name = p.ID, p.Name
	}
	to.value += p.Args.Text
}

func (a *answer) block(b []byte, p piece) []byte {
	switch p.kind {
	case text:
		b = append(b, `{"text":`...)
		return append(provider.AppendString(b, p.value), '}')
	case thinking:
		b = append(b, `{"reasoningContent":{"reasoningText":{"text":`...)
		b = provider.AppendString(b, p.value)
		return append(b, `,"signature":"`+a.signature()+`"}}}`...)
	}
	b = append(b, `{"toolUse":{`...)
	first := len(b)
	b = appendField(b, first, "toolUseId", p.id)
	b = appendField(b, first, "name", p.name)
	if len(b) > first {
		b = append(b, ',')
	}
	b = append(b, `"input":`...)
	if strings.HasPrefix(strings.TrimSpace(p.value), "{") && json.Valid([]byte(p.value)) {
		b = append(b, p.value...)
	} else {
		b = append(b, "{}"...)
	}
	return append(b, "}}"...)
}

// signature stands for the sealed reasoning, which a client only hands back.
func (a *answer) signature() string {
	return base64.StdEncoding.EncodeToString([]byte("reasoning of " + a.uuid()))
}

// totals appends the members usage and metrics. The API does not count what it read from its cache as input.
func (a *answer) totals(b []byte) []byte {
	u := a.usage
	if !a.reported {
		u = script.Usage{Prompt: a.input, Completion: max(1, a.output)}
	}
	b = append(b, `"usage":{"inputTokens":`...)
	b = strconv.AppendInt(b, int64(max(0, u.Prompt-u.Cached)), 10)
	b = append(b, `,"outputTokens":`...)
	b = strconv.AppendInt(b, int64(u.Completion), 10)
	b = append(b, `,"totalTokens":`...)
	b = strconv.AppendInt(b, int64(u.Prompt+u.Completion), 10)
	if u.Cached > 0 {
		b = append(b, `,"cacheReadInputTokens":`...)
		b = strconv.AppendInt(b, int64(u.Cached), 10)
		b = append(b, `,"cacheWriteInputTokens":0`...)
	}
	b = append(b, `},"metrics":{"latencyMs":`...)
	b = strconv.AppendInt(b, time.Since(a.began).Milliseconds(), 10)
	return append(b, '}')
}

// appendReason appends why the model stopped, null for nothing.
func appendReason(b []byte, f script.Finish) []byte {
	reason := f.Reason
	switch reason {
	case "":
		if !f.Empty {
			return append(b, "null"...)
		}
	case "stop":
		reason = "end_turn"
	case "length":
		reason = "max_tokens"
	case "tool_calls":
		reason = "tool_use"
	case "content_filter", "refusal":
		reason = "content_filtered"
	}
	return provider.AppendString(b, reason)
}

func appendMessage(b []byte, message string) []byte {
	b = append(b, `{"message":`...)
	return append(provider.AppendString(b, message), '}')
}

// problem is what the API says with a status.
func (a *answer) problem(status int) (kind, message string) {
	switch status {
	case http.StatusUnauthorized:
		return "UnrecognizedClientException", "The security token included in the request is invalid."
	case http.StatusForbidden:
		return "AccessDeniedException", "You don't have access to the model with the specified model ID."
	case http.StatusNotFound:
		return "ResourceNotFoundException", "Could not find the model " + a.model
	case http.StatusRequestTimeout:
		return "ModelTimeoutException", "The model took too long."
	case http.StatusFailedDependency:
		return "ModelErrorException", "The model failed."
	case http.StatusTooManyRequests:
		return "ThrottlingException", "Too many requests, please wait before trying again."
	case http.StatusServiceUnavailable:
		return "ServiceUnavailableException", "The service is not available for now."
	}
	if status < 500 {
		return "ValidationException", "The request is not valid."
	}
	return "InternalServerException", "The service failed."
}
