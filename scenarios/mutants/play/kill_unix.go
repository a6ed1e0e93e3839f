//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// killWithChildren makes the end of cmd's context the end of its workers too.
func killWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
