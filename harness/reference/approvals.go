package reference

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/lifecycle/llm"
)

// approvals is the table of the tool calls that wait for a decision.
func approvals(s harness.Setup) string {
	if s.Approval == harness.NoApproval {
		return ""
	}
	var rules []string
	for _, pattern := range harness.Approved() {
		rules = append(rules, fmt.Sprintf("%q", pattern))
	}
	text := fmt.Sprintf("\n[hitl]\nrequire_approval = [%s]\n\n[hitl.route]\nmode = %q\n", strings.Join(rules, ", "), s.Approval)
	if s.Approval == harness.Webhook {
		text += fmt.Sprintf("url = %q\n", s.Approver)
	}
	return text
}

// waiting commits, in a call that waits for approval, the fault that its arguments ask for: [[fault:panic 2s]] panics after so long.
func waiting(ctx context.Context, c llm.ToolCall) {
	_, rest, ok := strings.Cut(c.Arguments, "[[fault:panic ")
	if !ok {
		return
	}
	after, _, _ := strings.Cut(rest, "]]")
	d, err := time.ParseDuration(after)
	if err != nil {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		panic("a fault hook")
	case <-ctx.Done():
	}
}
