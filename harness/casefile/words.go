package casefile

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// Kind is a kind of events, or a word in a length, with a sentence about it.
type Kind struct {
	Word, About string
}

// Lane is a lane of the timeline with the kinds of its events.
type Lane struct {
	Kind
	Events []Kind
}

// Lanes are the lanes that an event of a case file may be on.
func Lanes() []Lane {
	provider := []Kind{
		{"request", "The server has asked the fake: method, path, model, stream, attempt, and how many exchanges are open."},
		{"left", "The server has left before the program's end: fin, rst, or rst-stream and a code, then what was sent and how long ago."},
		{"closed", "The exchange was ended by the fake's own side before the program's end."},
		{"blocked", "A write waits for the server to read, or to widen its window."},
		{"refused", "A strict fake has refused the request: the status and why."},
		{"violation", "The script and the server did not fit: no program was left, or a step does nothing on this wire."},
		{"connection", "What was done to a connection outside of any exchange."},
	}
	for _, s := range script.Steps() {
		provider = append(provider, Kind{s.Kind(), script.About(s.Kind())})
	}
	return []Lane{
		{Kind{caller.Lane, "What the client of the server under test has done and seen."}, []Kind{
			{"ask", "A request was sent: its prompt."},
			{"status", "The answer's HTTP status has come, with its content type."},
			{"session", "The server has named a session."},
			{"id", "The answer's id, once."},
			{"text", "Visible output has come: the text of one frame."},
			{"reasoning", "Visible reasoning has come."},
			{"tool", "A tool call, or a fragment of one: its name and arguments."},
			{"finish", "The reason why the answer has ended."},
			{"usage", "The tokens, as the server counts them."},
			{"error", "The server has said what went wrong: the error's code and message."},
			{"done", "The terminator, data: [DONE]."},
			{"event", "A server-sent event with a name: the name and its data."},
			{"comment", "A comment of the stream, as heartbeats are."},
			{"garbage", "Data that is no JSON, or an answer of another type."},
			{"end", "The answer is over: complete, or cut and how."},
			{"left", "The client has left: close or reset."},
			{"refused", "The server took no connection."},
		}},
		{Kind{harness.ProviderLane, "What the fake provider has seen and sent. A step's event comes when its frame has left, a fault's when it strikes."}, provider},
		{Kind{harness.ProcessLane, "What befell the server as a process."}, []Kind{
			{"signal", "A signal was sent: its name."},
			{"exit", "The process has ended: its code."},
			{"goroutines", "How many there are, at a census. In virtual time only."},
			{"files", "How many files are open, at a census."},
			{"sockets", "How many sockets are open, at a census."},
			{"children", "How many child processes there are, at a census."},
		}},
		{Kind{harness.ServerLane, "What the server says of itself."}, []Kind{
			{"log", "A line of its log: the message, then its fields."},
		}},
	}
}

// lane is the lane of that name.
func lane(name string) (Lane, bool) {
	all := Lanes()
	i := slices.IndexFunc(all, func(l Lane) bool { return l.Word == name })
	if i < 0 {
		return Lane{}, false
	}
	return all[i], true
}

// words are those of kinds.
func words(kinds []Kind) []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.Word)
	}
	return out
}

// lengthKinds are the words in a length.
func lengthKinds() []Kind {
	return []Kind{
		{"first-chunk", "The clock until a model's first output."},
		{"inactivity", "The clock of a model's silence between two outputs; off unless set says on."},
		{"stream", "The clock of the whole answer."},
		{"heartbeat", "The time between two comments to a client that waits."},
		{"shutdown", "The grace that running answers have after a SIGTERM."},
		{"straggler", "What answers that outlive the grace have to end once they are told to, before they are aborted."},
		{"abort", "How long a shutdown waits for what it has aborted."},
		{"cleanup", "How long an ending waits for the cleanup of its tools."},
		{"last-write", "The limit of the last write to a client that does not read."},
		{"flush", "The limit of handing over telemetry at the end."},
		{"tick", "What is surely before or after a window: the smallest step that can be told apart."},
		{"once", "The limit of \"at once\"."},
	}
}

// Length is a word in a length with what it is worth. A clock that is usually off counts as it does when it is on.
type Length struct {
	Kind
	Virtual, Real time.Duration // in virtual time, with the windows of production, and in real time, with short ones
}

// Lengths are the words that a length of time in a case file may have.
func Lengths() []Length {
	both := worlds(harness.Set{}, nil)
	var out []Length
	for _, k := range lengthKinds() {
		long, _ := both[0].named(k.Word)
		short, _ := both[1].named(k.Word)
		out = append(out, Length{k, long, short})
	}
	return out
}
