package provider

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/wire"
)

// strike does what a fault says, at its instant.
func (pl *play) strike(step script.Step) error {
	switch s := step.(type) {
	case fault.Stall:
		if s.For == 0 {
			pl.record(s.Kind(), "for ever")
			return pl.rest()
		}
		pl.record(s.Kind(), s.For.String())
		pl.due = pl.due.Add(s.For)
	case fault.Drip:
		pl.x.SetDrip(s)
	case fault.Split:
		pl.x.SetSplit(s)
	case fault.Batch:
		pl.batch = batch{Batch: s}
	case fault.Lines:
		pl.shape.setLines(s)
	case fault.Garble:
		pl.shape.pending = &s
	case fault.Cut:
		if err := pl.halfBody(); err != nil {
			return err
		}
		pl.x.Cut()
		pl.record(s.Kind(), pl.counts())
		return errEnded
	case fault.Reset:
		pl.x.Reset()
		pl.record(s.Kind(), pl.counts())
		return errEnded
	case fault.HalfClose:
		if err := pl.x.HalfClose(); err != nil {
			return err
		}
		pl.half = true
		pl.record(s.Kind(), "")
	case fault.StreamReset:
		return pl.resetStream(s)
	case fault.GoAway:
		return pl.goAway(s)
	case fault.Status:
		return pl.fail(s)
	}
	return nil
}

// resetStream ends an HTTP/2 stream. Over HTTP/1.1 the fault cannot strike: the connection is closed.
func (pl *play) resetStream(f fault.StreamReset) error {
	code := cmp.Or(f.Code, "INTERNAL_ERROR")
	err := pl.x.ResetStream(code)
	switch {
	case errors.Is(err, wire.ErrVersion):
		pl.record("violation", f.Kind()+" needs HTTP/2: the request came by HTTP/1.1")
		pl.record("closed", pl.counts())
	case err != nil:
		return err
	default:
		pl.record(f.Kind(), code+" "+pl.counts())
	}
	return errEnded
}

func (pl *play) goAway(f fault.GoAway) error {
	last, err := pl.x.GoAway(f.Code, f.Last)
	switch {
	case errors.Is(err, wire.ErrVersion):
		pl.record("violation", f.Kind()+" needs HTTP/2: the request came by HTTP/1.1")
	case err != nil:
		return err
	default:
		pl.record(f.Kind(), fmt.Sprintf("%s last=%d", cmp.Or(f.Code, "NO_ERROR"), last))
	}
	return nil
}

// fail answers with a status and a body in place of a stream.
func (pl *play) fail(f fault.Status) error {
	pl.frame = append(pl.frame[:0], f.Body...)
	if f.Body == "" && !f.Blank {
		pl.frame = append(pl.frame, pl.answer.Body(f.Code, nil)...)
	}
	pl.status = f.Code
	h := http.Header{}
	pl.answer.Header(h, f.Code, false)
	if f.ContentType != "" {
		h.Set("Content-Type", f.ContentType)
	}
	h.Set("Content-Length", strconv.Itoa(len(pl.frame)))
	if !pl.keep {
		h.Set("Connection", "close")
	}
	for name, value := range f.Header {
		h.Set(name, value)
	}
	pl.x.Head(f.Code, h, true)
	if _, err := pl.x.Frame(pl.due, pl.frame); err != nil {
		return err
	}
	if err := pl.last(); err != nil {
		return err
	}
	pl.sent.frames++
	pl.record(f.Kind(), strconv.Itoa(f.Code)+" "+pl.counts())
	pl.release(false)
	return errEnded
}
