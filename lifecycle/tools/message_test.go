package tools

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheIDOfWhatCannotBeKept(t *testing.T) {
	tests := []struct {
		name, text, id string // no id: no answer
	}{
		{"first", `{"id":7,"result":{`, "int64:7"},
		{"last", `{"result":{"id":1,"a":["id",2]}, "id" : 7 }`, "int64:7"},
		{"a string", `{"result":"\"id\":1","id":"7"}`, "string:7"},
		{"with what looks like one before", `{"a":"id","b":{"id":3},"id":7}`, "int64:7"},
		{"of a request", `{"id":7,"method":"ping"}`, ""},
		{"of nothing", `{"result":{"id":7}}`, ""},
		{"null", `{"id":null,"error":{}}`, ""},
		{"in a batch", `[{"id":7}]`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, split := range []int{1, 1 << 20} {
				var s idScanner
				for rest := test.text; rest != ""; {
					n := min(split, len(rest))
					s.feed([]byte(rest[:n]))
					rest = rest[n:]
				}
				id, ok := s.response()
				require.Equal(t, test.id != "", ok)
				if ok {
					require.Equal(t, test.id, id.String())
				}
			}
		})
	}
}

func TestClean(t *testing.T) {
	require.Equal(t, "a b [31m c", clean("a\nb\x1b[31m\u202ec ", nil))
	require.Equal(t, "key [redacted]", clean("key hunter22", []string{"hunter22"}))
	require.LessOrEqual(t, len(clean(strings.Repeat("ü", 1000), nil)), maxError)
	require.Equal(t, "\uFFFD", clean("\xff", nil))
}
