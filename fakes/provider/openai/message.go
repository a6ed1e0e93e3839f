package openai

import (
	"strings"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// maxMessage bounds what a stream keeps of its own message, which a flood would make large. What is above it is missing
// in a Message step.
const maxMessage = 1 << 20

// message is what an answer has said.
type message struct {
	limit                     int // bytes, 0 is without limit
	size                      int
	content, thought, refusal []byte
	spoke, refused            bool
	calls                     []call
}

type call struct {
	key      string // the index, as a part of the call writes it
	id, name string
	args     []byte
}

func (m *message) add(to *[]byte, text string) {
	if m.size += len(text); m.limit == 0 || m.size <= m.limit {
		*to = append(*to, text...)
	}
}

func (m *message) text(text string)   { m.spoke = true; m.add(&m.content, text) }
func (m *message) think(text string)  { m.add(&m.thought, text) }
func (m *message) refuse(text string) { m.refused = true; m.add(&m.refusal, text) }

func (m *message) tool(s script.Tool, n int) {
	if n == 0 {
		m.calls = append(m.calls, call{id: s.ID, name: s.Name})
		return
	}
	m.add(&m.calls[len(m.calls)-1].args, s.Args[n-1])
}

// parts takes parts of calls as a tolerant client does: by index, and without one a part with an id begins a call.
func (m *message) parts(s script.ToolChunk) {
	for _, p := range s.Parts {
		at := len(m.calls) - 1
		if p.Index.Text != "" {
			for at >= 0 && m.calls[at].key != p.Index.Text {
				at--
			}
		} else if p.ID.Text != "" {
			at = -1
		}
		if at < 0 {
			at = len(m.calls)
			m.calls = append(m.calls, call{key: p.Index.Text})
		}
		c := &m.calls[at]
		if c.id == "" {
			c.id = p.ID.Text
		}
		if c.name == "" {
			c.name = p.Name.Text
		}
		m.add(&c.args, p.Args.Text)
	}
}

// said is the message of the steps of an answer in one piece.
func said(steps []script.Step) message {
	var m message
	for _, step := range steps {
		switch s := step.(type) {
		case script.Text:
			m.text(strings.Join(s.Chunks, ""))
		case script.Think:
			m.think(strings.Join(s.Chunks, ""))
		case script.Refusal:
			m.refuse(strings.Join(s.Chunks, ""))
		case script.Tool:
			m.calls = append(m.calls, call{id: s.ID, name: s.Name, args: []byte(strings.Join(s.Args, ""))})
		case script.ToolChunk:
			m.parts(s)
		}
	}
	return m
}

// appendMessage appends a message object.
func (a *answer) appendMessage(b []byte, m message) []byte {
	if m.refused && !a.refusal {
		m.content, m.spoke, m.refused = append(m.content, m.refusal...), true, false
	}
	b = append(b, `{"role":"assistant","content":`...)
	switch {
	case a.flavour == Mistral && len(m.thought) > 0:
		b = append(b, '[')
		b = appendThinking(b, string(m.thought))
		b = append(b, `,{"type":"text","text":`...)
		b = provider.AppendString(b, string(m.content))
		b = append(b, "}]"...)
	case m.spoke || len(m.calls) == 0 && !m.refused:
		b = provider.AppendString(b, string(m.content))
	default:
		b = append(b, "null"...)
	}
	switch {
	case m.refused:
		b = append(b, `,"refusal":`...)
		b = provider.AppendString(b, string(m.refusal))
	case a.refusal:
		b = append(b, `,"refusal":null`...)
	}
	if a.flavour.own() || a.flavour == Azure {
		b = append(b, `,"annotations":[]`...)
	}
	if len(m.thought) > 0 && a.flavour != Mistral {
		b = append(b, ',')
		b = a.appendReasoning(b, string(m.thought))
	}
	for i, c := range m.calls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = provider.AppendString(b, c.id)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = provider.AppendString(b, c.name)
		b = append(b, `,"arguments":`...)
		b = provider.AppendString(b, string(c.args))
		b = append(b, "}}"...)
	}
	if len(m.calls) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

// whole is the message so far in a chunk without a delta, as some gateways end a stream.
func (a *answer) whole(b []byte) []byte {
	b = a.chunk(b)
	b = append(b, `"choices":[{"index":0,"message":`...)
	b = a.appendMessage(b, a.message)
	return a.end(b, a.reason)
}
