// Package script holds the programs that fakes play: an ordered list of steps for each request, chosen by what the
// request says. The steps are semantic; each dialect renders them in its own bytes.
package script

import "time"

// Script is what a fake plays in one session, in the order written: a request takes the first program that fits and
// is not used up. A request that no program fits, and a program that no request took, are violations.
type Script []Program

// Program answers one request, or Times of them.
type Program struct {
	When  When
	Times int // 0 is once, Any is without limit
	Steps []Step
}

// Connections is what a fake does with connections, before and between their requests. It is the whole fake's, since
// a connection belongs to no session before its request is read. The zero value accepts and keeps all.
type Connections struct {
	Refuse      int           `yaml:"refuse,omitempty"`       // reset the first so many as they are accepted
	Mute        int           `yaml:"mute,omitempty"`         // accept the next so many, read them, and never answer
	AcceptAfter time.Duration `yaml:"accept-after,omitempty"` // hold each so long before its first byte is read
	IdleClose   time.Duration `yaml:"idle-close,omitempty"`   // close a kept connection that was idle for so long
	Requests    int           `yaml:"requests,omitempty"`     // close a connection after so many answers, without saying so
	Streams     int           `yaml:"streams,omitempty"`      // HTTP/2: how many streams the peer may open at once
}

// File is a script with all that belongs to it, as it stands in a YAML file.
type File struct {
	About       string
	Seed        uint64 // of all jitter; 0 is a random one, which is recorded
	Connections Connections
	Programs    Script
}

// Any is the Times of a program that answers every request that fits it, and none is fine too.
const Any = -1

// When chooses requests. A zero field fits every request.
type When struct {
	Ordinal  int               `yaml:"request,omitempty"` // the so-many-th request of the session, from 1
	Dialect  string            `yaml:"dialect,omitempty"`
	Path     string            `yaml:"path,omitempty"` // the request's path ends so
	Model    string            `yaml:"model,omitempty"`
	Stream   *bool             `yaml:"stream,omitempty"`
	Header   map[string]string `yaml:"header,omitempty"`   // each header holds this text
	Contains string            `yaml:"contains,omitempty"` // the raw body has this text, byte for byte: as JSON escapes it
	Attempt  int               `yaml:"attempt,omitempty"`  // the client's own retry count plus one, where it says so
}

// Answer is the program of a request that is answered well: text, then a proper end.
func Answer(chunks ...string) Program {
	return Program{Steps: []Step{Role{}, Text{Chunks: chunks}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: len(chunks)}, Done{}, End{}}}
}
