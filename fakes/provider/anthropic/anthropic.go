// Package anthropic renders the Messages wire format of Anthropic, from its public documentation and recorded answers.
package anthropic

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// Dialect is the Messages API: POST …/messages and …/messages/count_tokens, GET …/models and GET …/models/ID. The zero value works.
//
// It never asks for credentials: clients before the version 2026-10-21 send x-api-key, later ones a bearer token, and
// both are answered. What a strict server refuses is what Validate says.
type Dialect struct {
	Models []string // what GET …/models lists; claude-x when empty
}

// Name is anthropic.
func (Dialect) Name() string { return "anthropic" }

// Recognise reads a request by its path and JSON body. A list of models is one of this dialect when it says
// anthropic-version, as every client of the API must, since other dialects have a list at the same path.
func (d Dialect) Recognise(r *http.Request, body []byte) (provider.Request, provider.Answer) {
	path := r.URL.Path
	switch {
	case r.Method == http.MethodGet && r.Header.Get("Anthropic-Version") != "":
		return d.models(path), nil
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/messages/count_tokens"):
		return provider.Request{Fixed: append(strconv.AppendInt([]byte(`{"input_tokens":`), int64(estimate(body)), 10), '}')}, nil
	case r.Method != http.MethodPost || !strings.HasSuffix(path, "/messages"):
		return provider.Request{}, nil
	}
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Thinking struct {
			Display string `json:"display"`
		} `json:"thinking"`
		StopSequences []string `json:"stop_sequences"`
	}
	if json.Unmarshal(body, &in) != nil {
		return provider.Request{}, nil
	}
	req := provider.Request{Model: in.Model, Stream: in.Stream, Results: results(body)}
	if n, err := strconv.Atoi(r.Header.Get("X-Stainless-Retry-Count")); err == nil && n >= 0 {
		req.Attempt = n + 1
	}
	sum := fnv.New64a() // ids follow from the request, so that a replay has the same
	sum.Write(body)
	a := &answer{model: in.Model, omitted: in.Thinking.Display == "omitted", input: estimate(body)}
	a.id = strconv.FormatUint(sum.Sum64()|1<<63, 16)
	if len(in.StopSequences) > 0 {
		a.sequence = in.StopSequences[0]
	}
	return req, a
}

// estimate is a count of tokens that nobody gave: four bytes are one.
func estimate(body []byte) int { return max(1, len(body)/4) }

// models is the list of models, one of them, that it is not there, or nothing.
func (d Dialect) models(path string) provider.Request {
	list := d.Models
	if len(list) == 0 {
		list = []string{"claude-x"}
	}
	if _, id, one := strings.Cut(path, "/models/"); one {
		if slices.Contains(list, id) {
			return provider.Request{Fixed: appendModel(nil, id)}
		}
		a := &answer{model: id, id: strconv.FormatUint(1<<63, 16)}
		return provider.Request{Fixed: a.Body(http.StatusNotFound, nil), Status: http.StatusNotFound}
	}
	if !strings.HasSuffix(path, "/models") {
		return provider.Request{}
	}
	b := []byte(`{"data":[`)
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendModel(b, m)
	}
	b = append(b, `],"has_more":false,"first_id":`...)
	b = provider.AppendString(b, list[0])
	b = append(b, `,"last_id":`...)
	b = provider.AppendString(b, list[len(list)-1])
	return provider.Request{Fixed: append(b, '}')}
}

func appendModel(b []byte, m string) []byte {
	b = append(b, `{"type":"model","id":`...)
	b = provider.AppendString(b, m)
	b = append(b, `,"display_name":`...)
	b = provider.AppendString(b, m)
	return append(b, `,"created_at":"2026-01-01T00:00:00Z"}`...)
}

// answer renders one answer. Text and reasoning open the block they need and stay in it while they can; a block is
// closed when another begins, by Finish, or by Done.
type answer struct {
	model, id string
	sequence  string // the first stop sequence of the request
	omitted   bool   // the request wants to see no reasoning

	started bool // message_start was sent
	pinged  bool // the ping that follows the first block's start was sent
	next    int  // the index of the next block
	open    []block
	tools   []tool
	refusal string
	refused bool

	usage    script.Usage
	reported bool // usage was said
	owed     bool // and not sent since
	input    int  // tokens where it was not said
	output   int  // deltas so far
	finish   *script.Finish
}

type block struct {
	kind  string
	index int
}

// The kinds of blocks.
const (
	text     = "text"
	thinking = "thinking"
	toolUse  = "tool_use"
)

// tool is where a tool call is.
type tool struct {
	number   int // the script's
	index    int // of its block
	opened   bool
	id, name string
}

// Header sets the headers that the API documents and its clients read. An answer to a bad key has no request id.
func (a *answer) Header(h http.Header, status int, stream bool) {
	h.Set("Content-Type", "application/json")
	if stream {
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
	}
	if status == http.StatusUnauthorized {
		h.Set("X-Should-Retry", "false")
		return
	}
	h.Set("Request-Id", a.request())
	h.Set("Anthropic-Organization-Id", "00000000-0000-4000-8000-000000000000")
	left := 0 // share of the limit, in per cent
	if status != http.StatusTooManyRequests {
		left = 99
	}
	reset := time.Now().UTC().Add(time.Second).Format(time.RFC3339)
	for _, limit := range []struct {
		name string
		most int
	}{{"Requests", 4000}, {"Tokens", 480000}, {"Input-Tokens", 400000}, {"Output-Tokens", 80000}} {
		name := "Anthropic-Ratelimit-" + limit.name
		h.Set(name+"-Limit", strconv.Itoa(limit.most))
		h.Set(name+"-Remaining", strconv.Itoa(limit.most/100*left))
		h.Set(name+"-Reset", reset)
	}
	if status == http.StatusTooManyRequests {
		h.Set("Retry-After", "1")
	}
	if status >= 400 {
		h.Set("X-Should-Retry", strconv.FormatBool(retried(status)))
	}
}

func retried(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

func (a *answer) request() string { return "req_011C" + a.id }

// Append appends the events of one frame: those that open or close blocks go with the delta that needs them. A refusal is
// text to which the stop reason refusal comes.
func (a *answer) Append(b []byte, step script.Step, n int) []byte {
	switch s := step.(type) {
	case script.Role:
		return a.start(b)
	case script.Text:
		return a.text(b, s.Chunks[n])
	case script.Think:
		a.output++
		b = a.enter(b, thinking)
		if a.omitted { // nothing but pings until the signature
			return b
		}
		b = a.delta(b, a.last(), `thinking_delta","thinking":`)
		return append(provider.AppendString(b, s.Chunks[n]), "}}\n\n"...)
	case script.Refusal:
		a.refused = true
		a.refusal += s.Chunks[n]
		return a.text(b, s.Chunks[n])
	case script.Tool:
		return a.tool(b, s, n)
	case script.ToolChunk:
		for _, p := range s.Parts {
			b = a.part(b, p)
		}
	case script.Empty:
		return a.empty(b)
	case script.Usage:
		a.usage, a.reported = s, true
		switch {
		case a.finish != nil: // the counts are totals, which a later event overwrites
			return a.messageDelta(b)
		case a.started:
			a.owed = true
		}
	case script.Finish:
		if !a.started {
			b = a.start(b)
		}
		a.finish = &s
		return a.messageDelta(a.close(b))
	case script.Done:
		b = a.close(b)
		if a.owed {
			b = a.messageDelta(b)
		}
		return append(b, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"...)
	case script.Error:
		if s.Form != script.DataForm {
			b = append(b, "event: error\n"...)
		}
		b = append(b, "data: "...)
		if s.Form == script.FlatForm {
			return append(appendFlat(b, s), "\n\n"...)
		}
		return append(appendError(b, s, a.request()), "\n\n"...)
	case script.Comment:
		b = append(b, ": "...)
		b = append(b, strings.ReplaceAll(s.Text, "\n", "\n: ")...)
		return append(b, "\n\n"...)
	case script.Ping:
		return append(b, ping...)
	}
	return b
}

const ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n"

// event appends the beginning of an event, up to its type.
func event(b []byte, name string) []byte {
	b = append(b, "event: "...)
	b = append(b, name...)
	b = append(b, "\ndata: {\"type\":\""...)
	b = append(b, name...)
	return append(b, '"')
}

func (a *answer) start(b []byte) []byte {
	a.started = true
	b = event(b, "message_start")
	b = append(b, `,"message":{"id":"msg_01`...)
	b = append(b, a.id...)
	b = append(b, `","type":"message","role":"assistant","model":`...)
	b = provider.AppendString(b, a.model)
	b = append(b, `,"content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{`...)
	b = a.inputTokens(b)
	return append(b, `,"output_tokens":1,"service_tier":"standard"}}}`+"\n\n"...)
}

func (a *answer) last() int { return a.open[len(a.open)-1].index }

// enter appends what it takes to be in a block of text or reasoning, and in no other.
func (a *answer) enter(b []byte, kind string) []byte {
	if len(a.open) == 1 && a.open[0].kind == kind {
		return b
	}
	b = a.begin(a.close(b), kind, a.next)
	switch kind {
	case text:
		b = append(b, `"text","text":""`...)
	case thinking:
		b = append(b, `"thinking","thinking":"","signature":""`...)
	}
	return a.began(b)
}

func (a *answer) text(b []byte, chunk string) []byte {
	a.output++
	b = a.enter(b, text)
	b = a.delta(b, a.last(), `text_delta","text":`)
	return append(provider.AppendString(b, chunk), "}}\n\n"...)
}

// begin appends the start of a block up to its type. began ends it.
func (a *answer) begin(b []byte, kind string, index int) []byte {
	if !a.started {
		b = a.start(b)
	}
	a.open = append(a.open, block{kind, index})
	a.next = max(a.next, index+1)
	b = event(b, "content_block_start")
	b = appendIndex(b, index)
	return append(b, `,"content_block":{"type":`...)
}

func (a *answer) began(b []byte) []byte {
	b = append(b, "}}\n\n"...)
	if !a.pinged {
		a.pinged = true
		b = append(b, ping...)
	}
	return b
}

func appendIndex(b []byte, index int) []byte {
	return strconv.AppendInt(append(b, `,"index":`...), int64(index), 10)
}

// delta appends a delta up to its value; what is left are two braces.
func (a *answer) delta(b []byte, index int, kind string) []byte {
	b = appendIndex(event(b, "content_block_delta"), index)
	b = append(b, `,"delta":{"type":"`...)
	return append(b, kind...)
}

// close appends the end of every open block.
func (a *answer) close(b []byte) []byte {
	for _, k := range a.open {
		if k.kind == thinking {
			b = a.delta(b, k.index, `signature_delta","signature":"`)
			b = append(b, a.signature()...)
			b = append(b, "\"}}\n\n"...)
		}
		b = appendIndex(event(b, "content_block_stop"), k.index)
		b = append(b, "}\n\n"...)
	}
	a.open = a.open[:0]
	return b
}

// empty appends a delta with nothing in it, of the block that is open; of a text where none is.
func (a *answer) empty(b []byte) []byte {
	if a.finish != nil {
		return b
	}
	if len(a.open) == 0 {
		b = a.enter(b, text)
	}
	k := a.open[len(a.open)-1]
	switch k.kind {
	case text:
		b = a.delta(b, k.index, `text_delta","text":""`)
	case thinking:
		b = a.delta(b, k.index, `thinking_delta","thinking":""`)
	default:
		b = a.delta(b, k.index, `input_json_delta","partial_json":""`)
	}
	return append(b, "}}\n\n"...)
}

// messageDelta appends why the model stopped and the tokens so far.
func (a *answer) messageDelta(b []byte) []byte {
	a.owed = false
	b = event(b, "message_delta")
	b = append(b, `,"delta":{`...)
	b = a.stop(b, a.finish)
	b = append(b, `},"usage":{`...)
	b = a.inputTokens(b)
	b = append(b, `,"output_tokens":`...)
	b = strconv.AppendInt(b, int64(a.outputTokens()), 10)
	b = a.thinkingTokens(b)
	return append(b, "}}\n\n"...)
}
