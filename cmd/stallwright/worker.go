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
	var execution string
	cmd := &cobra.Command{
		Use:    "worker [FILE...]",
		Short:  "plays virtual trials for another stallwright",
		Hidden: true,
		RunE: func(_ *cobra.Command, files []string) error {
			l := c.library
			if len(files) > 0 { // the cases are those of case files
				var err error
				if l, _, err = c.readCases(files, allDialects()); err != nil {
					return internal(err)
				}
			}
			worker.Main(mortal{c.stdin}, c.stdout, reference.Executing("", execution), l.finder())
			return nil
		},
	}
	cmd.Flags().StringVar(&execution, "tool-execution", "", "how the server executes the tool calls of one turn")
	return cmd
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
