package casefile

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
)

// units are what the words in a length are worth on a stage.
type units struct {
	world          string // in problems
	windows, usual harness.Windows
	tick, once     time.Duration
}

// unitsOf are those of a trial's stage.
func unitsOf(s *harness.Stage) units {
	return units{"the server's windows", s.Windows, s.Usual, s.Tick, s.Once}
}

// worlds are those that a file is checked in before it plays: virtual time, real time, and servers with these windows.
func worlds(set harness.Set, others []harness.Windows) []units {
	const tick, once = 300 * time.Millisecond, time.Second // as on a stage in real time
	out := []units{
		{"production windows", harness.Production().With(set), harness.Production(), time.Millisecond, 0},
		{"short windows", harness.Short().With(set), harness.Short(), tick, once},
	}
	for _, w := range others {
		out = append(out, units{"the server's windows", w.With(set), w, tick, once})
	}
	return out
}

// lengthWords are the words in a length.
func lengthWords() []string { return words(lengthKinds()) }

// named is what a word is worth. A clock that is off is as long as it usually is, so that a file can outlast it.
func (u units) named(word string) (time.Duration, bool) {
	of := func(w harness.Windows) (time.Duration, bool) {
		switch word {
		case "first-chunk":
			return w.FirstChunk, true
		case "inactivity":
			return w.Inactivity, true
		case "stream":
			return w.Stream, true
		case "heartbeat":
			return w.Heartbeat, true
		case "shutdown":
			return w.Shutdown, true
		case "straggler":
			return w.Straggler, true
		case "abort":
			return w.Abort, true
		case "cleanup":
			return w.Cleanup, true
		case "last-write":
			return w.LastWrite, true
		case "flush":
			return w.Flush, true
		}
		return 0, false
	}
	switch word {
	case "tick":
		return u.tick, true
	case "once":
		return u.once, true
	}
	now, ok := of(u.windows)
	usual, _ := of(u.usual)
	short, _ := of(harness.Short())
	return cmp.Or(now, usual, short), ok
}

// The bounds of a length: what is longer than longest is nobody's window.
const (
	mostParts = 8
	longest   = 1000 * time.Hour
)

// length reads a length: parts with + or - between them, each of which is a duration or [N] WORD with any number of
// *N or /N behind it. Signs stand between spaces, since words have dashes in them.
func (u units) length(text string) (time.Duration, error) {
	fields := strings.Fields(strings.NewReplacer("*", " * ", "/", " / ").Replace(text))
	if len(text) > 200 || len(fields) > 8*mostParts {
		return 0, fmt.Errorf("want a length of at most %d parts", mostParts)
	}
	total, sign := 0.0, 1.0
	for first := true; first || len(fields) > 0; first = false {
		if !first {
			switch fields[0] {
			case "+":
				sign = 1
			case "-":
				sign = -1
			default:
				return 0, fmt.Errorf("%s stands where + or - must: want a length such as 200ms, inactivity/2 or first-chunk - tick", script.Shown(fields[0]))
			}
			fields = fields[1:]
		}
		value, rest, err := u.part(fields)
		if err != nil {
			return 0, err
		}
		total, fields = total+sign*value, rest
	}
	switch {
	case total < 0:
		return 0, fmt.Errorf("it is below 0 with %s: %s", u.world, time.Duration(total))
	case total > float64(longest):
		return 0, fmt.Errorf("it is more than %s with %s", longest, u.world)
	}
	return time.Duration(math.Round(total)), nil
}

func (u units) part(fields []string) (value float64, rest []string, err error) {
	const want = "want a length such as 200ms, inactivity/2 or first-chunk - tick"
	if len(fields) == 0 {
		return 0, nil, fmt.Errorf("a part is missing: %s", want)
	}
	if d, err := time.ParseDuration(fields[0]); err == nil && (fields[0] != "0" || len(fields) == 1) {
		return float64(d), fields[1:], nil
	}
	times := 1.0
	if n, err := count(fields[0]); err == nil {
		times, fields = float64(n), fields[1:]
		if len(fields) == 0 {
			return 0, nil, fmt.Errorf("a number without a unit: %s", want)
		}
	}
	worth, ok := u.named(fields[0])
	if !ok {
		hint := script.Meant(fields[0], lengthWords())
		for _, w := range lengthWords() {
			if strings.HasPrefix(fields[0], w+"-") || strings.HasPrefix(fields[0], w+"+") {
				hint = "put spaces around the sign"
			}
		}
		if hint == "" {
			hint = "the words are " + strings.Join(lengthWords(), ", ")
		}
		return 0, nil, fmt.Errorf("there is no window %s: %s; %s", script.Shown(fields[0]), want, hint)
	}
	value, fields = times*float64(worth), fields[1:]
	for len(fields) > 0 && (fields[0] == "*" || fields[0] == "/") {
		if len(fields) == 1 {
			return 0, nil, fmt.Errorf("a number is missing behind %s", fields[0])
		}
		n, err := count(fields[1])
		if err != nil {
			return 0, nil, fmt.Errorf("%s behind %s: %w", script.Shown(fields[1]), fields[0], err)
		}
		if fields[0] == "*" {
			value *= float64(n)
		} else {
			value /= float64(n)
		}
		fields = fields[2:]
	}
	return value, fields, nil
}

// count is a number of windows.
func count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1000 {
		return 0, fmt.Errorf("want a number from 1 to 1000")
	}
	return n, nil
}

// must is a length that was checked when the file was read. On a stage with windows that nobody could know then, one
// below 0 is none at all.
func (u units) must(text string) time.Duration {
	d, _ := u.length(text)
	return d
}
