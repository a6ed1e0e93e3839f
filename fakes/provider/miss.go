package provider

import (
	"fmt"
	"strings"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// miss records, once a step, that it has done nothing for want of a form on this wire: a fault that nobody can see is
// not to pass for one that was survived.
func (pl *play) miss(step *script.Step) {
	why := script.Meaningless(*step, script.When{Dialect: pl.dialect, Stream: &pl.req.Stream})
	if why == "" && pl.empty && seen(*step) {
		why = "it has no frame for it"
	}
	if why == "" || pl.missed[step] {
		return
	}
	if pl.missed == nil {
		pl.missed = map[*script.Step]bool{}
	}
	pl.missed[step] = true
	pl.record("violation", fmt.Sprintf("%s does nothing on %s: %s", worded(*step), pl.dialect, why))
}

// seen says whether the step is of those that are meant to show on the wire. Role, usage, finish and done are not: what
// answers well on every wire has them all. Nor is thinking, which some models do only when they are asked to, nor a tool
// call: where one is a single frame, an answer that breaks off inside of it has none, which is what such providers send.
func seen(step script.Step) bool {
	switch step.(type) {
	case script.Refusal, script.ToolChunk, script.Message, script.Error, script.Comment, script.Ping, script.Empty:
		return true
	}
	return false
}

// worded is the step's kind with what it is of.
func worded(step script.Step) string {
	word := ""
	switch s := step.(type) {
	case script.Keepalive:
		word = string(s.Form)
	case fault.Garble:
		word = s.How
	}
	return strings.TrimSpace(step.Kind() + " " + word)
}
