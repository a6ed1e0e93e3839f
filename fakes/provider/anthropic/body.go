package anthropic

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// Body is a message, or an error's body. Arguments that are no JSON object, which a body in one piece cannot hold, are
// an empty input.
func (a *answer) Body(status int, said []script.Step) []byte {
	if status >= 400 {
		request := a.request()
		if status == http.StatusUnauthorized {
			request = ""
		}
		return appendError(nil, a.problem(status), request)
	}
	var content content
	var finish *script.Finish
	for _, step := range said {
		switch s := step.(type) {
		case script.Text:
			content.add(text, s.Chunks)
			a.output += len(s.Chunks)
		case script.Think:
			content.add(thinking, s.Chunks)
			a.output += len(s.Chunks)
		case script.Refusal:
			a.refused = true
			a.refusal += strings.Join(s.Chunks, "")
			content.add(text, s.Chunks)
			a.output += len(s.Chunks)
		case script.Tool:
			a.output += len(s.Args)
			a.forget(s.Index)
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
			finish = &s
		case script.Error:
			return appendError(nil, s, a.request())
		}
	}
	b := []byte(`{"id":"msg_01` + a.id + `","type":"message","role":"assistant","model":`)
	b = provider.AppendString(b, a.model)
	b = append(b, `,"content":[`...)
	for i, p := range content {
		if i > 0 {
			b = append(b, ',')
		}
		b = a.block(b, p)
	}
	b = append(b, "],"...)
	b = a.stop(b, finish)
	b = append(b, `,"usage":{`...)
	b = a.inputTokens(b)
	b = append(b, `,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":`...)
	b = strconv.AppendInt(b, int64(a.outputTokens()), 10)
	b = a.thinkingTokens(b)
	return append(b, `,"service_tier":"standard","inference_geo":"global"}}`...)
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
		b = append(b, `{"type":"text","text":`...)
		return append(provider.AppendString(b, p.value), '}')
	case thinking:
		shown := p.value
		if a.omitted {
			shown = ""
		}
		b = append(b, `{"type":"thinking","thinking":`...)
		b = provider.AppendString(b, shown)
		return append(b, `,"signature":"`+a.signature()+`"}`...)
	}
	b = append(b, `{"type":"tool_use"`...)
	b = appendField(b, "id", p.id)
	b = appendField(b, "name", p.name)
	b = append(b, `,"input":`...)
	if strings.HasPrefix(strings.TrimSpace(p.value), "{") && json.Valid([]byte(p.value)) {
		b = append(b, p.value...)
	} else {
		b = append(b, "{}"...)
	}
	return append(b, `,"caller":{"type":"direct"}}`...)
}
