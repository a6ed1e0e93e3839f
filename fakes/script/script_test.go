package script

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
)

func TestKindsAreDistinctWords(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Steps() {
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
		{"an unknown form of keepalive", []Step{Keepalive{Form: "x", Every: 1}}, `form "x": want comment, ping, empty, empty-data, role`},
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
		{"steps after the end", []Step{End{}, text}, "comes after end, which ends the exchange"},
		{"steps after a cut", []Step{fault.Cut{}, text}, "comes after cut, which ends"},
		{"steps after a reset", []Step{fault.Reset{}, text}, "comes after reset, which ends"},
		{"steps after a status", []Step{fault.Status{Code: 500}, End{}}, "comes after status, which ends"},
		{"steps after a stall for ever", []Step{fault.Stall{}, text}, "comes after stall, which ends"},
		{"steps after a stall", []Step{fault.Stall{For: 1}, text}, ""},
		{"steps after a repeat without end", []Step{Repeat{Steps: []Step{text, Pause{For: 1}}}, text}, "comes after repeat, which ends"},
		{"a repeat without end that takes no time", []Step{Repeat{Steps: []Step{text}}}, "takes no time"},
		{"a repeat of nothing", []Step{Repeat{Times: 2}}, "no steps"},
		{"a repeat of an end", []Step{Repeat{Times: 2, Steps: []Step{text, End{}}}}, "repeats end, which ends the exchange"},
		{"a repeat that opens the answer twice", []Step{Repeat{Times: 2, Steps: []Step{Headers{}}}}, "opens the answer"},
		{"what is wrong inside a repeat", []Step{Repeat{Times: 1, Steps: []Step{Role{}, Text{}}}}, "step 1 (repeat): step 2 (text): no chunks"},
		{"a flood of nothing", []Step{Flood{Frames: 1}}, "1 frames of 0 bytes"},
		{"a tool chunk without parts", []Step{ToolChunk{}}, "no parts"},
		{"an index that is no number", []Step{ToolChunk{Parts: []ToolPart{{Index: Is("x")}}}}, `index "x"`},
		{"an index that is null", []Step{ToolChunk{Parts: []ToolPart{{Index: Null()}}}}, ""},
		{"tokens below 0", []Step{Usage{Prompt: -1}}, "tokens below 0"},
		{"an unknown form of error", []Step{Error{Form: "x"}}, `form "x": want data, choices, flat`},
		{"a barrier for one", []Step{Meet{Barrier: "a", Streams: 1}}, "streams 1"},
		{"a gate to open without a name", []Step{Open{}}, "gate has no name"},
		{"a batch of one", []Step{fault.Batch{Frames: 1}}, "frames 1"},
		{"an unknown line end", []Step{fault.Lines{End: "x"}}, `end "x": want lf, crlf, cr`},
		{"an unknown garble", []Step{fault.Garble{How: "x"}}, `how "x": want brace`},
		{"an unknown error code", []Step{fault.StreamReset{Code: "x"}}, `code "x": want NO_ERROR`},
		{"a stream below none", []Step{fault.GoAway{Last: -2}}, "last -2"},
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
