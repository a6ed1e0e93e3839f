// Package openai renders the Chat Completions wire format of OpenAI and of the servers that are compatible with it.
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

// Dialect is Chat Completions: POST …/chat/completions, GET …/models and GET …/models/ID. The zero value works.
type Dialect struct {
	Flavour   Flavour  // OpenAI when empty
	Reasoning string   // the field of a delta that carries reasoning; the flavour's own when empty
	Models    []string // what GET …/models lists; gpt-x when empty
	EachUsage bool     // usage so far stands in every chunk, which vLLM does when the request asks for continuous_usage_stats
	MaxPrompt int      // tokens that Validate allows in a request, 4 bytes of its messages each; 0 is without limit
}

// Name is openai, whatever the flavour.
func (Dialect) Name() string { return "openai" }

const suffix = "/chat/completions"

// Recognise reads a request by its path and JSON body. Azure's name the model in the path.
func (d Dialect) Recognise(r *http.Request, body []byte) (provider.Request, provider.Answer) {
	switch {
	case r.Method == http.MethodGet:
		return d.models(r.URL.Path), nil
	case r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, suffix):
		return provider.Request{}, nil
	}
	var in struct {
		Model         string `json:"model"`
		Stream        bool   `json:"stream"`
		StreamOptions struct {
			IncludeUsage       bool `json:"include_usage"`
			IncludeObfuscation bool `json:"include_obfuscation"`
			ContinuousUsage    bool `json:"continuous_usage_stats"`
		} `json:"stream_options"`
		Messages json.RawMessage `json:"messages"`
		Thinking struct {
			Type string `json:"type"`
		} `json:"thinking"`
	}
	if json.Unmarshal(body, &in) != nil {
		return provider.Request{}, nil
	}
	if name := deployment(r.URL.Path); name != "" && d.Flavour == Azure {
		in.Model = name
	}
	req := provider.Request{Model: in.Model, Stream: in.Stream, Results: results(in.Messages)}
	if n, err := strconv.Atoi(r.Header.Get("X-Stainless-Retry-Count")); err == nil && n >= 0 {
		req.Attempt = n + 1
	}
	sum := fnv.New64a() // ids follow from the request, so that a replay has the same
	sum.Write(body)
	a := &answer{
		manners: d.Flavour.manners(), flavour: d.Flavour, model: in.Model, created: time.Now().Unix(),
		sum: strconv.FormatUint(sum.Sum64()|1<<63, 16), stream: in.Stream,
		asked: in.StreamOptions.IncludeUsage, every: d.EachUsage || d.Flavour == VLLM && in.StreamOptions.ContinuousUsage,
		padded: in.StreamOptions.IncludeObfuscation, prompt: tokens(in.Messages), limit: d.MaxPrompt,
		thinks:  strings.Contains(in.Model, "reasoner") || in.Thinking.Type == "enabled",
		message: message{limit: maxMessage},
	}
	a.id = a.prefix + a.sum
	if d.Reasoning != "" {
		a.reasoning = []string{d.Reasoning}
	}
	return req, a
}

// models is the list of models, one of them, that it is not there, or nothing.
func (d Dialect) models(path string) provider.Request {
	list := d.Models
	if len(list) == 0 {
		list = []string{"gpt-x"}
	}
	if _, id, one := strings.Cut(path, "/models/"); one {
		for _, m := range list {
			if m == id {
				return provider.Request{Fixed: appendModel(nil, m)}
			}
		}
		a := &answer{manners: d.Flavour.manners(), flavour: d.Flavour, model: id}
		return provider.Request{Fixed: a.failure(nil, http.StatusNotFound, script.Error{}), Status: http.StatusNotFound}
	}
	if !strings.HasSuffix(path, "/models") {
		return provider.Request{}
	}
	b := []byte(`{"object":"list","data":[`)
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendModel(b, m)
	}
	return provider.Request{Fixed: append(b, "]}"...)}
}

func appendModel(b []byte, m string) []byte {
	b = append(b, `{"id":`...)
	b = provider.AppendString(b, m)
	return append(b, `,"object":"model","created":1700000000,"owned_by":"stallwright"}`...)
}

// answer renders one answer.
type answer struct {
	manners
	flavour       Flavour
	model, id     string
	sum           string // of the request
	created       int64
	stream        bool
	asked         bool // the request asked for a usage chunk
	every         bool // usage stands in every chunk
	padded        bool // chunks are padded against guesses from their length
	thinks        bool // the request asks for thinking, where the opening depends on it
	prompt, limit int  // tokens; no limit is 0

	opened  bool // the role was sent
	begun   bool // a chunk was sent
	thought bool // reasoning was sent
	sealed  bool // its end was sent too
	pieces  int  // of output so far
	reason  []byte
	held    *script.Usage // waits for the chunk that finishes
	message message       // so far
}

// Append appends one server-sent event, and before it what must precede it.
func (a *answer) Append(b []byte, step script.Step, n int) []byte {
	switch s := step.(type) {
	case script.Role:
		return a.role(b)
	case script.Text:
		return a.text(b, s.Chunks[n])
	case script.Think:
		return a.think(b, s.Chunks[n])
	case script.Refusal:
		return a.refuse(b, s.Chunks[n])
	case script.Tool:
		return a.tool(b, s, n)
	case script.ToolChunk:
		a.message.parts(s)
		a.pieces++
		b = append(a.delta(a.seal(b)), '{')
		b = append(b, a.each...)
		b = appendParts(append(b, `"tool_calls":`...), s.Parts)
		return a.end(append(b, '}'), nil)
	case script.Empty:
		return a.end(append(a.delta(b), "{}"...), nil)
	case script.Finish:
		return a.finish(b, s)
	case script.Usage:
		return a.usage(b, s)
	case script.Message:
		return a.whole(b)
	case script.Done:
		if a.held != nil {
			b = a.usageChunk(b, *a.held)
			a.held = nil
		}
		return append(b, "data: [DONE]\n\n"...)
	case script.Error:
		return a.fail(b, s)
	case script.Comment:
		return appendComment(b, s.Text)
	case script.Ping:
		switch {
		case a.ping == "":
			return b
		case a.stream:
			return appendComment(b, a.ping)
		case a.flavour == DeepSeek: // blank lines before the JSON
			return append(b, '\n')
		}
		return b
	}
	return b
}

func appendComment(b []byte, text string) []byte {
	b = append(b, ": "...)
	b = append(b, strings.ReplaceAll(text, "\n", "\n: ")...)
	return append(b, "\n\n"...)
}

func (a *answer) role(b []byte) []byte {
	a.opened = true
	b = a.delta(b)
	if a.flavour == DeepSeek && a.thinks {
		b = append(b, `{"role":"assistant","content":null,"reasoning_content":""}`...)
	} else {
		b = append(b, a.open...)
	}
	return a.end(b, nil)
}

func (a *answer) text(b []byte, text string) []byte {
	a.message.text(text)
	a.pieces++
	b = a.delta(a.seal(b))
	b = append(b, '{')
	if a.flavour == OpenRouter {
		b = append(b, `"role":"assistant",`...)
	}
	b = append(b, `"content":`...)
	b = provider.AppendString(b, text)
	if a.flavour == DeepSeek && (a.thinks || a.thought) {
		b = append(b, `,"reasoning_content":null`...)
	}
	return a.end(append(b, '}'), nil)
}

func (a *answer) think(b []byte, text string) []byte {
	a.message.think(text)
	a.pieces++
	a.thought = true
	b = a.delta(b)
	switch a.flavour {
	case Mistral:
		b = append(b, `{"content":[`...)
		b = appendThinking(b, text)
		return a.end(append(b, "]}"...), nil)
	case OpenRouter:
		b = append(b, `{"role":"assistant","content":"",`...)
	case DeepSeek:
		b = append(b, `{"content":null,`...)
	default:
		b = append(b, '{')
	}
	b = a.appendReasoning(b, text)
	if a.flavour == OpenRouter {
		b = append(b, `,"reasoning_details":[{"type":"reasoning.summary","summary":`...)
		b = provider.AppendString(b, text)
		b = append(b, `,"format":"openai-responses-v1","index":0}]`...)
	}
	return a.end(append(b, '}'), nil)
}

func (a *answer) appendReasoning(b []byte, text string) []byte {
	for i, field := range a.reasoning {
		if i > 0 {
			b = append(b, ',')
		}
		b = provider.AppendString(b, field)
		b = append(b, ':')
		b = provider.AppendString(b, text)
	}
	return b
}

func appendThinking(b []byte, text string) []byte {
	b = append(b, `{"type":"thinking","thinking":[{"type":"text","text":`...)
	b = provider.AppendString(b, text)
	return append(b, "}]}"...)
}

// seal ends reasoning where it has an end of its own: OpenRouter passes on what is needed to go on with it.
func (a *answer) seal(b []byte) []byte {
	if a.flavour != OpenRouter || !a.thought || a.sealed {
		return b
	}
	a.sealed = true
	b = a.delta(b)
	b = append(b, `{"role":"assistant","content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"c3RhbGx3cmlnaHQ=","format":"openai-responses-v1","index":0}]}`...)
	return a.end(b, nil)
}

func (a *answer) refuse(b []byte, text string) []byte {
	if !a.refusal {
		return a.text(b, text)
	}
	a.message.refuse(text)
	a.pieces++
	b = a.seal(b)
	if !a.opened {
		a.opened = true
		b = a.delta(b)
		b = append(b, `{"role":"assistant","content":null,"refusal":""}`...)
		b = a.end(b, nil)
	}
	b = a.delta(b)
	b = append(b, `{"refusal":`...)
	b = provider.AppendString(b, text)
	return a.end(append(b, '}'), nil)
}

func (a *answer) tool(b []byte, s script.Tool, n int) []byte {
	a.message.tool(s, n)
	if a.flavour == Mistral { // a call comes whole
		if n < len(s.Args) {
			return b
		}
		a.pieces++
		b = a.delta(b)
		b = append(b, '{')
		if !a.opened {
			b = append(b, `"role":"assistant",`...)
			a.opened = true
		}
		b = append(b, `"content":"","tool_calls":[{"id":`...)
		b = provider.AppendString(b, s.ID)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = provider.AppendString(b, s.Name)
		b = append(b, `,"arguments":`...)
		b = provider.AppendString(b, strings.Join(s.Args, ""))
		b = append(b, `},"index":`...)
		b = strconv.AppendInt(b, int64(s.Index), 10)
		return a.end(append(b, "}]}"...), nil)
	}
	a.pieces++
	b = a.delta(a.seal(b))
	b = append(b, '{')
	if n == 0 && !a.opened && a.each == "" { // of a single call the opening chunk carries the head
		b = append(b, a.head...)
	}
	a.opened = true
	b = append(b, a.each...)
	b = append(b, `"tool_calls":[{"index":`...)
	b = strconv.AppendInt(b, int64(s.Index), 10)
	if n == 0 {
		b = append(b, `,"id":`...)
		b = provider.AppendString(b, s.ID)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = provider.AppendString(b, s.Name)
		b = append(b, `,"arguments":""}}]}`...)
	} else {
		b = append(b, `,"function":{"arguments":`...)
		b = provider.AppendString(b, s.Args[n-1])
		b = append(b, `}}]}`...)
	}
	return a.end(b, nil)
}

// appendParts appends parts of tool calls with the fields that they have.
func appendParts(b []byte, parts []script.ToolPart) []byte {
	b = append(b, '[')
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		start := len(b)
		b = appendValue(b, start, "index", p.Index, false)
		b = appendValue(b, start, "id", p.ID, true)
		b = appendValue(b, start, "type", p.Type, true)
		if p.Name.Set || p.Args.Set {
			if len(b) > start {
				b = append(b, ',')
			}
			b = append(b, `"function":{`...)
			inner := len(b)
			b = appendValue(b, inner, "name", p.Name, true)
			b = appendValue(b, inner, "arguments", p.Args, true)
			b = append(b, '}')
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendValue appends a member of the object that began at start, unless it is absent.
func appendValue(b []byte, start int, name string, v script.Value, quoted bool) []byte {
	if !v.Set {
		return b
	}
	if len(b) > start {
		b = append(b, ',')
	}
	b = provider.AppendString(b, name)
	b = append(b, ':')
	switch {
	case v.Null:
		return append(b, "null"...)
	case quoted:
		return provider.AppendString(b, v.Text)
	}
	return append(b, v.Text...)
}

func (a *answer) finish(b []byte, s script.Finish) []byte {
	b = a.seal(b)
	a.reason = quote(s)
	return a.end(append(a.delta(b), a.last...), a.reason)
}

func (a *answer) usage(b []byte, s script.Usage) []byte {
	if a.joined && a.reason == nil {
		a.held = &s
		return b
	}
	if !a.asked && !a.unasked {
		return b
	}
	return a.usageChunk(b, s)
}

func (a *answer) usageChunk(b []byte, s script.Usage) []byte {
	if a.flavour == OpenRouter { // the end once more
		b = a.delta(b)
		b = append(b, a.last...)
		b = a.finishReason(b, a.reason)
		b = append(b, `}]`...)
	} else {
		b = a.chunk(b)
		b = append(b, `"choices":[]`...)
	}
	b = append(b, `,"usage":`...)
	b = a.appendUsage(b, s)
	if a.flavour == LlamaCPP {
		b = append(b, `,"timings":{"prompt_n":`...)
		b = strconv.AppendInt(b, int64(s.Prompt), 10)
		b = append(b, `,"predicted_n":`...)
		b = strconv.AppendInt(b, int64(s.Completion), 10)
		b = append(b, '}')
	}
	return a.close(b)
}

// chunk appends what every chunk begins with.
func (a *answer) chunk(b []byte) []byte {
	if a.flavour == Azure && !a.begun {
		b = append(b, `data: {"choices":[],"created":0,"id":"","model":"","object":"",`+promptFilter+"}\n\n"...)
	}
	a.begun = true
	b = append(b, `data: {"id":"`...)
	b = append(b, a.id...)
	b = append(b, `","object":"chat.completion.chunk"`...)
	b = a.common(b)
	return append(b, ',')
}

func (a *answer) common(b []byte) []byte {
	b = append(b, `,"created":`...)
	b = strconv.AppendInt(b, a.created, 10)
	b = append(b, `,"model":`...)
	b = provider.AppendString(b, a.model)
	return append(b, a.members...)
}

// delta appends a chunk up to its delta.
func (a *answer) delta(b []byte) []byte {
	return append(a.chunk(b), `"choices":[{"index":0,"delta":`...)
}

// end appends what follows a delta. A reason that is nil does not finish.
func (a *answer) end(b, reason []byte) []byte {
	b = a.finishReason(b, reason)
	b = append(b, "}]"...)
	switch {
	case reason != nil && a.held != nil:
		b = append(b, `,"usage":`...)
		b = a.appendUsage(b, *a.held)
	case a.every:
		b = append(b, `,"usage":`...)
		b = a.appendUsage(b, script.Usage{Prompt: a.prompt, Completion: a.pieces})
	case a.nulls, a.asked && (a.flavour.own() || a.flavour == Azure):
		b = append(b, `,"usage":null`...)
	}
	if a.flavour == Groq {
		b = a.groq(b, reason)
	}
	if reason != nil {
		a.held = nil
	}
	return a.close(b)
}

// own says whether the flavour is OpenAI's.
func (f Flavour) own() bool { return f == OpenAI || f == "" }

// groq appends what Groq puts into the first chunk and into the one that finishes.
func (a *answer) groq(b, reason []byte) []byte {
	switch {
	case reason != nil && a.held != nil:
		b = append(b, `,"x_groq":{"id":"req_`...)
		b = append(b, a.sum...)
		b = append(b, `","usage":`...)
		b = a.appendUsage(b, *a.held)
		return append(b, '}')
	case a.pieces == 0 && reason == nil:
		b = append(b, `,"x_groq":{"id":"req_`...)
		b = append(b, a.sum...)
		return append(b, `","seed":1}`...)
	}
	return b
}

// finishReason appends the rest of a choice.
func (a *answer) finishReason(b, reason []byte) []byte {
	if reason == nil {
		reason = null
	}
	if a.flavour != Groq && a.flavour != LlamaCPP && a.flavour != Mistral {
		b = append(b, `,"logprobs":null`...)
	}
	b = append(b, `,"finish_reason":`...)
	b = append(b, reason...)
	if a.flavour == OpenRouter {
		b = append(b, `,"native_finish_reason":`...)
		b = append(b, reason...)
	}
	return append(b, a.choice...)
}

var null = []byte("null")

// close ends a chunk, with padding of a length that is not the text's where the flavour or the request has it.
func (a *answer) close(b []byte) []byte {
	const padding = "abcdefghijklmnopqrstuvwxyz0123456789"
	switch {
	case a.flavour == Mistral:
		b = append(b, `,"p":"`...)
		b = append(b, padding[:(a.pieces*7)%len(padding)]...)
		b = append(b, '"')
	case a.padded && a.flavour.own():
		b = append(b, `,"obfuscation":"`...)
		b = append(b, padding[:(a.pieces*7)%len(padding)]...)
		b = append(b, '"')
	}
	return append(b, "}\n\n"...)
}

func (a *answer) appendUsage(b []byte, u script.Usage) []byte {
	number := func(name string, n int) {
		b = append(b, name...)
		b = strconv.AppendInt(b, int64(n), 10)
	}
	number(`{"prompt_tokens":`, u.Prompt)
	number(`,"completion_tokens":`, u.Completion)
	number(`,"total_tokens":`, u.Prompt+u.Completion)
	switch a.flavour {
	case Mistral, LlamaCPP:
	case VLLM:
		number(`,"prompt_tokens_details":{"cached_tokens":`, u.Cached)
		b = append(b, '}')
	case DeepSeek:
		number(`,"prompt_tokens_details":{"cached_tokens":`, u.Cached)
		number(`},"completion_tokens_details":{"reasoning_tokens":`, u.Reasoning)
		number(`},"prompt_cache_hit_tokens":`, u.Cached)
		number(`,"prompt_cache_miss_tokens":`, max(0, u.Prompt-u.Cached))
	case OpenRouter:
		b = append(b, `,"cost":0.0001,"is_byok":false`...)
		number(`,"prompt_tokens_details":{"cached_tokens":`, u.Cached)
		b = append(b, `},"cost_details":{"upstream_inference_cost":null}`...)
		number(`,"completion_tokens_details":{"reasoning_tokens":`, u.Reasoning)
		b = append(b, '}')
	case Groq:
		b = append(b, `,"queue_time":0.01,"prompt_time":0.001,"completion_time":0.02,"total_time":0.021`...)
		number(`,"prompt_tokens_details":{"cached_tokens":`, u.Cached)
		number(`},"completion_tokens_details":{"reasoning_tokens":`, u.Reasoning)
		b = append(b, '}')
	default:
		number(`,"prompt_tokens_details":{"cached_tokens":`, u.Cached)
		number(`,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":`, u.Reasoning)
		b = append(b, `,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}`...)
	}
	return append(b, '}')
}
