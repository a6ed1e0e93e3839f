package worker

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/stallwright/stallwright/harness/verdict"
)

// culprit is the part of a death's stacks that says who was at fault: of a crash the first goroutine, of a hang all
// that held it up.
func culprit(death string, kind verdict.Kind) string {
	_, stacks, _ := strings.Cut(death, "\ngoroutine ")
	blocks := strings.Split(stacks, "\ngoroutine ")
	if kind == verdict.Crash {
		return blocks[0]
	}
	var out []string
	for _, b := range blocks {
		state, _, _ := strings.Cut(b, "\n")
		for _, s := range busy {
			if strings.Contains(state, s) {
				out = append(out, b)
				break
			}
		}
	}
	return strings.Join(out, "\n")
}

// busy lists the states of goroutines in which virtual time cannot move: those that run, and those that wait for
// what may come from outside of the bubble.
var busy = []string{"running", "runnable", "Mutex", "syscall", "IO wait"}

// What a message shows of a death.
const (
	linesShown = 12
	bytesShown = 4 << 10
)

// head is the first lines of a death: what was said, and the top of the first stack.
func head(death string) string {
	death = strings.TrimSpace(death)
	death = strings.ToValidUTF8(death[:min(len(death), bytesShown)], "")
	lines := strings.Split(death, "\n")
	return strings.Join(lines[:min(len(lines), linesShown)], "\n")
}

// wordsKept bounds what is kept of a worker's stderr.
const wordsKept = 1 << 20

// words keeps what a worker writes to its stderr: the first MiB, or the first MiB from where the runtime begins to
// say why the process dies. It is safe for concurrent use.
type words struct {
	mu   sync.Mutex
	kept []byte
	line []byte // the present line so far
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
		if end == 0 && len(line) < wordsKept {
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
		if bytes.HasPrefix(line, []byte(d)) {
			w.kept = w.kept[:0]
		}
	}
	w.kept = append(w.kept, line[:min(len(line), wordsKept-len(w.kept))]...)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.kept) + string(w.line)
}
