package mcp

import (
	"time"

	"github.com/stallwright/stallwright/fakes/script"
)

// Revisions are those of the protocol, newest first. Modern is the first without initialize and sessions.
const (
	Modern    = "2026-07-28"
	V20251125 = "2025-11-25"
	V20250618 = "2025-06-18"
	V20250326 = "2025-03-26"
	V20241105 = "2024-11-05"
)

// Revisions lists those that a fake can speak, newest first.
func Revisions() []string {
	return []string{Modern, V20251125, V20250618, V20250326, V20241105}
}

// Script is what a fake plays in one session. A request takes the first program that fits and is not used up; a request
// that no program fits is answered as a good server does: a call of a tool by the tool, the rest by the protocol.
type Script struct {
	Revisions []string // that it speaks; all when empty
	Tools     []Tool   // of the session without a marker: those of tools/list; of another: those that its calls find first
	Programs  []Program
	Manners   Manners
}

// Program answers one request, or Times of them, in place of the protocol.
type Program struct {
	When     When
	Times    int // 0 is once, script.Any is without limit
	Steps    []script.Step
	OnCancel OnCancel // when empty that of the manners, or Ignore when a step is AwaitCancel
}

// When chooses requests. A zero field fits every request, but for Method, which is then tools/call. A client that asks server/discover
// first may never send initialize to a server that speaks [Modern]: a fault there strikes it only when the script's Revisions leave that
// out, or in a program for server/discover.
type When struct {
	Method   string `yaml:"method,omitempty"`   // such as initialize, tools/list, notifications/cancelled, GET or DELETE; or AnyRequest
	Tool     string `yaml:"tool,omitempty"`     // the tool that is called
	Contains string `yaml:"contains,omitempty"` // the parameters have this text, as JSON
	Ordinal  int    `yaml:"request,omitempty"`  // the so-many-th request of the session, from 1
}

// AnyRequest is the Method of a program for requests of any method; GET, DELETE and notifications are none.
const AnyRequest = "*"

// Manners are how a server behaves in what is not one request's. The zero value is well behaved. Answers, Single,
// OnCancel and EventIDs are those of the session that a call belongs to; the others those of the session without a
// marker.
type Manners struct {
	Answers  Answers  `yaml:"answers,omitempty"` // the body of an HTTP answer
	NoIDs    bool     `yaml:"no-ids,omitempty"`  // no session ids are given out
	Lives    Lives    `yaml:"sessions,omitempty"`
	Get      Get      `yaml:"get,omitempty"`
	Delete   Delete   `yaml:"delete,omitempty"`
	Single   bool     `yaml:"single,omitempty"` // one tool call at a time; the others wait, and may be cancelled meanwhile
	OnCancel OnCancel `yaml:"on-cancel,omitempty"`
	Loose    bool     `yaml:"loose,omitempty"`     // a cancel whose id has another JSON type counts
	EventIDs bool     `yaml:"event-ids,omitempty"` // on event streams, which a GET with Last-Event-ID resumes
	List     List     `yaml:"list,omitempty"`
	Endpoint Endpoint `yaml:"endpoint,omitempty"`
	Banner   string   `yaml:"banner,omitempty"`  // what stands on a pipe before the first message
	Process  Process  `yaml:"process,omitempty"` // of a server over stdio
}

// Answers says what the body of an HTTP answer is.
type Answers string

// The bodies of answers.
const (
	BestAnswers   Answers = ""     // event streams for tool calls, JSON for the rest
	StreamAnswers Answers = "sse"  // event streams for all
	JSONAnswers   Answers = "json" // JSON for all: what a call tells meanwhile is dropped
)

// Lives says when sessions of Streamable HTTP end by themselves: their clients get 404 then.
type Lives struct {
	For    time.Duration `yaml:"for,omitempty"`     // each lives so long; 0 is for ever
	LostAt string        `yaml:"lost-at,omitempty"` // all that are open are lost when this gate opens
}

// Get says what a GET for an event stream is answered.
type Get string

// The answers to GET.
const (
	GetHeld    Get = ""      // an event stream that stays open
	GetEmpty   Get = "empty" // an event stream that ends at once
	GetRefused Get = "405"
	GetBad     Get = "400"
	GetText    Get = "text" // 200 with a page of text
)

// Delete says what a DELETE of a session is answered.
type Delete string

// The answers to DELETE. The session is ended by the first alone.
const (
	DeleteDone    Delete = ""    // 204
	DeleteUnknown Delete = "404" //
	DeleteRefused Delete = "405" //
	DeleteHangs   Delete = "hang"
)

// Endpoint says what the event stream of HTTP+SSE begins with.
type Endpoint string

// The beginnings of an event stream.
const (
	ProperEndpoint  Endpoint = ""        // where messages go
	NoEndpoint      Endpoint = "none"    // nothing
	ForeignEndpoint Endpoint = "foreign" // a URL of another host, from which nothing is served
	TwoEndpoints    Endpoint = "twice"   // where messages go, two times
)

// OnCancel says what becomes of a call that is cancelled. The zero value is that of what it stands in: a tool and a
// program have that of their script's manners, which have Stop.
type OnCancel struct {
	Do    Reaction      `yaml:"do,omitempty"`
	After time.Duration `yaml:"after,omitempty"` // before what is done, which cannot be cancelled again
}

// Reaction is what a cancel brings about.
type Reaction string

// The reactions to a cancel.
const (
	Stop        Reaction = "stop"   // it ends, and nothing more is sent for it
	Ignore      Reaction = "ignore" // it goes on as if nothing had come
	AnswerTwice Reaction = "twice"  // it ends, and two results are sent
	AnswerWell  Reaction = "result" // it ends, and a result is sent
	AnswerError Reaction = "error"  // it ends, and an error is sent
)

// List says how the list of tools is told.
type List struct {
	Short   int           `yaml:"short,omitempty"`   // the first tools/list names so many of them only
	Changed time.Duration `yaml:"changed,omitempty"` // so long after it, that the list has changed is notified; 0 never
}

// Tool is one that the server has. It is well behaved where nothing else is said: it tells progress to those who gave a
// token, stops when its call is cancelled, and then does not answer.
type Tool struct {
	Name        string        `yaml:"name"`
	Description string        `yaml:"description,omitempty"`
	Schema      string        `yaml:"schema,omitempty"`     // JSON Schema of the arguments; any object when empty
	Output      string        `yaml:"output,omitempty"`     // JSON Schema of the structured result
	ReadOnly    bool          `yaml:"read-only,omitempty"`  // said in its annotations
	Idempotent  bool          `yaml:"idempotent,omitempty"` // said in its annotations
	Takes       time.Duration `yaml:"takes,omitempty"`
	Gate        string        `yaml:"gate,omitempty"`     // that it waits for after that
	Progress    Progress      `yaml:"progress,omitempty"` // while it takes its time; Count follows from Every, or Every from Count
	Effect      Commit        `yaml:"effect,omitempty"`
	OnCancel    OnCancel      `yaml:"on-cancel,omitempty"`
	Result      Result        `yaml:"result,omitempty"`

	// Run, when not nil, says what a call does in place of Takes, Gate, Progress and Result.
	Run func(Call) []script.Step `yaml:"-"`
}

// Call is what a tool is told of the call that it runs.
type Call struct {
	Arguments []byte            // JSON, an empty object when there are none
	Headers   map[string]string // of the HTTP request, names in lower case; nil over stdio
}

// Commit says when a tool's effect happens: what a retry would do twice.
type Commit string

// The instants of an effect.
const (
	NoEffect    Commit = ""
	AfterAnswer Commit = "after"  // once the answer has left; a call that is cancelled before has none
	AtAnswer    Commit = "before" // right before the answer
	AtStart     Commit = "start"  // before the tool takes its time
)
