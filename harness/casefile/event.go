package casefile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// EventForm is how an event is written in a case file.
const EventForm = `LANE [REQUEST] KIND ["TEXT"] [no. N | last], such as client text "two" no. 2`

// readEvent reads an event: LANE [REQUEST] KIND ["TEXT"] [no. N | last]. A request is its name, or its number.
func readEvent(text string) (expect.Event, error) {
	var e expect.Event
	head, tail := text, ""
	if i := strings.IndexByte(text, '"'); i >= 0 {
		quoted, err := strconv.QuotedPrefix(text[i:])
		if err != nil {
			return e, fmt.Errorf("the text in quotes has no end, or a backslash that means nothing")
		}
		e.Detail, _ = strconv.Unquote(quoted) // it was found as a quoted one
		if e.Detail == "" {
			return e, fmt.Errorf("the text in quotes is empty: leave it out")
		}
		head, tail = text[:i], text[i+len(quoted):]
	}
	said, last := strings.Fields(head), strings.Fields(tail)
	if e.Detail == "" {
		said, last = split(said)
	}
	switch {
	case len(last) == 0:
	case len(last) == 1 && last[0] == "last":
		e.Nth = -1
	case len(last) == 2 && last[0] == "no.":
		n, err := strconv.Atoi(last[1])
		if err != nil || n < 1 || n > 100_000 {
			return e, fmt.Errorf("no. %s: want a number from 1", script.Shown(last[1]))
		}
		e.Nth = n
	default:
		return e, fmt.Errorf("%s stands at its end: want no. N, or last", script.Shown(strings.Join(last, " ")))
	}
	if len(said) < 2 || len(said) > 3 {
		return e, fmt.Errorf("want %s", EventForm)
	}
	on, ok := lane(said[0])
	if !ok {
		return e, hinted(script.Meant(said[0], []string{caller.Lane, harness.ProviderLane, harness.ProcessLane, harness.ServerLane}),
			"there is no lane %s: want client, provider, process or server", script.Shown(said[0]))
	}
	kinds := words(on.Events)
	e.Lane, e.Kind = said[0], said[len(said)-1]
	if len(said) == 3 {
		e.Ref = said[1]
		if n, err := strconv.Atoi(e.Ref); err == nil && n > 0 {
			e.Ref = "#" + strconv.Itoa(n)
		}
	}
	if !slices.Contains(kinds, e.Kind) {
		hint := script.Meant(e.Kind, kinds)
		if hint == "" {
			hint = "its events are " + strings.Join(kinds, ", ")
		}
		return e, hinted(hint, "%s has no event %s", e.Lane, script.Shown(e.Kind))
	}
	return e, nil
}

// split takes no. N or last from the end of an event without a text.
func split(words []string) (head, tail []string) {
	n := len(words)
	switch {
	case n > 1 && words[n-1] == "last":
		return words[:n-1], words[n-1:]
	case n > 2 && words[n-2] == "no.":
		return words[:n-2], words[n-2:]
	}
	return words, nil
}

// hinted is an error with a hint behind it, if there is one.
func hinted(hint, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if hint != "" {
		text += "; " + hint
	}
	return fmt.Errorf("%s", text)
}

// features are what a stage must be able to show for an event to be seen on it.
func features(e expect.Event) []harness.Feature {
	switch {
	case e.Lane == caller.Lane && e.Kind == "error":
		return []harness.Feature{harness.ErrorFrames}
	case e.Lane == caller.Lane && (e.Kind == "event" || e.Kind == "session"):
		return []harness.Feature{harness.CustomEvents}
	case e.Lane == harness.ServerLane:
		return []harness.Feature{harness.LogFields}
	case e.Lane == harness.ProcessLane && (e.Kind == "signal" || e.Kind == "exit"):
		return []harness.Feature{harness.Signals}
	case e.Lane == harness.ProcessLane:
		return []harness.Feature{harness.Feature(e.Kind)}
	}
	return nil
}
