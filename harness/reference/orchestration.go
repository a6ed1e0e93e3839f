package reference

import (
	"fmt"
	"strings"

	"github.com/stallwright/stallwright/harness"
)

// orchestration are the tables of an agent that coordinates workers, each with a model of its own name; none without workers.
func orchestration(workers []string, provider, base string) string {
	if len(workers) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n[orchestration]\nenabled = true\nmax_planning_cycles = %d\nmax_plan_parse_retries = %d\n", harness.PlanCycles, harness.PlanAttempts)
	for _, w := range workers {
		table := "orchestration.worker." + w
		fmt.Fprintf(&b, "\n[%s]\ndescription = \"Worker %s\"\npreamble = \"You are worker %s.\"\n", table, w, w)
		fmt.Fprintf(&b, "\n[%s.llm]\nprovider = %q\nmodel = %q\napi_key = \"not-a-key\"\nbase_url = %q\n", table, provider, w, base)
	}
	return b.String()
}

// orchestrationWindows are those of the windows that are on: what is not given is off.
func orchestrationWindows(w harness.Windows) map[string]string {
	env := map[string]string{}
	if w.PerCall > 0 {
		env["ORCHESTRATION_PER_CALL_SECS"] = w.PerCall.String()
	}
	if w.TaskInactivity > 0 {
		env["ORCHESTRATION_INACTIVITY_SECS"] = w.TaskInactivity.String()
	}
	return env
}
