package casefile

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(names ...string) {
		for _, n := range names {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, n)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, n), nil, 0o644))
		}
	}
	write("some/b.yaml", "some/a.yaml", "some/notes.md", "some/c.yml", "some/inner/d.yaml", "none/notes.md")
	for i := range MostFiles + 1 {
		write(fmt.Sprintf("many/%d.yaml", i))
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, tc := range []struct {
		name, path string
		want       []string
		problem    string
	}{
		{"a file is itself, whatever its ending", in("some/c.yml"), []string{in("some/c.yml")}, ""},
		{"a folder is its YAML files by name", in("some"), []string{in("some/a.yaml"), in("some/b.yaml"), in("some/c.yml")}, ""},
		{"a folder without any is an error", in("none"), nil, "has no case file: want *.yaml or *.yml in it"},
		{"a folder with too many is an error", in("many"), nil, "has 1001 case files: want at most 1000"},
		{"nothing is an error", in("gone"), nil, "gone cannot be read: no such file or directory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files, err := Files(tc.path)
			if tc.problem != "" {
				require.ErrorContains(t, err, tc.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, files)
		})
	}
}

func TestInnerFoldersAreKnown(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "a", ".git"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name, "deep"), 0o755))
	}
	file := filepath.Join(dir, "c.yaml")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	require.Equal(t, []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}, Inner(dir))
	require.Empty(t, Inner(file))
	require.Empty(t, Inner(filepath.Join(dir, "gone")))
}
