package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/stallwright/stallwright/fakes/timeline"
)

// LogWriter records the lines of a server's log as reported events: the message, then its fields by name. It takes
// JSON lines as slog writes them, and others as they are. It is safe for concurrent use.
type LogWriter struct {
	Timeline *timeline.Timeline

	mu   sync.Mutex
	rest []byte
}

// lineLimit bounds a line of a server's log; the rest of it is dropped.
const lineLimit = 64 << 10

// Write takes any part of the log; it never fails.
func (w *LogWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	for {
		line, rest, ok := bytes.Cut(w.rest, []byte("\n"))
		if !ok {
			break
		}
		w.Timeline.Record(timeline.Event{Lane: ServerLane, Kind: "log", Detail: LogLine(string(line)), Source: timeline.Reported})
		w.rest = append([]byte(nil), rest...)
	}
	if len(w.rest) > lineLimit {
		w.rest = w.rest[:lineLimit]
	}
	return len(p), nil
}

// LogLine is a line of a log in words: MESSAGE key=value key=value, time and level aside.
func LogLine(line string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(line), &fields) != nil {
		return line
	}
	msg, _ := fields["msg"].(string)
	keys := make([]string, 0, len(fields))
	for k := range fields {
		if k != "msg" && k != "time" && k != "level" {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	words := []string{msg}
	for _, k := range keys {
		words = append(words, fmt.Sprintf("%s=%v", k, fields[k]))
	}
	return strings.Join(words, " ")
}
