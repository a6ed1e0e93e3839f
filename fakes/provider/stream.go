package provider

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// pace is how a step's frames follow each other.
type pace struct {
	frames int
	every  time.Duration
	jitter time.Duration
}

func paceOf(step script.Step) pace {
	switch s := step.(type) {
	case script.Text:
		return pace{len(s.Chunks), s.Every, s.Jitter}
	case script.Think:
		return pace{len(s.Chunks), s.Every, s.Jitter}
	case script.Refusal:
		return pace{len(s.Chunks), s.Every, 0}
	case script.Flood:
		return pace{s.Frames, s.Every, 0}
	case script.Tool:
		return pace{1 + len(s.Args), s.Every, 0}
	}
	return pace{frames: 1}
}

// detail is what the event of a step's frame says.
func detail(step script.Step, n int) string {
	switch s := step.(type) {
	case script.Text:
		return s.Chunks[n]
	case script.Think:
		return s.Chunks[n]
	case script.Refusal:
		return s.Chunks[n]
	case script.Flood:
		return fmt.Sprintf("frame %d of %d, %d bytes", n+1, s.Frames, s.Bytes)
	case script.Tool:
		if n == 0 {
			return s.ID + " " + s.Name
		}
		return s.Args[n-1]
	case script.ToolChunk:
		return parts(s)
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

// parts says what a chunk of tool calls holds: of each part the fields that are there.
func parts(c script.ToolChunk) string {
	var list []string
	for _, p := range c.Parts {
		var fields []string
		for _, f := range []struct {
			name  string
			value script.Value
		}{{"index", p.Index}, {"id", p.ID}, {"type", p.Type}, {"name", p.Name}, {"args", p.Args}} {
			switch {
			case f.value.Null:
				fields = append(fields, f.name+"=null")
			case f.value.Set:
				fields = append(fields, f.name+"="+f.value.Text)
			}
		}
		list = append(list, strings.Join(fields, " "))
	}
	return strings.Join(list, "; ")
}

// floodEvents bounds the events of one flood: a timeline is for people, and has a limit.
const floodEvents = 1000

// told says whether frame n of a step is recorded: all, but of a long flood only some, the first and the last always.
func told(step script.Step, n int) bool {
	f, ok := step.(script.Flood)
	return !ok || n == f.Frames-1 || n%(1+f.Frames/floodEvents) == 0
}

// stream sends a step's frames.
func (pl *play) stream(step script.Step) error {
	said := step
	if f, ok := step.(script.Flood); ok {
		said = script.Text{Chunks: []string{flood(f.Bytes)}} // one text for all its frames
	}
	pace := paceOf(step)
	pl.empty = true
	for n := range pace.frames {
		if n > 0 {
			pl.due = pl.due.Add(pace.every + pl.jitter(pace.jitter))
		}
		// Before the frame is rendered: it may say what time it is.
		if err := pl.wait(); err != nil {
			return err
		}
		pl.render(said, min(n, paceOf(said).frames-1))
		if len(pl.frame) == 0 {
			continue
		}
		pl.empty = false
		e := event{kind: step.Kind(), silent: !told(step, n)}
		if !e.silent {
			e.detail = detail(step, n)
		}
		if err := pl.send(step, e); err != nil {
			return err
		}
	}
	return nil
}

func flood(bytes int) string { return strings.Repeat("flood ", bytes/6+1)[:bytes] }

// frameSize has room for most frames, so that the buffer need not grow bit by bit.
const frameSize = 512

// render puts frame n of a step into pl.frame.
func (pl *play) render(step script.Step, n int) {
	if pl.frame == nil {
		pl.frame = make([]byte, 0, frameSize)
	}
	if raw, ok := step.(script.Raw); ok {
		pl.frame = append(pl.frame[:0], raw.Bytes...)
		return
	}
	pl.frame = pl.answer.Append(pl.frame[:0], step, n)
}

// send sends pl.frame as it is shaped.
func (pl *play) send(step script.Step, e event) error {
	pl.head(true, -1)
	if pl.shape.garble(&pl.frame, e.detail) {
		e = event{kind: fault.Garble{}.Kind(), detail: strings.TrimSpace(e.kind + " " + pl.shape.how)}
	}
	_, raw := step.(script.Raw)
	lines := pl.shape.lines(&pl.frame, raw)
	pl.shape.compress(&pl.frame)
	return pl.put(e, lines)
}

// event is what is recorded of a frame when it has left.
type event struct {
	kind, detail string
	silent       bool
}

// batch is what waits to be sent in one write. Without [fault.Batch] a frame does not wait.
type batch struct {
	fault.Batch
	due     time.Time // of its first frame
	bytes   []byte
	events  []event
	frames  int
	leaving bool // they are under way
	noted   bool
}

// put adds pl.frame to the batch, and sends it when it is full. lines says that a [fault.Lines] strikes with it.
func (pl *play) put(e event, lines bool) error {
	b := &pl.batch
	if b.frames == 0 {
		b.due = pl.due
	}
	if lines {
		b.events = append(b.events, event{kind: fault.Lines{}.Kind()})
	}
	b.events = append(b.events, e)
	b.frames++
	if b.Frames < 2 {
		b.bytes, pl.frame = pl.frame, b.bytes // no copy
		return pl.flush()
	}
	if b.bytes = append(b.bytes, pl.frame...); b.frames < b.Frames {
		return nil
	}
	return pl.flush()
}

// flush sends what waits.
func (pl *play) flush() error {
	b := &pl.batch
	if b.frames == 0 {
		return nil
	}
	frames, events := b.frames, b.events
	b.frames, b.leaving = 0, true
	due, err := pl.x.Frame(b.due, b.bytes)
	b.leaving = false
	if err != nil {
		return err
	}
	if due.After(pl.due) {
		pl.due = due
	}
	pl.tell()
	if frames > 1 && !b.noted {
		b.noted = true
		pl.record(b.Kind(), strconv.Itoa(frames)+" frames")
	}
	pl.sent.frames += frames
	for _, e := range events {
		pl.sent.tick(e.kind, pl.x.Sent().Last)
		if !e.silent {
			pl.record(e.kind, e.detail)
		}
	}
	b.bytes, b.events = b.bytes[:0], b.events[:0]
	return nil
}

// wait waits for the next frame's instant. What waits in a batch does not wait that long.
func (pl *play) wait() error {
	if pl.batch.frames > 0 && pl.due.After(pl.batch.due) {
		if err := pl.flush(); err != nil {
			return err
		}
	}
	return pl.x.Wait(pl.due)
}
