package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// pulse notices when this machine is too busy for what is seen on it to say anything of a server: when nothing of ours
// runs for a while, so that fake and client act late, and, where the system tells, for how much of the time somebody
// on it waits for a processor, the server perhaps.
type pulse struct {
	quit, ended chan struct{}

	mu   sync.Mutex
	gaps []gap
}

// gap is a time without a beat.
type gap struct {
	end  time.Time
	long time.Duration
}

const (
	beat = 10 * time.Millisecond
	// noted is the least gap that is kept; shorter ones are within any slack.
	noted = 50 * time.Millisecond
)

func startPulse() *pulse {
	p := &pulse{quit: make(chan struct{}), ended: make(chan struct{})}
	go p.run()
	return p
}

func (p *pulse) run() {
	defer close(p.ended)
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-p.quit:
			return
		case <-ticker.C:
		}
		now := time.Now()
		if long := now.Sub(last) - beat; long > noted {
			p.mu.Lock()
			p.gaps = append(p.gaps, gap{now, long})
			p.mu.Unlock()
		}
		last = now
	}
}

// stop ends it.
func (p *pulse) stop() {
	close(p.quit)
	<-p.ended
}

// crowd is how long somebody has waited for a processor since the system started; 0 where it does not tell.
func crowd() time.Duration {
	b, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(b), "\n")
	_, total, _ := strings.Cut(line, "total=")
	us, err := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(us) * time.Microsecond
}

// crowded is the share of a trial's time in which somebody may have waited for a processor. What a run by itself causes
// on two cores is below a tenth.
const crowded = 0.4

// strain is what a trial went through on this machine.
type strain struct {
	gap   time.Duration // the longest time in which nothing ran
	crowd float64       // the share of its time in which somebody waited for a processor
	trips time.Duration // a gap of this length may have made a clock of the server fire
}

// strain is that of a trial which began at an instant, with this much crowding so far, on a host.
func (p *pulse) strain(began time.Time, before time.Duration, h host) strain {
	s := strain{gap: p.worst(began), trips: h.trips()}
	if took := time.Since(began); took > 0 {
		s.crowd = float64(crowd()-before) / float64(took)
	}
	return s
}

// trips is the least gap that may make a clock of the server fire: scenarios do what holds a clock off a tick before
// its end, and no clock is held off for longer than it is.
func (h host) trips() time.Duration {
	least := tick
	for _, w := range []time.Duration{h.windows.FirstChunk, h.windows.Inactivity, h.windows.Stream, h.windows.Heartbeat, h.windows.Shutdown} {
		if w > 0 {
			least = min(least, w)
		}
	}
	return least
}

const (
	// delayed is how many times a gap may delay an event: fake, server and client each lose it on the way of one
	// event, one after another.
	delayed = 3
	// plain is a miss that is no matter of how busy a machine is, beyond its gap and the slack.
	plain = time.Second
)

// excuses says why a check that fails in such a trial proves nothing, "" when it does.
func (s strain) excuses(j expect.Judgement) string {
	nothingRan := fmt.Sprintf("this machine was too busy to judge: nothing ran for %s", s.gap.Round(time.Millisecond))
	switch j.Evidence.Kind {
	case verdict.Deadline, verdict.Early:
		switch {
		case j.Missed < delayed*s.gap && j.Missed-s.gap-slack < plain:
			return nothingRan
		case j.Missed < plain && s.crowd > crowded:
			return fmt.Sprintf("this machine was too busy to judge: for %.0f %% of the time somebody waited for a processor", 100*s.crowd)
		}
	case verdict.State:
		// A server has the slack to let go of what it held before it is counted.
		if s.gap > slack/2 {
			return nothingRan
		}
	default:
		if s.gap >= s.trips {
			return nothingRan
		}
	}
	return ""
}

// worst is the longest gap that ended after an instant.
func (p *pulse) worst(since time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var worst time.Duration
	for _, g := range p.gaps {
		if g.end.After(since) {
			worst = max(worst, g.long)
		}
	}
	return worst
}
