// Package specs turns scenarios into Ginkgo specs: one spec a case, played in virtual time.
package specs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/bubble"
	"github.com/stallwright/stallwright/harness/verdict"
)

// Describe makes a container of specs for a target. t is asked for when a spec runs: a bubble needs a real test. The
// folder is where the scenarios' files are, for the place that a failed spec shows.
func Describe(text, folder string, t func() *testing.T, target harness.Target, scenarios []harness.Scenario) bool {
	return ginkgo.Describe(text, func() {
		for _, s := range scenarios {
			for _, c := range s.Cases(target.Dialects...) {
				place := types.CodeLocation{FileName: folder + "/" + File(s.ID), LineNumber: 1}
				ginkgo.It(c.ID(), place, ginkgo.Label(labels(c)...), func() {
					judge(bubble.Play(t(), target, c, uint64(ginkgo.GinkgoRandomSeed())))
				})
			}
		}
	})
}

// File is the name of the file that a scenario lives in.
func File(id string) string {
	return strings.NewReplacer("/", "_", "-", "_").Replace(id) + ".go"
}

// labels are the guarantees of a case; Ginkgo takes no slash, comma or bracket in a label, and these have none.
func labels(c harness.Case) []string { return c.Guarantees() }

// judge ends the spec as the result says.
func judge(r verdict.Result) {
	switch r.Verdict {
	case verdict.Pass:
	case verdict.Skip:
		ginkgo.Skip(r.Why)
	default:
		ginkgo.Fail(Explain(r), 1)
	}
}

// Explain says in lines why a result is not a pass: the claim, then each finding with what surrounded it.
func Explain(r verdict.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\nclaim: %s\n", r.Case, r.Verdict, r.Claim)
	if r.Why != "" {
		fmt.Fprintf(&b, "%s\n", r.Why)
	}
	for _, f := range r.Findings {
		if f.Verdict == verdict.Pass || f.Verdict == verdict.Skip {
			continue
		}
		fmt.Fprintf(&b, "%s %s (%s %s)\n  promised: %s\n  observed: %s\n", f.Verdict, f.Check, f.Guarantee, f.Signature, f.Promised, f.Observed)
		for _, m := range f.Excerpt {
			here := ' '
			if m.Here {
				here = '>'
			}
			fmt.Fprintf(&b, "  %c +%.3f %s %s %s %q\n", here, m.At.Seconds(), m.Lane, m.Ref, m.Kind, m.Detail)
		}
	}
	return b.String()
}
