package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
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

// busy says why a trial that began at an instant, with this much crowding so far, cannot be judged; "" when it can.
func (p *pulse) busy(began time.Time, before time.Duration) string {
	if gap := p.worst(began); gap > slack/2 {
		return fmt.Sprintf("this machine was too busy to judge: nothing ran for %s", gap.Round(time.Millisecond))
	}
	took := time.Since(began)
	if waited := crowd() - before; float64(waited) > crowded*float64(took) {
		return fmt.Sprintf("this machine was too busy to judge: for %d %% of the time somebody waited for a processor", 100*waited/took)
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
