// Package openai renders the Chat Completions wire format of OpenAI, from its public documentation.
package openai

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// Dialect is Chat Completions: POST …/chat/completions and GET …/models. The zero value works.
type Dialect struct {
	Reasoning string   // the field of a delta that carries reasoning; reasoning_content when empty
	Models    []string // what GET …/models lists; gpt-x when empty
}

// Name is openai.
func (Dialect) Name() string { return "openai" }

// Recognise reads a request by its path and JSON body.
func (d Dialect) Recognise(r *http.Request, body []byte) (provider.Request, provider.Answer) {
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		return provider.Request{Fixed: d.models()}, nil
	case r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions"):
		return provider.Request{}, nil
	}
	var in struct {
		Model         string `json:"model"`
		Stream        bool   `json:"stream"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if json.Unmarshal(body, &in) != nil {
		return provider.Request{}, nil
	}
	req := provider.Request{Model: in.Model, Stream: in.Stream}
	if n, err := strconv.Atoi(r.Header.Get("X-Stainless-Retry-Count")); err == nil && n >= 0 {
		req.Attempt = n + 1
	}
	sum := fnv.New64a() // ids follow from the request, so that a replay has the same
	sum.Write(body)
	reasoning := d.Reasoning
	if reasoning == "" {
		reasoning = "reasoning_content"
	}
	return req, &answer{
		reasoning: reasoning, model: in.Model, usage: in.StreamOptions.IncludeUsage,
		id: strconv.FormatUint(sum.Sum64()|1<<63, 16), created: time.Now().Unix(),
	}
}

func (d Dialect) models() []byte {
	list := d.Models
	if len(list) == 0 {
		list = []string{"gpt-x"}
	}
	b := []byte(`{"object":"list","data":[`)
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = appendString(b, m)
		b = append(b, `,"object":"model","created":1700000000,"owned_by":"stallwright"}`...)
	}
	return append(b, "]}"...)
}

// answer renders one answer.
type answer struct {
	reasoning, model, id string
	created              int64
	usage                bool // the request asked for a usage chunk
	opened               bool // the role was sent
}

// Header sets the headers that the API documents.
func (a *answer) Header(h http.Header, status int, stream bool) {
	h.Set("Content-Type", "application/json")
	if stream {
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("X-Request-Id", "req_"+a.id+a.id)
	h.Set("Openai-Processing-Ms", "12")
	h.Set("Openai-Version", "2020-10-01")
	h.Set("X-Ratelimit-Limit-Requests", "10000")
	h.Set("X-Ratelimit-Remaining-Requests", "9999")
	h.Set("X-Ratelimit-Reset-Requests", "6ms")
	h.Set("X-Ratelimit-Limit-Tokens", "2000000")
	h.Set("X-Ratelimit-Remaining-Tokens", "1999990")
	h.Set("X-Ratelimit-Reset-Tokens", "1s")
}

// Append appends one server-sent event.
func (a *answer) Append(b []byte, step script.Step, n int) []byte {
	switch s := step.(type) {
	case script.Role:
		a.opened = true
		b = a.delta(b)
		b = append(b, `{"role":"assistant","content":"","refusal":null}`...)
		return a.end(b, "")
	case script.Text:
		b = a.delta(b)
		b = append(b, `{"content":`...)
		b = appendString(b, s.Chunks[n])
		return a.end(append(b, '}'), "")
	case script.Think:
		b = a.delta(b)
		b = append(b, '{')
		b = appendString(b, a.reasoning)
		b = append(b, ':')
		b = appendString(b, s.Chunks[n])
		return a.end(append(b, '}'), "")
	case script.Tool:
		b = a.delta(b)
		b = append(b, '{')
		if n == 0 && !a.opened { // of a single call the opening chunk carries the head
			b = append(b, `"role":"assistant","content":null,"refusal":null,`...)
			a.opened = true
		}
		b = append(b, `"tool_calls":[{"index":`...)
		b = strconv.AppendInt(b, int64(s.Index), 10)
		if n == 0 {
			b = append(b, `,"id":`...)
			b = appendString(b, s.ID)
			b = append(b, `,"type":"function","function":{"name":`...)
			b = appendString(b, s.Name)
			b = append(b, `,"arguments":""}}]}`...)
		} else {
			b = append(b, `,"function":{"arguments":`...)
			b = appendString(b, s.Args[n-1])
			b = append(b, `}}]}`...)
		}
		return a.end(b, "")
	case script.Empty:
		return a.end(append(a.delta(b), "{}"...), "")
	case script.Finish:
		return a.end(append(a.delta(b), "{}"...), s.Reason)
	case script.Usage:
		if !a.usage {
			return b
		}
		b = a.chunk(b)
		b = append(b, `"choices":[],"usage":`...)
		return append(appendUsage(b, s), "}\n\n"...)
	case script.Done:
		return append(b, "data: [DONE]\n\n"...)
	case script.Error:
		b = append(b, "data: "...)
		return append(appendError(b, s), "\n\n"...)
	case script.Comment:
		b = append(b, ": "...)
		b = append(b, strings.ReplaceAll(s.Text, "\n", "\n: ")...)
		return append(b, "\n\n"...)
	}
	return b
}

// chunk appends what every chunk begins with.
func (a *answer) chunk(b []byte) []byte {
	b = append(b, `data: {"id":"chatcmpl-`...)
	b = append(b, a.id...)
	b = append(b, `","object":"chat.completion.chunk"`...)
	b = a.common(b)
	return append(b, ',')
}

func (a *answer) common(b []byte) []byte {
	b = append(b, `,"created":`...)
	b = strconv.AppendInt(b, a.created, 10)
	b = append(b, `,"model":`...)
	b = appendString(b, a.model)
	return append(b, `,"service_tier":"default","system_fingerprint":"fp_stallwright"`...)
}

// delta appends a chunk up to its delta.
func (a *answer) delta(b []byte) []byte {
	return append(a.chunk(b), `"choices":[{"index":0,"delta":`...)
}

// end appends what follows a delta. An empty reason is none: a chunk that finishes with "" is left to Raw.
func (a *answer) end(b []byte, reason string) []byte {
	b = append(b, `,"logprobs":null,"finish_reason":`...)
	if reason == "" {
		b = append(b, "null"...)
	} else {
		b = appendString(b, reason)
	}
	b = append(b, "}]"...)
	if a.usage {
		b = append(b, `,"usage":null`...)
	}
	return append(b, "}\n\n"...)
}

func appendUsage(b []byte, u script.Usage) []byte {
	b = append(b, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Prompt), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Completion), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Prompt+u.Completion), 10)
	return append(b, `,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":`+
		`{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`...)
}

func appendError(b []byte, e script.Error) []byte {
	if e.Type == "" {
		e.Type = "server_error"
	}
	b = append(b, `{"error":{"message":`...)
	b = appendString(b, e.Message)
	b = append(b, `,"type":`...)
	b = appendString(b, e.Type)
	b = append(b, `,"param":null,"code":`...)
	if e.Code == "" {
		b = append(b, "null"...)
	} else {
		b = appendString(b, e.Code)
	}
	return append(b, "}}"...)
}
