//go:build unix && !linux

package process

import "syscall"

// ofItsOwn gives a child a process group of its own.
func ofItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
