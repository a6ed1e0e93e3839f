// Package casefile reads cases from YAML: what a fake provider answers, what a client does, and what the timeline must
// then show. A case file is a scenario that needs no Go, for a report of a fault that others can play too.
//
//	case: inactivity/stall-after-two-chunks
//	about: The stream goes silent after two chunks.
//	covers: [inactivity.fires]
//	set: {inactivity: on}
//	provider:
//	  - text: {chunks: ["one ", "two "], every: inactivity/7}
//	  - stall
//	client:
//	  - ask: hello
//	  - await-end
//	expect:
//	  - happens: client error "stream_inactivity_timeout"
//	    after: provider stall
//	    at: inactivity
//
// A length of time is a duration (200ms), a word for a window of the server (first-chunk, inactivity, stream,
// heartbeat, shutdown, straggler, abort, cleanup, last-write, flush), tick, which is surely before or after a window,
// or once, the limit of "at once"; with [N] before a word, *N or /N behind it, and + or - between two of them:
// inactivity/2, 3 heartbeat, first-chunk - tick. So one file plays in virtual time with the windows of production, and
// in real time with short ones.
//
// A case is about every dialect that its steps can be said in, or about those that dialects names: the bytes of a raw step
// are those of one wire, and not every wire has a terminator.
//
// An event is LANE [REQUEST] KIND ["TEXT"] [no. N | last], in the words of the timeline: client text "two" no. 2,
// provider left, process exit. A request is the name it was asked with, or its number. Without no. it is the first.
package casefile

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// MaxSize is the size of the largest case file, in bytes.
const MaxSize = script.MaxSize

// Case is a case file.
type Case struct {
	Scenario harness.Scenario // without variants
	Source   string           // where the fault was reported: a URL, or ""
}

// Parse reads a case file, which it calls name in errors. The guarantees are those that a case may be evidence for.
// Lengths of time are checked with the windows of production, with short ones and with these. Its error is
// [script.Problems]: all that is wrong, with line and column. The bounds of [script.Parse] hold.
func Parse(name string, data []byte, guarantees []string, windows ...harness.Windows) (Case, error) {
	doc, err := script.Read(name, data, "case", "about", "client", "expect")
	if err != nil {
		return Case{}, err
	}
	r := &reader{Document: doc, name: name, guarantees: guarantees, names: map[string]bool{}}
	f := r.file(windows)
	if err := r.inOrder(); err != nil {
		return Case{}, err
	}
	return Case{f.scenario(name, data), f.source}, nil
}

// file is a case file that was read.
type file struct {
	id, about, source string
	set               harness.Set
	needs             []harness.Feature
	dialects          []string // nil when it names none
	alone             bool
	scripted          bool // it has a provider
	client            []act
	checks            []check
	reached           []event
}

// scenario makes what plays of what was read.
func (f file) scenario(name string, data []byte) harness.Scenario {
	s := harness.Scenario{ID: f.id, Claim: f.about, Needs: f.needs, Dialects: f.dialects, Alone: f.alone}
	for _, e := range f.reached {
		s.Reached = append(s.Reached, e.Event)
	}
	for i, c := range f.checks {
		s.Checks = append(s.Checks, c.check(fmt.Sprintf("expect-%d", i+1)))
	}
	s.Play = func(t *harness.Trial) {
		p := &playing{Trial: t, units: unitsOf(t.Stage), asked: map[string]*caller.Request{}}
		if f.scripted {
			t.Script(programs(name, data, p.units)...)
		}
		for _, a := range f.client {
			t.Where = fmt.Sprintf("%s:%d", filepath.Base(name), a.line)
			a.play(p)
		}
	}
	// The set is a variant's: a scenario without one has the usual clocks.
	if f.set != (harness.Set{}) {
		s.Variants = []harness.Variant{{Set: f.set}}
	}
	return s
}

// programs reads the provider's part of a file once more, with what its lengths are worth on a stage.
func programs(name string, data []byte, u units) script.Script {
	doc, err := script.Read(name, data)
	if err != nil {
		panic(err)
	}
	var provider ast.Node
	for _, p := range doc.Pairs(doc.Follow(doc.Body)) {
		if p.Name == "provider" {
			provider = p.Value
		} else {
			anchors(doc, p.Value)
		}
	}
	out := doc.Programs(provider, "provider", u.length)
	if err := doc.Err(); err != nil {
		panic(err)
	}
	return out
}

// playing is a trial of a case file under way.
type playing struct {
	*harness.Trial
	units units
	asked map[string]*caller.Request
	last  *caller.Request
}

// request is the one of that name, or the last that was asked.
func (p *playing) request(name string) *caller.Request {
	if name == "" {
		return p.last
	}
	return p.asked[name]
}

// merged adds features that are not there yet.
func merged(to []harness.Feature, more ...harness.Feature) []harness.Feature {
	for _, f := range more {
		if !slices.Contains(to, f) {
			to = append(to, f)
		}
	}
	return to
}
