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

// lanes has the kinds of events of each lane, in the words of the timeline.
func lanes() map[string][]string {
	provider := []string{"request", "left", "closed", "blocked", "refused", "violation", "connection"}
	for _, s := range script.Steps() {
		provider = append(provider, s.Kind())
	}
	return map[string][]string{
		caller.Lane: {
			"ask", "status", "session", "id", "text", "reasoning", "tool", "finish", "usage", "error", "done", "event", "comment", "garbage",
			"end", "left", "refused",
		},
		harness.ProviderLane: provider,
		harness.ProcessLane:  {"signal", "exit", "goroutines", "files", "sockets", "children"},
		harness.ServerLane:   {"log"},
	}
}

const eventForm = `LANE [REQUEST] KIND ["TEXT"] [no. N | last], such as client text "two" no. 2`

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
	words, last := strings.Fields(head), strings.Fields(tail)
	if e.Detail == "" {
		words, last = split(words)
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
	if len(words) < 2 || len(words) > 3 {
		return e, fmt.Errorf("want %s", eventForm)
	}
	kinds, ok := lanes()[words[0]]
	if !ok {
		return e, hinted(script.Meant(words[0], []string{caller.Lane, harness.ProviderLane, harness.ProcessLane, harness.ServerLane}),
			"there is no lane %s: want client, provider, process or server", script.Shown(words[0]))
	}
	e.Lane, e.Kind = words[0], words[len(words)-1]
	if len(words) == 3 {
		e.Ref = words[1]
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
