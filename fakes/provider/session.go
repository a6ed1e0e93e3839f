package provider

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
)

// session is what is known of a Session while it is open. Its fields are guarded by the provider's mutex.
type session struct {
	*Session
	used     []int // requests that took each program
	requests int
	released bool
	current  map[*play]struct{}
	plays    sync.WaitGroup
}

// add opens a session. The provider's mutex is held.
func (p *Provider) add(marker string, s *Session) *session {
	if p.sessions == nil {
		p.sessions = map[string]*session{}
	}
	open := &session{Session: s, used: make([]int, len(s.Script)), current: map[*play]struct{}{}}
	p.sessions[marker] = open
	return open
}

// find returns the session of a request, or why it has none. The provider's mutex is held.
func (p *Provider) find(body []byte) (*session, error) {
	known := errors.New("no marker in the request, and no session for those without")
	for m := range markers(body) {
		if s := p.sessions[m]; s != nil && m != "" {
			return s, nil
		}
		known = fmt.Errorf("no session %.200q", m)
	}
	if marked(body) {
		return nil, known
	}
	s := p.sessions[""]
	if s == nil && p.Fallback != nil {
		if err := check(p.Fallback.Script); err != nil {
			return nil, err
		}
		s = p.add("", p.Fallback)
	}
	if s == nil || s.released {
		return nil, known
	}
	return s, nil
}

// take records a request and chooses its program. When there is none, problem says why.
func (p *Provider) take(r *http.Request, body []byte, req Request, answer Answer, arrived time.Time) (_ *play, problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed.Error()
	}
	s, err := p.find(body)
	if err != nil {
		p.strays++
		return nil, err.Error()
	}
	s.requests++
	pl := &play{p: p, s: s, ref: fmt.Sprintf("#%d", s.requests), req: req, answer: answer, due: arrived}
	// The query is left out: some dialects carry the key in it.
	line := fmt.Sprintf("%.20s %.200s", r.Method, r.URL.Path)
	pl.record("request", fmt.Sprintf("%s model=%.200s stream=%t attempt=%d", line, req.Model, req.Stream, req.Attempt))
	if answer == nil {
		problem = fmt.Sprintf("no dialect recognises %s with a body of %d bytes", line, len(body))
		if int64(len(body)) >= p.maxBody() {
			problem = fmt.Sprintf("%s has a body above %d bytes", line, p.maxBody())
		}
		pl.record("violation", problem)
		return nil, problem
	}
	for i, prog := range s.Script {
		if prog.Times != script.Any && s.used[i] >= max(prog.Times, 1) {
			continue
		}
		if fits(prog.When, r, body, req) {
			s.used[i]++
			pl.steps = prog.Steps
			s.current[pl] = struct{}{}
			s.plays.Add(1)
			p.plays.Add(1)
			return pl, ""
		}
	}
	problem = fmt.Sprintf("no program left for %s (model %.200q, attempt %d); expected %s", line, req.Model, req.Attempt, s.expected())
	pl.record("violation", problem)
	return nil, problem
}

func fits(w script.When, r *http.Request, body []byte, req Request) bool {
	return strings.HasSuffix(r.URL.Path, w.Path) &&
		(w.Model == "" || w.Model == req.Model) &&
		(w.Contains == "" || bytes.Contains(body, []byte(w.Contains))) &&
		(w.Attempt == 0 || w.Attempt == req.Attempt)
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
	if w.Path != "" {
		list = append(list, fmt.Sprintf("path %q", w.Path))
	}
	if w.Model != "" {
		list = append(list, fmt.Sprintf("model %q", w.Model))
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

// unplayed is called after the session's end.
func (s *session) unplayed() []string {
	var list []string
	for i, prog := range s.Script {
		if times := max(prog.Times, 1); prog.Times != script.Any && s.used[i] < times {
			list = append(list, fmt.Sprintf("program %d (%s) was taken by %d of %d requests", i+1, describe(prog.When), s.used[i], times))
		}
	}
	return list
}

func (s *session) running() []*play {
	list := make([]*play, 0, len(s.current))
	for pl := range s.current {
		list = append(list, pl)
	}
	return list
}

var markerBegin, markerEnd = []byte("[[sw:"), []byte("]]")

// markers yields the markers in a body.
func markers(body []byte) func(yield func(string) bool) {
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

func marked(body []byte) bool {
	for range markers(body) {
		return true
	}
	return false
}

const markerMax = 200

func checkMarker(m string) error {
	if len(m) > markerMax {
		return fmt.Errorf("provider: marker of %d bytes: want at most %d", len(m), markerMax)
	}
	for _, r := range m {
		if r <= ' ' || r > '~' || strings.ContainsRune(`"\<>&[]`, r) {
			return fmt.Errorf("provider: marker %q has %q: want letters, digits and signs that JSON does not escape, and no bracket", m, r)
		}
	}
	return nil
}

// check says what is wrong with a script, for a provider.
func check(s script.Script) error {
	if err := s.Validate(); err != nil {
		return err
	}
	for i, prog := range s {
		for j, step := range prog.Steps {
			if !playable(step) {
				return fmt.Errorf("program %d, step %d (%s): a provider has no step %T", i+1, j+1, step.Kind(), step)
			}
		}
	}
	return nil
}

func newReader(b []byte) io.Reader { return bytes.NewReader(b) }
