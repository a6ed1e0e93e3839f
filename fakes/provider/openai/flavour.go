package openai

import (
	"strings"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// Flavour is one server's way of speaking Chat Completions: the field of its reasoning, its keepalives, where its usage
// stands, its errors and headers. The empty one, and one that is not known, is OpenAI's.
type Flavour string

// The flavours, each from its public documentation or recorded answers.
const (
	OpenAI     Flavour = "openai"
	Azure      Flavour = "azure"
	DeepSeek   Flavour = "deepseek"
	Groq       Flavour = "groq"
	LlamaCPP   Flavour = "llamacpp"
	Mistral    Flavour = "mistral"
	OpenRouter Flavour = "openrouter"
	VLLM       Flavour = "vllm"
	XAI        Flavour = "xai"
)

// Flavours lists them all.
func Flavours() []Flavour {
	return []Flavour{OpenAI, Azure, DeepSeek, Groq, LlamaCPP, Mistral, OpenRouter, VLLM, XAI}
}

// manners is what a flavour does its own way and can be said in data.
type manners struct {
	prefix    string   // of ids
	members   string   // of every chunk and body, behind its model
	choice    string   // members of every choice
	reasoning []string // the fields of a delta that carry reasoning, each with the same text
	open      string   // the opening delta
	head      string   // members of a delta that opens the answer with a tool call
	each      string   // members of every other delta but the last
	last      string   // the delta that finishes
	refusal   bool     // a refusal has a field of its own; else it is content
	nulls     bool     // "usage":null stands in every other chunk, asked for or not
	unasked   bool     // usage comes without asking
	joined    bool     // usage that is known by then stands in the chunk that finishes
	numbers   bool     // codes of errors are numbers
	ping      string   // the comment that keeps a stream alive; empty when there is none
	mediaType string   // of a stream
}

func (f Flavour) manners() manners {
	m := manners{
		prefix: "chatcmpl-", reasoning: []string{"reasoning_content"},
		open: `{"role":"assistant","content":""}`, head: `"role":"assistant","content":null,`, last: "{}",
		mediaType: "text/event-stream; charset=utf-8",
	}
	switch f {
	case DeepSeek:
		m.prefix, m.members = "", `,"system_fingerprint":"fp_stallwright"`
		m.last, m.nulls, m.unasked, m.joined = `{"content":""}`, true, true, true
		m.ping = "keep-alive"
	case Groq:
		m.members, m.reasoning = `,"system_fingerprint":"fp_stallwright"`, []string{"reasoning"}
		m.joined = true
	case LlamaCPP:
		m.members, m.open = `,"system_fingerprint":"b1-stallwright"`, `{"role":"assistant","content":null}`
		m.numbers = true
	case Mistral:
		m.prefix, m.last, m.unasked, m.joined = "", `{"content":""}`, true, true
	case OpenRouter:
		m.prefix, m.members, m.reasoning = "gen-", `,"provider":"Stallwright"`, []string{"reasoning"}
		m.each, m.last = `"role":"assistant","content":null,`, `{"role":"assistant","content":""}`
		m.refusal, m.unasked, m.numbers = true, true, true
		m.ping, m.mediaType = "OPENROUTER PROCESSING", "text/event-stream"
	case VLLM:
		m.reasoning, m.numbers = []string{"reasoning", "reasoning_content"}, true
	case XAI:
		m.prefix, m.members = "", `,"system_fingerprint":"fp_stallwright"`
		m.ping, m.mediaType = "keepalive", "text/event-stream"
	default:
		m.members = `,"service_tier":"default","system_fingerprint":"fp_stallwright"`
		m.open = `{"role":"assistant","content":"","refusal":null}`
		m.head, m.refusal = `"role":"assistant","content":null,"refusal":null,`, true
		if f == Azure {
			m.members, m.choice = `,"system_fingerprint":"fp_stallwright"`, `,"content_filter_results":{}`
		}
	}
	return m
}

// safe is what Azure says of a harmless text.
const safe = `{"hate":{"filtered":false,"severity":"safe"},"self_harm":{"filtered":false,"severity":"safe"},` +
	`"sexual":{"filtered":false,"severity":"safe"},"violence":{"filtered":false,"severity":"safe"}}`

const promptFilter = `"prompt_filter_results":[{"prompt_index":0,"content_filter_results":` + safe + `}]`

// quote is a finish reason on the wire. Chat Completions ends a refusal as it ends any text.
func quote(s script.Finish) []byte {
	switch {
	case s.Reason == "refusal":
		return []byte(`"stop"`)
	case s.Reason != "" || s.Empty:
		return provider.AppendString(nil, s.Reason)
	}
	return null
}

// deployment is the model in a path of Azure, empty when the path names none.
func deployment(path string) string {
	_, after, _ := strings.Cut(path, "/deployments/")
	name, _, _ := strings.Cut(after, "/")
	return name
}
