package scenarios

import "github.com/stallwright/stallwright/harness/expect"

// The events that scenarios wait for and check, in the words of the lanes.
var (
	clientStatus  = expect.Event{Lane: "client", Kind: "status"}
	clientText    = expect.Event{Lane: "client", Kind: "text"}
	clientFinish  = expect.Event{Lane: "client", Kind: "finish"}
	clientError   = expect.Event{Lane: "client", Kind: "error"}
	clientDone    = expect.Event{Lane: "client", Kind: "done"}
	clientEnd     = expect.Event{Lane: "client", Kind: "end"}
	clientLeft    = expect.Event{Lane: "client", Kind: "left"}
	clientComment = expect.Event{Lane: "client", Kind: "comment"}

	providerRequest = expect.Event{Lane: "provider", Kind: "request"}
	providerStall   = expect.Event{Lane: "provider", Kind: "stall"}
	providerText    = expect.Event{Lane: "provider", Kind: "text"}
	providerLeft    = expect.Event{Lane: "provider", Kind: "left"}

	signal = expect.Event{Lane: "process", Kind: "signal"}
	exit   = expect.Event{Lane: "process", Kind: "exit"}
)

// saying narrows an event to those whose detail holds the text.
func saying(e expect.Event, text string) expect.Event {
	e.Detail = text
	return e
}

// of narrows an event to one exchange.
func of(e expect.Event, ref string) expect.Event {
	e.Ref = ref
	return e
}

// nth picks the n-th of those that fit.
func nth(e expect.Event, n int) expect.Event {
	e.Nth = n
	return e
}
