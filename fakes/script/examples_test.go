package script

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/scripts/*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 10)
	s := compiled(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			_, err = Parse(file, b)
			require.NoError(t, err)
			out, err := Format(file, b)
			require.NoError(t, err)
			require.Equal(t, string(b), string(out), "stallwright script fmt -w")
			require.NoError(t, s.Validate(generic(t, b)))
		})
	}
}
