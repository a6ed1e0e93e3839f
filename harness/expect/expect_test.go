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
	of := func(ref string, e timeline.Event) timeline.Event {
		e.Ref = ref
		return e
	}
	over := at(of("a", event(1, "client", "ask", "")), of("b", event(1, "client", "ask", "")), of("a", event(2, "client", "end", "complete")), of("b", event(2, "client", "left", "close")))
	end, failure := expect.Event{Lane: "client", Kind: "end"}, expect.Event{Lane: "client", Kind: "error"}
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
		{"an event of a request that has ended cannot come in an open window", verdict.Fail, verdict.Deadline, 10, over, 0, expect.Happens{What: failure, After: end, To: time.Minute}},
		{"nor one of a request that was left", verdict.Fail, verdict.Deadline, 10, over, 0, expect.Happens{What: expect.Event{Lane: "client", Ref: "b", Kind: "text"}, After: end, To: time.Minute}},
		{"nor a beat", verdict.Fail, verdict.Deadline, 10, over, 0, expect.Beats{What: expect.Event{Lane: "client", Ref: "a", Kind: "comment"}, After: ask, Every: 20 * time.Second, Until: time.Minute}},
		{"one of a request that goes on may still come", verdict.Inconclusive, verdict.Deadline, 62, over, 0, expect.Happens{What: expect.Event{Lane: "client", Ref: "c", Kind: "error"}, After: end, To: time.Minute}},
		{"one of any request may come while one goes on", verdict.Inconclusive, verdict.Deadline, 62, append(over, event(3, "client", "ask", "")), 0, expect.Happens{What: failure, After: end, To: time.Minute}},
		{"an event of another lane may come when all requests have ended", verdict.Inconclusive, verdict.Deadline, 62, over, 0, expect.Happens{What: left, After: end, To: time.Minute}},
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

func TestAJudgementSaysHowFarALimitWasMissed(t *testing.T) {
	events := at(event(1, "client", "ask", ""), event(3, "client", "text", "one"), event(5, "client", "comment", ""))
	ended := append(events[:3:3], event(6, "client", "end", "complete"))
	for _, c := range []struct {
		name   string
		events []timeline.Event
		x      expect.Expectation
		want   expect.Judgement // without its evidence
	}{
		{"what was late, by how much", events, expect.Happens{What: text, After: ask, To: 1500 * time.Millisecond}, expect.Judgement{Verdict: verdict.Fail, Missed: 500 * time.Millisecond}},
		{"what was early, by how much", events, expect.Happens{What: text, After: ask, From: 5 * time.Second, To: time.Minute}, expect.Judgement{Verdict: verdict.Fail, Missed: 3 * time.Second}},
		{"a beat that was late, by how much", events, expect.Beats{What: beat, After: ask, Every: time.Second, Until: 9 * time.Second}, expect.Judgement{Verdict: verdict.Fail, Missed: 3 * time.Second}},
		{"what did not come, by what is known", events, expect.Happens{What: left, After: ask, To: time.Second}, expect.Judgement{Verdict: verdict.Fail, Absent: true, Missed: 8 * time.Second}},
		{"what cannot come any more, for ever", ended, expect.Happens{What: done, After: ask, To: time.Second}, expect.Judgement{Verdict: verdict.Fail, Absent: true, Missed: expect.Forever}},
		{"a window that is open, until when", events, expect.Happens{What: left, After: ask, To: 20 * time.Second}, expect.Judgement{Verdict: verdict.Inconclusive, Open: 21 * time.Second}},
		{"a beat that is not due yet, until the last one", events, expect.Beats{What: left, After: ask, Every: 15 * time.Second, Until: time.Minute}, expect.Judgement{Verdict: verdict.Inconclusive, Open: 61 * time.Second}},
		{"too few are absent", events, expect.Times{What: text, Min: 2, Max: 2}, expect.Judgement{Verdict: verdict.Fail, Absent: true}},
		{"too many are there", events, expect.Times{What: text, Max: 0}, expect.Judgement{Verdict: verdict.Fail}},
		{"the rest of a text is absent", events, expect.Reads{What: text, Text: "one two"}, expect.Judgement{Verdict: verdict.Fail, Absent: true}},
		{"another text is there", events, expect.Reads{What: text, Text: "two"}, expect.Judgement{Verdict: verdict.Fail}},
		{"one of an order is absent", events, expect.InOrder{ask, done}, expect.Judgement{Verdict: verdict.Fail, Absent: true}},
		{"an order that is wrong is there", events, expect.InOrder{text, ask}, expect.Judgement{Verdict: verdict.Fail}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.x.Judge(expect.History{Events: c.events, End: 10 * time.Second})
			got.Evidence = verdict.Evidence{}
			require.Equal(t, c.want, got)
		})
	}
}
