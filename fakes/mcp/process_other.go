//go:build !unix

package mcp

import "syscall"

// ownSession does nothing: there are no sessions here.
func ownSession() *syscall.SysProcAttr { return nil }

// raise ends this process: nobody here can tell a signal from that.
func raise(syscall.Signal) { syscall.Exit(1) }
