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
			err := Script{Answer("first"), {When: test.when, Steps: []Step{Role{}, Repeat{Times: 2, Steps: []Step{Role{}, test.step}}}}}.Validate()
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
