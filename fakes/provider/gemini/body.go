package gemini

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/stallwright/stallwright/fakes/script"
)

// Body is a GenerateContentResponse, or an error's body. In place of an array that is an array with the error.
func (a *answer) Body(status int, said []script.Step) []byte {
	if status >= 400 {
		b := appendProblem(nil, problem(status, a.model))
		if a.stream && !a.sse {
			b = append(append([]byte{'['}, b...), ']')
		}
		return b
	}
	var parts []byte
	var run strings.Builder // of text or of thoughts, which are one part each
	thinking, called := false, false
	reason := ""
	flush := func() {
		if run.Len() == 0 {
			return
		}
		if parts != nil {
			parts = append(parts, ',')
		}
		parts = append(parts, `{"text":`...)
		parts = appendString(parts, run.String())
		if thinking {
			parts = append(parts, `,"thought":true`...)
		}
		parts = append(parts, '}')
		run.Reset()
	}
	write := func(chunks []string, thought bool) {
		if thinking != thought {
			flush()
		}
		thinking = thought
		for _, c := range chunks {
			run.WriteString(c)
		}
	}
	call := func(part []byte) {
		if part == nil {
			return
		}
		flush()
		called = true
		a.answered++
		if parts != nil {
			parts = append(parts, ',')
		}
		parts = append(parts, part...)
	}
	for _, step := range said {
		switch s := step.(type) {
		case script.Text:
			a.spoke = true
			a.answered += len(s.Chunks)
			write(s.Chunks, false)
		case script.Refusal:
			a.spoke = true
			a.answered += len(s.Chunks)
			write(s.Chunks, false)
		case script.Think:
			a.thought += len(s.Chunks)
			if a.thoughts {
				write(s.Chunks, true)
			}
		case script.Tool:
			call(a.call(nil, s))
		case script.ToolChunk:
			call(a.calls(s.Parts))
		case script.Finish:
			reason = s.Reason
		case script.Error:
			return appendError(nil, s)
		}
	}
	flush()
	for _, step := range said { // the last counts
		if u, ok := step.(script.Usage); ok {
			a.usage(u)
		}
	}
	if parts == nil {
		parts = []byte(a.lastPart())
	}
	if reason == "" {
		b := append([]byte(`{"candidates":[{"content":{"parts":[`), parts...)
		return a.tail(append(b, `],"role":"model"},"index":0}]`...))
	}
	return a.tail(a.finished(nil, reason, string(parts), called))
}

// failure is a google.rpc.Status.
type failure struct {
	code            int
	message, status string
	details         string // JSON, or none
}

func appendProblem(b []byte, f failure) []byte {
	return append(appendStatus(append(b, `{"error":`...), f), '}')
}

func appendStatus(b []byte, f failure) []byte {
	b = append(b, `{"code":`...)
	b = strconv.AppendInt(b, int64(f.code), 10)
	b = append(b, `,"message":`...)
	b = appendString(b, f.message)
	b = append(b, `,"status":`...)
	b = appendString(b, f.status)
	if f.details != "" {
		b = append(b, `,"details":`...)
		b = append(b, f.details...)
	}
	return append(b, '}')
}

// appendError appends an error of the script. Its code is the number, its type the word of the status; where they are
// words of other dialects they are translated.
func appendError(b []byte, e script.Error) []byte {
	f := failure{message: e.Message, code: translated(e.Code)}
	if f.code == 0 {
		f.code = translated(e.Type)
	}
	if n, err := strconv.Atoi(e.Code); err == nil {
		f.code = n
	}
	switch {
	case e.Type != "" && e.Type == strings.ToUpper(e.Type): // the API's own word, or one meant to look like it
		f.status = e.Type
		if f.code == 0 {
			f.code = codeOf(e.Type)
		}
	case f.code != 0:
		f.status = statusOf(f.code)
	}
	if f.code == 0 {
		f.code, f.status = http.StatusInternalServerError, "INTERNAL"
	}
	if e.Form == script.FlatForm {
		return appendStatus(b, f)
	}
	return appendProblem(b, f)
}

// translated is the code of an error in the words of other dialects, 0 when it is none of them.
func translated(word string) int {
	switch word {
	case "invalid_request_error", "context_length_exceeded":
		return http.StatusBadRequest
	case "authentication_error", "invalid_api_key":
		return http.StatusUnauthorized
	case "permission_error":
		return http.StatusForbidden
	case "not_found_error", "model_not_found":
		return http.StatusNotFound
	case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota":
		return http.StatusTooManyRequests
	case "overloaded_error", "overloaded":
		return http.StatusServiceUnavailable
	case "timeout_error":
		return http.StatusGatewayTimeout
	}
	return 0
}

var statuses = []struct {
	code int
	word string
}{
	{400, "INVALID_ARGUMENT"}, {400, "FAILED_PRECONDITION"}, {401, "UNAUTHENTICATED"}, {403, "PERMISSION_DENIED"}, {404, "NOT_FOUND"},
	{409, "ABORTED"}, {429, "RESOURCE_EXHAUSTED"}, {499, "CANCELLED"}, {500, "INTERNAL"}, {501, "UNIMPLEMENTED"},
	{503, "UNAVAILABLE"}, {504, "DEADLINE_EXCEEDED"},
}

func codeOf(status string) int {
	for _, s := range statuses {
		if s.word == status {
			return s.code
		}
	}
	return 0
}

func statusOf(code int) string {
	for _, s := range statuses {
		if s.code == code {
			return s.word
		}
	}
	switch {
	case code < 500:
		return "INVALID_ARGUMENT"
	case code == http.StatusBadGateway || code == 529:
		return "UNAVAILABLE"
	}
	return "INTERNAL"
}

// problem is what the API says with a status. How long to wait stands in the body: there is no Retry-After.
func problem(status int, model string) failure {
	f := failure{code: status, status: statusOf(status)}
	switch status {
	case http.StatusBadRequest:
		f.message = "Request contains an invalid argument."
	case http.StatusUnauthorized:
		f.message = "Request had invalid authentication credentials."
	case http.StatusForbidden:
		f.message = "The caller does not have permission."
	case http.StatusNotFound:
		f.message = "models/" + model + " is not found for API version v1beta, or is not supported for generateContent."
	case http.StatusTooManyRequests:
		f.message = "You exceeded your current quota. Please retry in 1s."
		f.details = `[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":` +
			`"generativelanguage.googleapis.com/generate_content_requests","quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},` +
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]`
	case http.StatusInternalServerError:
		f.message = "An internal error has occurred."
	case http.StatusServiceUnavailable:
		f.message = "The model is overloaded. Please try again later."
	case http.StatusGatewayTimeout:
		f.message = "Deadline expired before operation could complete."
	default:
		if f.message = http.StatusText(status); f.message == "" {
			f.message = "Unknown error."
		}
	}
	return f
}
