// Package gemini renders the generateContent wire format of Google's Gemini API, from its public documentation.
//
// The wire has no keepalive: a Ping renders nothing. A Comment is an SSE comment, which the official Python and Go
// SDKs take for a broken chunk. There is no opening frame and none that repeats the message either.
package gemini

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// Dialect is generateContent: POST …/models/MODEL:generateContent, …:streamGenerateContent, as server-sent events with
// alt=sse and else as a JSON array, …:countTokens, and GET …/v1beta/models and
// …/v1beta/models/ID. The zero value works.
type Dialect struct {
	Models []string // what GET …/models lists; gemini-x when empty
}

// Name is gemini.
func (Dialect) Name() string { return "gemini" }

// Recognise reads a request by its path, which says whether it wants a stream, and its JSON body.
func (d Dialect) Recognise(r *http.Request, body []byte) (provider.Request, provider.Answer) {
	path := r.URL.Path
	if r.Method == http.MethodGet {
		// Under /v1 OpenAI's models stand as well: a client of Google's tells itself by its headers.
		if own := r.Header.Get("X-Goog-Api-Key") != "" || r.Header.Get("X-Goog-Api-Client") != ""; own {
			path = strings.Replace(path, "/v1/models", "/v1beta/models", 1)
		}
		return d.models(path), nil
	}
	at := strings.LastIndexByte(path, ':')
	if r.Method != http.MethodPost || at < strings.LastIndexByte(path, '/') {
		return provider.Request{}, nil
	}
	req := provider.Request{Model: model(path[:at])}
	switch path[at+1:] {
	case "generateContent":
	case "streamGenerateContent":
		req.Stream = true
	case "countTokens":
		return provider.Request{Fixed: []byte(`{"totalTokens":42}`)}, nil
	default:
		return provider.Request{}, nil
	}
	var in struct {
		GenerationConfig struct {
			ThinkingConfig struct {
				IncludeThoughts bool `json:"includeThoughts"`
				Snake           bool `json:"include_thoughts"` // as Google's client for Python spells it
			} `json:"thinkingConfig"`
		} `json:"generationConfig"`
	}
	if json.Unmarshal(body, &in) != nil {
		return provider.Request{}, nil
	}
	req.Results = results(body)
	sum := fnv.New64a() // ids follow from the request, so that a replay has the same
	sum.Write([]byte(path))
	sum.Write(body)
	return req, &answer{
		model: req.Model, id: strconv.FormatUint(sum.Sum64()|1<<63, 16),
		stream: req.Stream, sse: req.Stream && r.URL.Query().Get("alt") == "sse",
		thoughts: in.GenerationConfig.ThinkingConfig.IncludeThoughts || in.GenerationConfig.ThinkingConfig.Snake, prompt: promptTokens,
	}
}

// model is the model of a path without its verb. Names of tuned models keep their collection.
func model(path string) string {
	if _, name, found := strings.Cut(path, "/models/"); found {
		return name
	}
	if at := strings.Index(path, "/tunedModels/"); at >= 0 {
		return path[at+1:]
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// models is the list of models, one of them, that it is not there, or nothing.
func (d Dialect) models(path string) provider.Request {
	list := d.Models
	if len(list) == 0 {
		list = []string{"gemini-x"}
	}
	if _, id, one := strings.Cut(path, "/v1beta/models/"); one && !strings.Contains(id, ":") {
		if slices.Contains(list, id) {
			return provider.Request{Fixed: appendModel(nil, id)}
		}
		return provider.Request{Fixed: appendProblem(nil, problem(http.StatusNotFound, id)), Status: http.StatusNotFound}
	}
	if !strings.HasSuffix(path, "/v1beta/models") {
		return provider.Request{}
	}
	b := []byte(`{"models":[`)
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendModel(b, m)
	}
	return provider.Request{Fixed: append(b, "]}"...)}
}

func appendModel(b []byte, m string) []byte {
	b = append(b, `{"name":`...)
	b = appendString(b, "models/"+m)
	return append(b, `,"supportedGenerationMethods":["generateContent","countTokens"]}`...)
}

// promptTokens is reported in every chunk before the script says what the prompt took: the count of [script.Answer].
const promptTokens = 9

// signature stands for the opaque bytes that go with thoughts.
const signature = "c3RhbGx3cmlnaHQ="

// answer renders one answer.
type answer struct {
	model, id   string
	stream, sse bool
	thoughts    bool // the request asked for them; else the model thinks in silence

	opened bool   // the array's bracket was sent
	spoke  bool   // text or a call was sent
	signed bool   // a signature was sent
	broken string // the last call whose arguments are no JSON object
	finish []byte // the chunk that finished, without its usage

	reported                          bool // the script said the counts that follow
	prompt, answered, thought, cached int
}

// Header sets the headers that the API sends. Errors in place of an event stream keep its type, around plain JSON.
func (a *answer) Header(h http.Header, status int, stream bool) {
	h.Set("Content-Type", "application/json; charset=UTF-8")
	if a.sse && (stream || status >= 400) {
		h.Set("Content-Type", "text/event-stream")
	}
	h.Set("Vary", "Origin, X-Origin, Referer")
	h.Set("Server", "scaffolding on HTTPServer2")
	h.Set("Server-Timing", "gfet4t7; dur=12")
}

// Append appends one chunk: an event, or an element of the array.
//
// A tool call is one part of one chunk, so its frame is its last fragment. Arguments that are no JSON object cannot be
// said: such a call is left out, and a finish that would be STOP is MALFORMED_FUNCTION_CALL, as the API has it.
// Calls that share a chunk are a ToolChunk. Thoughts are left out unless the request asked for them. The model's own
// refusal is text; Finish with content_filter before any output blocks the prompt. Done is the array's end.
func (a *answer) Append(b []byte, step script.Step, n int) []byte {
	switch s := step.(type) {
	case script.Text:
		return a.text(b, s.Chunks[n])
	case script.Refusal:
		return a.text(b, s.Chunks[n])
	case script.Think:
		a.count(&a.thought)
		if !a.thoughts {
			return b
		}
		b = append(a.candidate(b), `{"text":`...)
		b = appendString(b, s.Chunks[n])
		return a.end(append(b, `,"thought":true}`...))
	case script.Tool:
		if n < len(s.Args) {
			return b
		}
		part := a.call(nil, s)
		if part == nil {
			return b
		}
		a.count(&a.answered)
		return a.end(append(a.candidate(b), part...))
	case script.ToolChunk:
		parts := a.calls(s.Parts)
		if parts == nil {
			return b
		}
		a.count(&a.answered)
		return a.end(append(a.candidate(b), parts...))
	case script.Empty:
		return a.end(append(a.candidate(b), `{"text":""}`...))
	case script.Finish:
		if s.Reason == "" && !s.Empty {
			return a.end(append(a.candidate(b), `{"text":""}`...))
		}
		a.finish = a.finished(nil, s.Reason, a.lastPart(), false)
		return a.close(append(a.open(b), a.finish...))
	case script.Usage: // the last chunk has the counts and the reason, so the one is sent with the other
		a.usage(s)
		if a.finish == nil {
			return a.end(append(a.candidate(b), `{"text":""}`...))
		}
		return a.close(append(a.open(b), a.finish...))
	case script.Done:
		if a.sse {
			return b
		}
		if !a.opened {
			a.opened = true
			b = append(b, '[')
		}
		return append(b, ']')
	case script.Error:
		return a.frame(appendError(a.open(b), s))
	case script.Comment:
		if !a.sse {
			return b
		}
		b = append(b, ": "...)
		b = append(b, strings.ReplaceAll(s.Text, "\n", "\n: ")...)
		return append(b, "\n\n"...)
	}
	return b
}

func (a *answer) text(b []byte, text string) []byte {
	a.spoke = true
	a.count(&a.answered)
	b = append(a.candidate(b), `{"text":`...)
	b = appendString(b, text)
	return a.end(append(b, '}'))
}

// count takes a frame for a token until the script has said the counts.
func (a *answer) count(tokens *int) {
	if !a.reported {
		*tokens++
	}
}

func (a *answer) usage(u script.Usage) {
	a.reported = true
	a.prompt, a.cached = u.Prompt, u.Cached
	a.thought, a.answered = u.Reasoning, max(0, u.Completion-u.Reasoning)
}

// open appends what stands before a chunk.
func (a *answer) open(b []byte) []byte {
	switch {
	case a.sse:
		return append(b, "data: "...)
	case a.opened:
		return append(b, ",\r\n"...)
	}
	a.opened = true
	return append(b, '[')
}

// frame appends what stands behind a chunk.
func (a *answer) frame(b []byte) []byte {
	if a.sse {
		return append(b, "\n\n"...)
	}
	return append(b, '\n')
}

// candidate appends a chunk up to its parts.
func (a *answer) candidate(b []byte) []byte {
	return append(a.open(b), `{"candidates":[{"content":{"parts":[`...)
}

// end appends what follows the parts.
func (a *answer) end(b []byte) []byte {
	return a.close(append(b, `],"role":"model"},"index":0}]`...))
}

// close appends what every chunk ends with.
func (a *answer) close(b []byte) []byte { return a.frame(a.tail(b)) }

func (a *answer) tail(b []byte) []byte {
	b = append(b, `,"usageMetadata":{"promptTokenCount":`...)
	b = strconv.AppendInt(b, int64(a.prompt), 10)
	for _, count := range []struct {
		name   string
		tokens int
	}{{"candidatesTokenCount", a.answered}, {"thoughtsTokenCount", a.thought}, {"cachedContentTokenCount", a.cached}} {
		if count.tokens > 0 { // zero is absent
			b = append(b, `,"`...)
			b = append(b, count.name...)
			b = append(b, `":`...)
			b = strconv.AppendInt(b, int64(count.tokens), 10)
		}
	}
	b = append(b, `,"totalTokenCount":`...)
	b = strconv.AppendInt(b, int64(a.prompt+a.answered+a.thought), 10)
	b = append(b, `,"promptTokensDetails":[{"modality":"TEXT","tokenCount":`...)
	b = strconv.AppendInt(b, int64(a.prompt), 10)
	b = append(b, `}]},"modelVersion":`...)
	b = appendString(b, a.model)
	b = append(b, `,"responseId":"`...)
	b = append(b, a.id...)
	return append(b, `"}`...)
}

// lastPart is the part of the chunk that finishes: it carries the signature of thoughts that no call has carried.
func (a *answer) lastPart() string {
	if a.thought > 0 && !a.signed {
		a.signed = true
		return `{"text":"","thoughtSignature":"` + signature + `"}`
	}
	return `{"text":""}`
}

// finished appends a response up to its usage: these parts, and why the model stopped. called says that they hold calls.
func (a *answer) finished(b []byte, reason, parts string, called bool) []byte {
	word := a.reason(reason)
	if reason == "content_filter" && !a.spoke {
		return append(b, `{"promptFeedback":{"blockReason":"SAFETY"}`...)
	}
	b = append(b, `{"candidates":[{`...)
	if word == "STOP" || word == "MAX_TOKENS" || word == "" || a.spoke && !a.stream {
		b = append(b, `"content":{"parts":[`...)
		b = append(b, parts...)
		b = append(b, `],"role":"model"},`...)
	}
	b = append(b, `"finishReason":`...)
	b = appendString(b, word)
	b = append(b, `,"index":0`...)
	switch {
	case word == "SAFETY":
		b = append(b, `,"safetyRatings":[{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","probability":"HIGH","blocked":true}]`...)
	case word == "MALFORMED_FUNCTION_CALL":
		b = append(b, `,"finishMessage":`...)
		b = appendString(b, "Malformed function call: "+a.broken)
	case word == "STOP" && called:
		b = append(b, `,"finishMessage":"Model generated function call(s)."`...)
	}
	return append(b, "}]"...)
}

func (a *answer) reason(word string) string {
	switch word {
	case "stop", "tool_calls":
		if a.broken != "" {
			return "MALFORMED_FUNCTION_CALL"
		}
		return "STOP"
	case "length":
		return "MAX_TOKENS"
	case "content_filter", "refusal":
		return "SAFETY"
	}
	return word
}
