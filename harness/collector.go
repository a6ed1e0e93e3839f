package harness

import (
	"net"
	"sync"

	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness/expect"
)

// CollectorLane is the lane of the fake collector.
const CollectorLane = collector.Lane

// Collecting is the fake collector of one server under test. The nil pointer is none.
type Collecting struct {
	Fake *collector.Collector
	URL  string // without the path, as OTEL_EXPORTER_OTLP_ENDPOINT has it

	serving sync.WaitGroup
}

// OpenCollector starts a collector for a case that has one, else it returns nil. It refuses everything until a session is open.
func OpenCollector(s Set, listen func() (net.Listener, error)) (*Collecting, error) {
	if !s.Telemetry {
		return nil, nil
	}
	l, err := listen()
	if err != nil {
		return nil, err
	}
	c := &Collecting{Fake: &collector.Collector{}, URL: "http://" + l.Addr().String()}
	c.serving.Go(func() { c.Fake.Serve(l) })
	return c, nil
}

// Endpoint is where the server under test exports to, "" when there is no collector.
func (c *Collecting) Endpoint() string {
	if c == nil {
		return ""
	}
	return c.URL
}

// Close ends the collector and waits for it.
func (c *Collecting) Close() {
	if c != nil {
		c.Fake.Close()
		c.serving.Wait()
	}
}

// Collector tells the fake collector what to do in this trial, before the first Ask. Without it, it accepts everything.
func (t *Trial) Collector(s collector.Script) {
	t.collected = s
	t.openCollector()
}

// CloseCollector ends the collector: whoever wants to connect to it is refused.
func (t *Trial) CloseCollector() { t.Stage.Collector.Close() }

// openCollector begins the trial's session.
func (t *Trial) openCollector() {
	if t.Stage.Collector == nil {
		return
	}
	err := t.Stage.Collector.Fake.Open(&collector.Session{Script: t.collected, Timeline: t.Stage.Timeline, Gates: t.gates})
	if err != nil {
		panic(err)
	}
}

// releaseCollector ends the session, and returns what of the script was not played.
func (t *Trial) releaseCollector() []string {
	if t.Stage.Collector == nil {
		return nil
	}
	return t.Stage.Collector.Fake.Release()
}

// unstruckCollector lists the faults of the collector's script that never struck.
func (t *Trial) unstruckCollector(h expect.History) []string {
	want := map[string]int{}
	for _, p := range t.collected.Programs {
		if p.Times != script.Any {
			faults(p.Steps, max(p.Times, 1), want)
		}
	}
	return missing(want, CollectorLane, h.Events)
}
