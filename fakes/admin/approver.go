package admin

import (
	"errors"
	"maps"
	"slices"

	"github.com/stallwright/stallwright/fakes/approver"
)

// Approver is a fake approval webhook for a handler, which must be the only one that opens its sessions; it has no Fallback.
type Approver struct{ *approver.Approver }

// Read is the script of a file.
func (a Approver) Read(name string, data []byte) (Script, error) {
	f, err := approver.Parse(name, data)
	return a.Script(f), err
}

// Script is what a session of the file plays. It is never strict: what breaks the rules is recorded as a violation, and answered as the
// script says.
func (a Approver) Script(f approver.File) Script {
	names := map[string]bool{}
	for _, p := range f.Script {
		gates(names, p.Steps)
	}
	return Script{About: f.About, Programs: len(f.Script), Gates: slices.Sorted(maps.Keys(names)), Open: func(marker string, s Session) error {
		if s.Strict {
			return errors.New("an approver is never strict")
		}
		return a.Open(marker, &approver.Session{Script: f.Script, Timeline: s.Timeline, Gates: s.Gates})
	}}
}
