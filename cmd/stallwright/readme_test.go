package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The figures of the README that the library itself decides are within a tenth of what is so.
func TestFiguresOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	l := builtin()
	broken, err := l.mutants()
	require.NoError(t, err)
	checks := 0
	for _, c := range l.cases() {
		checks += len(c.Checks()) + len(standings())
	}
	for _, f := range []struct {
		text string // the place of the figure
		is   int
	}{
		{"`stallwright run`: about N cases on", len(l.cases())},
		{"dialects, N checks,", checks},
		{"`stallwright run --time real`: about N forms", len(l.inRotation(l.cases(), nil))},
		{"`make mutants`: about N broken servers", len(broken)},
	} {
		found := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(f.text), "N", `([\d,]+)`)).FindAllSubmatch(readme, -1)
		require.Len(t, found, 1, "%s: each figure stands in one place", f.text)
		says, err := strconv.Atoi(strings.ReplaceAll(string(found[0][1]), ",", ""))
		require.NoError(t, err)
		require.InEpsilon(t, f.is, says, 0.1, f.text)
	}
}
