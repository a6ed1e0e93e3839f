package worker

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/stallwright/stallwright/harness/verdict"
)

// culprit is the part of a death's stacks that says who was at fault: of a crash the first goroutine, of a hang all
// that hold virtual time up, which are those of a bubble that do not wait durably.
func culprit(death string, kind verdict.Kind) string {
	_, stacks, _ := strings.Cut(death, "\ngoroutine ")
	blocks := strings.Split(stacks, "\ngoroutine ")
	if kind == verdict.Crash {
		return blocks[0]
	}
	var out []string
	for _, b := range blocks {
		state, _, _ := strings.Cut(b, "\n")
		if strings.Contains(state, "synctest bubble") && !strings.Contains(state, "(durable)") {
			out = append(out, "goroutine "+b)
		}
	}
	return strings.Join(out, "\n")
}

// What a message shows of a death.
const (
	linesShown = 12
	bytesShown = 4 << 10
)

// head is the first lines of a death: what was said, and the top of the first stack, without the frames of the
// runtime.
func head(death string) string {
	death = strings.TrimSpace(death)
	death = death[:min(len(death), 4*bytesShown)]
	var out []string
	ofRuntime := false
	for _, line := range strings.Split(death, "\n") {
		if place, below := strings.CutPrefix(line, "\t"); below && ofRuntime {
			continue
		} else if below {
			line, _, _ = strings.Cut(place, " fp=") // of GOTRACEBACK=crash
			line = "\t" + line
		}
		ofRuntime = strings.HasPrefix(line, "runtime.") || strings.HasPrefix(line, "internal/")
		if !ofRuntime && len(out) < linesShown {
			out = append(out, line)
		}
	}
	death = strings.Join(out, "\n")
	return strings.ToValidUTF8(death[:min(len(death), bytesShown)], "")
}

// What is kept of a worker's stderr, and of a line that has no end.
const (
	wordsKept = 1 << 20
	lineKept  = 64 << 10
)

// words keeps what a worker writes to its stderr: the first MiB, or the first MiB from where the runtime begins to
// say why the process dies. It is safe for concurrent use.
type words struct {
	mu   sync.Mutex
	kept []byte
	line []byte // the present line so far
	dies bool   // the runtime has begun; after SIGQUIT each of its threads begins again
}

var _ io.Writer = (*words)(nil)

// dying are the beginnings of lines that the runtime writes when it ends the process.
var dying = []string{"panic: ", "fatal error: ", "SIGQUIT: "}

// Write takes any part of the output; it never fails.
func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := append(w.line, p...)
	for {
		end := bytes.IndexByte(line, '\n') + 1
		if end == 0 && len(line) < lineKept {
			break
		}
		if end == 0 {
			end = len(line)
		}
		w.take(line[:end])
		line = line[end:]
	}
	w.line = bytes.Clone(line)
	return len(p), nil
}

func (w *words) take(line []byte) {
	for _, d := range dying {
		if !w.dies && bytes.HasPrefix(line, []byte(d)) {
			w.dies, w.kept = true, w.kept[:0]
		}
	}
	w.kept = append(w.kept, line[:min(len(line), wordsKept-len(w.kept))]...)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.kept) + string(w.line[:min(len(w.line), wordsKept-len(w.kept))])
}
