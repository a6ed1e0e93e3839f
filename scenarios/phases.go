package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// phase is how far a model's answer has come when something befalls its run.
type phase struct {
	name  string
	steps []script.Step
	text  string   // what of it a client reads as text
	on    []string // the dialects that have it; every one when nil
}

// phases are all of them, in the order in which an answer goes through them.
func phases() []phase {
	call := script.Tool{ID: "call_1", Name: "lookup", Args: []string{`{"city":`}}
	return []phase{
		{name: "before-headers"},
		{name: "before-the-first-item", steps: []script.Step{script.Headers{}}},
		{name: "in-text", steps: []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}}, text: "one "},
		{name: "in-reasoning", steps: []script.Step{script.Role{}, script.Think{Chunks: []string{"well, "}}}},
		{name: "in-arguments", steps: []script.Step{script.Role{}, call}, on: inPieces()},
	}
}

// outputs are the phases in which the model has given an item.
func outputs() []phase { return phases()[2:] }

// silent is a model that does these steps and is then silent for ever.
func silent(steps ...script.Step) script.Program {
	return script.Program{Steps: slices.Concat(steps, []script.Step{fault.Stall{}})}
}

// proper is a model that does these steps and then ends its answer well.
func proper(steps ...script.Step) script.Program {
	return script.Program{Steps: slices.Concat(steps, closing("stop"))}
}

// calling is a model that does these steps, the last of which is a tool call, and then ends its turn.
func calling(steps ...script.Step) script.Program {
	return script.Program{Steps: slices.Concat(steps, closing("tool_calls"))}
}

// closing are the steps of a proper end.
func closing(reason string) []script.Step {
	return []script.Step{script.Finish{Reason: reason}, script.Usage{Prompt: 9, Completion: 9}, script.Done{}, script.End{}}
}

// turns is the answer to whatever a server asks after a tool call: nothing, when it runs no tools, or one more turn.
func turns() script.Program {
	p := proper(script.Role{}, script.Text{Chunks: []string{"done"}})
	p.Times = script.Any
	return p
}
