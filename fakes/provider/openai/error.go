package openai

import (
	"net/http"
	"strconv"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// fail is an error frame inside a stream. Groq names the event; OpenRouter's stands beside a choice.
func (a *answer) fail(b []byte, e script.Error) []byte {
	switch {
	case e.Form == script.ChoicesForm, e.Form == script.OwnForm && a.flavour == OpenRouter:
		b = a.chunk(b)
		b = append(b, `"error":`...)
		b = a.object(b, 0, e)
		b = append(b, `,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"error"`...)
		if a.flavour == OpenRouter {
			b = append(b, `,"native_finish_reason":null`...)
		}
		return append(b, "}]}\n\n"...)
	case e.Form == script.OwnForm && a.flavour == Groq:
		b = append(b, "event: error\n"...)
	}
	b = append(b, "data: "...)
	b = a.failure(b, 0, e)
	return append(b, "\n\n"...)
}

// failure is the body of an error: with a status in place of an answer, with 0 inside a stream, and below 400 in an
// answer that says it is well.
func (a *answer) failure(b []byte, status int, e script.Error) []byte {
	if status < 400 {
		status = 0
	}
	switch {
	case e.Form == script.FlatForm:
		b = append(b, `{"object":"error",`...)
		b = a.errorMembers(b, status, e)
		return append(b, '}')
	case a.flavour == Mistral && status == http.StatusUnauthorized:
		b = append(b, `{"detail":`...)
		b = provider.AppendString(b, a.problem(status, e).Message)
		return append(b, '}')
	case a.flavour == Mistral:
		b = append(b, `{"object":"error",`...)
		b = a.errorMembers(b, status, e)
		b = append(b, `,"raw_status_code":`...)
		b = strconv.AppendInt(b, int64(orServer(status)), 10)
		return append(b, '}')
	case a.flavour == XAI:
		e = a.problem(status, e)
		b = append(b, `{"code":`...)
		b = provider.AppendString(b, e.Type)
		b = append(b, `,"error":`...)
		b = provider.AppendString(b, e.Message)
		return append(b, '}')
	}
	b = append(b, `{"error":`...)
	b = a.object(b, status, e)
	if a.flavour == OpenRouter {
		b = append(b, `,"user_id":"user_stallwright"`...)
	}
	return append(b, '}')
}

// object is an error object in the flavour's form.
func (a *answer) object(b []byte, status int, e script.Error) []byte {
	b = append(b, '{')
	b = a.errorMembers(b, status, e)
	return append(b, '}')
}

func (a *answer) errorMembers(b []byte, status int, e script.Error) []byte {
	e = a.problem(status, e)
	if a.flavour == Azure && e.Type == "" {
		b = append(b, `"code":`...)
		b = provider.AppendString(b, e.Code)
		b = append(b, `,"message":`...)
		return provider.AppendString(b, e.Message)
	}
	code := null
	switch n, err := strconv.Atoi(e.Code); {
	case a.numbers && err == nil:
		code = strconv.AppendInt(nil, int64(n), 10)
	case e.Code != "":
		code = provider.AppendString(nil, e.Code)
	case a.numbers:
		code = strconv.AppendInt(nil, int64(orServer(status)), 10)
	}
	if a.flavour == OpenRouter {
		b = append(b, `"code":`...)
		b = append(b, code...)
		b = append(b, `,"message":`...)
		b = provider.AppendString(b, e.Message)
		b = append(b, `,"metadata":{"error_type":`...)
		b = provider.AppendString(b, e.Type)
		return append(b, '}')
	}
	b = append(b, `"message":`...)
	b = provider.AppendString(b, e.Message)
	b = append(b, `,"type":`...)
	b = provider.AppendString(b, e.Type)
	if a.flavour != Groq && a.flavour != LlamaCPP {
		b = append(b, `,"param":null`...)
	}
	b = append(b, `,"code":`...)
	return append(b, code...)
}

// orServer is the status that numbers an error which has none.
func orServer(status int) int {
	if status == 0 {
		return http.StatusInternalServerError
	}
	return status
}

// problem fills what e leaves open with what the flavour says: of a status, or of a failing answer when status is 0.
func (a *answer) problem(status int, e script.Error) script.Error {
	own := a.usual(status)
	if status == http.StatusBadRequest && a.limit > 0 && a.prompt > a.limit {
		own = a.above()
	}
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

func tooLong(prompt, limit int) string {
	return "This model's maximum context length is " + strconv.Itoa(limit) + " tokens. However, your messages resulted in " +
		strconv.Itoa(prompt) + " tokens. Please reduce the length of the messages."
}

// above is said of a prompt above the limit.
func (a *answer) above() script.Error {
	e := script.Error{Type: "invalid_request_error", Code: "context_length_exceeded", Message: tooLong(a.prompt, a.limit)}
	switch a.flavour {
	case LlamaCPP:
		e.Type, e.Code = "exceed_context_size_error", ""
	case OpenRouter:
		e.Type, e.Code = "context_length_exceeded", ""
	case VLLM:
		e.Type, e.Code = "BadRequestError", ""
	case DeepSeek:
		e.Code = "invalid_request_error"
	}
	return e
}

func (a *answer) usual(status int) script.Error {
	switch a.flavour {
	case Azure:
		if e, ok := azure(status); ok {
			return e
		}
	case DeepSeek:
		switch status {
		case http.StatusUnauthorized:
			return script.Error{Type: "authentication_error", Code: "invalid_request_error", Message: "Authentication Fails (governor)"}
		case http.StatusPaymentRequired:
			return script.Error{Type: "unknown_error", Code: "invalid_request_error", Message: "Insufficient Balance"}
		}
	case LlamaCPP:
		return llamaCPP(status)
	case Mistral:
		switch {
		case status == http.StatusUnauthorized:
			return script.Error{Type: "unauthorized", Message: "Invalid API Key"}
		case status == http.StatusBadRequest || status == http.StatusNotFound:
			return script.Error{Type: "invalid_model", Code: "1500", Message: "Invalid model: " + a.model}
		case status == http.StatusTooManyRequests:
			return script.Error{Type: "rate_limited", Code: "1300", Message: "Rate limit exceeded"}
		}
	case OpenRouter:
		return openRouter(status)
	case VLLM:
		switch {
		case status == http.StatusNotFound:
			return script.Error{Type: "NotFoundError", Message: "The model `" + a.model + "` does not exist."}
		case status >= 400 && status < 500:
			return script.Error{Type: "BadRequestError", Message: http.StatusText(status)}
		}
		return script.Error{Type: "InternalServerError", Message: "Internal server error"}
	}
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
	if status >= 400 && status < 500 {
		return script.Error{Type: "invalid_request_error", Message: http.StatusText(status)}
	}
	return script.Error{Type: "server_error", Message: "The server had an error while processing your request. Sorry about that!"}
}

// azure is what the gateway in front of Azure's models says; the rest comes from behind it.
func azure(status int) (e script.Error, ok bool) {
	switch status {
	case http.StatusUnauthorized:
		return script.Error{Code: "401", Message: "Access denied due to invalid subscription key or wrong API endpoint."}, true
	case http.StatusNotFound:
		return script.Error{Code: "DeploymentNotFound", Message: "The API deployment for this resource does not exist."}, true
	case http.StatusRequestTimeout:
		return script.Error{Code: "Timeout", Message: "The operation was timeout."}, true
	case http.StatusTooManyRequests:
		return script.Error{Code: "429", Message: "Requests have exceeded call rate limit. Please retry after 1 second."}, true
	}
	return script.Error{}, false
}

func llamaCPP(status int) script.Error {
	switch {
	case status == http.StatusUnauthorized:
		return script.Error{Type: "authentication_error", Message: "Invalid API Key"}
	case status == http.StatusNotFound:
		return script.Error{Type: "not_found_error", Message: "File Not Found"}
	case status == http.StatusNotImplemented:
		return script.Error{Type: "not_supported_error", Message: "This server does not support this."}
	case status == http.StatusServiceUnavailable:
		return script.Error{Type: "unavailable_error", Message: "Loading model"}
	case status >= 400 && status < 500:
		return script.Error{Type: "invalid_request_error", Message: http.StatusText(status)}
	}
	return script.Error{Type: "server_error", Message: "Internal server error"}
}

func openRouter(status int) script.Error {
	kind, message := "server", http.StatusText(status)
	switch status {
	case 0:
		return script.Error{Type: "provider_unavailable", Code: "502", Message: "Provider disconnected unexpectedly"}
	case http.StatusBadRequest:
		kind = "invalid_request"
	case http.StatusUnauthorized:
		kind, message = "authentication", "No auth credentials found"
	case http.StatusPaymentRequired:
		kind, message = "payment_required", "Insufficient credits"
	case http.StatusForbidden:
		kind = "permission_denied"
	case http.StatusNotFound:
		kind = "not_found"
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		kind = "timeout"
	case http.StatusRequestEntityTooLarge:
		kind = "payload_too_large"
	case http.StatusTooManyRequests:
		kind, message = "rate_limit_exceeded", "Rate limit exceeded"
	case http.StatusBadGateway:
		kind, message = "provider_unavailable", "Provider returned error"
	case http.StatusServiceUnavailable:
		kind, message = "provider_overloaded", "Provider is overloaded"
	}
	return script.Error{Type: kind, Message: message}
}
