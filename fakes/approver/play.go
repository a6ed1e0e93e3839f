package approver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/wire"
)

// play is one request on its way.
type play struct {
	a     *Approver
	s     *session
	ref   string
	id    string // of the approval
	steps []script.Step
}

func (p *play) record(kind, detail string) {
	if p.s.Timeline != nil {
		p.s.Timeline.Add(Lane, p.ref, kind, detail)
	}
}

func (p *play) play(w http.ResponseWriter, r *http.Request) {
	for _, step := range p.steps {
		if !p.step(w, r, step) {
			return
		}
	}
}

// step does a step, and says whether the next is to be done.
func (p *play) step(w http.ResponseWriter, r *http.Request, step script.Step) bool {
	switch step := step.(type) {
	case script.Pause:
		return p.pause(w, r, step.For)
	case script.Await:
		return p.wait(w, r, p.s.gates.Opened(step.Gate))
	case script.Open:
		p.record("open", step.Gate)
		p.s.gates.Open(step.Gate)
		return true
	case fault.Stall:
		p.record(step.Kind(), "")
		if step.For == 0 {
			return p.wait(w, r, nil)
		}
		return p.pause(w, r, step.For)
	case fault.Cut, fault.Reset:
		p.record(step.Kind(), "")
		drop(w, step == script.Step(fault.Reset{}))
	case fault.Status:
		p.status(w, step)
	case Decide:
		p.decide(w, step)
	}
	return false
}

// pause says whether so much time passed before the peer left and the session's end.
func (p *play) pause(w http.ResponseWriter, r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-p.s.over:
	}
	return p.wait(w, r, nil)
}

// wait says whether done came before the peer left and the session's end.
func (p *play) wait(w http.ResponseWriter, r *http.Request, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-r.Context().Done():
		p.record("left", "")
	case <-p.s.over:
		p.record("closed", "")
		drop(w, false)
	}
	return false
}

// drop ends the connection without an answer.
func drop(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if reset {
		wire.ResetConn(conn)
		return
	}
	conn.Close()
}

func (p *play) status(w http.ResponseWriter, s fault.Status) {
	body := []byte(s.Body)
	if s.Body == "" && !s.Blank {
		body = []byte(`{"error":"as the script says"}`)
	}
	w.Header().Set("Content-Type", cmp.Or(s.ContentType, "application/json"))
	for name, value := range s.Header {
		w.Header().Set(name, value)
	}
	p.a.sign(w.Header(), Signed, p.id, body)
	w.WriteHeader(cmp.Or(s.Code, http.StatusOK))
	p.write(w, body)
	p.record(s.Kind(), fmt.Sprintf("%d, %d bytes", s.Code, len(body)))
}

func (p *play) decide(w http.ResponseWriter, d Decide) {
	answer := map[string]any{"approved": d.Approved}
	if d.Reason != "" {
		answer["reason"] = d.Reason
	}
	body, _ := json.Marshal(answer) // a bool and a string cannot fail
	w.Header().Set("Content-Type", "application/json")
	if d.Pad > 0 {
		body = append(body, bytes.Repeat([]byte(" "), d.Pad)...)
	}
	p.a.sign(w.Header(), d.Signature, p.id, body)
	p.write(w, body)
	word := "no"
	if d.Approved {
		word = "yes"
	}
	if d.Signature != Signed {
		word += " signature=" + string(d.Signature)
	}
	p.record(d.Kind(), word)
	if d.Pad > 0 {
		p.record("pad", fmt.Sprint(d.Pad))
	}
}

func (p *play) write(w http.ResponseWriter, body []byte) {
	_, _ = w.Write(body)
	_ = http.NewResponseController(w).Flush()
}
