package provider

import (
	"errors"
	"math/rand/v2"
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
	p       *Provider
	s       *session
	ref     string
	ordinal int // of the request in its session
	req     Request
	dialect string
	answer  Answer
	steps   []script.Step
	keep    bool // the connection may be given back
	http10  bool // the peer knows no chunks
	http2   bool

	x     *wire.Exchange
	due   time.Time // the instant at which the next step is due
	frame []byte
	half  bool // the FIN has gone
	rand  *rand.Rand

	status int
	header map[string]string
	headed bool // the head was prepared
	told   bool // its event was recorded

	empty  bool                  // the step sent no frame
	missed map[*script.Step]bool // those that did nothing, which was told

	shape shape
	batch batch
	sent  clocks

	said     []script.Step // of an answer in one piece
	answered bool

	mu      sync.Mutex
	stopped bool
	ending  bool        // the end of the body is under way
	grace   *time.Timer // closes one that was stopped then
	waits   string      // where, "" when at no gate or barrier
}

var (
	// errEnded is a program's own end.
	errEnded = errors.New("provider: the program has ended the exchange")
	// errResting says that the exchange's reader sees to the rest.
	errResting = errors.New("provider: the program waits for the peer to leave")
)

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
	pl.mu.Lock()
	if pl.grace != nil {
		pl.grace.Stop()
	}
	pl.mu.Unlock()
	pl.s.plays.Done()
	pl.p.plays.Done()
}

// stop ends the play from outside; the session waits for it. A peer that has the whole answer may think that the
// exchange is over and ask again on the connection: so an answer's end is let through, unless the peer does not read.
func (pl *play) stop() {
	pl.mu.Lock()
	pl.stopped = true
	x, ending := pl.x, pl.ending
	if ending && pl.grace == nil {
		pl.grace = time.AfterFunc(wire.Patience, x.Close)
	}
	pl.mu.Unlock()
	if x != nil && !ending {
		x.Close()
	}
}

// last sends the end of the body.
func (pl *play) last() error {
	pl.mu.Lock()
	pl.ending = true
	pl.mu.Unlock()
	return pl.x.Last()
}

// start plays on a connection of HTTP/1.1.
func (pl *play) start(c net.Conn, stray []byte) {
	pl.begin(wire.New(c, stray, pl.note))
	go pl.run()
}

// note records what the wire tells.
func (pl *play) note(kind string) { pl.record(kind, "") }

func (pl *play) begin(x *wire.Exchange) {
	pl.mu.Lock()
	pl.x = x
	stopped := pl.stopped
	pl.mu.Unlock()
	if stopped {
		x.Close()
	}
}

func (pl *play) run() {
	err := pl.all()
	if !errors.Is(err, errResting) {
		pl.finish(err)
	}
}

func (pl *play) finish(err error) {
	defer pl.done()
	if errors.Is(err, wire.ErrLeft) {
		switch how := pl.x.How(); how {
		case wire.Local, "":
			pl.record("closed", pl.counts())
		default:
			pl.record("left", string(how)+" "+pl.counts())
		}
	}
	pl.x.Close() // nothing, when the connection was given back or the stream has ended
}

// rest waits until the peer leaves. It returns errResting when nobody needs this goroutine for that: thousands may
// stall for ever.
func (pl *play) rest() error {
	pl.frame, pl.batch = nil, batch{}
	if pl.x.Rest(func() { pl.finish(wire.ErrLeft) }) {
		pl.answer, pl.steps, pl.said = nil, nil, nil // nothing is rendered any more
		return errResting
	}
	return pl.x.WaitFor(nil)
}

func (pl *play) all() error {
	if err := pl.play(pl.steps); err != nil {
		return err
	}
	if pl.half {
		return pl.rest()
	}
	return pl.end(false)
}

func (pl *play) play(steps []script.Step) error {
	for i, step := range steps {
		pl.empty = false
		if err := pl.step(step); err != nil {
			return err
		}
		pl.miss(&steps[i])
	}
	return nil
}

// playable lists what step knows.
func playable(step script.Step) bool {
	switch s := step.(type) {
	case script.Headers, script.Role, script.Text, script.Think, script.Refusal, script.Flood, script.Tool, script.ToolChunk,
		script.Usage, script.Finish, script.Done, script.Message, script.Error, script.Raw, script.Comment, script.Ping, script.Empty,
		script.Keepalive, script.Pause, script.Await, script.Open, script.Meet, script.End,
		fault.Stall, fault.Cut, fault.Reset, fault.HalfClose, fault.Drip, fault.Split, fault.Batch, fault.Lines, fault.Status,
		fault.Garble, fault.StreamReset, fault.GoAway:
		return true
	case script.Repeat:
		for _, inner := range s.Steps {
			if !playable(inner) {
				return false
			}
		}
		return true
	}
	return false
}

func (pl *play) step(step script.Step) error {
	switch s := step.(type) {
	case script.Pause:
		pl.due = pl.due.Add(s.For + pl.jitter(s.Jitter))
		return nil
	case script.Repeat:
		return pl.repeat(s)
	case script.Role, script.Text, script.Think, script.Refusal, script.Flood, script.Tool, script.ToolChunk, script.Usage, script.Finish,
		script.Done, script.Message, script.Error, script.Raw, script.Comment, script.Ping, script.Empty:
		if pl.req.Stream {
			return pl.stream(step)
		}
		return pl.collect(step)
	}
	// The rest acts at its instant, when all frames before it have left.
	if err := pl.flush(); err != nil {
		return err
	}
	if err := pl.x.Wait(pl.due); err != nil {
		return err
	}
	switch s := step.(type) {
	case script.Headers:
		return pl.headers(s)
	case script.Keepalive:
		pl.keepalive(s)
	case script.Await:
		return pl.await(s.Gate)
	case script.Meet:
		return pl.meet(s)
	case script.Open:
		pl.record(s.Kind(), s.Gate)
		pl.s.gates.Open(s.Gate)
	case script.End:
		return pl.end(s.Close)
	}
	return pl.strike(step)
}

func (pl *play) headers(h script.Headers) error {
	pl.status, pl.header = h.Status, h.Header
	if h.Gzip {
		pl.shape.gzip = newZip()
	}
	pl.head(false, -1)
	if err := pl.x.Flush(); err != nil {
		return err
	}
	pl.tell()
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
	pl.shape.framing = framingOf(h.Get("Content-Type")) // as the dialect has it, whatever the script says
	if pl.shape.gzip != nil {
		h.Set("Content-Encoding", "gzip")
	}
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

// end ends the body.
func (pl *play) end(shut bool) error {
	if err := pl.flush(); err != nil {
		return err
	}
	if err := pl.x.Wait(pl.due); err != nil {
		return err
	}
	if !pl.req.Stream {
		if err := pl.reply(); err != nil {
			return err
		}
	}
	pl.head(true, -1)
	if pl.req.Stream && pl.shape.gzip != nil {
		if err := pl.x.Put(pl.shape.tail()); err != nil {
			return err
		}
	}
	if err := pl.last(); err != nil {
		return err
	}
	pl.tell()
	pl.record(script.End{}.Kind(), pl.counts())
	pl.release(shut)
	return errEnded
}

// release gives the connection back, or leaves it to be closed.
func (pl *play) release(shut bool) {
	if pl.http2 {
		if shut {
			pl.x.GoAway("", 0)
		}
		return
	}
	if shut || !pl.keep {
		return
	}
	if c, stray, ok := pl.x.Detach(); ok {
		pl.p.giveBack(c.(*conn), stray)
	}
}
