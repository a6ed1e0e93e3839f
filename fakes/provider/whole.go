package provider

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// collect takes a step of an answer in one piece, which takes as long as it would in a stream. The answer is sent
// at the first Done or at the end, whichever is first; what comes after is not sent.
func (pl *play) collect(step script.Step) error {
	pace := paceOf(step)
	for range pace.frames - 1 {
		pl.due = pl.due.Add(pace.every + pl.jitter(pace.jitter))
	}
	if err := pl.x.Wait(pl.due); err != nil {
		return err
	}
	switch step.(type) {
	case script.Text, script.Think, script.Refusal, script.Flood, script.Tool, script.ToolChunk, script.Usage, script.Finish,
		script.Message, script.Error, script.Raw:
		if !pl.answered {
			pl.said = append(pl.said, step)
		}
	case script.Ping:
		return pl.blank(script.PingForm, step.Kind(), "")
	case script.Done:
		if pl.answered {
			return nil
		}
		if err := pl.reply(); err != nil {
			return err
		}
		pl.record(step.Kind(), "")
	}
	return nil
}

// wholeFlood bounds what a flood puts into an answer in one piece, which is in memory as a whole.
const wholeFlood = 64 << 20

// whole renders the body of what was said. Raw bytes take the place of the dialect's JSON.
func (pl *play) whole() {
	pl.frame = pl.frame[:0]
	said := make([]script.Step, 0, len(pl.said))
	for _, step := range pl.said {
		switch s := step.(type) {
		case script.Raw:
			pl.frame = append(pl.frame, s.Bytes...)
		case script.Flood:
			frames := min(s.Frames, max(1, wholeFlood/s.Bytes))
			step = script.Text{Chunks: slices.Repeat([]string{flood(s.Bytes)}, frames)}
		}
		said = append(said, step)
	}
	if len(pl.frame) == 0 {
		pl.frame = append(pl.frame, pl.answer.Body(max(pl.status, 200), said)...)
	}
}

// reply sends the body, once.
func (pl *play) reply() error {
	if pl.answered {
		return nil
	}
	pl.answered = true
	pl.x.Keepalive(time.Time{}, 0, nil) // nothing may stand behind the body
	pl.whole()
	garbled := pl.shape.garble(&pl.frame, pl.text())
	pl.shape.compressAll(&pl.frame)
	pl.head(false, len(pl.frame))
	var err error
	if pl.due, err = pl.x.Frame(pl.due, pl.frame); err != nil {
		return err
	}
	pl.tell()
	pl.sent.frames++
	if garbled {
		pl.sent.tick(fault.Garble{}.Kind(), pl.x.Sent().Last)
		pl.record(fault.Garble{}.Kind(), "body")
		return nil
	}
	for _, step := range pl.said {
		for n := range paceOf(step).frames {
			pl.sent.tick(step.Kind(), pl.x.Sent().Last)
			if told(step, n) {
				pl.record(step.Kind(), detail(step, n))
			}
		}
	}
	return nil
}

// text is the first visible text of an answer in one piece.
func (pl *play) text() string {
	for _, step := range pl.said {
		if t, ok := step.(script.Text); ok {
			return t.Chunks[0]
		}
	}
	return ""
}

// halfBody sends what a cut leaves of a body in one piece whose head has gone.
func (pl *play) halfBody() error {
	if pl.req.Stream || !pl.headed || pl.answered {
		return nil
	}
	pl.whole()
	pl.shape.compressAll(&pl.frame)
	_, err := pl.x.Frame(pl.due, pl.frame[:len(pl.frame)/2])
	return err
}
