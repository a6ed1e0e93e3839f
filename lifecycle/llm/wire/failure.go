package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

const (
	// MaxErrorBody bounds what is read, in bytes, of an answer that is only going to be quoted: its message comes first.
	MaxErrorBody = 64 << 10

	maxMessage = 500 // bytes of a provider's message: a paragraph
	maxQuote   = 200 // bytes of a line that could not be read
)

// NoAnswer is the error of an answer that is none. It shows the text that came instead: without the secret, cut, escaped.
func NoAnswer(what, text, secret string) *llm.Error {
	text = redact(text, secret)
	return &llm.Error{Code: llm.ProviderError, Message: fmt.Sprintf("%s%q", what, text[:min(len(text), maxQuote)])}
}

// ReadFailed is the error of a body that could not be read to its end. [bufio.ErrTooLong] says that one event of it is
// larger than [MaxEvent].
func ReadFailed(err error) *llm.Error {
	if errors.Is(err, bufio.ErrTooLong) {
		return &llm.Error{Code: llm.ProviderError, Message: "an event is larger than 32 MiB", Err: err}
	}
	return &llm.Error{Code: llm.ProviderTruncated, Message: "the answer was cut: " + err.Error(), Err: err}
}

// ErrorIn is the message of an error member, and whether there is one: absent, null and "" are none. A member without a
// message is its own.
func ErrorIn(raw json.RawMessage) (string, bool) {
	switch string(raw) {
	case "", "null", `""`:
		return "", false
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	var object struct {
		Message string `json:"message"`
	}
	if _ = json.Unmarshal(raw, &object); object.Message != "" {
		return object.Message, true
	}
	return string(raw), true
}

// errorMessage is the provider's own words in a JSON body that holds an error, or an array of one, else empty.
func errorMessage(body []byte) string {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 { // of a stream that would have been an array
		body = list[0]
	}
	var b struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	_ = json.Unmarshal(body, &b) // not JSON, or an odd field: what could be read counts
	if message, ok := ErrorIn(b.Error); ok {
		return message
	}
	return b.Message
}

// redact hides the secret in a text. Keys of a few bytes are no secrets and would shred it.
func redact(s, secret string) string {
	if len(secret) < 4 {
		return s
	}
	return strings.ReplaceAll(s, secret, "[redacted]")
}

// clean replaces what a terminal or a log could act on by spaces, and cuts the text to n bytes on a rune.
func clean(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
