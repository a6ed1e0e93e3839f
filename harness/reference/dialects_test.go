package reference

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/anthropic"
	"github.com/stallwright/stallwright/fakes/provider/gemini"
	"github.com/stallwright/stallwright/fakes/provider/ollama"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	"github.com/stallwright/stallwright/fakes/provider/responses"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// One script, every dialect: the reference answers its client alike.
func TestTheReferenceSpeaksEveryDialect(t *testing.T) {
	answered := script.Answer("one ", "two")
	stalled := script.Program{Steps: []script.Step{script.Headers{}, script.Role{}, fault.Stall{}}}
	thinks := script.Program{Steps: []script.Step{script.Think{Chunks: []string{"well", " then"}, Every: 80 * time.Second}, script.Pause{For: 80 * time.Second},
		script.Text{Chunks: []string{"so"}}, script.Finish{Reason: "stop"}, script.Done{}, script.End{}}}
	cut := script.Program{Steps: []script.Step{script.Text{Chunks: []string{"one "}}, script.Pause{For: time.Second}, fault.Cut{}}}
	fails := script.Program{Steps: []script.Step{script.Text{Chunks: []string{"one "}}, script.Error{Message: "no more"}, script.End{}}}
	refuses := script.Program{Steps: []script.Step{fault.Status{Code: 500}}}
	client := func(kind, detail string) expect.Event {
		return expect.Event{Lane: caller.Lane, Kind: kind, Detail: detail}
	}
	asked := expect.Event{Lane: provider.Lane, Kind: "request"}
	for _, d := range []provider.Dialect{openai.Dialect{}, responses.Dialect{}, anthropic.Dialect{}, gemini.Dialect{}, ollama.Dialect{}} {
		for _, c := range []struct {
			name    string
			program script.Program
			shows   []expect.Expectation
		}{
			{"a good answer is whole", answered, []expect.Expectation{expect.Reads{What: client("text", ""), Text: "one two"}, expect.InOrder{client("finish", "stop"), client("done", "")}}},
			{"a silent model is given up at the first-chunk window", stalled, []expect.Expectation{
				expect.Happens{What: client("error", "first_chunk_timeout"), After: asked, From: 90 * time.Second, To: 90 * time.Second}}},
			{"visible thinking is output", thinks, []expect.Expectation{expect.Reads{What: client("text", ""), Text: "so"}, expect.Never{What: client("error", "")}}},
			{"a cut is no success", cut, []expect.Expectation{expect.Times{What: client("error", "provider_truncated"), Min: 1, Max: 1}}},
			{"an error in the stream is one", fails, []expect.Expectation{expect.Times{What: client("error", "provider_error"), Min: 1, Max: 1}}},
			{"an error in place of the stream is one", refuses, []expect.Expectation{expect.Times{What: client("error", "provider_error"), Min: 1, Max: 1}}},
		} {
			t.Run(d.Name()+": "+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := ask(t, d, c.program)
					for _, x := range c.shows {
						j := x.Judge(h)
						require.Equal(t, "pass", string(j.Verdict), "%s\n%+v\n%+v", x, j.Evidence, h.Events)
					}
				})
			})
		}
	}
}

// ask plays one program to one streaming request to the reference, in the bubble of the test.
func ask(t *testing.T, d provider.Dialect, p script.Program) expect.History {
	var network memnet.Network
	defer network.Close()
	tl := timeline.New()
	fake := &provider.Provider{Dialects: []provider.Dialect{d}, Fallback: &provider.Session{Script: script.Script{p}, Timeline: tl}}
	atProvider, err := network.Listen("provider.test:80")
	require.NoError(t, err)
	go fake.Serve(atProvider)
	defer fake.Close()
	atAgent, err := network.Listen("agent.test:80")
	require.NoError(t, err)
	server, err := Target("").Start(harness.Setup{
		Windows: harness.Production().With(harness.Set{}), Provider: "http://provider.test/v1", Dialect: d.Name(), Listener: atAgent,
		Dial: network.DialContext, Log: &bytes.Buffer{},
	})
	require.NoError(t, err)
	c := &caller.Caller{Dial: network.DialContext, Address: "agent.test:80", Timeline: tl}
	<-c.Ask(caller.Ask{Prompt: "hello", Stream: true}).Ended()
	synctest.Wait()
	server.Signal("SIGTERM")
	<-server.Done()
	return expect.History{Events: tl.Events(), End: tl.Now()}
}
