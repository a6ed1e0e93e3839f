package process

import "syscall"

// ofItsOwn gives a child a process group of its own, and lets it die with this process: one that is killed cannot
// stop its servers.
func ofItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
