package anthropic

import (
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// stop appends why the model stopped, as members: null when finish is. A refusal that was said is the reason, unless the
// script has one that is neither a plain end nor a refusal.
func (a *answer) stop(b []byte, finish *script.Finish) []byte {
	reason := ""
	if finish != nil {
		reason = finish.Reason
	}
	switch reason {
	case "stop":
		reason = "end_turn"
	case "length":
		reason = "max_tokens"
	case "tool_calls":
		reason = "tool_use"
	case "content_filter":
		reason = "refusal"
	}
	if a.refused && reason == "end_turn" {
		reason = "refusal"
	}
	b = append(b, `"stop_reason":`...)
	b = appendOrNull(b, reason, finish != nil && finish.Empty)
	b = append(b, `,"stop_sequence":`...)
	b = appendOrNull(b, a.sequence, reason == "stop_sequence")
	b = append(b, `,"stop_details":`...)
	if reason != "refusal" {
		return append(b, "null"...)
	}
	b = append(b, `{"type":"refusal","category":"general_harms","explanation":`...)
	return append(appendOrNull(b, a.refusal, false), '}')
}

// appendOrNull appends null for nothing, unless the empty string is meant.
func appendOrNull(b []byte, s string, empty bool) []byte {
	if s == "" && !empty {
		return append(b, "null"...)
	}
	return provider.AppendString(b, s)
}

// inputTokens appends the counts of the prompt. The API does not count what it read from its cache as input.
func (a *answer) inputTokens(b []byte) []byte {
	input, cached := a.input, 0
	if a.reported {
		cached = a.usage.Cached
		input = max(0, a.usage.Prompt-cached)
	}
	b = append(b, `"input_tokens":`...)
	b = strconv.AppendInt(b, int64(input), 10)
	b = append(b, `,"cache_creation_input_tokens":0,"cache_read_input_tokens":`...)
	return strconv.AppendInt(b, int64(cached), 10)
}

func (a *answer) outputTokens() int {
	if a.reported {
		return a.usage.Completion
	}
	return max(1, a.output)
}

func (a *answer) thinkingTokens(b []byte) []byte {
	if a.usage.Reasoning == 0 {
		return b
	}
	b = append(b, `,"output_tokens_details":{"thinking_tokens":`...)
	return append(strconv.AppendInt(b, int64(a.usage.Reasoning), 10), '}')
}

// signature stands for the sealed reasoning, which a client only hands back.
func (a *answer) signature() string {
	return base64.StdEncoding.EncodeToString([]byte("reasoning of " + a.id))
}

// appendError appends an error's body. request is empty where the API names none.
func appendError(b []byte, e script.Error, request string) []byte {
	e = named(e)
	b = append(b, `{"type":"error","error":{"type":`...)
	b = provider.AppendString(b, e.Type)
	b = append(b, `,"message":`...)
	b = provider.AppendString(b, e.Message)
	b = append(b, `},"request_id":`...)
	return append(appendOrNull(b, request, false), '}')
}

// appendFlat appends an error without the object around it.
func appendFlat(b []byte, e script.Error) []byte {
	e = named(e)
	b = append(b, `{"type":`...)
	b = provider.AppendString(b, e.Type)
	b = append(b, `,"message":`...)
	return append(provider.AppendString(b, e.Message), '}')
}

// named is an error with a type: the API has no codes beside them.
func named(e script.Error) script.Error {
	if e.Type == "" {
		e.Type = e.Code
	}
	if e.Type == "" {
		e.Type = "api_error"
	}
	return e
}

// problem is what the API says with a status.
func (a *answer) problem(status int) script.Error {
	switch status {
	case http.StatusUnauthorized:
		return script.Error{Type: "authentication_error", Message: "API key is invalid."}
	case http.StatusPaymentRequired:
		return script.Error{Type: "billing_error", Message: "There is a problem with the billing of this organization."}
	case http.StatusForbidden:
		return script.Error{Type: "permission_error", Message: "This key may not use the resource."}
	case http.StatusNotFound:
		return script.Error{Type: "not_found_error", Message: "model: " + a.model}
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return script.Error{Type: "timeout_error", Message: "The request took too long."}
	case http.StatusConflict:
		return script.Error{Type: "conflict_error", Message: "The resource is in another state."}
	case http.StatusRequestEntityTooLarge:
		return script.Error{Type: "request_too_large", Message: "The request is larger than 32 MB."}
	case http.StatusTooManyRequests:
		return script.Error{Type: "rate_limit_error", Message: "The rate limit of requests per minute was reached."}
	case 529:
		return script.Error{Type: "overloaded_error", Message: "Overloaded"}
	}
	if status < 500 {
		return script.Error{Type: "invalid_request_error", Message: "The request is not valid."}
	}
	return script.Error{Type: "api_error", Message: "Internal server error"}
}
