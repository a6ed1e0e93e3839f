package proof

import (
	"net/http"
	"sync"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/anthropic"
	"github.com/stallwright/stallwright/fakes/provider/bedrock"
	"github.com/stallwright/stallwright/fakes/provider/gemini"
	"github.com/stallwright/stallwright/fakes/provider/ollama"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	"github.com/stallwright/stallwright/fakes/provider/responses"
	"github.com/stallwright/stallwright/fakes/script"
)

// framing is how the answers of a variant are divided.
type framing string

const (
	events   framing = "server-sent events"
	array    framing = "a JSON array"
	lines    framing = "lines of JSON"
	messages framing = "messages with checksums"
	piece    framing = "one piece"
)

// variant is a dialect with one of its ways to answer.
type variant struct {
	name    string
	dialect provider.Dialect
	path    string
	body    string
	framing framing
	types   map[int]string // of bodies with these statuses; 200 is that of an answer
}

const (
	jsonType   = "application/json"
	jsonUTF8   = "application/json; charset=utf-8"
	googleType = "application/json; charset=UTF-8"
	eventType  = "text/event-stream; charset=utf-8"
)

// variants are all of them. The types of bodies are those of the public APIs.
func variants() []variant {
	const chat = "/v1/chat/completions"
	plain := func(ok string) map[int]string {
		return map[int]string{200: ok, 400: jsonType, 401: jsonType, 429: jsonType}
	}
	all := func(t string) map[int]string { return map[int]string{200: t, 400: t, 401: t, 429: t} }
	deepseek := func(ok string) map[int]string {
		return map[int]string{200: ok, 400: "application/octet-stream", 401: jsonType, 429: jsonType}
	}
	answers := func(ok string) map[int]string {
		return map[int]string{200: ok, 400: jsonType, 401: "text/plain; charset=utf-8", 429: jsonType}
	}
	return []variant{
		{"openai stream", openai.Dialect{}, chat, `{"model":"m","stream":true,"messages":[]}`, events, plain(eventType)},
		{"openai in one piece", openai.Dialect{}, chat, `{"model":"m","messages":[]}`, piece, plain(jsonType)},
		{"deepseek stream", openai.Dialect{Flavour: openai.DeepSeek}, chat, `{"model":"m","stream":true,"messages":[]}`, events, deepseek(eventType)},
		{"deepseek in one piece", openai.Dialect{Flavour: openai.DeepSeek}, chat, `{"model":"m","messages":[]}`, piece, deepseek(jsonType)},
		{"responses stream", responses.Dialect{}, "/v1/responses", `{"model":"m","stream":true,"input":"hi"}`, events, answers(eventType)},
		{"responses in one piece", responses.Dialect{}, "/v1/responses", `{"model":"m","input":"hi"}`, piece, answers(jsonType)},
		{"anthropic stream", anthropic.Dialect{}, "/v1/messages", `{"model":"m","stream":true,"messages":[]}`, events, plain(eventType)},
		{"anthropic in one piece", anthropic.Dialect{}, "/v1/messages", `{"model":"m","messages":[]}`, piece, plain(jsonType)},
		{"gemini events", gemini.Dialect{}, "/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[]}`, events, all("text/event-stream")},
		{"gemini array", gemini.Dialect{}, "/v1beta/models/m:streamGenerateContent", `{"contents":[]}`, array, all(googleType)},
		{"gemini in one piece", gemini.Dialect{}, "/v1beta/models/m:generateContent", `{"contents":[]}`, piece, all(googleType)},
		{"ollama stream", ollama.Dialect{}, "/api/chat", `{"model":"m"}`, lines, map[int]string{200: "application/x-ndjson", 400: jsonUTF8, 401: jsonUTF8, 429: jsonUTF8}},
		{"ollama in one piece", ollama.Dialect{}, "/api/chat", `{"model":"m","stream":false}`, piece, all(jsonUTF8)},
		{"bedrock stream", bedrock.Dialect{}, "/model/m/converse-stream", `{}`, messages, plain("application/vnd.amazon.eventstream")},
		{"bedrock in one piece", bedrock.Dialect{}, "/model/m/converse", `{}`, piece, plain(jsonType)},
	}
}

func (v variant) stream() bool { return v.framing != piece }

// when chooses the variant's requests, as far as a script can.
func (v variant) when() script.When {
	stream := v.stream()
	return script.When{Dialect: v.dialect.Name(), Stream: &stream}
}

// rendered is what a dialect made of a frame, or of a body: what is on the wire when no fault is.
type rendered struct {
	kind  string // the step's, or body
	bytes string
}

// recorder is a dialect that remembers what its answers have rendered.
type recorder struct {
	provider.Dialect
	mu  sync.Mutex
	got []rendered
}

// Recognise hands a recording answer out.
func (r *recorder) Recognise(req *http.Request, body []byte) (provider.Request, provider.Answer) {
	asked, answer := r.Dialect.Recognise(req, body)
	if answer == nil {
		return asked, nil
	}
	return asked, recording{answer, r}
}

func (r *recorder) add(kind string, b []byte) {
	if len(b) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, rendered{kind, string(b)})
}

// all is what was rendered so far.
func (r *recorder) all() []rendered {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]rendered(nil), r.got...)
}

type recording struct {
	provider.Answer
	to *recorder
}

// Append renders and remembers.
func (r recording) Append(dst []byte, step script.Step, n int) []byte {
	from := len(dst)
	dst = r.Answer.Append(dst, step, n)
	r.to.add(step.Kind(), dst[from:])
	return dst
}

// Body renders and remembers.
func (r recording) Body(status int, said []script.Step) []byte {
	b := r.Answer.Body(status, said)
	r.to.add("body", b)
	return b
}
