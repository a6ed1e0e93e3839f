package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/harness"
)

// listType is the type of flags that may be repeated.
const listType = "list"

// list is a flag that may be repeated; its value is taken as it is.
type list struct{ values *[]string }

func (l list) String() string {
	if l.values == nil {
		return ""
	}
	return strings.Join(*l.values, ",")
}

func (l list) Set(v string) error { *l.values = append(*l.values, v); return nil }
func (l list) Type() string       { return listType }

// choice is a flag that takes one of a few words.
type choice struct {
	value *string
	words []string
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c choice) Set(v string) error {
	if !slices.Contains(c.words, v) {
		return fmt.Errorf("want %s", or(c.words))
	}
	*c.value = v
	return nil
}

func (c choice) Type() string { return strings.Join(c.words, "|") }

// or joins words as a sentence does: a, b or c.
func or(words []string) string { return joined(words, "or") }

// and joins words as a sentence does: a, b and c.
func and(words []string) string { return joined(words, "and") }

func joined(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// windows is the repeatable flag NAME=DURATION about the clocks of an attached server.
type windows struct {
	value *harness.Windows
	given *[]string // as given, for the command that plays again
}

func (w windows) String() string {
	if w.given == nil {
		return ""
	}
	return strings.Join(*w.given, ",")
}

func (w windows) Type() string { return listType }

func (w windows) Set(v string) error {
	name, text, ok := strings.Cut(v, "=")
	if !ok {
		return fmt.Errorf("want NAME=DURATION, such as first-chunk=30s")
	}
	fields := fieldsOf(w.value)
	field, known := fields[name]
	if !known {
		names := slices.Sorted(maps.Keys(fields))
		return fmt.Errorf("there is no window %q: %s", name, cmp.Or(didYouMean(name, names, ""), "want "+or(names)))
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration such as 1.5s or 2m (0 is off)", text)
	}
	*field = d
	*w.given = append(*w.given, v)
	return nil
}

func fieldsOf(w *harness.Windows) map[string]*time.Duration {
	return map[string]*time.Duration{
		"first-chunk": &w.FirstChunk, "inactivity": &w.Inactivity, "stream": &w.Stream, "heartbeat": &w.Heartbeat,
		"shutdown": &w.Shutdown, "straggler": &w.Straggler, "abort": &w.Abort, "cleanup": &w.Cleanup,
		"last-write": &w.LastWrite, "flush": &w.Flush,
	}
}
