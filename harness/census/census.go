// Package census counts what a process holds, as the system shows it under /proc.
package census

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stallwright/stallwright/harness"
)

// Countable says of which features the system tells what a process holds.
func Countable() map[harness.Feature]bool {
	_, fds := os.Stat("/proc/self/fd")
	_, children := os.Stat("/proc/thread-self/children")
	return map[harness.Feature]bool{harness.Files: fds == nil, harness.Sockets: fds == nil, harness.Children: children == nil}
}

// Of counts what a process holds. Files are all descriptors that are no sockets, pipes and the like included; what
// is open under /proc is left out, which is how a census itself shows. Of a process that has ended it counts nothing.
func Of(pid int) map[harness.Feature]int {
	counts := Descriptors(pid)
	// A child belongs to the thread that made it.
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well formed
	for _, list := range lists {
		if b, err := os.ReadFile(list); err == nil {
			counts[harness.Children] += len(strings.Fields(string(b)))
		}
	}
	return counts
}

// Descriptors counts the files and sockets of a process, as Of does.
func Descriptors(pid int) map[harness.Feature]int {
	counts := map[harness.Feature]int{}
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	if fds, err := os.ReadDir(folder); err == nil {
		counts[harness.Files], counts[harness.Sockets] = 0, 0
		for _, fd := range fds {
			link, err := os.Readlink(filepath.Join(folder, fd.Name()))
			switch {
			case err != nil, strings.HasPrefix(link, "/proc/"): // closed since, or a census
			case strings.HasPrefix(link, "socket:"):
				counts[harness.Sockets]++
			default:
				counts[harness.Files]++
			}
		}
	}
	return counts
}
