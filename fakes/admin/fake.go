package admin

import (
	"errors"
	"maps"
	"slices"

	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// Fake is a fake whose sessions a handler opens and releases.
type Fake interface {
	Read(name string, data []byte) (Script, error) // the error is [script.Problems] where it has places
	Release(marker string) (unplayed []string)
	Strays() int // requests that belonged to no session
}

// Script is what a session plays.
type Script struct {
	About    string
	Programs int
	Gates    []string // that it awaits
	Open     func(marker string, s Session) error
}

// Session is what a handler gives to one that it opens.
type Session struct {
	Timeline *timeline.Timeline
	Gates    *script.Gates
	Strict   bool // what breaks the rules of its protocol is refused
}

var errWhole = errors.New("connections belong to the whole fake: start it with them")

// Provider is a fake provider for a handler, which must be the only one that opens its sessions; it has no Fallback. One
// that has the handler for its Other reserves Prefix for it: it would refuse a script that holds a marker else.
type Provider struct{ *provider.Provider }

// Release leaves unplayed too what waits at a gate or a barrier.
func (p Provider) Release(marker string) (unplayed []string) {
	return append(p.Waiting(marker), p.Provider.Release(marker)...)
}

// Read is the script of a file without connections.
func (p Provider) Read(name string, data []byte) (Script, error) {
	f, err := script.Parse(name, data)
	if err == nil && f.Connections != (script.Connections{}) {
		err = errWhole
	}
	return p.Script(f), err
}

// Script is what a session of the file plays.
func (p Provider) Script(f script.File) Script {
	names := map[string]bool{}
	for _, program := range f.Programs {
		gates(names, program.Steps)
	}
	return Script{About: f.About, Programs: len(f.Programs), Gates: slices.Sorted(maps.Keys(names)), Open: func(marker string, s Session) error {
		return p.Open(marker, &provider.Session{Script: f.Programs, Seed: f.Seed, Timeline: s.Timeline, Gates: s.Gates, Strict: s.Strict})
	}}
}

// MCP is a fake MCP server for a handler, which must be the only one that opens its sessions; it has no Fallback.
type MCP struct{ *mcp.Fake }

// Read is the script of a file without connections and name.
func (m MCP) Read(name string, data []byte) (Script, error) {
	f, err := mcp.Parse(name, data)
	switch {
	case err == nil && f.Connections != (script.Connections{}):
		err = errWhole
	case err == nil && f.Name != "":
		err = errors.New("the name belongs to the whole fake: start it with it")
	}
	return m.Script(f), err
}

// Script is what a session of the file plays. It is never strict: what a client does against the rules is recorded as a
// violation, and answered as its script says.
func (m MCP) Script(f mcp.File) Script {
	played := f.Play()
	names := map[string]bool{}
	for _, p := range played.Programs {
		gates(names, p.Steps)
	}
	for _, t := range played.Tools {
		names[t.Gate] = true
	}
	names[played.Manners.Lives.LostAt] = true
	delete(names, "")
	return Script{About: f.About, Programs: len(played.Programs), Gates: slices.Sorted(maps.Keys(names)), Open: func(marker string, s Session) error {
		if s.Strict {
			return errors.New("an MCP server is never strict")
		}
		return m.Open(marker, &mcp.Session{Script: played, Seed: f.Seed, Timeline: s.Timeline, Gates: s.Gates})
	}}
}

// Collector is a fake collector for a handler, which must be the only one that opens its sessions.
type Collector struct{ *collector.Collector }

// Release ends the only session.
func (c Collector) Release(string) (unplayed []string) { return c.Collector.Release() }

// Read is the script of a file.
func (c Collector) Read(name string, data []byte) (Script, error) {
	f, err := collector.Parse(name, data)
	return c.Script(f), err
}

// Script is what a session of the file plays. It has no marker, and is never strict: what is no export is recorded as a violation.
func (c Collector) Script(f collector.File) Script {
	return Script{About: f.About, Programs: len(f.Script.Programs), Gates: f.Script.Gates(), Open: func(marker string, s Session) error {
		switch {
		case marker != "":
			return errors.New("an export has spans of many requests: a collector has one session, without a marker")
		case s.Strict:
			return errors.New("a collector is never strict")
		}
		return c.Open(&collector.Session{Script: f.Script, Timeline: s.Timeline, Gates: s.Gates})
	}}
}

// gates collects the names of the gates that steps await.
func gates(names map[string]bool, steps []script.Step) {
	for _, step := range steps {
		switch step := step.(type) {
		case script.Await:
			names[step.Gate] = true
		case script.Repeat:
			gates(names, step.Steps)
		}
	}
}
