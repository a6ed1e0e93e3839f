package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
)

// errorsOfOllama are those inside a stream of lines: a text, with nothing around it.
func errorsOfOllama() []harness.Variant {
	const failure = `{"error":"an error was encountered while running the model: unexpected EOF"}` + "\n"
	thinking := failing("error-line-in-thinking", providerRaw, true,
		script.Think{Chunks: []string{"well, "}}, script.Raw{Bytes: failure}, script.Raw{Bytes: lineText("one") + lineDone()}, script.End{})
	thinking.Dialects = []string{"ollama"}
	return []harness.Variant{
		failingText("ollama", "error-line", true, failure, lineDone()),
		failingAtOnce("ollama", "error-line-at-once", true, failure),
		thinking,
		failingText("ollama", "error-line-whole", false, failure, lineDone()),
		failingAtOnce("ollama", "error-line-at-once-whole", false, failure),
	}
}
