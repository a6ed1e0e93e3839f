package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

func TestFailsVisibly(t *testing.T) {
	client := func(kind, detail string) timeline.Event {
		return timeline.Event{Lane: "client", Kind: kind, Detail: detail}
	}
	complete, ok := client("end", "complete"), client("status", "200 text/event-stream")
	for _, test := range []struct {
		name   string
		events []timeline.Event
		want   verdict.Verdict
	}{
		{"an error frame is visible", []timeline.Event{ok, client("error", "x: y"), complete}, verdict.Pass},
		{"a status is visible", []timeline.Event{client("status", "502 application/json"), complete}, verdict.Pass},
		{"a cut is visible", []timeline.Event{ok, client("end", "cut: closed")}, verdict.Pass},
		{"a finish reason of error is visible", []timeline.Event{ok, client("finish", "error"), complete}, verdict.Pass},
		{"a finish reason of stop is not", []timeline.Event{ok, client("finish", "stop"), complete}, verdict.Fail},
		{"an end without a word is not", []timeline.Event{ok, complete}, verdict.Fail},
		{"no end at all is not", []timeline.Event{ok}, verdict.Fail},
		{"what the provider sends is not the client's", []timeline.Event{ok, {Lane: "provider", Kind: "error"}, complete}, verdict.Fail},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, failsVisibly{}.Judge(expect.History{Events: test.events}).Verdict)
		})
	}
}
