package provider

import (
	"context"
	"net/http"
	"time"

	"github.com/stallwright/stallwright/fakes/wire"
)

func (p *Provider) serveHTTP2(c *conn) {
	how := (&wire.HTTP2{
		Handle: func(s *wire.Stream) { c.asked.Store(true); p.handle(s) }, MaxStreams: p.Connections.Streams, MaxBody: p.maxBody(), HeaderTime: p.headerTime(),
		IdleClose: p.Connections.IdleClose, Requests: p.Connections.Requests,
	}).Serve(c)
	if how == wire.Local {
		c.gone.Store(false) // not of itself
	}
	c.tellEnd()
}

// handle plays to a stream.
func (p *Provider) handle(s *wire.Stream) {
	arrived := time.Now()
	var pl *play
	x := s.Exchange(func(kind string) {
		if pl != nil {
			pl.note(kind)
		}
	})
	w := &responder{x: x, header: http.Header{}}
	r, forget := whileThere(s.Request, x)
	pl = p.choose(w, r, s.Body, s.TooLong, arrived)
	forget()
	if pl == nil {
		w.end()
		x.Close()
		return
	}
	pl.http2, pl.keep = true, true
	pl.begin(x)
	pl.run()
}

// whileThere ties a request's context to its peer, for a handler that lasts, until forget is called.
func whileThere(r *http.Request, x *wire.Exchange) (_ *http.Request, forget func()) {
	ctx, cancel := context.WithCancel(r.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-x.Gone():
			cancel()
		case <-ctx.Done():
		}
	}()
	return r.WithContext(ctx), func() {
		cancel()
		<-watched
	}
}

// responder is a ResponseWriter for answers that no program gives. What is written leaves at once.
type responder struct {
	x        *wire.Exchange
	header   http.Header
	headed   bool
	deadline time.Time // for writes, none when zero
}

func (r *responder) Header() http.Header { return r.header }

func (r *responder) WriteHeader(status int) {
	if !r.headed {
		r.headed = true
		r.x.Head(status, r.header, false)
	}
}

func (r *responder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if err := r.bounded(func() error { return r.x.Put(b) }); err != nil {
		return 0, err
	}
	return len(b), nil
}

// FlushError sends the head, if it is there already.
func (r *responder) FlushError() error {
	r.WriteHeader(http.StatusOK)
	return r.bounded(r.x.Flush)
}

// Flush is FlushError for those that know no errors.
func (r *responder) Flush() { r.FlushError() }

// SetWriteDeadline is for [http.ResponseController]. A write that the peer does not take until then resets the stream.
func (r *responder) SetWriteDeadline(t time.Time) error {
	r.deadline = t
	return nil
}

func (r *responder) bounded(write func() error) error {
	if r.deadline.IsZero() {
		return write()
	}
	reset := make(chan struct{})
	timer := time.AfterFunc(time.Until(r.deadline), func() {
		r.x.Close()
		close(reset)
	})
	err := write()
	if !timer.Stop() {
		<-reset
	}
	return err
}

func (r *responder) end() {
	r.WriteHeader(http.StatusOK)
	r.x.Last()
}
