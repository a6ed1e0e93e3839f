package mcp

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// Steps lists every step that a program may have, those of fakes/script and faults included, with no values in it.
func Steps() []script.Step {
	return []script.Step{
		Progress{}, Log{}, Notify{}, Ask{}, Result{}, Error{}, EndStream{}, AwaitCancel{}, Effect{}, StopReading{}, Crash{}, Exit{},
		script.Headers{}, script.Raw{}, script.Comment{}, script.Pause{}, script.Await{}, script.Open{}, script.Repeat{},
		fault.Stall{}, fault.Cut{}, fault.Reset{}, fault.HalfClose{}, fault.Drip{}, fault.Split{}, fault.Status{}, fault.Garble{},
	}
}

// Progress sends notifications about the call's progress, each Every after the one before; the first too.
type Progress struct {
	Every time.Duration `yaml:"every,omitempty"`
	Count int           `yaml:"count,omitempty"` // how many; 1 when 0
	Total int           `yaml:"total,omitempty"` // as told; none when 0
	Text  string        `yaml:"text,omitempty"`  // its message
	Token Token         `yaml:"token,omitempty"`
}

// Token says which token a progress has.
type Token string

// The tokens of progress.
const (
	AskedToken   Token = ""        // the request's: nothing is sent when it has none
	AlwaysToken  Token = "always"  // the request's, or an invented one when it has none
	UnknownToken Token = "unknown" // one that nobody has given
)

// Log sends a log message.
type Log struct {
	Level string `yaml:"level,omitempty"` // info when empty
	Text  string `yaml:"text"`
}

// Where says on which stream a message leaves.
type Where string

// The streams.
const (
	OnCall    Where = ""       // the call's response; over HTTP+SSE and stdio there is but one stream
	OnSession Where = "stream" // the session's event stream, that a GET has opened; dropped when there is none
)

// Notify sends any notification.
type Notify struct {
	Method string `yaml:"method"`
	Params string `yaml:"params,omitempty"` // JSON
	On     Where  `yaml:"on,omitempty"`
}

// Ask sends a request to the client: sampling/createMessage, elicitation/create, roots/list, ping.
type Ask struct {
	Method string        `yaml:"method"`
	Params string        `yaml:"params,omitempty"` // JSON; of a proper request of the method when empty
	ID     ID            `yaml:"id,omitempty"`     // own: a new string; same: the id of the call that it is sent in
	On     Where         `yaml:"on,omitempty"`
	For    time.Duration `yaml:"for,omitempty"`   // how long the answer is waited for; until it comes when 0
	Blind  bool          `yaml:"blind,omitempty"` // the answer is not waited for
}

// ID says which id an answer has.
type ID string

// The ids of answers.
const (
	OwnID     ID = ""        // the request's
	WrongID   ID = "wrong"   // one that was never used
	TextID    ID = "text"    // the request's as a string, or as a number when it is a string of digits
	NullID    ID = "null"    //
	NoID      ID = "none"    // the member is missing
	ForeignID ID = "foreign" // that of another call in flight; a wrong one when there is none
	SameID    ID = "same"    // of an Ask only
)

// Result sends the call's result. Without Text, Size, Structured and JSON it is the proper one of the request's method.
type Result struct {
	Text       string `yaml:"text,omitempty"`
	Size       int    `yaml:"size,omitempty"`       // bytes of text, sent in pieces; at most 1 GiB
	Structured string `yaml:"structured,omitempty"` // JSON
	JSON       string `yaml:"json,omitempty"`       // the whole result, in place of all these
	IsError    bool   `yaml:"is-error,omitempty"`
	ID         ID     `yaml:"id,omitempty"`
	Times      int    `yaml:"times,omitempty"` // how often it is sent; once when 0
	With       With   `yaml:"with,omitempty"`
}

// With says what stands beside a result.
type With string

// The shapes of a response.
const (
	ResultAlone With = ""
	ErrorToo    With = "error"   // result and error
	Neither     With = "neither" // no result, and no error
	NoVersion   With = "no-version"
)

// Error sends an error of JSON-RPC in place of a result.
type Error struct {
	Code    int    `yaml:"code"`
	Message string `yaml:"message,omitempty"`
	Data    string `yaml:"data,omitempty"` // JSON
	ID      ID     `yaml:"id,omitempty"`
}

// EndStream ends the response's stream as HTTP says, answered or not. The call goes on without it: where events have
// ids the client can resume it. Over HTTP+SSE and stdio it does nothing.
type EndStream struct {
	Retry time.Duration `yaml:"retry,omitempty"` // told before, as when to come back
}

// AwaitCancel waits until the call is cancelled, as its revision has it. Instants after it are counted from then.
type AwaitCancel struct{}

// Effect commits the tool's effect.
type Effect struct{}

// hold waits until the peer leaves: what a stream that is merely open does, no fault.
type hold struct{}

// begin sends the head of an event stream, as most servers do when a tool begins.
type begin struct{}

func (hold) Kind() string  { return "hold" }
func (begin) Kind() string { return "begin" }

// Kind is the step's word.
func (Progress) Kind() string { return "progress" }

// Kind is the step's word.
func (Log) Kind() string { return "log" }

// Kind is the step's word.
func (Notify) Kind() string { return "notify" }

// Kind is the step's word.
func (Ask) Kind() string { return "ask" }

// Kind is the step's word.
func (Result) Kind() string { return "result" }

// Kind is the step's word.
func (Error) Kind() string { return "error" }

// Kind is the step's word.
func (EndStream) Kind() string { return "end-stream" }

// Kind is the step's word.
func (AwaitCancel) Kind() string { return "await-cancel" }

// Crash is the server's death and its restart, as clients see it: all connections are reset, pipes end, calls are
// forgotten, and so are the sessions of the protocol. Connections are those of Serve; under another server only those
// of calls.
type Crash struct{}

// Kind is the step's word.
func (Crash) Kind() string { return "crash" }

// Kind is the step's word.
func (Effect) Kind() string { return "effect" }
