package main

// The exit codes of verbs that judge.
const (
	exitOK           = 0
	exitViolated     = 1
	exitUsage        = 2
	exitTarget       = 3
	exitEmpty        = 4
	exitInconclusive = 5
	exitInternal     = 70
	exitInterrupted  = 130 // SIGINT
	exitTerminated   = 143 // SIGTERM
)

// ending is all that a run's exit code follows from.
type ending struct {
	crashed      bool   // stallwright itself fell
	signal       string // that stopped the run, such as SIGINT
	violated     bool   // a failure that fails the run was proven
	broke        bool   // an error in some case, a report that could not be written, trouble of a player
	target       bool   // the server under test could not be had
	inconclusive bool   // a check that counts gave no verdict
	empty        bool   // the selection is empty
}

// code gives a proven violation precedence over all other trouble: nothing shall hide it.
func (e ending) code() int {
	switch {
	case e.crashed:
		return exitInternal
	case e.signal == "SIGTERM":
		return exitTerminated
	case e.signal != "":
		return exitInterrupted
	case e.violated:
		return exitViolated
	case e.broke:
		return exitInternal
	case e.target:
		return exitTarget
	case e.inconclusive:
		return exitInconclusive
	case e.empty:
		return exitEmpty
	default:
		return exitOK
	}
}

// exitRow explains one code.
type exitRow struct {
	code             int
	name, when, then string
}

func exitRows() []exitRow {
	return []exitRow{
		{exitOK, "ok", "every selected MUST that was shown holds", "nothing is to be done"},
		{exitViolated, "violated", "a failure of a MUST was proven; with --strict of a SHOULD too", "fix the server: the failure block says what was seen, and how to play it again"},
		{exitUsage, "usage", "a bad flag, pattern, config or path; nothing ran", "read the message: it names what is wrong"},
		{exitTarget, "target", "the server under test did not start, was never ready, did not reach the fakes, or could not be brought back after a case", "start the server by hand, and check that the fake provider's URL is the one it is configured with"},
		{exitEmpty, "empty", "the selection is empty: a typo must not pass", "widen the patterns or drop a --skip; `stallwright list` shows what there is"},
		{exitInconclusive, "inconclusive", "nothing is proven wrong, but a check that counts gave no verdict", "play the case again, with a larger --timeout if time ran out"},
		{exitInternal, "internal", "stallwright broke, or could not write a report; what was won so far is kept", "report it, with the message"},
		{exitInterrupted, "stopped", "SIGINT; the reports are written", "start again"},
		{exitTerminated, "stopped", "SIGTERM; the reports are written", "start again"},
	}
}
