package responses

import (
	"encoding/json"

	"github.com/stallwright/stallwright/fakes/script"
)

// maxKept bounds what an answer keeps of its own output, which a flood would make large. What is above it is missing in
// the events that end an item and the answer.
const maxKept = 1 << 20

// item is an output item: a message, reasoning, or a function call.
type item struct {
	kind   string // its type on the wire
	prefix string // of its id
	id     string
	index  int
	closed string // its status, when it is closed

	texts []part // of a message and of reasoning; the last is open

	key          string // a call's index, as its parts write it
	callID, name json.RawMessage
	args         []byte
}

type part struct {
	kind string // its type on the wire
	text []byte
}

func (it *item) status() string {
	if it.closed == "" {
		return "in_progress"
	}
	return it.closed
}

type message struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

type outputText struct {
	Type        string  `json:"type"`
	Text        string  `json:"text"`
	Annotations [0]int  `json:"annotations"`
	Logprobs    *[0]int `json:"logprobs,omitempty"`
}

type refusal struct {
	Type    string `json:"type"`
	Refusal string `json:"refusal"`
}

type plainText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type reasoning struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Summary []any  `json:"summary"`
	Content []any  `json:"content,omitempty"`
}

type functionCall struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Status    string          `json:"status"`
	CallID    json.RawMessage `json:"call_id,omitempty"`
	Name      json.RawMessage `json:"name,omitempty"`
	Arguments string          `json:"arguments"`
}

func (p part) whole() any {
	switch p.kind {
	case "output_text":
		return outputText{Type: p.kind, Text: string(p.text), Logprobs: new([0]int)}
	case "refusal":
		return refusal{p.kind, string(p.text)}
	}
	return plainText{p.kind, string(p.text)}
}

// whole is the item as it stands.
func (it *item) whole(status string) any {
	parts := []any{}
	for _, p := range it.texts {
		parts = append(parts, p.whole())
	}
	switch it.kind {
	case "message":
		return message{it.id, it.kind, status, "assistant", parts}
	case "reasoning":
		if len(it.texts) > 0 && it.texts[0].kind == "reasoning_text" {
			return reasoning{it.id, it.kind, []any{}, parts}
		}
		return reasoning{ID: it.id, Type: it.kind, Summary: parts}
	}
	return functionCall{it.id, it.kind, status, it.callID, it.name, string(it.args)}
}

// open takes an item into the output.
func (a *answer) open(it *item) *item {
	it.index = len(a.items)
	it.id = it.prefix + a.sum + string(appendJSON(nil, it.index))
	a.items = append(a.items, it)
	return it
}

// added says that an item has begun: empty, whatever came of it already.
func (a *answer) added(b []byte, it *item) []byte {
	empty := *it
	empty.texts, empty.args = nil, nil
	return a.event(b, event{Type: "response.output_item.added", Output: &it.index, Item: empty.whole("in_progress")})
}

// last is the item that is open, nil when none is.
func (a *answer) last() *item {
	if n := len(a.items); n > 0 && a.items[n-1].closed == "" {
		return a.items[n-1]
	}
	return nil
}

// message is the message that is open, with a part of the kind open in it.
func (a *answer) message(b []byte, kind string) ([]byte, *item) {
	it := a.last()
	if it == nil || it.kind != "message" {
		b = a.closeAll(b, "completed")
		it = a.open(&item{kind: "message", prefix: "msg_"})
		b = a.added(b, it)
	}
	if n := len(it.texts); n == 0 || it.texts[n-1].kind != kind {
		b = a.closePart(b, it)
		b = a.openPart(b, it, kind)
	}
	return b, it
}

func (a *answer) think(b []byte, text string) []byte {
	it := a.last()
	if it == nil || it.kind != "reasoning" {
		b = a.closeAll(b, "completed")
		it = a.open(&item{kind: "reasoning", prefix: "rs_"})
		b = a.added(b, it)
	}
	if text == "" && len(it.texts) == 0 {
		return b
	}
	if len(it.texts) == 0 {
		kind := "summary_text"
		if a.plain {
			kind = "reasoning_text"
		}
		b = a.openPart(b, it, kind)
	}
	return a.text(b, it, text)
}

// at is an event about the item's last part.
func (it *item) at(kind string) event {
	e := event{Type: kind, ItemID: it.id, Output: &it.index}
	n := len(it.texts) - 1
	if n < 0 {
		return e
	}
	if it.texts[n].kind == "summary_text" {
		e.Summary = &n
	} else {
		e.Content = &n
	}
	return e
}

func (a *answer) openPart(b []byte, it *item, kind string) []byte {
	it.texts = append(it.texts, part{kind: kind})
	e := it.at("response.content_part.added")
	if kind == "summary_text" {
		e.Type = "response.reasoning_summary_part.added"
	}
	e.Part = it.texts[len(it.texts)-1].whole()
	return a.event(b, e)
}

// word is what events about the text of a part are called by.
func (p part) word() string {
	switch p.kind {
	case "summary_text":
		return "response.reasoning_summary_text"
	case "reasoning_text":
		return "response.reasoning_text"
	}
	return "response." + p.kind
}

// text is one delta of the item's last part.
func (a *answer) text(b []byte, it *item, text string) []byte {
	p := &it.texts[len(it.texts)-1]
	a.keep(&p.text, text)
	e := it.at(p.word() + ".delta")
	e.Delta, e.Padding = quote(text), a.padding()
	if p.kind == "output_text" {
		e.Logprobs = new([0]int)
	}
	return a.event(b, e)
}

func (a *answer) keep(to *[]byte, text string) {
	if a.kept += len(text); a.kept <= maxKept {
		*to = append(*to, text...)
	}
}

func (a *answer) closePart(b []byte, it *item) []byte {
	if len(it.texts) == 0 {
		return b
	}
	p := it.texts[len(it.texts)-1]
	text := string(p.text)
	e := it.at(p.word() + ".done")
	switch p.kind {
	case "refusal":
		e.Refusal = &text
	case "output_text":
		e.Text, e.Logprobs = &text, new([0]int)
	default:
		e.Text = &text
	}
	b = a.event(b, e)
	e = it.at("response.content_part.done")
	if p.kind == "summary_text" {
		e.Type = "response.reasoning_summary_part.done"
	}
	e.Part = p.whole()
	return a.event(b, e)
}

// arguments is one fragment of a call's arguments, as JSON.
func (a *answer) arguments(b []byte, it *item, fragment json.RawMessage) []byte {
	var text string
	if json.Unmarshal(fragment, &text) == nil {
		a.keep(&it.args, text)
	}
	e := it.at("response.function_call_arguments.delta")
	e.Delta, e.Padding = fragment, a.padding()
	return a.event(b, e)
}

// part is one part of a call, by its index, and without one of the last call. An id or a name announces the call, again
// if need be; calls stay open beside each other.
func (a *answer) part(b []byte, p script.ToolPart) []byte {
	var it *item
	for i := len(a.items) - 1; i >= 0 && it == nil; i-- {
		c := a.items[i]
		if c.kind == "function_call" && c.closed == "" && (p.Index.Text == "" || c.key == p.Index.Text) {
			it = c
		}
	}
	if it == nil {
		if last := a.last(); last != nil && last.kind != "function_call" {
			b = a.close(b, last, "completed")
		}
		it = a.open(&item{kind: "function_call", prefix: "fc_", key: p.Index.Text})
	}
	if p.ID.Set || p.Name.Set {
		it.callID, it.name = value(p.ID), value(p.Name)
		b = a.added(b, it)
	}
	if p.Args.Set {
		b = a.arguments(b, it, value(p.Args))
	}
	return b
}

// value is a value on the wire, nil when it is absent.
func value(v script.Value) json.RawMessage {
	switch {
	case !v.Set:
		return nil
	case v.Null:
		return json.RawMessage("null")
	}
	return quote(v.Text)
}

// closeAll ends what is open. Only the last item can be cut.
func (a *answer) closeAll(b []byte, status string) []byte {
	for i, it := range a.items {
		if it.closed != "" {
			continue
		}
		if i == len(a.items)-1 {
			b = a.close(b, it, status)
		} else {
			b = a.close(b, it, "completed")
		}
	}
	return b
}

func (a *answer) close(b []byte, it *item, status string) []byte {
	it.closed = status
	if it.kind == "function_call" {
		args := string(it.args)
		e := it.at("response.function_call_arguments.done")
		e.Args = &args
		b = a.event(b, e)
	} else {
		b = a.closePart(b, it)
	}
	return a.event(b, event{Type: "response.output_item.done", Output: &it.index, Item: it.whole(status)})
}
