package provider

import (
	"bytes"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// keepalive begins or ends keepalives. Each is rendered when it is due: some dialects number their frames.
func (pl *play) keepalive(k script.Keepalive) {
	if k.Every == 0 || (k.For > 0 && k.Every > k.For) {
		pl.x.Keepalive(time.Time{}, 0, nil)
		return
	}
	until := pl.due.Add(k.For)
	pl.x.Keepalive(pl.due, k.Every, func() error {
		if k.For > 0 && pl.x.NextBeat().After(until) { // this one is the last
			pl.x.Keepalive(time.Time{}, 0, nil)
		}
		return pl.beat(k)
	})
}

func (pl *play) beat(k script.Keepalive) error {
	if err := pl.flush(); err != nil {
		return err
	}
	if pl.batch.leaving && pl.shape.gzip != nil {
		return nil // compressed bytes cannot overtake each other
	}
	if !pl.req.Stream {
		return pl.blank(k.Form, k.Kind(), string(k.Form))
	}
	pl.head(true, -1)
	frame := pl.heartbeat(k.Form)
	if len(frame) == 0 {
		return nil
	}
	lines := pl.shape.lines(&frame, false)
	pl.shape.compress(&frame)
	if err := pl.x.Put(frame); err != nil {
		return err
	}
	pl.tell()
	if lines {
		pl.record(fault.Lines{}.Kind(), "")
	}
	pl.sent.frames++
	pl.sent.tick(string(k.Form), pl.x.Sent().Last) // neither a comment nor a blank line is an event
	pl.record(k.Kind(), string(k.Form))
	return nil
}

// blank sends a keepalive before an answer in one piece: what a JSON parser leaves out, so that no length can be said
// any more. It sends nothing where the dialect has no such ping, for the other forms, and behind the answer.
func (pl *play) blank(form script.Form, kind, detail string) error {
	var frame []byte
	switch form {
	case script.BlankForm:
		frame = []byte("\n")
	case script.PingForm:
		frame = pl.answer.Append(nil, script.Ping{}, 0)
	}
	if pl.answered || len(frame) == 0 || len(bytes.TrimSpace(frame)) > 0 {
		return nil
	}
	pl.head(false, -1)
	pl.shape.compress(&frame)
	if err := pl.x.Put(frame); err != nil {
		return err
	}
	pl.tell()
	pl.sent.frames++
	pl.record(kind, detail)
	return nil
}

// heartbeat renders a keepalive, nil where the dialect has none of that form.
func (pl *play) heartbeat(form script.Form) []byte {
	switch form {
	case script.PingForm:
		return pl.answer.Append(nil, script.Ping{}, 0)
	case script.EmptyForm:
		return pl.answer.Append(nil, script.Empty{}, 0)
	case script.RoleForm:
		return pl.answer.Append(nil, script.Role{}, 0)
	case script.EmptyDataForm:
		if pl.shape.framing == sse {
			return []byte("data:\n\n")
		}
		return nil
	case script.BlankForm:
		if pl.shape.framing != messages {
			return []byte("\n")
		}
		return nil
	}
	return pl.answer.Append(nil, script.Comment{Text: "ping"}, 0)
}
