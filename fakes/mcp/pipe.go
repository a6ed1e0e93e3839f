package mcp

import (
	"io"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/wire"
)

// pipe is a stream's end of a pair of pipes.
type pipe struct {
	w     io.Writer
	done  <-chan struct{} // the fake's, or the reader's end
	split fault.Split
	drip  fault.Drip
	told  bool // that they strike
	note  func(kind, detail string)
}

func (p *pipe) write(b []byte) error {
	size := len(b)
	for from := 0; from < size; {
		to, kind := size, ""
		if every := p.split.Every; every > 0 && from+every < to {
			to, kind = from+every, p.split.Kind()
		}
		for _, at := range p.split.At {
			if at > from && at < to {
				to, kind = at, p.split.Kind()
			}
		}
		if n := p.drip.Bytes; n > 0 && from+n < to {
			to, kind = from+n, p.drip.Kind()
		}
		if _, err := p.w.Write(b[from:to]); err != nil {
			return wire.ErrLeft
		}
		if kind != "" && !p.told {
			p.told = true
			p.note(kind, "")
		}
		if from = to; from < size && kind == p.drip.Kind() && p.drip.Every > 0 && !sleep(p.drip.Every, p.done) {
			return wire.ErrLeft
		}
	}
	return nil
}

// sleep lets d go by, and says whether done is still open then.
func sleep(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return false
	}
}
