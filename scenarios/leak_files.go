package scenarios

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// leakFiles: however runs end, the server holds no more files afterwards than before.
func leakFiles() harness.Scenario {
	return harness.Scenario{
		ID:       "leak/files",
		Claim:    "after many runs with every ending the server holds no more files than after its first request",
		Needs:    []harness.Feature{harness.Streaming, harness.NonStreaming, harness.Files},
		Alone:    true,
		Variants: leakVariants(),
		Reached:  []expect.Event{of(clientFinish, "first"), of(clientFinish, "last")},
		Checks: []harness.Check{
			{Name: "back-at-the-baseline", Guarantee: "leak.files", Noun: "files-held", Expect: shows(expect.Returns{What: files})},
		},
	}
}
