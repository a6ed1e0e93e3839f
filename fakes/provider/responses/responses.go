// Package responses renders the Responses wire format of OpenAI, from its public documentation and recorded answers.
package responses

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

// Dialect is Responses: POST …/responses, POST …/responses/input_tokens, GET …/models and GET …/models/ID. Nothing is
// stored, so that no answer can be fetched, cancelled or gone on with later. The zero value works.
type Dialect struct {
	ReasoningText bool     // reasoning is sent as it is, as servers of open models do, not as a summary
	Models        []string // what GET …/models lists; gpt-x when empty
	MaxPrompt     int      // tokens that Validate allows in a request, 4 bytes of its input each; 0 is without limit
}

// Name is responses.
func (Dialect) Name() string { return "responses" }

const (
	suffix  = "/responses"
	counter = "/responses/input_tokens"
)

// request is what is read of a request. What is only repeated in the answer stays as it is.
type request struct {
	Model         string `json:"model"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		IncludeObfuscation *bool `json:"include_obfuscation"`
	} `json:"stream_options"`
	Input json.RawMessage `json:"input"`

	Instructions       json.RawMessage `json:"instructions"`
	MaxOutputTokens    json.RawMessage `json:"max_output_tokens"`
	MaxToolCalls       json.RawMessage `json:"max_tool_calls"`
	Metadata           json.RawMessage `json:"metadata"`
	ParallelToolCalls  json.RawMessage `json:"parallel_tool_calls"`
	PreviousResponseID json.RawMessage `json:"previous_response_id"`
	Conversation       json.RawMessage `json:"conversation"`
	Prompt             json.RawMessage `json:"prompt"`
	Reasoning          json.RawMessage `json:"reasoning"`
	Store              json.RawMessage `json:"store"`
	Temperature        json.RawMessage `json:"temperature"`
	Text               json.RawMessage `json:"text"`
	ToolChoice         json.RawMessage `json:"tool_choice"`
	Tools              json.RawMessage `json:"tools"`
	TopP               json.RawMessage `json:"top_p"`
	Truncation         json.RawMessage `json:"truncation"`
	User               json.RawMessage `json:"user"`
}

// Recognise reads a request by its path and JSON body.
func (d Dialect) Recognise(r *http.Request, body []byte) (provider.Request, provider.Answer) {
	path := r.URL.Path
	if r.Method == http.MethodGet {
		return d.models(path), nil
	}
	counts := strings.HasSuffix(path, counter)
	if r.Method != http.MethodPost || !counts && !strings.HasSuffix(path, suffix) {
		return provider.Request{}, nil
	}
	var in request
	if json.Unmarshal(body, &in) != nil {
		return provider.Request{}, nil
	}
	if counts {
		return provider.Request{Model: in.Model, Fixed: []byte(`{"object":"response.input_tokens","input_tokens":` + strconv.Itoa(in.tokens()) + `}`)}, nil
	}
	req := provider.Request{Model: in.Model, Stream: in.Stream, Results: results(in.Input)}
	if n, err := strconv.Atoi(r.Header.Get("X-Stainless-Retry-Count")); err == nil && n >= 0 {
		req.Attempt = n + 1
	}
	sum := fnv.New64a() // ids follow from the request, so that a replay has the same
	sum.Write(body)
	a := &answer{
		in: in, sum: strconv.FormatUint(sum.Sum64()|1<<63, 16), created: time.Now().Unix(), limit: d.MaxPrompt,
		plain: d.ReasoningText, padded: in.StreamOptions.IncludeObfuscation == nil || *in.StreamOptions.IncludeObfuscation,
	}
	a.prompt = in.tokens()
	a.in.Input = nil // it has been counted, and may be large
	return req, a
}

// tokens is how long a prompt is, for who needs no exact count.
func (in *request) tokens() int { return (len(in.Input) + len(in.Instructions) + 3) / 4 }

// models is the list of models, one of them, that it is not there, or nothing.
func (d Dialect) models(path string) provider.Request {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	known := d.Models
	if len(known) == 0 {
		known = []string{"gpt-x"}
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list"}
	_, id, one := strings.Cut(path, "/models/")
	for _, m := range known {
		list.Data = append(list.Data, model{m, "model", 1700000000, "stallwright"})
		if one && m == id {
			return provider.Request{Fixed: appendJSON(nil, list.Data[len(list.Data)-1])}
		}
	}
	switch {
	case one:
		a := &answer{in: request{Model: id}}
		return provider.Request{Fixed: a.failure(http.StatusNotFound, script.Error{}), Status: http.StatusNotFound}
	case !strings.HasSuffix(path, "/models"):
		return provider.Request{}
	}
	return provider.Request{Fixed: appendJSON(nil, list)}
}

// answer renders one answer.
type answer struct {
	in            request
	sum           string // of the request
	created       int64
	prompt, limit int // tokens; no limit is 0
	plain         bool
	padded        bool

	seq    int // of the next event
	begun  bool
	items  []*item // by their output index
	kept   int     // bytes of what the items say
	finish string
	ended  bool // a Finish came
	usage  *script.Usage
}

// Append appends the events of a frame: those that open and close items stand with the one that makes them necessary.
// The reason of a Finish and the numbers of a Usage are sent with the terminal event, at Done; a Finish closes what is
// open. A Think whose chunk is empty opens its item and shows nothing.
func (a *answer) Append(b []byte, step script.Step, n int) []byte {
	switch s := step.(type) {
	case script.Role:
		if a.begun { // the frame that may come again
			return a.event(b, event{Type: "response.in_progress", Response: a.response("in_progress", false)})
		}
		return a.begin(b)
	case script.Text:
		b, it := a.message(a.begin(b), "output_text")
		return a.text(b, it, s.Chunks[n])
	case script.Refusal:
		b, it := a.message(a.begin(b), "refusal")
		return a.text(b, it, s.Chunks[n])
	case script.Think:
		return a.think(a.begin(b), s.Chunks[n])
	case script.Tool:
		b = a.begin(b)
		if n == 0 {
			b = a.closeAll(b, "completed")
			it := a.open(&item{kind: "function_call", prefix: "fc_"})
			it.callID, it.name = quote(s.ID), quote(s.Name)
			return a.added(b, it)
		}
		return a.arguments(b, a.items[len(a.items)-1], quote(s.Args[n-1]))
	case script.ToolChunk:
		b = a.begin(b)
		for _, p := range s.Parts {
			b = a.part(b, p)
		}
		return b
	case script.Empty:
		return a.empty(a.begin(b))
	case script.Usage:
		a.usage = &s
	case script.Finish:
		a.finish, a.ended = s.Reason, s.Reason != "" || s.Empty
		return a.closeAll(b, a.itemStatus())
	case script.Message:
		return a.event(a.begin(b), event{Type: "response.in_progress", Response: a.response("in_progress", true)})
	case script.Done:
		return a.done(a.begin(b))
	case script.Error:
		return a.fail(b, s)
	case script.Comment:
		b = append(b, ": "...)
		b = append(b, strings.ReplaceAll(s.Text, "\n", "\n: ")...)
		return append(b, "\n\n"...)
	case script.Ping:
		return a.event(a.begin(b), event{Type: "keepalive"})
	}
	return b
}

// begin opens the answer, once.
func (a *answer) begin(b []byte) []byte {
	if a.begun {
		return b
	}
	a.begun = true
	b = a.event(b, event{Type: "response.created", Response: a.response("in_progress", false)})
	return a.event(b, event{Type: "response.in_progress", Response: a.response("in_progress", false)})
}

// empty is an empty delta of what is open; when nothing is, the answer says once more that it goes on.
func (a *answer) empty(b []byte) []byte {
	if len(a.items) > 0 {
		switch it := a.items[len(a.items)-1]; {
		case it.closed != "":
		case it.kind == "function_call":
			return a.arguments(b, it, quote(""))
		case len(it.texts) > 0:
			return a.text(b, it, "")
		}
	}
	return a.event(b, event{Type: "response.in_progress", Response: a.response("in_progress", false)})
}

// status is the status of the answer after its finish reason, and why it is incomplete.
func (a *answer) status() (status, why string) {
	switch {
	case !a.ended:
		return "completed", ""
	case a.finish == "stop" || a.finish == "tool_calls" || a.finish == "refusal":
		return "completed", ""
	case a.finish == "length":
		return "incomplete", "max_output_tokens"
	case a.finish == "error":
		return "failed", ""
	}
	return "incomplete", a.finish
}

func (a *answer) itemStatus() string {
	if status, _ := a.status(); status != "completed" {
		return "incomplete"
	}
	return "completed"
}

// done is the terminal event.
func (a *answer) done(b []byte) []byte {
	b = a.closeAll(b, a.itemStatus())
	status, _ := a.status()
	return a.event(b, event{Type: "response." + status, Response: a.response(status, true)})
}

// Header sets the headers that the API documents.
func (a *answer) Header(h http.Header, status int, stream bool) {
	h.Set("Content-Type", "application/json")
	switch {
	case stream:
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
	case status == http.StatusUnauthorized:
		h.Set("Content-Type", "text/plain; charset=utf-8")
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
	h.Set("X-Request-Id", "req_"+a.sum+a.sum)
	h.Set("Openai-Organization", "stallwright")
	h.Set("Openai-Processing-Ms", "12")
	h.Set("Openai-Version", "2020-10-01")
	h.Set("X-Ratelimit-Limit-Requests", "10000")
	h.Set("X-Ratelimit-Remaining-Requests", "9999")
	h.Set("X-Ratelimit-Reset-Requests", "6ms")
	h.Set("X-Ratelimit-Limit-Tokens", "2000000")
	h.Set("X-Ratelimit-Remaining-Tokens", "1999990")
	h.Set("X-Ratelimit-Reset-Tokens", "1s")
}
