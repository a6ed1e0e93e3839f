package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseConfig(t *testing.T) {
	at := func(path string) string { return filepath.FromSlash(path) }
	absolute, err := filepath.Abs("cases")
	require.NoError(t, err)
	for _, tc := range []struct {
		name, text string
		want       []string
		problems   []string
	}{
		{"a version is enough", "version: 1\n", nil, nil},
		{"a path is relative to the file", "version: 1\ncases: mine\n", []string{at("of/mine")}, nil},
		{"a list keeps its order", "cases: [b, ../a, ./c/d.yaml]\nversion: 1\n", []string{at("of/b"), at("a"), at("of/c/d.yaml")}, nil},
		{"an absolute path stays", "version: 1\ncases: [" + absolute + "]\n", []string{absolute}, nil},
		{"an alias stands for a path", "version: 1\ncases: [&a mine/x.yaml]\n", []string{at("of/mine/x.yaml")}, nil},
		{"a version is wanted", "cases: mine\n", nil, []string{"of/s.yaml:1:1: the configuration lacks version; begin it with version: 1"}},
		{"another version is another form", "version: 12\n", nil, []string{"of/s.yaml:1:10: version is 12: this stallwright reads version 1"}},
		{"a version is a number", "version: one\n", nil, []string{`of/s.yaml:1:10: version is "one"`}},
		{"all problems are told", "version: 1\ncase: mine\njobs: 2\n", nil, []string{
			`of/s.yaml:2:1: a configuration has no key "case"; did you mean cases?`,
			`of/s.yaml:3:1: a configuration has no key "jobs"; its keys are version, cases`,
		}},
		{"a key stands once", "version: 1\ncases: a\ncases: b\n", nil, []string{"of/s.yaml:3:1: "}},
		{"a path is a text", "version: 1\ncases: [1, '', ~]\n", nil, []string{
			"of/s.yaml:2:9: cases holds 1: want the path of a folder or a case file", "of/s.yaml:2:12: ", "of/s.yaml:2:16: ",
		}},
		{"a path stands once", "version: 1\ncases: [a, ./a]\n", nil, []string{`of/s.yaml:2:12: cases names "./a" twice`}},
		{"an empty list plays nothing", "version: 1\ncases: []\n", nil, []string{"of/s.yaml:2:8: cases has 0 entries: want 1 to 100"}},
		{"a list has an end", "version: 1\ncases: [" + strings.Repeat("a, ", 101) + "]\n", nil, []string{"cases has 101 entries: want 1 to 100"}},
		{"a mapping is wanted", "- version: 1\n", nil, []string{"of/s.yaml:1:1: the configuration is a list: want the keys version, cases"}},
		{"YAML is wanted", "version: [1\n", nil, []string{"of/s.yaml:"}},
		{"nothing is no configuration", "", nil, []string{"of/s.yaml:1:1: the file is empty: want version and cases"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseConfig("of/s.yaml", []byte(tc.text))
			if tc.problems == nil {
				require.NoError(t, err)
				var paths []string
				for _, c := range got.cases {
					require.Regexp(t, `^of/s.yaml:[1-9]:[0-9]+$`, c.place)
					paths = append(paths, c.path)
				}
				require.Equal(t, tc.want, paths)
				return
			}
			require.Error(t, err)
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(tc.problems), err)
			for i, p := range tc.problems {
				require.Contains(t, lines[i], p)
			}
		})
	}
}
