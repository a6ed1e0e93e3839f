package mcp

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// replay is what a call has sent with event ids, for a client that comes back for it. A nil one keeps nothing.
type replay struct {
	name   string
	p      *peer
	from   int // the number of the first event that is still kept
	events []payload
	asks   chan resumption
	over   chan struct{} // closed when the call has ended
}

// resumption is a GET that goes on where another stream broke off.
type resumption struct {
	after int // the number of the last event that the client has
	st    *stream
	keep  bool
}

// The bounds of what is kept: events of a call, and calls that have ended.
const (
	replayLimit  = 1000
	resumedLimit = 64
)

// keepEvents gives a call's events ids, and the client a way back to them.
func (f *Fake) keepEvents(c *call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.others++
	c.replay = &replay{name: "stream-" + strconv.Itoa(f.others), p: c.p, asks: make(chan resumption), over: make(chan struct{})}
	if f.resumed == nil {
		f.resumed = map[string]*replay{}
	}
	f.resumed[c.replay.name] = c.replay
}

func (r *replay) asked() <-chan resumption {
	if r == nil {
		return nil
	}
	return r.asks
}

// keep keeps an event, and gives it its id.
func (r *replay) keep(p payload) string {
	if r == nil {
		return ""
	}
	r.events = append(r.events, p)
	if len(r.events) > replayLimit {
		r.events, r.from = r.events[1:], r.from+1
	}
	return r.id(r.from + len(r.events))
}

// id is that of the event of a number, from 1; 0 is the one that primes the client.
func (r *replay) id(n int) string { return fmt.Sprintf("%s/%d", r.name, n) }

// last is the line with the id of the last event.
func (r *replay) last() string {
	if r == nil {
		return ""
	}
	return "id: " + r.id(r.from+len(r.events)) + "\n"
}

// since are the events after that of a number, the first of which has the number from.
func (r *replay) since(after int) (from int, list []payload) {
	skip := min(max(after-r.from, 0), len(r.events))
	return r.from + skip + 1, r.events[skip:]
}

// keepEnded is called when the call has ended. The mutex is held.
func (f *Fake) keepEnded(r *replay) {
	if r == nil {
		return
	}
	close(r.over)
	f.finished = append(f.finished, r.name)
	if len(f.finished) > resumedLimit {
		delete(f.resumed, f.finished[0])
		f.finished = f.finished[1:]
	}
}

// prime begins a stream with an id that the client can come back with.
func (c *call) prime() error {
	if c.replay == nil || c.revision < V20251125 {
		return nil
	}
	return c.write(func(st *stream) error {
		st.prepare()
		return st.bytes([]byte("id: " + c.replay.id(0) + "\ndata:\n\n"))
	}, "comment", "priming event")
}

// back lets a client go on with the stream of an event id, and says whether there is such a stream.
func (f *Fake) back(w http.ResponseWriter, r *http.Request, p *peer, owner *session, last string) bool {
	name, number, _ := strings.Cut(last, "/")
	after, err := strconv.Atoi(number)
	f.mu.Lock()
	kept := f.resumed[name]
	f.mu.Unlock()
	if kept == nil || err != nil || kept.p != p {
		f.record(owner, f.Name, "violation", fmt.Sprintf("no event has the id %.100q", last))
		return false
	}
	f.mu.Lock()
	c := f.quiet(getMethod, p, owner)
	f.mu.Unlock()
	if c != nil {
		c.returns, c.backTo = kept, after
	}
	f.answer(w, r, c, &stream{framing: events})
	return true
}

// comeBack hands a GET's stream to the call that it asks for, or sends what that has left when it is over.
func (c *call) comeBack() error {
	st := c.out
	select {
	case c.returns.asks <- resumption{c.backTo, st, c.keep}:
		c.f.mu.Lock()
		c.x = nil // the other's now
		c.f.mu.Unlock()
		c.out = nil
		return errEnded
	case <-st.gone:
		return c.left()
	case <-c.stopped:
		return errStopped
	case <-c.returns.over:
	}
	return c.again(c.returns, c.backTo)
}

// again sends kept events once more.
func (c *call) again(r *replay, after int) error {
	from, list := r.since(after)
	for i, p := range list {
		err := c.write(func(st *stream) error { return st.put(p, r.id(from+i)) }, "resent", r.id(from+i))
		if err != nil {
			return err
		}
	}
	return nil
}

// resume goes on with a call on another stream.
func (c *call) resume(r resumption) error {
	c.f.mu.Lock()
	old := c.x
	c.f.mu.Unlock()
	if old != nil {
		old.Close()
	}
	c.keep = r.keep
	c.use(r.st, r.st.x)
	return c.again(c.replay, r.after)
}
