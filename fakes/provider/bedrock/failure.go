package bedrock

import (
	"cmp"
	"strconv"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// failure appends an exception, or in the flat form an error that the API's model does not know, which has all in its headers.
func (a *answer) failure(b []byte, e script.Error) []byte {
	at := len(b)
	b = append(b, make([]byte, preludeLength)...)
	if e.Form == script.FlatForm {
		b = header(b, ":message-type", "error")
		b = header(b, ":error-code", cmp.Or(e.Type, e.Code, "InternalError"))
		b = header(b, ":error-message", e.Message)
		return a.seal(headed(b, at), at)
	}
	kind := exception(e)
	b = header(b, ":exception-type", kind)
	b = header(b, ":content-type", "application/json")
	b = headed(header(b, ":message-type", "exception"), at)
	b = append(b, `{"message":`...)
	b = provider.AppendString(b, e.Message)
	if kind == "modelStreamErrorException" {
		status, err := strconv.Atoi(e.Code)
		if err != nil {
			status = 500
		}
		b = append(b, `,"originalStatusCode":`...)
		b = strconv.AppendInt(b, int64(status), 10)
		b = append(b, `,"originalMessage":`...)
		b = provider.AppendString(b, e.Message)
	}
	return a.seal(append(b, '}'), at)
}

// exception is the name of an error's exception: what other dialects call so has the same here, and a name that is not
// known is passed as it is, as in an exception beside the API's model.
func exception(e script.Error) string {
	switch name := cmp.Or(e.Type, e.Code); name {
	case "", "server_error", "api_error", "internal_error":
		return "internalServerException"
	case "rate_limit_error", "rate_limit_exceeded", "requests", "tokens":
		return "throttlingException"
	case "overloaded_error", "overloaded":
		return "serviceUnavailableException"
	case "invalid_request_error":
		return "validationException"
	default:
		if c := name[0]; 'A' <= c && c <= 'Z' { // as it stands in x-amzn-errortype
			return string(c+'a'-'A') + name[1:]
		}
		return name
	}
}
