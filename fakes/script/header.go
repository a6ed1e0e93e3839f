package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// header says which header cannot be sent: what would break the head of an answer belongs into raw bytes of a test of its
// own, not into a name or a value.
func header(h map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		switch {
		case !headerName(name):
			return fmt.Errorf("header %.60q: want a name of letters, digits and dashes", name)
		case !headerValue(h[name]):
			return fmt.Errorf("header %.60q has the value %.60q: want a text on one line", name, h[name])
		}
	}
	return nil
}

// headerName says whether a name is a token of RFC 9110.
func headerName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	}) < 0
}

// headerValue says whether a value has no control characters, tabs aside.
func headerValue(value string) bool {
	return strings.IndexFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) < 0
}
