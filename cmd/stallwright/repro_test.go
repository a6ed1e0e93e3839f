package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The examples hold on the built-in server: all in virtual time, and in real time one for each way of playing.
func TestExampleCasesHold(t *testing.T) {
	all, err := filepath.Glob("../../examples/cases/*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 10)
	reports, err := filepath.Glob("../../examples/reports/*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(reports), 60)
	named := func(name string) string { return filepath.Join("../../examples/cases", name+".yaml") }
	for _, tc := range []struct {
		name  string
		files []string
		flags []string
	}{
		{"in virtual time", slices.Concat(all, reports), nil},
		{"in real time", []string{named("stall-after-two-chunks"), named("reset-in-text"), named("drain-lets-finish")}, []string{"--time", "real", "-j", "2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCLI()
			var stdout, stderr bytes.Buffer
			c.stdout, c.stderr = &stdout, &stderr
			args := append([]string{"repro", "--seed", "1", "-v"}, tc.flags...)
			require.Equal(t, exitOK, c.run(t.Context(), append(args, tc.files...)), "%s\n%s", &stdout, &stderr)
			require.Contains(t, stdout.String(), "canary/plain@after")
			require.Contains(t, stdout.String(), "inactivity/stall-after-two-chunks")
		})
	}
}
