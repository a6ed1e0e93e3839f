// Command play runs every mutant against the scenarios and fails when one goes unnoticed; it is what make mutants runs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/stallwright/stallwright/scenarios/mutants"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// The exit codes are those of stallwright.
const (
	exitOK       = 0
	exitSurvived = 1
	exitUsage    = 2
	exitInternal = 70
	exitStopped  = 130
)

// run plays the mutants of this build on the module around the current folder.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := session{stdout: stdout, stderr: stderr}
	flags := flag.NewFlagSet("play", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: play [flags] [ID...]\n\nPlays the mutants with these IDs, or all, and fails when one survives.")
		flags.PrintDefaults()
	}
	flags.IntVar(&s.jobs, "j", runtime.GOMAXPROCS(0), "mutants at once")
	flags.BoolVar(&s.verbose, "v", false, "a line for each killed mutant too")
	flags.BoolVar(&s.race, "race", false, "build with the race detector")
	flags.BoolVar(&s.requireTwo, "require-two", false, "fail unless two mutants break each guarantee that has a scenario")
	// A kill takes a fraction of a second: 30 s is a hang, even on a busy machine.
	flags.DurationVar(&s.timeout, "timeout", 30*time.Second, "wall-clock bound of one mutant")
	flags.StringVar(&s.keep, "keep", "", "leave the overlay and the binary in this `folder`")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitOK
	} else if err != nil {
		return exitUsage
	}
	if s.jobs < 1 || s.timeout <= 0 {
		fmt.Fprintln(stderr, "play: error: -j and -timeout must be above 0")
		return exitUsage
	}
	var err error
	if s.all, err = mutants.All(); err != nil {
		return s.fail(exitUsage, err)
	}
	if s.root, err = moduleRoot(); err != nil {
		return s.fail(exitUsage, err)
	}
	return s.play(ctx, flags.Args())
}

// moduleRoot is the nearest folder around the current one that has a go.mod.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s: no go.mod here or above", start)
		}
	}
}
