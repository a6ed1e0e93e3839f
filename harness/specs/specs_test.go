package specs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCasesOfAFolder(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, id string) {
		text := "case: " + id + "\nabout: A chunk arrives.\ncovers: [a.b]\nclient: [ask: hello]\nexpect: [happens: client ask]\n"
		require.NoError(t, os.WriteFile(in(name), []byte(text), 0o644))
	}
	write("b.yaml", "own/second")
	write("a.yaml", "own/first")
	cases, err := Cases(dir, []string{"a.b"})
	require.NoError(t, err)
	require.Len(t, cases, 2)
	require.Equal(t, "own/first", cases[0].Scenario.ID)
	require.Equal(t, in("a.yaml"), cases[0].File)
	require.Equal(t, in("b.yaml"), cases[1].File)

	write("c.yaml", "own/first")
	write("d.yaml", "own")
	cases, err = Cases(dir, []string{"a.b"})
	require.ErrorContains(t, err, in("c.yaml")+": the case own/first is in "+in("a.yaml")+" too")
	require.ErrorContains(t, err, in("d.yaml")+":1:7: case is ")
	require.Len(t, cases, 2, "those that can be read are played all the same")

	_, err = Cases(in("gone"), nil)
	require.ErrorContains(t, err, "cannot be read")
}
