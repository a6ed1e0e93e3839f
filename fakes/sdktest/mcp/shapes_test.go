package mcp_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

const (
	argSchema    = `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`
	resultSchema = `{"type":"object","properties":{"depth":{"type":"integer"}},"required":["depth"]}`
)

// tools are those of every script here.
func tools() []mcp.Tool {
	return []mcp.Tool{
		{Name: "search", Description: "Finds things.", Schema: argSchema, ReadOnly: true, Result: mcp.Result{Text: "Found: \"fjord\" — 3 times\nand no more"}},
		{Name: "measure", Output: resultSchema, Result: mcp.Result{Text: `{"depth":1308}`, Structured: `{"depth":1308}`}},
		{Name: "fails", Result: mcp.Result{Text: "no such fjord", IsError: true}},
		{Name: "slow", Takes: 30 * time.Millisecond, Progress: mcp.Progress{Count: 3, Total: 3, Text: "sounding"}, Result: mcp.Result{Text: "done"}},
		{Name: "held", Gate: "never"},
		{Name: "breaks"},
	}
}

// broken answers a call of one tool with an error of JSON-RPC.
var broken = mcp.Program{When: mcp.When{Tool: "breaks"}, Steps: []script.Step{mcp.Error{Code: -32050, Message: "the sounder is broken"}}}

func TestClientsReadAWellBehavedServer(t *testing.T) {
	for _, w := range ways() {
		bodies := []mcp.Answers{mcp.BestAnswers}
		if w.http {
			bodies = append(bodies, mcp.StreamAnswers, mcp.JSONAnswers)
		}
		for _, answers := range bodies {
			t.Run(strings.TrimSuffix(w.name+", answers "+string(answers), ", answers "), func(t *testing.T) {
				v := start(t, mcp.Script{Tools: tools(), Programs: []mcp.Program{broken}, Manners: mcp.Manners{Answers: answers}})
				ctx, stop := context.WithTimeout(t.Context(), enough)
				defer stop()
				a := w.connect(t, v)
				require.Equal(t, w.revision, a.revision())
				if w.listens {
					v.awaitListener()
				}

				list, err := a.list(ctx)
				require.NoError(t, err)
				require.Len(t, list, len(tools()))
				require.Equal(t, "search", list[0].Name)
				require.JSONEq(t, argSchema, list[0].Schema)
				require.True(t, list[0].ReadOnly)

				for _, test := range []struct {
					tool string
					want answer
				}{
					{"search", answer{Text: "Found: \"fjord\" — 3 times\nand no more"}},
					{"measure", answer{Text: `{"depth":1308}`, Structured: `{"depth":1308}`}},
					{"fails", answer{Text: "no such fjord", IsError: true}},
					{"slow", answer{Text: "done"}},
				} {
					got, err := a.call(ctx, test.tool)
					require.NoError(t, err, test.tool)
					require.Equal(t, test.want, got)
				}
				if answers != mcp.JSONAnswers || w.listens {
					require.Equal(t, []float64{1, 2, 3}, take(t, a.progress(), 3))
				}
				_, err = a.call(ctx, "breaks")
				require.ErrorContains(t, err, "the sounder is broken")

				require.NoError(t, a.close())
				if w.goodbye != "" {
					v.await(w.goodbye, w.farewell)
				}
				require.Empty(t, v.details("violation"))
				require.Empty(t, a.progress(), "more was told than was sent")
				if w.goodbye == "delete" {
					require.Len(t, v.details("delete"), 1)
				} else {
					require.Empty(t, v.details("delete"))
				}
				require.Empty(t, v.f.Release(""), "programs that the SDK did not ask for")
			})
		}
	}
}

// take takes n of what is told.
func take(t *testing.T, told <-chan float64, n int) []float64 {
	t.Helper()
	late := time.NewTimer(enough)
	defer late.Stop()
	var list []float64
	for len(list) < n {
		select {
		case v := <-told:
			list = append(list, v)
		case <-late.C:
			require.Fail(t, "progress is missing", "%v", list)
		}
	}
	return list
}
