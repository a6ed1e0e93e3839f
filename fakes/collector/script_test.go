package collector

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

const example = `about: Is overloaded once, then slow.
max-body: 65536
programs:
  - steps:
      - status:
          code: 503
          header:
            Retry-After: "1"
  - times: any
    steps:
      - pause: 2s
      - accept:
          rejected: 1
          message: too old
`

func TestScriptFile(t *testing.T) {
	f, err := Parse("slow.yaml", []byte(example))
	require.NoError(t, err)
	require.Equal(t, File{About: "Is overloaded once, then slow.", Script: Script{MaxBody: 65536, Programs: []Program{
		{Steps: []script.Step{fault.Status{Code: 503, Header: map[string]string{"Retry-After": "1"}}}},
		{Times: script.Any, Steps: []script.Step{script.Pause{For: 2 * time.Second}, Accept{Rejected: 1, Message: "too old"}}},
	}}}, f)
	text, err := f.YAML()
	require.NoError(t, err)
	again, err := Parse("slow.yaml", text)
	require.NoError(t, err)
	require.Equal(t, f, again)
	require.Contains(t, string(Schema()), `"max-body"`)
}

func TestScriptErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a key that is not known", "max-bodi: 1\n", "max-body"},
		{"a step of another fake", "programs: [{steps: [headers]}]\n", "headers"},
		{"a body without end", "max-body: 100000000\n", "want at most 67108864 bytes"},
		{"fewer than none", "programs: [{steps: [{accept: {rejected: -1}}]}]\n", "rejected"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("x.yaml", []byte(tt.text))
			require.ErrorContains(t, err, tt.want)
		})
	}
	require.ErrorContains(t, Script{Programs: []Program{{Steps: []script.Step{script.Role{}}}}}.Validate(), "program 1, step 1: a collector has no step script.Role")
	require.ErrorContains(t, Script{Programs: []Program{{Times: -5}}}.Validate(), "program 1")
	require.Equal(t, []string{"g"}, Script{Programs: []Program{{Steps: []script.Step{script.Await{Gate: "g"}}}}}.Gates())
}
