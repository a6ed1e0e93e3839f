package expect

import (
	"fmt"

	"github.com/onsi/gomega/types"

	"github.com/stallwright/stallwright/harness/verdict"
)

// Show makes a Gomega matcher of an expectation: Expect(history).To(expect.Show(x)).
func Show(x Expectation) types.GomegaMatcher { return &matcher{expectation: x} }

type matcher struct {
	expectation Expectation
	judgement   Judgement
}

func (m *matcher) Match(actual any) (bool, error) {
	h, ok := actual.(History)
	if !ok {
		return false, fmt.Errorf("expect: %T is not an expect.History", actual)
	}
	m.judgement = m.expectation.Judge(h)
	return m.judgement.Verdict == verdict.Pass, nil
}

func (m *matcher) FailureMessage(any) string {
	return fmt.Sprintf("expected %s\n%s: %s, at +%.3f", m.expectation, m.judgement.Verdict, m.judgement.Evidence.Found, m.judgement.Evidence.At.Seconds())
}

func (m *matcher) NegatedFailureMessage(any) string {
	return fmt.Sprintf("expected not %s\n%s", m.expectation, m.judgement.Evidence.Found)
}
