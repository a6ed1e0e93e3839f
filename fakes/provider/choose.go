package provider

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/fakes/script"
)

// asked is a request as a [script.When] chooses it.
type asked struct {
	request *http.Request
	Request
	ordinal int
	dialect Dialect
	body    []byte
}

func (a asked) fits(w script.When) bool {
	return (w.Ordinal == 0 || w.Ordinal == a.ordinal) &&
		(w.Dialect == "" || w.Dialect == a.dialect.Name()) &&
		strings.HasSuffix(a.request.URL.Path, w.Path) &&
		(w.Model == "" || w.Model == a.Model) &&
		(w.Stream == nil || *w.Stream == a.Stream) &&
		(w.Contains == "" || bytes.Contains(a.body, []byte(w.Contains))) &&
		(w.Attempt == 0 || w.Attempt == a.Attempt) &&
		a.hasHeaders(w.Header)
}

func (a asked) hasHeaders(want map[string]string) bool {
	for name, text := range want {
		values := a.request.Header.Values(name)
		if !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, text) }) {
			return false
		}
	}
	return true
}

// expected says which requests the script still waits for.
func (s *session) expected() string {
	const most = 5 // the first that wait are those of interest
	var list []string
	for i, prog := range s.Script {
		if prog.Times == script.Any || s.used[i] < max(prog.Times, 1) {
			if list = append(list, fmt.Sprintf("program %d (%s)", i+1, describe(prog.When))); len(list) == most {
				break
			}
		}
	}
	if len(list) == 0 {
		return "no further request"
	}
	return strings.Join(list, " or ")
}

func describe(w script.When) string {
	var list []string
	if w.Ordinal != 0 {
		list = append(list, fmt.Sprintf("request %d", w.Ordinal))
	}
	if w.Dialect != "" {
		list = append(list, fmt.Sprintf("dialect %q", w.Dialect))
	}
	if w.Path != "" {
		list = append(list, fmt.Sprintf("path %q", w.Path))
	}
	if w.Model != "" {
		list = append(list, fmt.Sprintf("model %q", w.Model))
	}
	if w.Stream != nil {
		list = append(list, fmt.Sprintf("stream %t", *w.Stream))
	}
	for _, name := range slices.Sorted(maps.Keys(w.Header)) {
		list = append(list, fmt.Sprintf("header %q", name)) // the value may be a key
	}
	if w.Contains != "" {
		list = append(list, fmt.Sprintf("contains %.80q", w.Contains))
	}
	if w.Attempt != 0 {
		list = append(list, fmt.Sprintf("attempt %d", w.Attempt))
	}
	if len(list) == 0 {
		return "any request"
	}
	return strings.Join(list, ", ")
}
