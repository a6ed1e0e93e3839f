package main

import (
	"time"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/process"
	"github.com/stallwright/stallwright/harness/reference"
	"github.com/stallwright/stallwright/harness/worker"
)

// silence is how long a worker may report nothing: a virtual trial takes milliseconds, and some tenths of a second on
// a busy machine with the race detector.
const silence = 15 * time.Second

// attachWait is how long a server that runs already may take to be up.
const attachWait = 20 * time.Second

// newPlayer makes what plays a plan.
func (c *cli) newPlayer(p plan) (harness.Player, error) {
	if p.attached() {
		return &process.Pool{
			Wait:   attachWait,
			Target: harness.Target{Name: p.url, Features: claimed(p.claims), URL: p.url}, Find: c.library.finder(),
			Listen: p.listen, Tools: p.tools, ToolsListen: p.toolsListen, Windows: &p.windows, AllowRemote: p.allowRemote,
		}, nil
	}
	executable, err := c.executable()
	if err != nil {
		return nil, err
	}
	if p.virtual {
		return &worker.Pool{
			Command: append([]string{executable, "worker", "--tool-execution=" + p.execution, "--"}, p.files...), Bubbles: p.jobs, Silence: silence, Package: reference.Package, Find: c.library.finder(),
		}, nil
	}
	return &process.Pool{
		Target: reference.Executing(executable, p.execution), Find: c.library.finder(), Instances: p.jobs,
		Child: []string{executable, "fake", "mcp", "--stdio", "--control"},
	}, nil
}
