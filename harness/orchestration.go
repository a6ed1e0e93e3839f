package harness

import (
	"encoding/json"

	"github.com/stallwright/stallwright/fakes/script"
)

// Workers are the names of the workers that a server with this set coordinates. Each has all tools, and its own name as the name of its
// model, so that a script tells their requests apart; the coordinator's model is that of every other server.
func Workers(s Set) []string {
	if !s.Orchestrated {
		return nil
	}
	return []string{"alpha", "beta"}
}

// CoordinatorModel is the model of the servers under test, and so of a coordinator.
const CoordinatorModel = "stallwright"

// PlanAttempts is how often an orchestrated server asks its coordinator for one decision.
const PlanAttempts = 2

// PlanCycles is how many plans one of its runs may carry out.
const PlanCycles = 2

// Marked is a text with the trial's marker, for what a server passes on to its model and is not its user's: the task of a worker.
func (t *Trial) Marked(text string) string { return text + " [[sw:" + t.marker + "]]" }

// PlainCall is the step with which a model calls a tool, with a value that is an object in JSON for its arguments and no trial's marker among
// them: calls of the tools of coordinators and workers lead to no fake. It panics when the value is none.
func PlainCall(id, name string, arguments any) script.Tool {
	text, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return script.Tool{ID: id, Name: name, Args: []string{string(text)}}
}
