package provider

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// collect takes a step of an answer in one piece, which takes as long as it would in a stream. The answer is sent
// at the first Done or at the end, whichever is first; what comes after is not sent.
func (pl *play) collect(step script.Step) error {
	count, every := frames(step)
	pl.due = pl.due.Add(every * time.Duration(max(0, count-1)))
	if err := pl.x.Wait(pl.due); err != nil {
		return err
	}
	switch step.(type) {
	case script.Text, script.Think, script.Tool, script.Usage, script.Finish, script.Error, script.Raw:
		if !pl.answered {
			pl.said = append(pl.said, step)
		}
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

// whole renders the body of what was said. Raw bytes take the place of the dialect's JSON.
func (pl *play) whole() {
	pl.frame = pl.frame[:0]
	for _, step := range pl.said {
		if raw, ok := step.(script.Raw); ok {
			pl.frame = append(pl.frame, raw.Bytes...)
		}
	}
	if len(pl.frame) == 0 {
		pl.frame = append(pl.frame, pl.answer.Body(max(pl.status, 200), pl.said)...)
	}
}

// reply sends the body, once.
func (pl *play) reply() error {
	if pl.answered {
		return nil
	}
	pl.answered = true
	pl.whole()
	garbled := pl.breakJSON()
	pl.head(false, len(pl.frame))
	var err error
	if pl.due, err = pl.x.Frame(pl.due, pl.frame); err != nil {
		return err
	}
	pl.tell()
	if garbled {
		pl.record(fault.Garble{}.Kind(), "body")
		return nil
	}
	for _, step := range pl.said {
		count, _ := frames(step)
		for n := range count {
			pl.record(step.Kind(), detail(step, n))
		}
	}
	return nil
}

// halfBody sends what a cut leaves of a body in one piece whose head has gone.
func (pl *play) halfBody() error {
	if pl.req.Stream || !pl.headed || pl.answered {
		return nil
	}
	pl.whole()
	_, err := pl.x.Frame(pl.due, pl.frame[:len(pl.frame)/2])
	return err
}
