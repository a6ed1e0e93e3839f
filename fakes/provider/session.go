package provider

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
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
	gates    *script.Gates
	barriers map[string]*barrier
	drawn    *uint64 // the seed, when it was used
}

// add opens a session. The provider's mutex is held.
func (p *Provider) add(marker string, s *Session) *session {
	if p.sessions == nil {
		p.sessions = map[string]*session{}
	}
	open := &session{Session: s, used: make([]int, len(s.Script)), current: map[*play]struct{}{}, gates: s.Gates}
	if open.gates == nil {
		open.gates = new(script.Gates)
	}
	p.sessions[marker] = open
	return open
}

// find returns the session of a request, or why it has none. The provider's mutex is held.
func (p *Provider) find(body []byte) (*session, error) {
	known := errors.New("no marker in the request, and no session for those without")
	for m := range script.Markers(body) {
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
		if err := p.check(p.Fallback.Script); err != nil {
			return nil, err
		}
		s = p.add("", p.Fallback)
	}
	if s == nil || s.released {
		return nil, known
	}
	return s, nil
}

// take records a request and chooses its program, or says why there is none.
func (p *Provider) take(r *http.Request, body []byte, got recognised, arrived time.Time) (*play, *refusal) {
	status := http.StatusInternalServerError
	if got.tooLong {
		status = http.StatusRequestEntityTooLarge
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, &refusal{status: status, why: errClosed.Error()}
	}
	s, err := p.find(body)
	if err != nil {
		p.strays++
		return nil, &refusal{status: status, why: err.Error()}
	}
	s.requests++
	req := got.req
	pl := &play{p: p, s: s, ref: fmt.Sprintf("#%d", s.requests), ordinal: s.requests, req: req, answer: got.answer, due: arrived}
	if got.dialect != nil {
		pl.dialect = got.dialect.Name()
	}
	// The query is left out: some dialects carry the key in it.
	line := fmt.Sprintf("%.20s %.200s", r.Method, r.URL.Path)
	pl.record("request", fmt.Sprintf("%s model=%.200s stream=%t attempt=%d open=%d", line, req.Model, req.Stream, req.Attempt, len(s.current)+1))
	for _, result := range req.Results {
		flag := ""
		if result.Failed {
			flag = " (is an error)"
		}
		pl.record("told", fmt.Sprintf("%.200s %.1000s%s", result.ID, result.Text, flag))
	}
	if got.answer == nil {
		why := fmt.Sprintf("no dialect recognises %s with a body of %d bytes", line, len(body))
		if got.tooLong {
			why = fmt.Sprintf("%s has a body above %d bytes", line, p.maxBody())
		}
		pl.record("violation", why)
		return nil, &refusal{status: status, why: why}
	}
	if strict, ok := got.dialect.(Validator); ok && s.Strict {
		if status, why := strict.Validate(r, body); status != 0 {
			pl.record("refused", fmt.Sprintf("%d %s", status, why))
			return nil, &refusal{status: status, why: why, answer: got.answer}
		}
	}
	a := asked{request: r, Request: req, ordinal: pl.ordinal, dialect: got.dialect, body: body}
	for i, prog := range s.Script {
		if prog.Times != script.Any && s.used[i] >= max(prog.Times, 1) {
			continue
		}
		if a.fits(prog.When) {
			s.used[i]++
			pl.steps = prog.Steps
			s.current[pl] = struct{}{}
			s.plays.Add(1)
			p.plays.Add(1)
			return pl, nil
		}
	}
	why := fmt.Sprintf("no program left for %s (model %.200q, attempt %d); expected %s", line, req.Model, req.Attempt, s.expected())
	pl.record("violation", why)
	return nil, &refusal{status: status, why: why}
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

func marked(body []byte) bool {
	for range script.Markers(body) {
		return true
	}
	return false
}

// check says what is wrong with a script, for this provider.
func (p *Provider) check(s script.Script) error {
	if err := s.Validate(); err != nil {
		return err
	}
	var names []string
	for _, d := range p.Dialects {
		names = append(names, d.Name())
	}
	for i, prog := range s {
		if name := prog.When.Dialect; name != "" && !slices.Contains(names, name) {
			return fmt.Errorf("program %d: when: dialect %.60q: want %s", i+1, name, strings.Join(names, ", "))
		}
		for j, step := range prog.Steps {
			if !playable(step) {
				return fmt.Errorf("program %d, step %d (%s): a provider has no step %T", i+1, j+1, step.Kind(), step)
			}
		}
	}
	return nil
}
