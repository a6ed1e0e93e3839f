package proof

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/script"
)

// proof is one thing that the script language says, and what its peer must see of it.
type proof struct {
	name   string
	proves []string // words of the language, as language has them
	steps  func(v variant, u time.Duration) []script.Step
	// nothing is why a variant has no form for it where the script alone cannot know; else script.Meaningless says so.
	nothing func(v variant) string
	over    func(c carrier) bool // nil is by all
	sampled bool                 // in real time one dialect stands for all: it is one of many numbers that no dialect touches
	quiet   bool                 // it changes nothing, so that no event says that it struck
	wrong   bool                 // it cannot be done, which is recorded as a violation
	judge   func(x *exchange)
}

// proofs are all of them.
func proofs() []proof {
	var all []proof
	for _, some := range [][]proof{endings(), pacing(), shapes(), heads(), saids(), keepalives(), http2Only()} {
		all = append(all, some...)
	}
	return all
}

func TestFaultsAreApplied(t *testing.T) {
	for _, c := range carriers() {
		t.Run(c.name, func(t *testing.T) {
			for _, v := range variants() {
				t.Run(v.name, func(t *testing.T) {
					t.Parallel() // most of it waits
					for _, p := range proofs() {
						if (p.over == nil || p.over(c)) && (!p.sampled || c.virtual || v.name == variants()[0].name) {
							t.Run(p.name, func(t *testing.T) { p.run(t, v, c) })
						}
					}
				})
			}
		})
	}
}

// why is the reason for which the variant has no form for what is to be proven, "" when it has one.
func (p proof) why(v variant, c carrier) string {
	if p.nothing != nil {
		if why := p.nothing(v); why != "" {
			return why
		}
	}
	for _, s := range p.steps(v, c.unit()) {
		if why := script.Meaningless(s, v.when()); why != "" {
			return why
		}
	}
	return ""
}

func (p proof) run(t *testing.T, v variant, c carrier) {
	steps, why := p.steps(v, c.unit()), p.why(v, c)
	play(t, v, c, script.Connections{}, steps, func(x *exchange) {
		if why != "" {
			x.wantNothing(steps)
			return
		}
		p.judge(x)
		for _, s := range steps {
			if p.quiet || p.wrong || !isFault(s) || reflect.ValueOf(s).IsZero() && reflect.TypeOf(s).NumField() > 0 && s.Kind() != "stall" && s.Kind() != "garble" {
				continue
			}
			x.await(s.Kind())
		}
		require.Equal(t, p.wrong, strings.Contains(strings.Join(x.kinds(), " "), "violation"), "%v", x.tl.Events())
	})
}

// isFault says whether a step is of the package fault.
func isFault(s script.Step) bool {
	return strings.HasSuffix(reflect.TypeOf(s).PkgPath(), "/fakes/fault")
}

// wantNothing wants the answer as it would be without the steps that do nothing.
func (x *exchange) wantNothing(steps []script.Step) {
	x.t.Helper()
	x.begin()
	require.Equal(x.t, complete, x.finish())
	want := x.frames()
	if !x.stream() { // what a stream would have before it is not sent
		want = want[len(want)-1:]
	}
	x.wantPieces(want)
	x.await("end")
	for _, s := range steps {
		if isFault(s) && s.Kind() != "stall" || s.Kind() == "keepalive" || s.Kind() == "comment" || s.Kind() == "ping" {
			require.NotContains(x.t, x.kinds(), s.Kind())
		}
	}
}

func list(steps ...script.Step) func(variant, time.Duration) []script.Step {
	return func(variant, time.Duration) []script.Step { return steps }
}

func text(chunks ...string) script.Step { return script.Text{Chunks: chunks} }

// ending are the steps of a proper end behind some.
func ending(steps ...script.Step) []script.Step {
	return append(steps, script.Finish{Reason: "stop"}, script.Done{}, script.End{})
}

func ended2(steps ...script.Step) func(variant, time.Duration) []script.Step {
	return list(ending(steps...)...)
}

// cutUp cuts a frame behind every n bytes.
func cutUp(frame string, n int) []string {
	var out []string
	for len(frame) > n {
		out, frame = append(out, frame[:n]), frame[n:]
	}
	return append(out, frame)
}

// wantWrites wants the body of HTTP/1.1 to have left in these pieces, each in a write of its own. The fake's side of the
// connection is seen in virtual time alone.
func (x *exchange) wantWrites(want []string) {
	x.t.Helper()
	p, one := x.peer.(*peer1)
	if !one || !x.virtual {
		return
	}
	var got []string
	for i, w := range x.taps.all() {
		if i == 0 {
			require.True(x.t, strings.HasPrefix(w, p.top), "the head leaves in the first write")
			w = w[len(p.top):]
		}
		if w != "" {
			got = append(got, w)
		}
	}
	var wire []string
	for _, b := range want {
		if p.chunked {
			b = fmt.Sprintf("%x\r\n%s\r\n", len(b), b)
		}
		wire = append(wire, b)
	}
	if p.chunked && p.end == complete {
		wire = append(wire, "0\r\n\r\n")
	}
	require.Equal(x.t, wire, got)
}
