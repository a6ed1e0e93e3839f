package provider

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// refusal is why a request gets no program.
type refusal struct {
	status int
	why    string
	answer Answer // says it in the words of its dialect; nil for a request that nobody understands
}

func (no *refusal) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if no.answer != nil {
		no.answer.Header(w.Header(), no.status, false)
		w.WriteHeader(no.status)
		w.Write(withMessage(no.answer.Body(no.status, nil), no.why))
		return
	}
	w.WriteHeader(no.status)
	body := map[string]map[string]string{"error": {"message": "stallwright: " + no.why}}
	json.NewEncoder(w).Encode(body)
}

// withMessage puts a message in place of that of an error body: the first string under the key message, else that
// under error. A body that has neither stays as it is.
func withMessage(body []byte, message string) []byte {
	quoted, err := json.Marshal(message)
	if err != nil {
		return body
	}
	for _, key := range []string{"message", "error"} {
		if from, to := stringUnder(body, key); to > from {
			return bytes.Join([][]byte{body[:from], quoted, body[to:]}, nil)
		}
	}
	return body
}

// stringUnder is where the first string that is the value of a key stands in a JSON, at any depth.
func stringUnder(body []byte, key string) (from, to int) {
	d := json.NewDecoder(bytes.NewReader(body))
	// Within an object every other token is a key.
	type level struct{ object, value bool }
	var levels []level
	found := false
	for {
		start := int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			return 0, 0
		}
		here := len(levels) - 1
		isKey := here >= 0 && levels[here].object && !levels[here].value
		_, isString := token.(string)
		if found && isString {
			end := int(d.InputOffset())
			return start + bytes.IndexByte(body[start:end], '"'), end
		}
		found = isKey && token == key
		if here >= 0 && levels[here].object && token != json.Delim('}') {
			levels[here].value = isKey
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			levels = append(levels, level{object: token == json.Delim('{')})
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:here]
		}
	}
}
