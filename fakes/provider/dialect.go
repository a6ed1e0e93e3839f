package provider

import (
	"encoding/json"
	"net/http"

	"github.com/stallwright/stallwright/fakes/script"
)

// Dialect is one wire format of LLM providers.
type Dialect interface {
	// Name is the dialect's word in scripts and reports, such as openai.
	Name() string
	// Recognise reads a request and begins its answer. The answer is nil when the request is not one of this
	// dialect, by its path, its method, or a body that does not parse. It must not keep r or body.
	Recognise(r *http.Request, body []byte) (Request, Answer)
}

// Validator is a [Dialect] that can tell what a strict provider would refuse.
type Validator interface {
	// Validate returns the HTTP status with which the provider refuses the request and why, as its error message has
	// it; the status is 0 when it is fine. It must not keep r or body.
	Validate(r *http.Request, body []byte) (status int, why string)
}

// Request is what a request says, in the words of no dialect.
type Request struct {
	Model   string
	Stream  bool
	Attempt int      // the client's own retry count plus one, 0 where it does not say
	Results []Result // of tools, behind the model's last answer
	Fixed   []byte   // when not nil: the JSON that answers the request with no program, such as a list of models
	Status  int      // the HTTP status of Fixed, 200 when 0; one from 400 leaves the request to any other dialect that knows more
}

// Result is what a request tells the model of a tool call.
type Result struct {
	ID   string // of the call; its name where the dialect has no ids
	Text string // the JSON of it, where it is no text
	// Failed is the flag that it is an error's, in the dialects that have one.
	Failed bool
}

// Answer renders one answer. It is used by one goroutine, may keep state between frames (ids, which block is open),
// and is asked for frames in the order in which they are sent.
type Answer interface {
	// Header sets what the dialect sends with an answer of this status, Content-Type included. stream is false for a
	// body in one piece, an error's too.
	Header(h http.Header, status int, stream bool)
	// Append appends the bytes of frame n, from 0, of a step to dst: chunk n of a Text or Think; of a Tool its
	// opening and then its fragments; else there is one. What the dialect has no form for appends nothing, and is
	// not recorded. Of an answer in one piece it is asked for no step but a Ping: blanks that go before the body, if
	// the dialect has them; anything else is not sent.
	Append(dst []byte, step script.Step, n int) []byte
	// Body is the JSON of an answer in one piece: what the steps say when status is below 400 (Text, Think, Tool,
	// Usage, Finish, Error; others are left out), else the dialect's error for that status.
	Body(status int, said []script.Step) []byte
}

// PlainText is the text of a message's content: a JSON string, or the texts of a list of parts put together; any other JSON as it is.
func PlainText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return string(content)
	}
	for _, p := range parts {
		if p.Text == nil {
			return string(content)
		}
		text += *p.Text
	}
	return text
}
