package script

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
)

func TestMeaningless(t *testing.T) {
	whole, stream := new(bool), new(bool)
	*stream = true
	ping, blank := Keepalive{Form: PingForm, Every: time.Second}, Keepalive{Form: BlankForm, Every: time.Second}
	tests := []struct {
		name string
		step Step
		when When
		why  string
	}{
		{"anything may be asked for", fault.Garble{How: "crc"}, When{}, ""},
		{"a dialect that nobody knows", fault.Garble{How: "crc"}, When{Dialect: "other"}, ""},
		{"a checksum in events", fault.Garble{How: "crc"}, When{Dialect: "responses"}, "responses has no checksums"},
		{"a checksum in lines", fault.Garble{How: "prelude-crc"}, When{Dialect: "ollama"}, "ollama has no checksums"},
		{"a checksum in messages", fault.Garble{How: "crc"}, When{Dialect: "bedrock"}, ""},
		{"a checksum in one piece", fault.Garble{How: "crc"}, When{Dialect: "bedrock", Stream: whole}, "an answer in one piece is no event"},
		{"an event name where there are some", fault.Garble{How: "no-event"}, When{Dialect: "anthropic"}, ""},
		{"an event name where there are none", fault.Garble{How: "no-event"}, When{Dialect: "openai"}, "openai has no event names"},
		{"an event in messages", fault.Garble{How: "no-blank"}, When{Dialect: "bedrock"}, "no server-sent events"},
		{"text in messages", fault.Garble{How: "utf-8"}, When{Dialect: "bedrock", Stream: stream}, "use crc"},
		{"text, perhaps in one piece", fault.Garble{How: "utf-8"}, When{Dialect: "bedrock"}, ""},
		{"a brace anywhere", fault.Garble{}, When{Dialect: "bedrock", Stream: whole}, ""},
		{"the ends of lines of JSON", fault.Lines{End: "crlf"}, When{Dialect: "ollama"}, ""},
		{"a mark before lines of JSON", fault.Lines{BOM: true}, When{Dialect: "ollama"}, "nothing but their ends"},
		{"lines in messages", fault.Lines{End: "crlf"}, When{Dialect: "bedrock"}, "no lines"},
		{"lines in one piece", fault.Lines{End: "crlf"}, When{Stream: whole}, "no lines"},
		{"a batch of a stream", fault.Batch{Frames: 2}, When{Stream: stream}, ""},
		{"a batch in one piece", fault.Batch{Frames: 2}, When{Stream: whole}, "one frame"},
		{"a comment among lines of JSON", Comment{Text: "x"}, When{Dialect: "ollama"}, "no comments"},
		{"an event name in a flavour of Chat Completions", fault.Garble{How: "no-event"}, When{Dialect: "vllm"}, "vllm has no event names"},
		{"a checksum in a flavour of Chat Completions", fault.Garble{How: "crc"}, When{Dialect: "deepseek"}, "no checksums"},
		{"a ping of a flavour that has one", Ping{}, When{Dialect: "deepseek"}, ""},
		{"a ping of a flavour that has none", Ping{}, When{Dialect: "groq"}, "no keepalive of its own"},
		{"a ping where there is none", Ping{}, When{Dialect: "gemini"}, "no keepalive of its own"},
		{"a ping every so often where there is none", ping, When{Dialect: "bedrock"}, "no keepalive of its own"},
		{"a ping in one piece, which some dialects have", ping, When{Dialect: "openai", Stream: whole}, ""},
		{"blank lines in one piece", blank, When{Dialect: "bedrock", Stream: whole}, ""},
		{"blank lines between messages", blank, When{Dialect: "bedrock", Stream: stream}, "no lines"},
		{"blank lines, perhaps in one piece", blank, When{Dialect: "bedrock"}, ""},
		{"a comment every so often in one piece", Keepalive{Form: CommentForm, Every: 1}, When{Stream: whole}, "use blank"},
		{"a comment every so often among lines", Keepalive{Form: CommentForm, Every: 1}, When{Dialect: "ollama"}, "no server-sent events"},
		{"the opening again where there is none", Keepalive{Form: RoleForm, Every: 1}, When{Dialect: "gemini"}, "no opening frame"},
		{"the end of keepalives", Keepalive{}, When{Dialect: "gemini", Stream: whole}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			why := Meaningless(test.step, test.when)
			err := Script{Answer("first"), {When: test.when, Steps: []Step{Role{}, Repeat{Times: 2, Steps: []Step{Role{}, test.step, Role{}}}}}}.Validate()
			if test.why == "" {
				require.Empty(t, why)
				require.NoError(t, err)
				return
			}
			require.Contains(t, why, test.why)
			require.ErrorContains(t, err, "program 2, step 2 (repeat): step 2 ("+test.step.Kind()+"): does nothing for these requests: "+why)
		})
	}
}

func TestAGarbleHasAFrameBehindIt(t *testing.T) {
	whole := new(bool)
	garble, text := fault.Garble{}, Text{Chunks: []string{"a"}}
	for _, test := range []struct {
		name  string
		steps []Step
		when  When
		fails string
	}{
		{"at once", []Step{garble, text}, When{}, ""},
		{"behind a pause and a keepalive", []Step{garble, Pause{For: 1}, Keepalive{Form: CommentForm, Every: 1}, text}, When{}, ""},
		{"in the body, which comes at the end", []Step{text, garble, End{}}, When{Stream: whole}, ""},
		{"in the round that follows, and behind the last", []Step{Repeat{Times: 3, Steps: []Step{text, garble}}, text}, When{}, ""},
		{"in a round without end", []Step{Repeat{Steps: []Step{text, Pause{For: 1}, garble}}}, When{}, ""},
		{"never, since only the end comes", []Step{text, garble, End{}}, When{}, "step 2 (garble): breaks nothing"},
		{"never, since a cut comes", []Step{text, garble, fault.Cut{}}, When{}, "step 2 (garble): breaks nothing"},
		{"never in a last round", []Step{Repeat{Times: 2, Steps: []Step{text, Repeat{Times: 1, Steps: []Step{garble}}}}}, When{}, "step 1 (repeat): step 2 (repeat): step 1 (garble): breaks nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := Script{{When: test.when, Steps: test.steps}}.Validate()
			if test.fails == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.fails)
		})
	}
}

func TestAProgramThatIsNeverReached(t *testing.T) {
	stream, whole := new(bool), new(bool)
	*stream = true
	for _, test := range []struct {
		name        string
		first, then When
		hidden      bool
	}{
		{"behind one for all", When{}, When{Ordinal: 1}, true},
		{"behind one for the same", When{Model: "m", Attempt: 2}, When{Model: "m", Attempt: 2}, true},
		{"behind one for more", When{Path: "/responses", Contains: "a"}, When{Path: "/v1/responses", Contains: "bab", Dialect: "openai"}, true},
		{"behind a header that says less", When{Header: map[string]string{"x-a": "b"}}, When{Header: map[string]string{"X-A": "abc"}}, true},
		{"behind one for a model", When{Model: "m"}, When{}, false},
		{"behind one for another dialect", When{Dialect: "openai"}, When{Dialect: "gemini"}, false},
		{"behind one for answers in one piece", When{Stream: whole}, When{Stream: stream}, false},
		{"behind one for streams, for either", When{Stream: stream}, When{}, false},
		{"behind another header", When{Header: map[string]string{"X-A": "b"}}, When{Header: map[string]string{"X-B": "b"}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			first, then := Program{When: test.first, Times: Any, Steps: []Step{Done{}}}, Program{When: test.then, Steps: []Step{Done{}}}
			err := Script{Answer("x"), first, then}.Validate()
			if test.hidden {
				require.ErrorContains(t, err, "program 3: never reached: program 2")
			} else {
				require.NoError(t, err)
			}
			first.Times = 2
			require.NoError(t, Script{first, then}.Validate())
		})
	}
}

func TestSynonymsAreOfSteps(t *testing.T) {
	for word, kind := range synonyms() {
		require.Contains(t, kinds(), kind, word)
		require.NotContains(t, kinds(), word)
	}
}
