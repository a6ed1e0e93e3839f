package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// telemetryFailedRunHasErrorStatus: the status of a run's span is that of the run, not that of the HTTP answer.
func telemetryFailedRunHasErrorStatus() harness.Scenario {
	const id = "telemetry.failed-run-has-error-status"
	failing := []string{"refused", "refused-whole", "error-frame", "cut", "first-chunk", "inactivity", "stream-cap", "stream-cap-whole", "panic"}
	sound := []string{"completed", "left-in-text"}
	var variants []harness.Variant
	for _, y := range ways() {
		v := harness.Variant{Name: y.name, Set: y.set, Needs: slices.Concat(y.needs, []harness.Feature{harness.Streaming}), Play: func(t *harness.Trial) {
			if y.steps != nil {
				t.Script(y.programs(t.Windows)...)
			}
			y.play(t, 1, 1)
			t.Pass(t.Stage.Tick)
			t.Signal("SIGTERM")
			t.AwaitExit()
		}}
		if y.whole {
			v.Needs = slices.Concat(y.needs, []harness.Feature{harness.NonStreaming})
		}
		v.Set.Telemetry = true
		switch {
		case slices.Contains(failing, y.name):
			v.Checks = []harness.Check{{Name: "is-an-error", Guarantee: id, Noun: "status", Expect: shows(expect.Times{What: failedRunSpan, Min: 1, Max: 2})}}
		case slices.Contains(sound, y.name):
			v.Checks = []harness.Check{{Name: "is-no-error", Guarantee: id, Noun: "false-alarm", Expect: shows(expect.Times{What: failedRunSpan, Max: 0})}}
		default:
			continue
		}
		variants = append(variants, v)
	}
	return harness.Scenario{
		ID:       "telemetry/failed-run-has-error-status",
		Claim:    "the span of a run that failed or timed out has the status error, and that of one that did not has another",
		Needs:    []harness.Feature{harness.Signals, harness.Telemetry},
		Alone:    true,
		Dialects: chat()[:1],
		Variants: variants,
		Reached:  []expect.Event{runSpan},
	}
}
