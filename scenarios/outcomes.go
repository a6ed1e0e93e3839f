package scenarios

import (
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// endsAt are the checks that a run is given up at an instant, a window after the anchor: its terminal frame, the end
// of its answer and the provider's connection.
func endsAt(guarantee string, after expect.Event, window func(harness.At) time.Duration) []harness.Check {
	return []harness.Check{
		{Name: "at-the-window", Guarantee: guarantee, Noun: "error-frame", Needs: []harness.Feature{harness.ErrorFrames}, Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: clientError, After: after, From: window(at), To: window(at)}
		}},
		{Name: "leaves-the-provider", Guarantee: guarantee, Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: providerLeft, After: after, From: window(at), To: window(at)}
		}},
		{Name: "ends-the-answer", Guarantee: guarantee, Noun: "end", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: clientEnd, After: after, From: window(at), To: window(at) + at.Once}
		}},
	}
}

func inactivityWindow(at harness.At) time.Duration { return at.Inactivity }

func streamWindow(at harness.At) time.Duration { return at.Stream }

// survives are the checks that a run is not given up and ends well.
func survives(guarantee string) []harness.Check {
	return []harness.Check{
		{Name: "is-not-given-up", Guarantee: guarantee, Noun: "error-frame", Expect: shows(expect.Never{What: clientError})},
		{Name: "ends-well", Guarantee: guarantee, Noun: "end", Expect: shows(expect.InOrder{clientFinish, saying(clientEnd, "complete")})},
	}
}

// isWhole are the checks that a run survives and all its text arrives.
func isWhole(guarantee string, text ...string) []harness.Check {
	return append(survives(guarantee), harness.Check{
		Name: "is-whole", Guarantee: guarantee, Noun: "answer", Expect: shows(expect.Reads{What: clientText, Text: strings.Join(text, "")})})
}

// isCapped are the checks that the stream clock ends a run at its window. A request that does not stream gets the
// status for it.
func isCapped(guarantee string, stream bool) []harness.Check {
	checks := append(endsAt(guarantee, clientAsk, streamWindow), namesClock(guarantee, "stream_timeout"))
	if stream {
		return checks
	}
	return append(checks, harness.Check{
		Name: "is-a-gateway-timeout", Guarantee: guarantee, Noun: "status", Expect: shows(expect.Says{What: clientStatus, Text: "504 application/json"})})
}

// namesClock is the check that the error says which clock it was.
func namesClock(guarantee, code string) harness.Check {
	return harness.Check{
		Name: "names-the-clock", Guarantee: guarantee, Noun: "clock-named", Needs: []harness.Feature{harness.ErrorFrames}, Expect: shows(expect.Says{What: clientError, Text: code + ":"})}
}

// dropsLate is the check that output which came too late, and says so, reaches nobody.
func dropsLate(guarantee string) harness.Check {
	return harness.Check{Name: "drops-late-output", Guarantee: guarantee, Noun: "late-output", Expect: shows(expect.Never{What: saying(clientText, "late")})}
}

// leavesWith are the checks that the provider is left at once when a run is over, which the anchor shows, and asked
// for nothing more.
func leavesWith(guarantee string, over expect.Event) []harness.Check {
	return []harness.Check{
		{Name: "leaves-the-provider", Guarantee: guarantee, Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: providerLeft, After: over, To: at.Once}
		}},
		{Name: "asks-no-more", Guarantee: guarantee, Noun: "provider-request", Expect: shows(expect.Never{What: providerRequest, After: over})},
	}
}

// onAndOn is n pieces of output, all the same.
func onAndOn(n int) []string { return slices.Repeat([]string{"on "}, n) }
