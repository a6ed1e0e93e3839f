package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// A server that refuses decisions as it refuses everything while it drains follows the source text.
func TestADecisionMayBeRefusedAsEveryNewRequestIs(t *testing.T) {
	status := func(s string) expect.History {
		return expect.History{End: time.Second, Events: []timeline.Event{{Seq: 1, Lane: harness.PersonLane, Ref: "yes", Kind: "status", Detail: s}}}
	}
	x := unlessRefused{expect.Times{What: runsTool("book"), Min: 1, Max: 1}}
	require.Equal(t, verdict.Pass, x.Judge(status("503 application/json")).Verdict)
	require.Equal(t, verdict.Fail, x.Judge(status("404 application/json")).Verdict)
	require.Equal(t, verdict.Fail, x.Judge(status("204 ")).Verdict, "what was taken must follow")
}
