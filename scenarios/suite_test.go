package scenarios_test

import (
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/reference"
	"github.com/stallwright/stallwright/harness/specs"
	"github.com/stallwright/stallwright/scenarios"
)

var suite *testing.T

func TestScenarios(t *testing.T) {
	suite = t
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "the reference server in virtual time")
}

var _ = specs.Describe("reference", "scenarios", func() *testing.T { return suite }, reference.Target(""), append([]harness.Scenario{scenarios.Canary()}, scenarios.All()...))

var _ = specs.DescribeFiles("the cases that people hit most", "../examples/cases", func() *testing.T { return suite }, reference.Target(""), guarantees())

var _ = specs.DescribeFiles("public reports", "../examples/reports", func() *testing.T { return suite }, reference.Target(""), guarantees())

// guarantees are all that a case file may be evidence for.
func guarantees() []string {
	var out []string
	for _, g := range scenarios.Catalogue() {
		out = append(out, g.ID)
	}
	return out
}
