package script

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
)

// Step is one instruction: a step of this package or a fault. Time does not pass between steps unless one says so,
// and instants are counted from the arrival of the request, so that they do not drift.
type Step interface {
	Kind() string // the step's word in timelines and scripts
}

// Steps lists every step, faults included, with no values in it.
func Steps() []Step {
	return []Step{
		Headers{}, Role{}, Text{}, Think{}, Refusal{}, Flood{}, Tool{}, ToolChunk{}, Usage{}, Finish{}, Done{}, Message{}, Error{},
		Raw{}, Comment{}, Ping{}, Empty{}, Keepalive{}, Pause{}, Await{}, Open{}, Meet{}, Repeat{}, End{},
		fault.Stall{}, fault.Cut{}, fault.Reset{}, fault.HalfClose{}, fault.Drip{}, fault.Split{}, fault.Batch{}, fault.Lines{},
		fault.Status{}, fault.Garble{}, fault.StreamReset{}, fault.GoAway{},
	}
}

// Headers sends the status line and headers of a stream (200 when Status is 0). Without it they go with the first
// frame.
type Headers struct {
	Status int               `yaml:"status,omitempty"`
	Header map[string]string `yaml:"header,omitempty"` // added to, or in place of, the dialect's own
	Gzip   bool              `yaml:"gzip,omitempty"`   // the body is compressed, and flushed after each frame
}

// Role is the frame that opens the answer and carries no output.
type Role struct{}

// Text is visible output, one frame for each chunk, Every apart; the first is sent at once.
type Text struct {
	Chunks []string      `yaml:"chunks"`
	Every  time.Duration `yaml:"every,omitempty"`
	Jitter time.Duration `yaml:"jitter,omitempty"` // each interval is longer by up to this, drawn from the seed
}

// Think is visible reasoning, in the dialect's own field.
type Think struct {
	Chunks []string      `yaml:"chunks"`
	Every  time.Duration `yaml:"every,omitempty"`
	Jitter time.Duration `yaml:"jitter,omitempty"`
}

// Refusal is the model's refusal, in the dialect's own field.
type Refusal struct {
	Chunks []string      `yaml:"chunks"`
	Every  time.Duration `yaml:"every,omitempty"`
}

// Flood is visible output in bulk: so many frames of so many bytes.
type Flood struct {
	Frames int           `yaml:"frames"`
	Bytes  int           `yaml:"bytes"` // of text in each frame
	Every  time.Duration `yaml:"every,omitempty"`
}

// Tool is one tool call: its opening, then one frame for each fragment of the arguments, Every apart.
type Tool struct {
	Index int           `yaml:"index,omitempty"`
	ID    string        `yaml:"id"`
	Name  string        `yaml:"name"`
	Args  []string      `yaml:"args,omitempty"`
	Every time.Duration `yaml:"every,omitempty"`
}

// ToolChunk is one frame with these parts of tool calls as they stand: fields absent, null, empty, repeated, out of
// order, several calls at once. A dialect that cannot say a thing leaves it out.
type ToolChunk struct {
	Parts []ToolPart `yaml:"parts"`
}

// ToolPart is a part of a tool call. A field that is not set is absent.
type ToolPart struct {
	Index Value `yaml:"index,omitempty"` // a number
	ID    Value `yaml:"id,omitempty"`
	Type  Value `yaml:"type,omitempty"`
	Name  Value `yaml:"name,omitempty"`
	Args  Value `yaml:"args,omitempty"`
}

// Value is a field of a frame: absent (the zero value), null, or a text.
type Value struct {
	Set  bool
	Null bool
	Text string
}

// Is is a value that is there.
func Is(text string) Value { return Value{Set: true, Text: text} }

// Null is a value that is null.
func Null() Value { return Value{Set: true, Null: true} }

// Usage reports tokens.
type Usage struct {
	Prompt     int `yaml:"prompt"`
	Completion int `yaml:"completion"`
	Reasoning  int `yaml:"reasoning,omitempty"` // of Completion
	Cached     int `yaml:"cached,omitempty"`    // of Prompt
}

// Finish says why the model stopped, in the words of Chat Completions (stop, length, tool_calls, content_filter),
// which other dialects translate; a word that they have no other for is passed as it is.
type Finish struct {
	Reason string `yaml:"reason,omitempty"`
	Empty  bool   `yaml:"empty,omitempty"` // the reason is the empty string, not null
}

// Done is the dialect's terminator.
type Done struct{}

// Message is one frame that holds the whole message so far once more, as some gateways send at the end.
type Message struct{}

// Error is an error frame inside the stream.
type Error struct {
	Type    string    `yaml:"type,omitempty"`
	Code    string    `yaml:"code,omitempty"`
	Message string    `yaml:"message,omitempty"`
	Form    ErrorForm `yaml:"form,omitempty"`
}

// ErrorForm says what an error frame looks like.
type ErrorForm string

// The forms of error frames. Where a dialect has no such form it sends its own.
const (
	OwnForm     ErrorForm = ""        // as the dialect's documentation has it
	DataForm    ErrorForm = "data"    // without an event name, where the dialect has one
	ChoicesForm ErrorForm = "choices" // beside an answer without content, with the finish reason error, as OpenRouter sends it
	FlatForm    ErrorForm = "flat"    // its members at the top level
)

// Raw is bytes as given, as one frame.
type Raw struct {
	Bytes string `yaml:"bytes"`
}

// Comment is one SSE comment.
type Comment struct {
	Text string `yaml:"text"`
}

// Ping is the dialect's own keepalive frame.
type Ping struct{}

// Empty is a frame with an empty delta: no output.
type Empty struct{}

// Keepalive sends a frame that carries no output every so often, behind all steps that follow, until For is over,
// the program ends, or a Keepalive with Every 0. Before an answer in one piece it sends blank lines, and those pings of
// the dialect that are such.
type Keepalive struct {
	Form  Form          `yaml:"form"`
	Every time.Duration `yaml:"every"`
	For   time.Duration `yaml:"for,omitempty"` // 0 is without end
}

// Form says what a keepalive looks like.
type Form string

// The forms of keepalives.
const (
	CommentForm   Form = "comment"    // an SSE comment
	PingForm      Form = "ping"       // the dialect's own
	EmptyForm     Form = "empty"      // an empty delta
	EmptyDataForm Form = "empty-data" // a data line with nothing in it
	RoleForm      Form = "role"       // the opening frame again
	BlankForm     Form = "blank"      // a blank line, which is allowed before an answer in one piece too
)

// Pause lets time go by: pace, not a fault.
type Pause struct {
	For    time.Duration `yaml:"for"`
	Jitter time.Duration `yaml:"jitter,omitempty"` // longer by up to this, drawn from the seed
}

// Await blocks until the gate is open; [Never] is none that opens. Instants after it are counted from its opening.
type Await struct {
	Gate string `yaml:"gate"`
}

// Open opens a gate, for other streams of the session and for whoever watches.
type Open struct {
	Gate string `yaml:"gate"`
}

// Meet blocks until so many streams of the session have come to it: a barrier.
type Meet struct {
	Barrier string `yaml:"barrier"`
	Streams int    `yaml:"streams"`
}

// Repeat plays its steps so many times.
type Repeat struct {
	Times int    `yaml:"times,omitempty"` // 0 is without end
	Steps []Step `yaml:"steps"`
}

// End ends the body as HTTP says (the last chunk). The connection is kept for the next request unless Close.
type End struct {
	Close bool `yaml:"close,omitempty"`
}

// Kind is the step's word.
func (Headers) Kind() string { return "headers" }

// Kind is the step's word.
func (Role) Kind() string { return "role" }

// Kind is the step's word.
func (Text) Kind() string { return "text" }

// Kind is the step's word.
func (Think) Kind() string { return "think" }

// Kind is the step's word.
func (Refusal) Kind() string { return "refusal" }

// Kind is the step's word.
func (Flood) Kind() string { return "flood" }

// Kind is the step's word.
func (Tool) Kind() string { return "tool" }

// Kind is the step's word.
func (ToolChunk) Kind() string { return "tool-chunk" }

// Kind is the step's word.
func (Usage) Kind() string { return "usage" }

// Kind is the step's word.
func (Finish) Kind() string { return "finish" }

// Kind is the step's word.
func (Done) Kind() string { return "done" }

// Kind is the step's word.
func (Message) Kind() string { return "message" }

// Kind is the step's word.
func (Error) Kind() string { return "error" }

// Kind is the step's word.
func (Raw) Kind() string { return "raw" }

// Kind is the step's word.
func (Comment) Kind() string { return "comment" }

// Kind is the step's word.
func (Ping) Kind() string { return "ping" }

// Kind is the step's word.
func (Empty) Kind() string { return "empty" }

// Kind is the step's word.
func (Keepalive) Kind() string { return "keepalive" }

// Kind is the step's word.
func (Pause) Kind() string { return "pause" }

// Kind is the step's word.
func (Await) Kind() string { return "await" }

// Kind is the step's word.
func (Open) Kind() string { return "open" }

// Kind is the step's word.
func (Meet) Kind() string { return "meet" }

// Kind is the step's word.
func (Repeat) Kind() string { return "repeat" }

// Kind is the step's word.
func (End) Kind() string { return "end" }
