package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
)

// waitFor waits for a channel to be closed. What follows is counted from then.
func (c *call) waitFor(open <-chan struct{}) error {
	select {
	case <-open:
		return nil
	default:
	}
	if err := c.wait(time.Time{}, open); err != nil {
		return err
	}
	c.due = time.Now()
	return nil
}

// repeat plays steps again and again. A round without end that lets no time go by is a violation, and ends the program.
func (c *call) repeat(r script.Repeat) error {
	for n := 0; r.Times == 0 || n < r.Times; n++ {
		began := c.due
		if err := c.play(r.Steps); err != nil {
			return err
		}
		if r.Times > 0 {
			continue
		}
		if c.out == nil && c.replay == nil {
			return errLeft
		}
		if !c.due.After(began) {
			c.record("violation", "a repeat without end took no time")
			return c.rest()
		}
	}
	return nil
}

// rest waits for the end.
func (c *call) rest() error { return c.wait(time.Time{}, nil) }

func (c *call) progress(p Progress) error {
	for range max(p.Count, 1) {
		c.due = c.due.Add(p.Every)
		if err := c.wait(c.due, nil); err != nil {
			return err
		}
		c.told++
		token := []byte(c.token)
		switch {
		case p.Token == UnknownToken:
			token = quote("no-such-token")
		case p.Token == AlwaysToken && token == nil:
			token = quote("token-of-" + strconv.Itoa(c.ordinal))
		}
		if token == nil {
			continue
		}
		fields := []any{"progressToken", rawJSON(token), "progress", c.told}
		if p.Total > 0 {
			fields = append(fields, "total", p.Total)
		}
		if p.Text != "" {
			fields = append(fields, "message", p.Text)
		}
		detail := fmt.Sprintf("%d token=%s", c.told, shown(token, 100))
		if err := c.notify("notifications/progress", object(fields...), OnCall, p.Kind(), detail); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) jitter(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	if c.rand == nil {
		c.rand = rand.New(rand.NewPCG(c.s.seed(c.f), uint64(c.ordinal)))
	}
	return time.Duration(c.rand.Int64N(int64(most) + 1))
}

// effectsLimit bounds the different effects of a session.
const effectsLimit = 100_000

func (c *call) commit() {
	c.f.mu.Lock()
	if len(c.s.effects) < effectsLimit || c.s.effects[c.effect] > 0 {
		c.s.effects[c.effect]++
	}
	n := c.s.effects[c.effect]
	c.f.mu.Unlock()
	name := ""
	if c.tool != nil {
		name = c.tool.Name
	}
	c.record("effect", fmt.Sprintf("tool=%.100q count=%d id=%s", name, n, shown(c.id, 200)))
}

// headers sends the head by itself.
func (c *call) headers(s script.Headers) error {
	if c.out == nil || c.out.x == nil {
		return nil
	}
	return c.write(func(st *stream) error {
		if st.headed {
			return nil
		}
		for name, value := range s.Header {
			st.header.Set(name, value)
		}
		st.status = s.Status
		st.prepare()
		return st.x.Flush()
	}, s.Kind(), strconv.Itoa(cmp.Or(s.Status, http.StatusOK)))
}

func (c *call) raw(bytes, kind, detail string) error {
	return c.write(func(st *stream) error {
		if st.last {
			return errOver
		}
		st.prepare()
		return st.bytes([]byte(bytes))
	}, kind, detail)
}

// write writes on the call's stream and records that it has left, or that there is no stream.
func (c *call) write(write func(*stream) error, kind, detail string) error {
	st := c.out
	if st == nil {
		c.record("dropped", kind)
		return nil
	}
	switch err := st.do(c.stopped, func() error { return write(st) }); {
	case err == nil:
		c.record(kind, detail)
		return nil
	case errors.Is(err, errStopped):
		return err
	case errors.Is(err, errOver):
		c.record("dropped", kind)
		return nil
	}
	c.record("dropped", kind)
	return c.left()
}

// close ends the call's own stream as HTTP says.
func (c *call) close(retry time.Duration) error {
	st := c.out
	if st == nil || (st.jobs != nil && st != c.shared) { // others have it
		return nil
	}
	if err := c.wait(c.due, nil); err != nil && !errors.Is(err, errCancelled) {
		return err
	}
	if st = c.out; st == nil {
		return nil
	}
	if st.framing == bodies && !st.headed && st.status == 0 { // no JSON is an answer that says nothing
		st.x.Cut()
		c.out = nil
		return nil
	}
	before := ""
	if retry > 0 {
		before = fmt.Sprintf("retry: %d\n\n", retry.Milliseconds())
		if c.revision >= V20251125 { // an event with no data, which only clients of then expect
			before = fmt.Sprintf("retry: %d\n%sdata:\n\n", retry.Milliseconds(), c.replay.last())
		}
	}
	switch err := st.do(c.stopped, func() error { return st.end(before) }); {
	case errors.Is(err, errOver):
		return c.rest() // after a half-close
	case err != nil:
		return c.left()
	}
	c.out = nil
	if st.jobs != nil { // of a GET, whose connection others still know
		return errEnded
	}
	c.f.release(c, st)
	return nil
}
