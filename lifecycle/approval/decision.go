package approval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxDecision bounds, in bytes, a decision on its way in: a yes or no, and a sentence.
const MaxDecision = 64 << 10

// ErrForm is the error of a decision that is JSON but says something else than it may.
var ErrForm = errors.New("want {\"approved\": true or false, \"reason\": \"…\"} and nothing else")

// ParseDecision reads {approved, reason?}. Errors are those of JSON, or [ErrForm]. It is stricter than encoding/json: a name in other
// letters, a name twice and anything behind the object are no valid yes.
func ParseDecision(data []byte) (Decision, error) {
	var d Decision
	if !json.Valid(data) {
		return d, errors.New("not valid JSON")
	}
	in := json.NewDecoder(bytes.NewReader(data))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return d, ErrForm
	}
	seen := map[string]bool{}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return d, ErrForm
		}
		key, _ := name.(string)
		if seen[key] {
			return Decision{}, fmt.Errorf("%w: %s twice", ErrForm, key)
		}
		seen[key] = true
		value, err := in.Token()
		if err != nil {
			return Decision{}, ErrForm
		}
		right := false
		switch key {
		case "approved":
			d.Approved, right = value.(bool)
		case "reason":
			d.Reason, right = value.(string)
			right = right || value == nil
		}
		if !right {
			return Decision{}, ErrForm
		}
	}
	if !seen["approved"] {
		return Decision{}, ErrForm
	}
	if _, err := in.Token(); err != nil {
		return Decision{}, ErrForm
	}
	if _, err := in.Token(); err != io.EOF {
		return Decision{}, ErrForm
	}
	return d, nil
}
