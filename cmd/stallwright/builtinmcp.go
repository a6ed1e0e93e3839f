package main

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

// mcpScripts lists the scripts by what goes wrong: nothing, the connecting, calls, cancels, sessions, the process.
func mcpScripts() []named[mcp.File] {
	plays := func(name, about string, s mcp.Script) named[mcp.File] {
		return named[mcp.File]{name, about, mcp.File{About: about, Ready: []string{"all"}, Script: s}}
	}
	calls := func(name, about string, steps ...script.Step) named[mcp.File] {
		return plays(name, about, mcp.Script{Programs: []mcp.Program{{Times: script.Any, Steps: steps}}})
	}
	asked := func(name, about, method string, steps ...script.Step) named[mcp.File] {
		return plays(name, about, mcp.Script{Programs: []mcp.Program{{When: mcp.When{Method: method}, Times: script.Any, Steps: steps}}})
	}
	manners := func(name, about string, m mcp.Manners) named[mcp.File] {
		return plays(name, about, mcp.Script{Manners: m})
	}
	process := func(name, about string, p mcp.Process) named[mcp.File] {
		return manners(name, about, mcp.Manners{Process: p})
	}
	return []named[mcp.File]{
		plays("ready", "behaves well, with the ready tools", mcp.Script{}),

		asked("silent-initialize", "never answers initialize, which clients that ask server/discover first do not send", "initialize", fault.Stall{}),
		asked("silent-list", "never answers tools/list", "tools/list", fault.Stall{}),
		asked("slow-list", "answers tools/list after 20 s", "tools/list", script.Pause{For: 20 * time.Second}, mcp.Result{}),

		calls("silent-call", "never answers a call", fault.Stall{}),
		calls("endless-progress", "tells progress each second and never answers", script.Repeat{Steps: []script.Step{mcp.Progress{Every: time.Second, Token: mcp.AlwaysToken}}}),
		calls("error", "answers calls with an error", mcp.Error{Code: -32603, Message: "the tool is broken"}),
		calls("is-error", "answers calls with a result that says the tool has failed", mcp.Result{Text: "the tool has failed", IsError: true}),
		calls("wrong-id", "answers calls with an id that was never used", mcp.Result{Text: "done", ID: mcp.WrongID}),
		calls("twice", "answers each call twice", mcp.Result{Text: "done", Times: 2}),
		calls("ends-unanswered", "ends the stream of a call without an answer", mcp.EndStream{}),
		calls("reset-in-call", "resets the connection of a call", fault.Reset{}),
		calls("crash-in-call", "dies in a call, and is there again", mcp.Crash{}),
		calls("status-503", "answers calls with the status 503", fault.Status{Code: 503}),

		manners("ignores-cancel", "goes on with calls that are cancelled", mcp.Manners{OnCancel: mcp.OnCancel{Do: mcp.Ignore}}),
		manners("answers-cancel", "answers calls that are cancelled", mcp.Manners{OnCancel: mcp.OnCancel{Do: mcp.AnswerWell}}),
		manners("one-at-a-time", "does one call at a time", mcp.Manners{Single: true}),
		manners("short-sessions", "forgets each session after 10 s", mcp.Manners{Lives: mcp.Lives{For: 10 * time.Second}}),
		manners("delete-hangs", "never answers a DELETE", mcp.Manners{Delete: mcp.DeleteHangs}),

		calls("exits-in-call", "exits in a call (--stdio)", mcp.Exit{Code: 1, Stderr: "panic: out of luck\n"}),
		process("exits-at-start", "exits before it has read anything (--stdio)", mcp.Process{Dies: mcp.Exit{Code: 1, Stderr: "no such database\n"}}),
		process("ignores-eof", "goes on when its input has ended (--stdio)", mcp.Process{IgnoresEOF: true}),
		process("ignores-all", "ends by SIGKILL alone (--stdio)", mcp.Process{IgnoresEOF: true, IgnoresTERM: true}),
		process("floods-stderr", "writes 16 MiB to standard error first (--stdio)", mcp.Process{Floods: 16 << 20}),
		manners("banner", "writes a banner before its first message (--stdio)", mcp.Manners{Banner: "starting…\n"}),
	}
}
