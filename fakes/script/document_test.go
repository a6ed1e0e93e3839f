package script

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
)

func TestProgramsInsideADocument(t *testing.T) {
	length := func(text string) (time.Duration, error) {
		if text != "a window" {
			return 0, errors.New("no window")
		}
		return time.Minute, nil
	}
	stall := []Step{Pause{For: time.Minute}, fault.Stall{}}
	for _, test := range []struct {
		name, file string
		want       Script
		problem    string
	}{
		{"a list of steps answers one request", "p: [pause: a window, stall]", Script{{Steps: stall}}, ""},
		{"a list of programs", "p: [{times: any, steps: [pause: a window, stall]}]", Script{{Times: Any, Steps: stall}}, ""},
		{"anchors and aliases", "p: [&p {steps: [pause: a window, stall]}, *p]", Script{{Steps: stall}, {Steps: stall}}, ""},
		{"forever is no length", "p: [pause: forever]", nil, "f.yaml:1:12: pause is \"forever\": want a duration such as 200ms or 1.5s; only stall, and the end of a keepalive or a repeat, may be forever"},
		{"what nobody knows", "p: [pause: x]", nil, `f.yaml:1:12: pause is "x": no window`},
		{"steps out of order", "p: [stall, done]", nil, "f.yaml:1:12: done comes after stall, which ends the exchange"},
		{"no list", "p: stall", nil, `f.yaml:1:4: provider is "stall": want a list of programs or of steps`},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc, err := Read("f.yaml", []byte(test.file))
			require.NoError(t, err)
			ps := doc.Pairs(doc.Follow(doc.Body))
			require.Len(t, ps, 1)
			got := doc.Programs(ps[0].Value, "provider", length)
			if test.problem != "" {
				require.EqualError(t, doc.Err(), test.problem)
				return
			}
			require.NoError(t, doc.Err())
			require.Equal(t, test.want, got)
		})
	}
}
