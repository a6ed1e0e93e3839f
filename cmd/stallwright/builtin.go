package main

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// providerScripts lists the scripts by what goes wrong: nothing, silence, the connection, the stream, the status.
func providerScripts() []named[script.File] {
	begin := []script.Step{script.Role{}, script.Text{Chunks: []string{"The answer ", "begins "}, Every: 100 * time.Millisecond}}
	finish := []script.Step{script.Finish{Reason: "stop"}, script.Usage{Prompt: 9, Completion: 4}, script.Done{}, script.End{}}
	with := func(parts ...[]script.Step) []script.Step {
		var out []script.Step
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	one := func(steps ...script.Step) []script.Step { return steps }
	hello := one(script.Role{}, script.Text{Chunks: []string{"Hello", ", ", "world", "."}, Every: 50 * time.Millisecond})
	scripts := []struct {
		name, about string
		steps       []script.Step
	}{
		{"answer", "answers well: four chunks, 50 ms apart", with(hello, finish)},
		{"tool-call", "asks for the tool lookup, whatever was said", with(one(script.Role{},
			script.Tool{ID: "call_1", Name: "lookup", Args: []string{`{"query"`, `:"hello"}`}, Every: 50 * time.Millisecond},
			script.Finish{Reason: "tool_calls"}, script.Usage{Prompt: 9, Completion: 4}, script.Done{}, script.End{}))},
		{"think-then-answer", "reasons for 5 s, then answers", with(one(script.Role{},
			script.Think{Chunks: []string{"Let ", "me ", "think ", "of ", "it."}, Every: time.Second},
			script.Pause{For: time.Second}), hello[1:], finish)},

		{"slow-headers", "sends nothing for 20 s, then answers", with(one(script.Pause{For: 20 * time.Second}), hello, finish)},
		{"slow-first-chunk", "sends headers at once, nothing for 20 s, then answers", with(one(script.Headers{}, script.Pause{For: 20 * time.Second}), hello, finish)},
		{"silent", "takes the request and never sends a byte", one(fault.Stall{})},
		{"headers-then-silence", "sends headers and then nothing, for ever", one(script.Headers{}, fault.Stall{})},
		{"stall-mid-stream", "falls silent after two chunks, for ever", with(begin, one(fault.Stall{}))},
		{"keepalive-stall", "sends nothing but comments after two chunks, one every 5 s", with(begin, one(script.Keepalive{Form: script.CommentForm, Every: 5 * time.Second}, fault.Stall{}))},
		{"drip", "sends three bytes at a time, 20 ms apart", with(one(fault.Drip{Bytes: 3, Every: 20 * time.Millisecond}), hello, finish)},

		{"cut-before-headers", "closes the connection before it has sent anything", one(fault.Cut{})},
		{"cut-mid-stream", "closes the connection after two chunks", with(begin, one(fault.Cut{}))},
		{"reset-mid-stream", "resets the connection after two chunks", with(begin, one(fault.Reset{}))},
		{"half-close-mid-stream", "closes its side of the connection after two chunks", with(begin, one(fault.HalfClose{}))},

		{"missing-done", "ends well, but without the terminator", with(hello, one(script.Finish{Reason: "stop"}, script.End{}))},
		{"missing-finish", "ends with neither a finish reason nor the terminator", with(hello, one(script.End{}))},
		{"error-in-stream", "sends an error frame after two chunks", with(begin, one(script.Error{Type: "server_error", Code: "overloaded", Message: "the model is overloaded"}, script.End{}))},
		{"garbled", "breaks the JSON of one chunk", with(begin, one(fault.Garble{}), hello[1:], finish)},
		{"split", "sends each frame in pieces of 7 bytes", with(one(fault.Split{Every: 7}), hello, finish)},
		{"length", "stops in the middle because the answer is too long", with(begin, one(script.Finish{Reason: "length"}, script.Done{}, script.End{}))},

		{"status-500", "answers 500", one(fault.Status{Code: 500})},
		{"status-503", "answers 503", one(fault.Status{Code: 503})},
		{"status-429", "answers 429, too many requests", one(fault.Status{Code: 429})},
		{"status-401", "answers 401, a wrong key", one(fault.Status{Code: 401})},
	}
	var out []named[script.File]
	for _, n := range scripts {
		out = append(out, named[script.File]{n.name, n.about, script.File{About: n.about, Programs: script.Script{{Times: script.Any, Steps: n.steps}}}})
	}
	return out
}
