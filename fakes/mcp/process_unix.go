//go:build unix

package mcp

import (
	"os"
	"syscall"
)

// ownSession lets a process leave the group and the terminal of the one that starts it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// raise sends a signal to this process.
func raise(s syscall.Signal) { syscall.Kill(os.Getpid(), s) }
