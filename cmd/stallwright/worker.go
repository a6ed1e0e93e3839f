package main

import (
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/harness/reference"
	"github.com/stallwright/stallwright/harness/worker"
)

func (c *cli) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "plays virtual trials for another stallwright",
		Hidden: true,
		Args:   noArgs,
		Run: func(*cobra.Command, []string) {
			worker.Main(mortal{c.stdin}, c.stdout, reference.Target(""), c.library.find)
		},
	}
}

// mortal is a worker's standard input. The parent watches its worker and kills it when it hangs; when the input ends
// because the parent is gone, nobody else does.
type mortal struct{ io.Reader }

func (m mortal) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err != nil {
		time.AfterFunc(silence, func() { os.Exit(exitInternal) })
	}
	return n, err
}
