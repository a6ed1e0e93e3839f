package expect_test

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// at makes the events of a history, numbered in the order given.
func at(events ...timeline.Event) []timeline.Event {
	for i := range events {
		events[i].Seq = i + 1
	}
	return events
}

func event(s float64, lane, kind, detail string) timeline.Event {
	return timeline.Event{At: time.Duration(s * float64(time.Second)), Lane: lane, Kind: kind, Detail: detail}
}

var (
	ask  = expect.Event{Lane: "client", Kind: "ask"}
	text = expect.Event{Lane: "client", Kind: "text"}
	done = expect.Event{Lane: "client", Kind: "done"}
	left = expect.Event{Lane: "provider", Kind: "left"}
	beat = expect.Event{Lane: "client", Kind: "comment"}
)

func TestExpectations(t *testing.T) {
	plain := at(event(1, "client", "ask", ""), event(3, "client", "text", "one "), event(4, "client", "text", "two"), event(5, "client", "done", ""))
	beats := at(event(1, "client", "ask", ""), event(2, "client", "comment", ""), event(3, "client", "comment", ""), event(4.5, "client", "comment", ""))
	counts := func(a, b string) []timeline.Event {
		return at(event(1, "process", "files", a), event(2, "process", "files", b))
	}
	files := expect.Event{Lane: "process", Kind: "files"}
	tests := []struct {
		name   string
		want   verdict.Verdict
		kind   verdict.Kind
		at     float64
		events []timeline.Event
		slack  time.Duration
		x      expect.Expectation
	}{
		{"an instant that is met passes", verdict.Pass, verdict.Deadline, 3, plain, 0, expect.Happens{What: text, After: ask, From: 2 * time.Second, To: 2 * time.Second}},
		{"an event a nanosecond late fails at its deadline", verdict.Fail, verdict.Deadline, 2.999999999, plain, 0, expect.Happens{What: text, After: ask, To: 2*time.Second - 1}},
		{"an event a nanosecond early fails as early", verdict.Fail, verdict.Early, 3, plain, 0, expect.Happens{What: text, After: ask, From: 2*time.Second + 1, To: time.Minute}},
		{"slack forgives on both sides", verdict.Pass, verdict.Deadline, 3, plain, time.Second, expect.Happens{What: text, After: ask, From: 3 * time.Second, To: 3 * time.Second}},
		{"an event that never came fails when its window is over", verdict.Fail, verdict.Deadline, 2, plain, 0, expect.Happens{What: left, After: ask, To: time.Second}},
		{"an event that never came is inconclusive when the trial ended first", verdict.Inconclusive, verdict.Deadline, 61, plain, 0, expect.Happens{What: left, After: ask, To: time.Minute}},
		{"a window without its anchor is inconclusive", verdict.Inconclusive, "", 0, plain, 0, expect.Happens{What: text, After: left, To: time.Minute}},
		{"the second of its kind is found", verdict.Pass, verdict.Deadline, 4, plain, 0, expect.Happens{What: expect.Event{Lane: "client", Kind: "text", Nth: 2}, After: ask, From: 3 * time.Second, To: 3 * time.Second}},
		{"in another lane the same instant is not too early", verdict.Pass, verdict.Deadline, 5, at(event(5, "provider", "left", ""), event(5, "client", "done", "")), 0, expect.Happens{What: left, After: done}},

		{"what must not happen and does is pinned", verdict.Fail, verdict.Forbidden, 3, plain, 0, expect.Never{What: text, After: ask}},
		{"what happened before the anchor is not held against it", verdict.Pass, verdict.Forbidden, 10, plain, 0, expect.Never{What: text, After: done}},
		{"in another lane the same instant is not after", verdict.Pass, verdict.Forbidden, 10, at(event(5, "client", "done", ""), event(5, "provider", "left", "")), 0, expect.Never{What: left, After: done}},
		{"never before an event that is missing is inconclusive", verdict.Inconclusive, "", 0, plain, 0, expect.Never{What: text, Before: left}},

		{"a count that is met passes", verdict.Pass, verdict.Count, 10, plain, 0, expect.Times{What: text, Min: 2, Max: 2}},
		{"one too many is pinned", verdict.Fail, verdict.Count, 4, plain, 0, expect.Times{What: text, Min: 0, Max: 1}},
		{"one too few fails at the end", verdict.Fail, verdict.Count, 10, plain, 0, expect.Times{What: text, Min: 3, Max: 9}},

		{"an order that is kept passes", verdict.Pass, verdict.Order, 5, plain, 0, expect.InOrder{ask, text, done}},
		{"an order that is not kept is pinned", verdict.Fail, verdict.Order, 3, plain, 0, expect.InOrder{done, text}},
		{"a missing event is out of order", verdict.Fail, verdict.Order, 10, plain, 0, expect.InOrder{ask, left}},

		{"the joined text passes", verdict.Pass, verdict.Value, 4, plain, 0, expect.Reads{What: text, Text: "one two"}},
		{"a text that departs is pinned where it does", verdict.Fail, verdict.Value, 4, plain, 0, expect.Reads{What: text, Text: "one three"}},
		{"a text that is cut fails", verdict.Fail, verdict.Value, 4, plain, 0, expect.Reads{What: text, Text: "one two three"}},
		{"a detail that is held passes", verdict.Pass, verdict.Value, 3, plain, 0, expect.Says{What: text, Text: "one"}},
		{"a detail that is not held fails", verdict.Fail, verdict.Value, 3, plain, 0, expect.Says{What: text, Text: "two"}},
		{"a detail of no event is inconclusive", verdict.Inconclusive, "", 0, plain, 0, expect.Says{What: left, Text: "two"}},

		{"beats on time pass", verdict.Pass, verdict.Deadline, 3, beats, 0, expect.Beats{What: beat, After: ask, Every: time.Second, Until: 2500 * time.Millisecond}},
		{"a beat that is late fails when it was due", verdict.Fail, verdict.Deadline, 4, beats, 0, expect.Beats{What: beat, After: ask, Every: time.Second, Until: 4 * time.Second}},
		{"a beat that is early is pinned", verdict.Fail, verdict.Early, 2, beats, 0, expect.Beats{What: beat, After: ask, Every: 2 * time.Second, Until: 4 * time.Second}},
		{"a beat that is missing fails when it was due", verdict.Fail, verdict.Deadline, 4, beats[:3], 0, expect.Beats{What: beat, After: ask, Every: time.Second, Until: 9 * time.Second}},

		{"details that differ pass", verdict.Pass, verdict.Value, 4, plain, 0, expect.Distinct{What: text}},
		{"a detail that comes again is pinned where it does", verdict.Fail, verdict.Value, 3, beats, 0, expect.Distinct{What: beat}},
		{"one detail is no comparison", verdict.Inconclusive, "", 0, plain, 0, expect.Distinct{What: done}},

		{"a count back at its baseline passes", verdict.Pass, verdict.State, 2, counts("3", "3"), 0, expect.Returns{What: files}},
		{"a count above its baseline fails", verdict.Fail, verdict.State, 2, counts("3", "4"), 0, expect.Returns{What: files}},
		{"one count is no comparison", verdict.Inconclusive, "", 0, counts("3", "4")[:1], 0, expect.Returns{What: files}},
		{"what is no number is inconclusive", verdict.Inconclusive, verdict.State, 2, counts("3", "?"), 0, expect.Returns{What: files}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.x.Judge(expect.History{Events: tt.events, End: 10 * time.Second, Slack: tt.slack})
			require.Equal(t, tt.want, got.Verdict, "%s: %+v", tt.x, got.Evidence)
			require.Equal(t, tt.kind, got.Evidence.Kind)
			require.InDelta(t, tt.at, got.Evidence.At.Seconds(), 1e-8)
			require.NotEmpty(t, got.Evidence.Expected)
			require.NotEmpty(t, got.Evidence.Found)
		})
	}
}

func TestExpectationsAreSentences(t *testing.T) {
	require.Equal(t, `client text 1m30s after client ask`, expect.Happens{What: text, After: ask, From: 90 * time.Second, To: 90 * time.Second}.String())
	require.Equal(t, `client text at once after client ask`, expect.Happens{What: text, After: ask}.String())
	require.Equal(t, `client text within 2s after client ask`, expect.Happens{What: text, After: ask, To: 2 * time.Second}.String())
	require.Equal(t, `no client text after client done`, expect.Never{What: text, After: done}.String())
	require.Equal(t, `every client text different`, expect.Distinct{What: text}.String())
	require.Equal(t, `exactly 1 of client text`, expect.Times{What: text, Min: 1, Max: 1}.String())
	require.Equal(t, `client #1 text "x" no. 2`, expect.Event{Lane: "client", Ref: "#1", Kind: "text", Detail: "x", Nth: 2}.String())
}

func TestShowIsAGomegaMatcher(t *testing.T) {
	g := gomega.NewWithT(t)
	h := expect.History{Events: at(event(1, "client", "ask", "")), End: time.Second}
	g.Expect(h).To(expect.Show(expect.Times{What: ask, Min: 1, Max: 1}))
	m := expect.Show(expect.Times{What: ask, Min: 2, Max: 2})
	g.Expect(h).NotTo(m)
	require.Contains(t, m.FailureMessage(h), "exactly 2 of client ask")
	_, err := m.Match(42)
	require.ErrorContains(t, err, "int is not an expect.History")
}
