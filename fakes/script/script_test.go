package script

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
)

func TestKindsAreDistinctWords(t *testing.T) {
	steps := []Step{Headers{}, Role{}, Text{}, Think{}, Tool{}, Usage{}, Finish{}, Done{}, Error{}, Raw{}, Comment{}, Empty{},
		Keepalive{}, Pause{}, Await{}, End{}, fault.Stall{}, fault.Cut{}, fault.Reset{}, fault.HalfClose{}, fault.Drip{},
		fault.Split{}, fault.Status{}, fault.Garble{}}
	seen := map[string]bool{}
	for _, s := range steps {
		require.NotEmpty(t, s.Kind())
		require.False(t, seen[s.Kind()], s.Kind())
		seen[s.Kind()] = true
	}
}

func TestValidate(t *testing.T) {
	text := Text{Chunks: []string{"a"}}
	tests := []struct {
		name  string
		steps []Step
		want  string // "" for a valid program
	}{
		{"an answer is valid", Answer("a", "b").Steps, ""},
		{"no steps", nil, "script: program 2 has no steps"},
		{"a nil step", []Step{Role{}, nil}, "program 2, step 2: no step"},
		{"text without chunks", []Step{Text{}}, "step 1 (text): no chunks"},
		{"reasoning without chunks", []Step{Think{}}, "step 1 (think): no chunks"},
		{"negative pace", []Step{Role{}, Text{Chunks: []string{"a"}, Every: -1}}, "step 2 (text): every -1ns: want 0 or more"},
		{"negative pace of arguments", []Step{Tool{Every: -1}}, "every -1ns"},
		{"negative pause", []Step{Pause{For: -time.Second}}, "for -1s"},
		{"negative stall", []Step{fault.Stall{For: -time.Second}}, "for -1s"},
		{"a gate without a name", []Step{Await{}}, "gate has no name"},
		{"an unknown form of keepalive", []Step{Keepalive{Form: "x", Every: 1}}, `form "x": want comment, empty or role`},
		{"a keepalive without a form", []Step{Keepalive{Every: 1}}, `form ""`},
		{"a keepalive that ends another needs no form", []Step{Keepalive{Form: RoleForm, Every: 1}, Keepalive{}}, ""},
		{"a negative keepalive", []Step{Keepalive{Form: EmptyForm, Every: -1}}, "every -1ns"},
		{"a status out of range", []Step{Headers{Status: 199}}, "status 199: want 200 to 599"},
		{"a fault's status out of range", []Step{fault.Status{Code: 600}}, "code 600: want 200 to 599"},
		{"a drip of nothing", []Step{fault.Drip{}}, "bytes 0: want 1 or more"},
		{"a negative drip", []Step{fault.Drip{Bytes: 1, Every: -1}}, "every -1ns"},
		{"offsets that descend", []Step{fault.Split{At: []int{3, 2}}}, "at [3 2]: want ascending offsets above 0"},
		{"an offset of 0", []Step{fault.Split{At: []int{0}}}, "at [0]"},
		{"a negative split", []Step{fault.Split{Every: -1}}, "every -1"},
		{"a split that ends another", []Step{fault.Split{Every: 1}, text, fault.Split{}}, ""},
		{"steps after the end", []Step{End{}, text}, "step 1 (end): ends the exchange, but steps follow"},
		{"steps after a cut", []Step{fault.Cut{}, text}, "step 1 (cut): ends"},
		{"steps after a reset", []Step{fault.Reset{}, text}, "step 1 (reset): ends"},
		{"steps after a status", []Step{fault.Status{Code: 500}, End{}}, "step 1 (status): ends"},
		{"steps after a stall for ever", []Step{fault.Stall{}, text}, "step 1 (stall): ends"},
		{"steps after a stall", []Step{fault.Stall{For: 1}, text}, ""},
		{"output after a half-close", []Step{text, fault.HalfClose{}, text}, "step 3 (text): sends, but a half-close came before"},
		{"an end after a half-close", []Step{fault.HalfClose{}, End{}}, "step 2 (end): sends"},
		{"a keepalive after a half-close", []Step{fault.HalfClose{}, Keepalive{Form: RoleForm, Every: 1}}, "step 2 (keepalive): sends"},
		{"waits and a reset after a half-close", []Step{fault.HalfClose{}, Pause{}, Await{Gate: "g"}, fault.Stall{For: 1}, fault.Reset{}}, ""},
		{"headers after text", []Step{text, Headers{}}, "step 2 (headers): opens the answer"},
		{"headers twice", []Step{Headers{}, Headers{}}, "step 2 (headers): opens the answer"},
		{"a status after headers", []Step{Headers{}, fault.Status{Code: 500}}, "step 2 (status): opens the answer"},
		{"a status after a pause", []Step{Pause{For: 1}, fault.Status{Code: 500}}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := Script{Answer("first"), {Steps: test.steps}}.Validate()
			if test.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.want)
			}
		})
	}
	require.ErrorContains(t, Script{{Times: -2, Steps: []Step{text}}}.Validate(), "program 1: times -2: want -1 (any number) or more")
	require.NoError(t, Script{{Times: Any, Steps: []Step{text}}}.Validate())
	require.NoError(t, Script(nil).Validate())
}
