//go:build unix

package tools

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup reaches the command and what it started. That nobody is left is no error.
func signalGroup(c *exec.Cmd, s syscall.Signal) { _ = syscall.Kill(-c.Process.Pid, s) }
