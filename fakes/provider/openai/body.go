package openai

import (
	"net/http"
	"strings"

	"github.com/stallwright/stallwright/fakes/script"
)

// Body is a chat.completion object, or an error's body.
func (a *answer) Body(status int, said []script.Step) []byte {
	if status >= 400 {
		return appendError(nil, a.problem(status))
	}
	var text, thought strings.Builder
	var spoke bool
	var tools []script.Tool
	var usage *script.Usage
	reason := ""
	for _, step := range said {
		switch s := step.(type) {
		case script.Text:
			spoke = true
			text.WriteString(strings.Join(s.Chunks, ""))
		case script.Think:
			thought.WriteString(strings.Join(s.Chunks, ""))
		case script.Tool:
			tools = append(tools, s)
		case script.Usage:
			usage = &s
		case script.Finish:
			reason = s.Reason
		case script.Error:
			return appendError(nil, s)
		}
	}
	b := []byte(`{"id":"chatcmpl-` + a.id + `","object":"chat.completion"`)
	b = a.common(b)
	b = append(b, `,"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	if spoke || len(tools) == 0 {
		b = appendString(b, text.String())
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"refusal":null,"annotations":[]`...)
	if thought.Len() > 0 {
		b = append(b, ',')
		b = appendString(b, a.reasoning)
		b = append(b, ':')
		b = appendString(b, thought.String())
	}
	for i, t := range tools {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = appendString(b, t.ID)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = appendString(b, t.Name)
		b = append(b, `,"arguments":`...)
		b = appendString(b, strings.Join(t.Args, ""))
		b = append(b, "}}"...)
	}
	if len(tools) > 0 {
		b = append(b, ']')
	}
	b = append(b, `},"logprobs":null,"finish_reason":`...)
	if reason == "" {
		b = append(b, "null"...)
	} else {
		b = appendString(b, reason)
	}
	b = append(b, "}]"...)
	if usage != nil {
		b = append(b, `,"usage":`...)
		b = appendUsage(b, *usage)
	}
	return append(b, '}')
}

// problem is what the API says with a status.
func (a *answer) problem(status int) script.Error {
	switch status {
	case http.StatusBadRequest:
		return script.Error{Type: "invalid_request_error", Message: "We could not parse the JSON body of your request."}
	case http.StatusUnauthorized:
		return script.Error{Type: "invalid_request_error", Code: "invalid_api_key", Message: "Incorrect API key provided."}
	case http.StatusForbidden:
		return script.Error{Type: "request_forbidden", Code: "unsupported_country_region_territory", Message: "Country, region, or territory not supported"}
	case http.StatusNotFound:
		return script.Error{Type: "invalid_request_error", Code: "model_not_found",
			Message: "The model `" + a.model + "` does not exist or you do not have access to it."}
	case http.StatusTooManyRequests:
		return script.Error{Type: "requests", Code: "rate_limit_exceeded", Message: "Rate limit reached for " + a.model + " on requests per min (RPM). Please try again in 1s."}
	case http.StatusServiceUnavailable:
		return script.Error{Type: "server_error", Code: "overloaded", Message: "The engine is currently overloaded, please try again later"}
	}
	if status < 500 {
		return script.Error{Type: "invalid_request_error", Message: http.StatusText(status)}
	}
	return script.Error{Type: "server_error", Message: "The server had an error while processing your request. Sorry about that!"}
}
