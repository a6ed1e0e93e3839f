package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/harness/reference"
	"github.com/stallwright/stallwright/harness/soak"
)

func (c *cli) soakCommand() *cobra.Command {
	s := soak.Soak{}
	cmd := &cobra.Command{
		Use:   "soak",
		Short: "send very many runs through one reference server and look what is left",
		Long: "Starts `serve` and fakes beside it, sends runs with every sort of ending through it, and compares what the server holds\n" +
			"before and after: goroutines, files, sockets, children and heap. It exits with 1 when it holds more, or when a run ended as none\n" +
			"of its kind may.",
		Args:   noArgs,
		Hidden: true, // it is about the reference alone: make soak
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.Runs < 1 || s.AtOnce < 1 {
				return misuse("", "--runs and --at-once want 1 or more")
			}
			if !cmd.Flags().Changed("seed") {
				s.Seed = uint64(rand.Uint32()) // short enough to be typed
			}
			executable, err := c.executable()
			if err != nil {
				return internal(err)
			}
			s.Target, s.Child, s.Out = reference.Target(executable), []string{executable, "fake", "mcp", "--stdio", "--control"}, c.stdout
			fmt.Fprintf(c.stdout, "%d runs, %d at once, seed %d\n", s.Runs, s.AtOnce, s.Seed)
			begun := time.Now()
			err = s.Run(cmd.Context())
			var problems soak.Problems
			if errors.As(err, &problems) {
				fmt.Fprintf(c.stdout, "\n✗ %s\n\nagain: stallwright soak --runs %d --at-once %d --seed %d --orchestrated=%t\n", problems, s.Runs, s.AtOnce, s.Seed, s.Orchestrated)
				return ended(exitViolated)
			}
			if err != nil {
				return internal(err)
			}
			fmt.Fprintf(c.stdout, "\n✓ %d runs in %s: the server is where it was\n", s.Runs, time.Since(begun).Round(time.Second))
			return nil
		},
	}
	cmd.Flags().IntVar(&s.Runs, "runs", 20_000, "how many, after those that warm the server up: a twentieth of them, or four times as many as are at once")
	cmd.Flags().IntVar(&s.AtOnce, "at-once", 200, "how many of them at once")
	cmd.Flags().BoolVar(&s.Orchestrated, "orchestrated", false, "the server has a coordinator and workers")
	cmd.Flags().Uint64Var(&s.Seed, "seed", 0, "seed of all that is random (default a random one, which is printed)")
	return cmd
}
