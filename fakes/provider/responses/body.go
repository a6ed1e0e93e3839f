package responses

import (
	"net/http"
	"strconv"

	"github.com/stallwright/stallwright/fakes/script"
)

// Body is a response object, or an error's body. An Error among the steps gives an error's body its words; in the form
// beside an answer it is the error of a response that has failed.
func (a *answer) Body(status int, steps []script.Step) []byte {
	for _, step := range steps {
		if e, ok := step.(script.Error); ok {
			if status < 400 && e.Form == script.ChoicesForm {
				return appendJSON(nil, a.failed(e))
			}
			return a.failure(status, e)
		}
	}
	if status >= 400 {
		return a.failure(status, script.Error{})
	}
	var waste []byte // the events of a stream come to the same output
	for _, step := range steps {
		n := 1
		switch s := step.(type) {
		case script.Text:
			n = len(s.Chunks)
		case script.Think:
			n = len(s.Chunks)
		case script.Refusal:
			n = len(s.Chunks)
		case script.Tool:
			n = 1 + len(s.Args)
		case script.ToolChunk, script.Usage, script.Finish:
		default:
			continue
		}
		for i := range n {
			waste = a.Append(waste[:0], step, i)
		}
	}
	a.closeAll(waste[:0], a.itemStatus())
	state, _ := a.status()
	return appendJSON(nil, a.response(state, true))
}

// fail is an error frame inside a stream. The flat form is what the documentation says, the own one what is sent.
func (a *answer) fail(b []byte, e script.Error) []byte {
	switch e.Form {
	case script.ChoicesForm:
		return a.event(b, event{Type: "response.failed", Response: a.failed(e)})
	case script.FlatForm:
		e = a.problem(0, e)
		b = append(b, "event: error\ndata: "...)
		b = appendJSON(b, flat{Type: "error", Sequence: a.seq, Code: code(e), Message: e.Message})
		a.seq++
		return append(b, "\n\n"...)
	}
	named := e.Form != script.DataForm
	e = a.problem(0, e)
	frame := event{Type: "error", Error: &failure{Type: e.Type, Code: code(e), Message: e.Message}}
	if named {
		return a.event(b, frame)
	}
	return a.data(b, frame)
}

func (a *answer) failed(e script.Error) *response {
	r := a.response("failed", true)
	e = a.problem(0, e)
	r.Error = &reported{e.Type, e.Message}
	if e.Code != "" {
		r.Error.Code = e.Code
	}
	return r
}

func code(e script.Error) *string {
	if e.Code == "" {
		return nil
	}
	return &e.Code
}

// failure is the body of an error. The one of a missing key repeats its status.
func (a *answer) failure(status int, e script.Error) []byte {
	e = a.problem(status, e)
	body := struct {
		Error  failure `json:"error"`
		Status int     `json:"status,omitempty"`
	}{Error: failure{Type: e.Type, Code: code(e), Message: e.Message}}
	if status == http.StatusUnauthorized {
		body.Status = status
	}
	return appendJSON(nil, body)
}

// problem fills what e leaves open with what the API says: of a status, or of a failing answer when status is 0.
func (a *answer) problem(status int, e script.Error) script.Error {
	own := a.usual(status)
	if e.Message == "" {
		e.Message = own.Message
	}
	if e.Type == "" {
		e.Type = own.Type
	}
	if e.Code == "" {
		e.Code = own.Code
	}
	return e
}

func (a *answer) usual(status int) script.Error {
	if status == http.StatusBadRequest && a.limit > 0 && a.prompt > a.limit {
		return script.Error{Type: "invalid_request_error", Code: "context_length_exceeded", Message: tooLong(a.prompt, a.limit)}
	}
	switch status {
	case http.StatusBadRequest:
		return script.Error{Type: "invalid_request_error", Message: "We could not parse the JSON body of your request."}
	case http.StatusUnauthorized:
		return script.Error{Type: "invalid_request_error", Code: "invalid_api_key", Message: "Incorrect API key provided."}
	case http.StatusForbidden:
		return script.Error{Type: "request_forbidden", Code: "unsupported_country_region_territory", Message: "Country, region, or territory not supported"}
	case http.StatusNotFound:
		return script.Error{Type: "invalid_request_error", Code: "model_not_found", Message: "The requested model '" + a.in.Model + "' does not exist."}
	case http.StatusTooManyRequests:
		return script.Error{Type: "requests", Code: "rate_limit_exceeded", Message: "Rate limit reached for " + a.in.Model + " on requests per min (RPM). Please try again in 1s."}
	case http.StatusServiceUnavailable:
		return script.Error{Type: "server_error", Code: "overloaded", Message: "The engine is currently overloaded, please try again later"}
	}
	if status >= 400 && status < 500 {
		return script.Error{Type: "invalid_request_error", Message: http.StatusText(status)}
	}
	return script.Error{Type: "server_error", Message: "The server had an error while processing your request. Sorry about that!"}
}

func tooLong(prompt, limit int) string {
	return "Your input exceeds the context window of this model: " + strconv.Itoa(prompt) + " tokens, of at most " + strconv.Itoa(limit) + "."
}
