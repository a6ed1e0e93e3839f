package agent

import (
	"errors"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

// maxMessage bounds, in bytes, what a client is told of a provider's own words: enough for a sentence, too little for a page of HTML.
const maxMessage = 500

// Ending is how a run ends for an error of [Agent.Answer]. What was the run's own ending stays it.
// Without one it is complete.
func Ending(err error) run.Ending {
	if err == nil {
		return run.Ending{How: run.Completed}
	}
	var ended run.Ending
	if errors.As(err, &ended) {
		return ended
	}
	var provider *llm.Error
	if errors.As(err, &provider) {
		return run.Ending{How: run.Failed, Code: code(provider.Code), Message: clip(provider.Message)}
	}
	if errors.Is(err, ErrMaxTurns) {
		return run.Ending{How: run.Failed, Code: run.MaxTurns, Message: "the model did not finish within its turns"}
	}
	return run.Ending{How: run.Failed, Code: run.InternalError, Message: "internal error"}
}

func code(c llm.Code) run.Code {
	if c == llm.ProviderTruncated {
		return run.ProviderTruncated
	}
	return run.ProviderError
}

func clip(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}
