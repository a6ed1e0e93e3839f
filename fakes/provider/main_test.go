package provider_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The benchmarks run their servers in processes of their own: this binary again, told by the environment.
func TestMain(m *testing.M) {
	kind := os.Getenv(benchServer)
	if kind == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := serveBench(kind, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
