package responses

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
)

// event is the data of a server-sent event: all of them, each with the members that it has.
type event struct {
	Type     string          `json:"type"`
	Sequence int             `json:"sequence_number"`
	Response *response       `json:"response,omitempty"`
	ItemID   string          `json:"item_id,omitempty"`
	Output   *int            `json:"output_index,omitempty"`
	Content  *int            `json:"content_index,omitempty"`
	Summary  *int            `json:"summary_index,omitempty"`
	Item     any             `json:"item,omitempty"`
	Part     any             `json:"part,omitempty"`
	Delta    json.RawMessage `json:"delta,omitempty"`
	Text     *string         `json:"text,omitempty"`
	Refusal  *string         `json:"refusal,omitempty"`
	Args     *string         `json:"arguments,omitempty"`
	Logprobs *[0]int         `json:"logprobs,omitempty"`
	Padding  *string         `json:"obfuscation,omitempty"`
	Error    *failure        `json:"error,omitempty"`
}

// flat is an error as the documentation has it.
type flat struct {
	Type     string  `json:"type"`
	Sequence int     `json:"sequence_number"`
	Code     *string `json:"code"`
	Message  string  `json:"message"`
	Param    *string `json:"param"`
}

type failure struct {
	Type    string  `json:"type,omitempty"`
	Code    *string `json:"code"`
	Message string  `json:"message"`
	Param   *string `json:"param"`
}

// event appends one event and counts it.
func (a *answer) event(b []byte, e event) []byte {
	b = append(b, "event: "...)
	b = append(b, e.Type...)
	b = append(b, '\n')
	return a.data(b, e)
}

// data appends an event without its name.
func (a *answer) data(b []byte, e event) []byte {
	e.Sequence = a.seq
	a.seq++
	b = append(b, "data: "...)
	b = appendJSON(b, e)
	return append(b, "\n\n"...)
}

// padding is as long as the event's number says, not as the text is.
func (a *answer) padding() *string {
	if !a.padded {
		return nil
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	p := letters[:(a.seq*7)%len(letters)]
	return &p
}

// response is the response object. What a request does not say has its documented default.
type response struct {
	ID                 string          `json:"id"`
	Object             string          `json:"object"`
	CreatedAt          int64           `json:"created_at"`
	Status             string          `json:"status"`
	Background         bool            `json:"background"`
	CompletedAt        *int64          `json:"completed_at"`
	Error              *reported       `json:"error"`
	IncompleteDetails  *details        `json:"incomplete_details"`
	Instructions       json.RawMessage `json:"instructions"`
	MaxOutputTokens    json.RawMessage `json:"max_output_tokens"`
	MaxToolCalls       json.RawMessage `json:"max_tool_calls"`
	Model              string          `json:"model"`
	Output             []any           `json:"output"`
	ParallelToolCalls  json.RawMessage `json:"parallel_tool_calls"`
	PreviousResponseID json.RawMessage `json:"previous_response_id"`
	Reasoning          json.RawMessage `json:"reasoning"`
	ServiceTier        string          `json:"service_tier"`
	Store              json.RawMessage `json:"store"`
	Temperature        json.RawMessage `json:"temperature"`
	Text               json.RawMessage `json:"text"`
	ToolChoice         json.RawMessage `json:"tool_choice"`
	Tools              json.RawMessage `json:"tools"`
	TopLogprobs        int             `json:"top_logprobs"`
	TopP               json.RawMessage `json:"top_p"`
	Truncation         json.RawMessage `json:"truncation"`
	Usage              *usage          `json:"usage"`
	User               json.RawMessage `json:"user"`
	Metadata           json.RawMessage `json:"metadata"`
}

type reported struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type details struct {
	Reason string `json:"reason"`
}

type usage struct {
	InputTokens  int `json:"input_tokens"`
	InputDetails struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputTokens  int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	TotalTokens int `json:"total_tokens"`
}

// maxEcho bounds what an answer repeats of its request, which it does several times.
const maxEcho = 64 << 10

func echo(raw json.RawMessage, otherwise string) json.RawMessage {
	if len(raw) == 0 || len(raw) > maxEcho || string(raw) == "null" {
		return json.RawMessage(otherwise)
	}
	return raw
}

// response is the answer as it stands, with its output when full.
func (a *answer) response(status string, full bool) *response {
	r := &response{
		ID: "resp_" + a.sum, Object: "response", CreatedAt: a.created, Status: status, Model: a.in.Model, Output: []any{}, ServiceTier: "default",
		Instructions: echo(a.in.Instructions, "null"), MaxOutputTokens: echo(a.in.MaxOutputTokens, "null"),
		MaxToolCalls: echo(a.in.MaxToolCalls, "null"), ParallelToolCalls: echo(a.in.ParallelToolCalls, "true"),
		PreviousResponseID: echo(a.in.PreviousResponseID, "null"), Reasoning: echo(a.in.Reasoning, `{"effort":null,"summary":null}`),
		Store: echo(a.in.Store, "true"), Temperature: echo(a.in.Temperature, "1.0"),
		Text: echo(a.in.Text, `{"format":{"type":"text"},"verbosity":"medium"}`), ToolChoice: echo(a.in.ToolChoice, `"auto"`),
		Tools: echo(a.in.Tools, "[]"), TopP: echo(a.in.TopP, "1.0"), Truncation: echo(a.in.Truncation, `"disabled"`),
		User: echo(a.in.User, "null"), Metadata: echo(a.in.Metadata, "{}"),
	}
	if full {
		for _, it := range a.items {
			r.Output = append(r.Output, it.whole(it.status()))
		}
	}
	switch status {
	case "completed":
		now := time.Now().Unix()
		r.CompletedAt = &now
	case "incomplete":
		_, why := a.status()
		r.IncompleteDetails = &details{why}
	case "failed":
		e := a.problem(0, script.Error{})
		r.Error = &reported{e.Type, e.Message}
	}
	if full && a.usage != nil {
		u := usage{InputTokens: a.usage.Prompt, OutputTokens: a.usage.Completion, TotalTokens: a.usage.Prompt + a.usage.Completion}
		u.InputDetails.Cached, u.OutputDetails.Reasoning = a.usage.Cached, a.usage.Reasoning
		r.Usage = &u
	}
	return r
}

// appendJSON appends v, which is of this package and cannot fail, as the API writes it: with < and > as they are.
func appendJSON(b []byte, v any) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("responses: " + err.Error())
	}
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

func quote(s string) json.RawMessage { return appendJSON(nil, s) }
