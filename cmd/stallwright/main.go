// Command stallwright makes agent servers prove that they survive their providers.
package main

import (
	"context"
	"io"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole command; it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := cli{
		stdin: stdin, stdout: stdout, stderr: stderr, lookup: os.LookupEnv, environ: os.Environ, executable: os.Executable, library: builtin(),
	}
	c.player = (*cli).newPlayer
	return c.run(ctx, args)
}
