package harness

import "github.com/stallwright/stallwright/fakes/collector"

// CollectorLane is the lane of the fake collector.
const CollectorLane = collector.Lane

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
	err := t.Stage.Collector.Open(&collector.Session{Script: t.collected, Timeline: t.Stage.Timeline, Gates: t.gates})
	if err != nil {
		panic(err)
	}
}

// releaseCollector ends the session, and returns what of the script was not played.
func (t *Trial) releaseCollector() []string {
	if t.Stage.Collector == nil {
		return nil
	}
	return t.Stage.Collector.Release()
}
