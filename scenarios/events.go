package scenarios

import "github.com/stallwright/stallwright/harness/expect"

// The events that scenarios wait for and check, in the words of the lanes.
var (
	clientStatus  = expect.Event{Lane: "client", Kind: "status"}
	clientText    = expect.Event{Lane: "client", Kind: "text"}
	clientFinish  = expect.Event{Lane: "client", Kind: "finish"}
	clientUsage   = expect.Event{Lane: "client", Kind: "usage"}
	clientError   = expect.Event{Lane: "client", Kind: "error"}
	clientDone    = expect.Event{Lane: "client", Kind: "done"}
	clientEnd     = expect.Event{Lane: "client", Kind: "end"}
	clientLeft    = expect.Event{Lane: "client", Kind: "left"}
	clientComment = expect.Event{Lane: "client", Kind: "comment"}
	clientEvent   = expect.Event{Lane: "client", Kind: "event"}
	clientGarbage = expect.Event{Lane: "client", Kind: "garbage"}
	clientID      = expect.Event{Lane: "client", Kind: "id"}
	clientSession = expect.Event{Lane: "client", Kind: "session"}
	clientAsk     = expect.Event{Lane: "client", Kind: "ask"}

	providerRequest   = expect.Event{Lane: "provider", Kind: "request"}
	providerStall     = expect.Event{Lane: "provider", Kind: "stall"}
	providerText      = expect.Event{Lane: "provider", Kind: "text"}
	providerThink     = expect.Event{Lane: "provider", Kind: "think"}
	providerTool      = expect.Event{Lane: "provider", Kind: "tool"}
	providerError     = expect.Event{Lane: "provider", Kind: "error"}
	providerFinish    = expect.Event{Lane: "provider", Kind: "finish"}
	providerDone      = expect.Event{Lane: "provider", Kind: "done"}
	providerKeepalive = expect.Event{Lane: "provider", Kind: "keepalive"}
	providerBlocked   = expect.Event{Lane: "provider", Kind: "blocked"}
	providerLeft      = expect.Event{Lane: "provider", Kind: "left"}
	providerStatus    = expect.Event{Lane: "provider", Kind: "status"}
	providerRaw       = expect.Event{Lane: "provider", Kind: "raw"}
	providerEnd       = expect.Event{Lane: "provider", Kind: "end"}
	providerCut       = expect.Event{Lane: "provider", Kind: "cut"}
	providerReset     = expect.Event{Lane: "provider", Kind: "reset"}
	providerGarble    = expect.Event{Lane: "provider", Kind: "garble"}
	providerHalfClose = expect.Event{Lane: "provider", Kind: "half-close"}
	providerAwait     = expect.Event{Lane: "provider", Kind: "await"}

	signal     = expect.Event{Lane: "process", Kind: "signal"}
	exit       = expect.Event{Lane: "process", Kind: "exit"}
	files      = expect.Event{Lane: "process", Kind: "files"}
	sockets    = expect.Event{Lane: "process", Kind: "sockets"}
	children   = expect.Event{Lane: "process", Kind: "children"}
	goroutines = expect.Event{Lane: "process", Kind: "goroutines"}

	collectorRequest  = expect.Event{Lane: "collector", Kind: "request"}
	collectorSpan     = expect.Event{Lane: "collector", Kind: "span"}
	collectorAccepted = expect.Event{Lane: "collector", Kind: "accepted"}
	collectorStall    = expect.Event{Lane: "collector", Kind: "stall"}
	collectorStatus   = expect.Event{Lane: "collector", Kind: "status"}
	collectorReset    = expect.Event{Lane: "collector", Kind: "reset"}

	serverLog = expect.Event{Lane: "server", Kind: "log"}
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
