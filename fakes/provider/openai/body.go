package openai

import (
	"github.com/stallwright/stallwright/fakes/script"
)

// Body is a chat.completion object, or an error's body. An Error among the steps gives an error's body its words.
func (a *answer) Body(status int, steps []script.Step) []byte {
	var usage *script.Usage
	reason := null
	for _, step := range steps {
		switch s := step.(type) {
		case script.Usage:
			usage = &s
		case script.Finish:
			reason = quote(s)
		case script.Error:
			return a.failure(nil, status, s)
		}
	}
	if status >= 400 {
		return a.failure(nil, status, script.Error{})
	}
	b := []byte(`{"id":"` + a.id + `","object":"chat.completion"`)
	b = a.common(b)
	b = append(b, `,"choices":[{"index":0,"message":`...)
	b = a.appendMessage(b, said(steps))
	b = a.finishReason(b, reason)
	if a.flavour == Azure {
		b = b[:len(b)-len("{}")]
		b = append(b, safe...)
	}
	b = append(b, "}]"...)
	if usage != nil {
		b = append(b, `,"usage":`...)
		b = a.appendUsage(b, *usage)
	}
	switch a.flavour {
	case Azure:
		b = append(b, ","+promptFilter...)
	case Groq:
		b = append(b, `,"x_groq":{"id":"req_`+a.sum+`"}`...)
	}
	return append(b, '}')
}
