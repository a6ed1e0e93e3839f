// Package specs turns scenarios into Ginkgo specs: one spec a case, played in virtual time.
package specs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/bubble"
	"github.com/stallwright/stallwright/harness/casefile"
	"github.com/stallwright/stallwright/harness/verdict"
)

// Describe makes a container of specs for a target. t is asked for when a spec runs: a bubble needs a real test. The
// folder is where the scenarios' files are, for the place that a failed spec shows.
func Describe(text, folder string, t func() *testing.T, target harness.Target, scenarios []harness.Scenario) bool {
	return ginkgo.Describe(text, func() {
		for _, s := range scenarios {
			it(s, folder+"/"+File(s.ID), t, target)
		}
	})
}

// DescribeFiles makes a container of specs of the case files in a folder, which may be evidence for these guarantees. A
// file that cannot be read is a spec that fails, and so is one whose case has the ID of another's. A case that names no
// dialect is played on every one that the target speaks.
func DescribeFiles(text, folder string, t func() *testing.T, target harness.Target, guarantees []string) bool {
	return ginkgo.Describe(text, func() {
		cases, err := Cases(folder, guarantees)
		if err != nil {
			ginkgo.It("reads "+folder, func() { ginkgo.Fail(err.Error()) })
		}
		for _, c := range cases {
			it(c.Scenario, c.File, t, target)
		}
	})
}

// FileCase is a case with the file that it was read from.
type FileCase struct {
	File string
	casefile.Case
}

// Cases reads the case files in a folder, by name, or the one case file of that path. The error has all that is wrong with
// all of them; the cases of the others are there all the same.
func Cases(folder string, guarantees []string) ([]FileCase, error) {
	files, err := casefile.Files(folder)
	errs := []error{err}
	var out []FileCase
	from := map[string]string{}
	for _, name := range files {
		c, err := read(name, guarantees)
		id := c.Scenario.ID
		if err == nil && from[id] != "" {
			err = fmt.Errorf("%s: the case %s is in %s too", name, id, from[id])
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		from[id] = name
		out = append(out, FileCase{name, c})
	}
	return out, errors.Join(errs...)
}

func read(name string, guarantees []string) (casefile.Case, error) {
	f, err := os.Open(name)
	if err != nil {
		return casefile.Case{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, casefile.MaxSize+1)) // one byte more is too long, which Parse says
	if err != nil {
		return casefile.Case{}, err
	}
	return casefile.Parse(name, data, guarantees)
}

// it makes a spec of each case of a scenario, which is written in that file.
func it(s harness.Scenario, file string, t func() *testing.T, target harness.Target) {
	for _, c := range s.Cases(target.Dialects...) {
		place := types.CodeLocation{FileName: file, LineNumber: 1}
		ginkgo.It(c.ID(), place, ginkgo.Label(labels(c)...), func() {
			judge(bubble.Play(t(), target, c, uint64(ginkgo.GinkgoRandomSeed())))
		})
	}
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
