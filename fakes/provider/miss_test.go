package provider_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/provider/gemini"
	"github.com/stallwright/stallwright/fakes/provider/ollama"
	. "github.com/stallwright/stallwright/fakes/script"
)

// violations are the details of those that were recorded, with their instants.
func (w *world) violations() map[string]time.Duration {
	w.settle()
	all := map[string]time.Duration{}
	for _, e := range w.tl.Events() {
		if e.Kind == "violation" {
			all[e.Detail] = e.At
		}
	}
	return all
}

// A fault that a wire has no form for is not to look survived.
func TestAStepThatDoesNothingIsAViolation(t *testing.T) {
	const chat, lines, sse = "/v1/chat/completions", "/api/chat", "/v1beta/models/m:streamGenerateContent?alt=sse"
	text := Text{Chunks: []string{"one"}}
	broken := ToolChunk{Parts: []ToolPart{{Args: Is(`{"half`)}}}
	for _, tc := range []struct {
		name, path string
		step       Step
		want       string
	}{
		{"a checksum of Chat Completions", chat, fault.Garble{How: "crc"}, "garble crc does nothing on openai: openai has no checksums"},
		{"a checksum of Gemini", sse, fault.Garble{How: "crc"}, "garble crc does nothing on gemini: gemini has no checksums"},
		{"a checksum of Ollama", lines, fault.Garble{How: "crc"}, "garble crc does nothing on ollama: ollama has no checksums"},
		{"Gemini's own keepalive", sse, Ping{}, "ping does nothing on gemini: gemini has no keepalive of its own"},
		{"Ollama's own keepalive every so often", lines, Keepalive{Form: PingForm, Every: time.Second}, "keepalive ping does nothing on ollama: ollama has no keepalive of its own"},
		{"a comment of Ollama", lines, Comment{Text: "x"}, "comment does nothing on ollama: ollama has no comments"},
		{"fragments of a call of Gemini", sse, broken, "tool-chunk does nothing on gemini: it has no frame for it"},
		{"fragments of a call of Ollama", lines, broken, "tool-chunk does nothing on ollama: it has no frame for it"},
		{"a call of Ollama that is not whole, which such models leave out", lines, Tool{ID: "a", Name: "b", Args: []string{"["}}, ""},
		{"Ollama's whole message once more", lines, Message{}, "message does nothing on ollama: it has no frame for it"},
		{"the opening, the counts and the end of Gemini, which only an answer of any wire has", sse, Repeat{Times: 1, Steps: []Step{Role{}, Usage{}, Done{}}}, ""},
		{"a comment of Gemini", sse, Comment{Text: "x"}, ""},
		{"a ping of Chat Completions", chat, Comment{Text: "x"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.p.Dialects = append(w.p.Dialects, gemini.Dialect{}, ollama.Dialect{})
				w.open(Program{Steps: []Step{text, Pause{For: time.Second}, Repeat{Times: 2, Steps: []Step{tc.step, text}}, End{}}})
				w.say(tc.path)
				want := map[string]time.Duration{}
				if tc.want != "" {
					want[tc.want] = time.Second // when its turn came
				}
				require.Equal(t, want, w.violations(), "%v", w.events())
				if tc.want != "" {
					require.Len(t, w.at("violation"), 1, "once a step, however often it is repeated")
				}
			})
		})
	}
}

// say asks under another path, and reads the answer.
func (w *world) say(path string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), "POST", strings.TrimSuffix(w.url, "/v1/chat/completions")+path,
		strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"[[sw:case]]"}],"contents":[]}`))
	require.NoError(w.t, err)
	resp, err := w.client.Do(r)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	_, err = io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	w.await("end")
}

func TestWhoWaitsIsKnown(t *testing.T) {
	inBubble(t, func(w *world) {
		gate := []Step{Text{Chunks: []string{"x"}}, Await{Gate: "go"}, Done{}, End{}}
		w.open(Program{Steps: gate}, Program{Steps: []Step{Text{Chunks: []string{"x"}}, Meet{Barrier: "all", Streams: 2}, End{}}}, Program{Steps: []Step{fault.Stall{}}})
		require.Empty(t, w.p.Waiting("case"))
		require.Empty(t, w.p.Waiting("other"))
		for range 2 {
			resp, err := w.post(context.Background(), streaming)
			require.NoError(t, err)
			defer resp.Body.Close()
		}
		w.settle()
		require.Equal(t, []string{`request 1 waits at the gate "go"`, `request 2 waits at the barrier "all"`}, w.p.Waiting("case"))
		w.gates.Open("go")
		w.await("end")
		require.Equal(t, []string{`request 2 waits at the barrier "all"`}, w.p.Waiting("case"))
		w.p.Release("case")
		require.Empty(t, w.p.Waiting("case"))
	})
}
