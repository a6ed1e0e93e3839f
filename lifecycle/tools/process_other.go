//go:build !unix

package tools

import (
	"os/exec"
	"syscall"
)

// ownGroup does nothing: there are no process groups here, so what a server starts is its own to end.
func ownGroup(*exec.Cmd) {}

// signalGroup kills the command, whatever the signal: there is no other here.
func signalGroup(c *exec.Cmd, _ syscall.Signal) { _ = c.Process.Kill() }
