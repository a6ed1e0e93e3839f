package provider

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/wire"
)

// play is one program being played to one request, on a goroutine of its own.
type play struct {
	p      *Provider
	s      *session
	ref    string
	req    Request
	answer Answer
	steps  []script.Step
	keep   bool // the connection may be given back
	http10 bool // the peer knows no chunks

	x      *wire.Exchange
	due    time.Time // the instant at which the next step is due
	frame  []byte
	garble bool
	half   bool // the FIN has gone

	status int
	header map[string]string
	headed bool // the head was prepared
	told   bool // its event was recorded

	said     []script.Step // of an answer in one piece
	answered bool

	mu      sync.Mutex
	stopped bool
}

// errEnded is a program's own end.
var errEnded = errors.New("provider: the program has ended the exchange")

func (pl *play) record(kind, detail string) {
	if t := pl.s.Timeline; t != nil {
		t.Add(Lane, pl.ref, kind, detail)
	}
}

// done takes the play off its session.
func (pl *play) done() {
	pl.p.mu.Lock()
	delete(pl.s.current, pl)
	pl.p.mu.Unlock()
	pl.s.plays.Done()
	pl.p.plays.Done()
}

// stop ends the play from outside; the session waits for it.
func (pl *play) stop() {
	pl.mu.Lock()
	pl.stopped = true
	x := pl.x
	pl.mu.Unlock()
	if x != nil {
		x.Close()
	}
}

func (pl *play) start(c net.Conn, stray []byte) {
	x := wire.New(c, stray, func(kind string) { pl.record(kind, "") })
	pl.mu.Lock()
	pl.x = x
	stopped := pl.stopped
	pl.mu.Unlock()
	if stopped {
		x.Close()
	}
	go pl.run()
}

func (pl *play) run() {
	defer pl.done()
	err := pl.all()
	if errors.Is(err, wire.ErrLeft) {
		switch how := pl.x.How(); how {
		case wire.FIN, wire.RST:
			pl.record("left", string(how))
		default:
			pl.record("closed", "")
		}
	}
	pl.x.Close() // nothing, when the connection was given back
}

func (pl *play) all() error {
	for _, step := range pl.steps {
		if err := pl.step(step); err != nil {
			return err
		}
	}
	if pl.half {
		return pl.x.WaitFor(nil)
	}
	return pl.end(false)
}

// playable lists what step knows.
func playable(step script.Step) bool {
	switch step.(type) {
	case script.Headers, script.Role, script.Text, script.Think, script.Tool, script.Usage, script.Finish, script.Done,
		script.Error, script.Raw, script.Comment, script.Empty, script.Keepalive, script.Pause, script.Await, script.End,
		fault.Stall, fault.Cut, fault.Reset, fault.HalfClose, fault.Drip, fault.Split, fault.Status, fault.Garble:
		return true
	}
	return false
}

func (pl *play) step(step script.Step) error {
	switch s := step.(type) {
	case script.Pause:
		pl.due = pl.due.Add(s.For)
		return nil
	case script.Text, script.Think, script.Tool, script.Role, script.Usage, script.Finish, script.Done, script.Error,
		script.Raw, script.Comment, script.Empty:
		if pl.req.Stream {
			return pl.stream(step)
		}
		return pl.collect(step)
	}
	// The rest acts at its instant.
	if err := pl.x.Wait(pl.due); err != nil {
		return err
	}
	switch s := step.(type) {
	case script.Headers:
		pl.status, pl.header = s.Status, s.Header
		pl.head(false, -1)
		if err := pl.x.Flush(); err != nil {
			return err
		}
		pl.tell()
	case script.Keepalive:
		pl.keepalive(s)
	case script.Await:
		return pl.await(s.Gate)
	case script.End:
		return pl.end(s.Close)
	case fault.Stall:
		if s.For == 0 {
			pl.record(s.Kind(), "for ever")
			pl.frame = nil // thousands may stall for ever
			return pl.x.WaitFor(nil)
		}
		pl.record(s.Kind(), s.For.String())
		pl.due = pl.due.Add(s.For)
	case fault.Drip:
		pl.x.SetDrip(s)
	case fault.Split:
		pl.x.SetSplit(s)
	case fault.Garble:
		pl.garble = true
	case fault.Cut:
		if err := pl.halfBody(); err != nil {
			return err
		}
		pl.x.Cut()
		pl.record(s.Kind(), "")
		return errEnded
	case fault.Reset:
		pl.x.Reset()
		pl.record(s.Kind(), "")
		return errEnded
	case fault.HalfClose:
		if err := pl.x.HalfClose(); err != nil {
			return err
		}
		pl.half = true
		pl.record(s.Kind(), "")
	case fault.Status:
		return pl.fail(s)
	}
	return nil
}

// head prepares the head, once. length is the body's when it is known, else -1.
func (pl *play) head(stream bool, length int) {
	if pl.headed {
		return
	}
	pl.headed = true
	if pl.status == 0 {
		pl.status = http.StatusOK
	}
	h := http.Header{}
	pl.answer.Header(h, pl.status, stream || pl.req.Stream)
	if length >= 0 {
		h.Set("Content-Length", strconv.Itoa(length))
	}
	if !pl.keep {
		h.Set("Connection", "close")
	}
	for name, value := range pl.header {
		h.Set(name, value)
	}
	pl.x.Head(pl.status, h, pl.http10)
}

// tell records that the head has left, once.
func (pl *play) tell() {
	if !pl.told {
		pl.told = true
		pl.record("headers", strconv.Itoa(pl.status))
	}
}

// frames says how many frames a step has, and how far apart.
func frames(step script.Step) (n int, every time.Duration) {
	switch s := step.(type) {
	case script.Text:
		return len(s.Chunks), s.Every
	case script.Think:
		return len(s.Chunks), s.Every
	case script.Tool:
		return 1 + len(s.Args), s.Every
	}
	return 1, 0
}

func detail(step script.Step, n int) string {
	switch s := step.(type) {
	case script.Text:
		return s.Chunks[n]
	case script.Think:
		return s.Chunks[n]
	case script.Tool:
		if n == 0 {
			return s.ID + " " + s.Name
		}
		return s.Args[n-1]
	case script.Usage:
		return fmt.Sprintf("%d %d", s.Prompt, s.Completion)
	case script.Finish:
		return s.Reason
	case script.Error:
		return s.Type + " " + s.Code + " " + s.Message
	case script.Raw:
		return s.Bytes
	case script.Comment:
		return s.Text
	}
	return ""
}

// stream sends a step's frames.
func (pl *play) stream(step script.Step) error {
	count, every := frames(step)
	for n := range count {
		if n > 0 {
			pl.due = pl.due.Add(every)
		}
		// Before the frame is rendered: it may say what time it is.
		if err := pl.x.Wait(pl.due); err != nil {
			return err
		}
		if raw, ok := step.(script.Raw); ok {
			pl.frame = append(pl.frame[:0], raw.Bytes...)
		} else {
			pl.frame = pl.answer.Append(pl.frame[:0], step, n)
		}
		if len(pl.frame) == 0 {
			continue
		}
		kind, note := step.Kind(), detail(step, n)
		if pl.breakJSON() {
			kind, note = fault.Garble{}.Kind(), kind
		}
		pl.head(true, -1)
		var err error
		if pl.due, err = pl.x.Frame(pl.due, pl.frame); err != nil {
			return err
		}
		pl.tell()
		pl.record(kind, note)
	}
	return nil
}

// breakJSON strikes with a pending garble, if the frame has JSON to break: its last brace goes.
func (pl *play) breakJSON() bool {
	at := bytes.LastIndexByte(pl.frame, '}')
	if !pl.garble || at < 0 {
		return false
	}
	pl.garble = false
	pl.frame = append(pl.frame[:at], pl.frame[at+1:]...)
	return true
}

func (pl *play) keepalive(k script.Keepalive) {
	if k.Every == 0 || !pl.req.Stream {
		pl.x.Keepalive(time.Time{}, 0, nil)
		return
	}
	var step script.Step = script.Comment{Text: "ping"}
	switch k.Form {
	case script.EmptyForm:
		step = script.Empty{}
	case script.RoleForm:
		step = script.Role{}
	}
	frame := pl.answer.Append(nil, step, 0)
	if len(frame) == 0 {
		return
	}
	pl.x.Keepalive(pl.due, k.Every, func() error {
		pl.head(true, -1)
		if err := pl.x.Put(frame); err != nil {
			return err
		}
		pl.tell()
		pl.record(k.Kind(), string(k.Form))
		return nil
	})
}

func (pl *play) await(gate string) error {
	pl.record(script.Await{}.Kind(), gate)
	var open <-chan struct{}
	if pl.s.Gates != nil {
		open = pl.s.Gates.Opened(gate)
	}
	select {
	case <-open: // it was open before: no time has passed
		return nil
	default:
	}
	if err := pl.x.WaitFor(open); err != nil {
		return err
	}
	pl.due = time.Now()
	return nil
}

// end ends the body.
func (pl *play) end(shut bool) error {
	if err := pl.x.Wait(pl.due); err != nil {
		return err
	}
	if !pl.req.Stream {
		if err := pl.reply(); err != nil {
			return err
		}
	}
	pl.head(true, -1)
	if err := pl.x.Last(); err != nil {
		return err
	}
	pl.tell()
	pl.record(script.End{}.Kind(), "")
	pl.release(shut)
	return errEnded
}

// release gives the connection back, or leaves it to be closed.
func (pl *play) release(shut bool) {
	if shut || !pl.keep {
		return
	}
	if c, stray, ok := pl.x.Detach(); ok {
		pl.p.giveBack(c.(*conn), stray)
	}
}

// fail answers with a status and a body in place of a stream.
func (pl *play) fail(f fault.Status) error {
	pl.frame = append(pl.frame[:0], f.Body...)
	if f.Body == "" {
		pl.frame = append(pl.frame, pl.answer.Body(f.Code, nil)...)
	}
	pl.status = f.Code
	h := http.Header{}
	pl.answer.Header(h, f.Code, false)
	h.Set("Content-Type", "application/json")
	if f.ContentType != "" {
		h.Set("Content-Type", f.ContentType)
	}
	h.Set("Content-Length", strconv.Itoa(len(pl.frame)))
	if !pl.keep {
		h.Set("Connection", "close")
	}
	pl.x.Head(f.Code, h, true)
	if _, err := pl.x.Frame(pl.due, pl.frame); err != nil {
		return err
	}
	pl.record(f.Kind(), strconv.Itoa(f.Code))
	pl.release(false)
	return errEnded
}
