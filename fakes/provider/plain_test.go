package provider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// plain is a dialect that has a form for every step: POST /NAME, frames with their kind, text and number.
type plain struct{ name, contentType string }

var (
	events = plain{"events", "text/event-stream"}
	ndjson = plain{"lines", "application/x-ndjson"}
)

func (p plain) Name() string { return p.name }

func (p plain) Recognise(r *http.Request, body []byte) (provider.Request, provider.Answer) {
	var in struct {
		Model  string
		Stream bool
	}
	if r.URL.Path != "/"+p.name || json.Unmarshal(body, &in) != nil {
		return provider.Request{}, nil
	}
	return provider.Request{Model: in.Model, Stream: in.Stream}, &plainAnswer{plain: p}
}

func (p plain) Validate(r *http.Request, body []byte) (int, string) {
	if strings.Contains(string(body), "bad") {
		return 422, `this is "bad"`
	}
	return 0, ""
}

type plainAnswer struct {
	plain
	frames int
}

func (a *plainAnswer) Header(h http.Header, status int, stream bool) {
	h.Set("Content-Type", "application/json")
	if stream {
		h.Set("Content-Type", a.contentType)
	}
}

func (a *plainAnswer) Append(dst []byte, step script.Step, n int) []byte {
	text := ""
	switch s := step.(type) {
	case script.Comment:
		if a.name == "events" {
			return fmt.Appendf(dst, ": %s\n\n", s.Text)
		}
		return dst
	case script.Done:
		if a.name == "events" {
			return append(dst, "data: [DONE]\n\n"...)
		}
	case script.Text:
		text = s.Chunks[n]
	case script.Think:
		text = s.Chunks[n]
	case script.Refusal:
		text = s.Chunks[n]
	case script.ToolChunk:
		text = fmt.Sprint(len(s.Parts))
	}
	a.frames++
	quoted, _ := json.Marshal(text)
	if a.name == "events" {
		return fmt.Appendf(dst, "event: %s\ndata: {\"n\":%d,\"text\":%s}\n\n", step.Kind(), a.frames, quoted)
	}
	return fmt.Appendf(dst, "{\"n\":%d,\"text\":%s}\n", a.frames, quoted)
}

func (a *plainAnswer) Body(status int, said []script.Step) []byte {
	if status >= 400 {
		return fmt.Appendf(nil, `{"type":"error","error":{"code":%d,"message":"its own"}}`, status)
	}
	var list []string
	for _, s := range said {
		text := s.Kind()
		if t, ok := s.(script.Text); ok {
			text += " " + strings.Join(t.Chunks, "")
		}
		list = append(list, text)
	}
	b, _ := json.Marshal(map[string]any{"said": list})
	return b
}

// speakPlain adds the plain dialects to the provider.
func (w *world) speakPlain() {
	w.p.Dialects = append(w.p.Dialects, events, ndjson)
}

// askPlain asks in a plain dialect. What is sent more goes into the body.
func (w *world) askPlain(d plain, stream bool, more ...string) (*http.Response, string, error) {
	w.t.Helper()
	resp, err := w.postPlain(context.Background(), d, stream, more...)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

func (w *world) postPlain(ctx context.Context, d plain, stream bool, more ...string) (*http.Response, error) {
	w.t.Helper()
	body := fmt.Sprintf(`{"model":"m","stream":%t,"prompt":"[[sw:case]] %s"}`, stream, strings.Join(more, " "))
	base := strings.TrimSuffix(w.url, "/v1/chat/completions")
	r, err := http.NewRequestWithContext(ctx, "POST", base+"/"+d.name, strings.NewReader(body))
	require.NoError(w.t, err)
	return w.client.Do(r)
}
