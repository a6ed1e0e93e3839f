package script

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
)

var markerBegin, markerEnd = []byte("[[sw:"), []byte("]]")

const markerMax = 200

// Markers yields the markers in a body or in arguments: what stands between [[sw: and ]], at most 200 bytes, leads a request to
// the session of that name.
func Markers(body []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			_, after, found := bytes.Cut(body, markerBegin)
			if !found {
				return
			}
			if m, _, found := bytes.Cut(after[:min(len(after), markerMax+len(markerEnd))], markerEnd); found && !yield(string(m)) {
				return
			}
			body = after
		}
	}
}

// CheckMarker says what is wrong with a marker: more than 200 bytes, or a character that JSON may escape or the brackets.
func CheckMarker(m string) error {
	if len(m) > markerMax {
		return fmt.Errorf("marker of %d bytes: want at most %d", len(m), markerMax)
	}
	for _, r := range m {
		if r <= ' ' || r > '~' || strings.ContainsRune(`"\<>&[]`, r) {
			return fmt.Errorf("marker %q has %q: want letters, digits and signs that JSON does not escape, and no bracket", m, r)
		}
	}
	return nil
}
