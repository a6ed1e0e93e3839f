package provider_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/provider"
)

func FuzzStringIsJSON(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\\n\r\t\x00\x1f", "é\u2028\U0001f600", "\xff", "a\xc3", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		require.NoError(t, json.Unmarshal(provider.AppendString(nil, s), &got))
		require.Equal(t, string([]rune(s)), got)
	})
}
