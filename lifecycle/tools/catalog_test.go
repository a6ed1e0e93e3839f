package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// page is a page of tools with these names, each in JSON.
func page(names ...string) json.RawMessage {
	var all []string
	for _, n := range names {
		all = append(all, `{"name":`+n+`,"inputSchema":{"type":"object"}}`)
	}
	return json.RawMessage(`{"tools":[` + strings.Join(all, ",") + `]}`)
}

func TestToolsGetNamesThatProvidersTake(t *testing.T) {
	long := strings.Repeat("n", 70)
	tests := []struct {
		name  string
		lists [][]string // of the servers "a" and "my server"
		want  []string
		note  string // of the last server
	}{
		{"a good name stays", [][]string{{"read_File-2"}}, []string{"read_File-2"}, ""},
		{"what providers refuse is replaced", [][]string{{"files/read.all ü"}}, []string{"files_read_all__"}, ""},
		{"a long name is cut", [][]string{{long}}, []string{long[:64]}, ""},
		{"a later server's name gets the server's in front", [][]string{{"x", "y"}, {"y"}}, []string{"x", "y", "my_server_y"}, ""},
		{"names that become equal are told apart", [][]string{{"a.b", "a/b", "a:b"}}, []string{"a_b", "a_a_b", "a_a_b_2"}, ""},
		{"also when they are long", [][]string{{long}, {long + "1", long + "2"}}, []string{long[:64], ("my_server_" + long)[:64], ("my_server_" + long)[:62] + "_2"}, ""},
		{"a second tool of one name is left out", [][]string{{"x", "x"}}, []string{"x"}, "left out a tool: it has the name of another"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := catalog{targets: make(map[string]target)}
			var last *list
			want := 0
			for i, names := range test.lists {
				for j := range names {
					names[j] = quoted(names[j])
				}
				last = &list{}
				_, err := last.add(page(names...))
				require.NoError(t, err)
				want += c.add([]string{"a", "my server"}[i], &slot{}, last)
			}
			require.Equal(t, test.note, last.note())
			require.Len(t, c.tools, want)
			for i, tool := range c.tools {
				require.Equal(t, test.want[i], tool.Name)
				require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, tool.Name)
				require.Contains(t, c.targets, tool.Name)
			}
		})
	}
	c := catalog{targets: make(map[string]target)}
	l := &list{tools: []listed{{name: "files/read"}}}
	c.add("a", nil, l)
	require.Equal(t, "files/read", c.targets["files_read"].name, "the server is called by its own name")
}

func TestListsAreBounded(t *testing.T) {
	many := make([]string, maxTools)
	for i := range many {
		many[i] = quoted(fmt.Sprint("t", i))
	}
	var l list
	_, err := l.add(page(many...))
	require.NoError(t, err)
	_, err = l.add(page(`"one more"`))
	require.EqualError(t, err, "more than 5000 tools")

	l = list{}
	for i := range maxPages {
		next, err := l.add(json.RawMessage(fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, i)))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), next)
	}
	_, err = l.add(page())
	require.EqualError(t, err, "more than 200 pages of tools")

	l = list{bytes: maxListBytes}
	_, err = l.add(page())
	require.EqualError(t, err, "more than 16 MiB of tools")
}

func TestOddToolsAreLeftOutOrMended(t *testing.T) {
	var l list
	_, err := l.add(page("\"a\xff\"", `"\ud800"`, `""`, `7`, `"good"`))
	require.NoError(t, err)
	require.Len(t, l.tools, 1)
	require.Equal(t, "left out 4 tools: the last has no name", l.note())

	l = list{}
	_, err = l.add(json.RawMessage(`{"tools":[{"name":"a"},{"name":"b","inputSchema":true},{"name":"c","description":"` + "\xff" + `","inputSchema":{"x":[1]}}]}`))
	require.NoError(t, err)
	require.Equal(t, []listed{
		{"a", "", json.RawMessage(`{"type":"object"}`)},
		{"b", "", json.RawMessage(`{"type":"object"}`)},
		{"c", "\uFFFD", json.RawMessage(`{"x":[1]}`)},
	}, l.tools)
	_, err = l.add(json.RawMessage(`{"tools":7}`))
	require.Error(t, err)
}
