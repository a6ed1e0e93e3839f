package mcp

import (
	"cmp"
	"errors"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
)

// run plays a call to its end.
func (c *call) run() {
	err := c.begin()
	if err == nil {
		err = c.play(c.steps)
	}
	if errors.Is(err, errCancelled) {
		err = c.react()
	}
	if err == nil || errors.Is(err, errCancelled) {
		if shut := c.close(0); shut != nil && err == nil && !errors.Is(shut, errEnded) {
			err = shut
		}
	}
	c.finish(err)
}

// begin does what comes before the steps.
func (c *call) begin() error {
	if c.returns != nil {
		return c.comeBack()
	}
	if err := c.greet(); err != nil {
		return err
	}
	if c.shared != nil && c.held() {
		if err := c.headers(script.Headers{}); err != nil {
			return err
		}
	}
	if err := c.queue(); err != nil {
		return err
	}
	return c.prime()
}

// queue waits for the call's turn at a server that does one thing at a time.
func (c *call) queue() error {
	if c.turn == nil {
		return nil
	}
	for {
		var gone <-chan struct{}
		if c.out != nil {
			gone = c.out.gone
		}
		select {
		case <-c.turn:
			c.due = time.Now()
			return nil
		case <-c.stopped:
			return errStopped
		case <-c.heed:
			return errCancelled
		case <-gone:
			if err := c.left(); err != nil {
				return err
			}
		}
	}
}

// react does what a cancelled call does.
func (c *call) react() error {
	do := c.onCancel
	if do.Do == Stop {
		return errCancelled
	}
	c.heed = nil
	if err := c.wait(time.Now().Add(do.After), nil); err != nil {
		return err
	}
	var step script.Step = c.after
	switch do.Do {
	case AnswerError:
		step = Error{Code: codeRequestStopped, Message: "the request was cancelled"}
	case AnswerTwice:
		twice := c.after
		twice.Times = 2
		step = twice
	}
	c.due = time.Now()
	if err := c.step(step); err != nil {
		return err
	}
	return errCancelled
}

func (c *call) play(steps []script.Step) error {
	for _, step := range steps {
		if err := c.step(step); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) step(step script.Step) error {
	switch s := step.(type) {
	case script.Pause:
		c.due = c.due.Add(s.For + c.jitter(s.Jitter))
		return nil
	case script.Repeat:
		return c.repeat(s)
	case Progress:
		return c.progress(s)
	}
	if err := c.wait(c.due, nil); err != nil {
		return err
	}
	switch s := step.(type) {
	case script.Await:
		c.record(s.Kind(), s.Gate)
		return c.waitFor(c.s.gates.Opened(s.Gate))
	case script.Open:
		c.record(s.Kind(), s.Gate)
		c.s.gates.Open(s.Gate)
	case hold:
		return c.rest()
	case begin:
		if c.out != nil && c.out.framing == events && c.out.jobs == nil {
			return c.headers(script.Headers{})
		}
	case AwaitCancel:
		c.record(s.Kind(), "")
		return c.waitFor(c.off)
	case Effect:
		c.commit()
	case Log:
		return c.notify("notifications/message", object("level", cmp.Or(s.Level, "info"), "data", s.Text), OnCall, s.Kind(), s.Text)
	case Notify:
		return c.notify(s.Method, []byte(s.Params), s.On, s.Kind(), s.Method)
	case Ask:
		return c.ask(s)
	case Result:
		return c.result(s)
	case Error:
		return c.fail(s)
	case EndStream:
		return c.close(s.Retry)
	case Crash:
		return c.crash()
	case Exit:
		return c.exit(s)
	case StopReading:
		if c.out == nil || c.out.pipe == nil {
			c.record("violation", s.Kind()+" needs a pipe")
			return nil
		}
		c.record(s.Kind(), "")
		c.p.deaf.set(s.For)
	case script.Headers:
		return c.headers(s)
	case script.Raw:
		return c.raw(s.Bytes, s.Kind(), s.Bytes)
	case script.Comment:
		if c.out != nil && c.out.framing == events {
			return c.raw(": "+s.Text+"\n\n", s.Kind(), s.Text)
		}
	default:
		return c.strike(step)
	}
	return nil
}
