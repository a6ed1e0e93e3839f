package server

import (
	"net/http"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/run"
)

// maxAnswer bounds, in bytes, the text a run that does not stream may gather: far more than any model's longest answer.
const maxAnswer = 16 << 20

// whole answers with one JSON object. Such a run has no item clocks, only the stream clock.
func (x *exchange) whole(q *chatRequest) {
	x.start(q.conversation())
	text, finished := x.gather()
	ending := x.run.Ending()
	if ending.How == run.TimedOut {
		x.returnTools()
		x.server.boundWrite(x.conn) // as for a stream
	}
	switch ending.How {
	case run.Disconnected:
	case run.Completed:
		writeJSON(x.w, http.StatusOK, x.completion(text, finished))
	default:
		problemOf(ending).write(x.w)
	}
}

// gather reads the run's events until its ending.
func (x *exchange) gather() (string, run.Finished) {
	var text strings.Builder
	var finished run.Finished
	for {
		select {
		case e := <-x.run.Events():
			switch e := e.(type) {
			case run.Text:
				text.WriteString(e.Content)
				x.boundAnswer(text.Len())
			case run.Finished:
				finished = e
				x.span.Usage(e.Usage.Prompt, e.Usage.Completion)
				x.run.End(run.Ending{How: run.Completed})
			}
		case <-x.run.Context().Done():
			return text.String(), finished
		}
	}
}

func (x *exchange) boundAnswer(length int) {
	if length > maxAnswer {
		x.run.End(run.Ending{How: run.Failed, Code: run.ProviderError, Message: "the model's answer is too long to be sent as a whole"})
	}
}

type completion struct {
	ID       string            `json:"id"`
	Object   string            `json:"object"`
	Created  int64             `json:"created"`
	Model    string            `json:"model"`
	Choices  []whole           `json:"choices"`
	Usage    *usage            `json:"usage,omitempty"`
	Metadata map[string]string `json:"metadata"`
}

type whole struct {
	Index        int    `json:"index"`
	Message      delta  `json:"message"`
	FinishReason string `json:"finish_reason"`
}

func (x *exchange) completion(text string, f run.Finished) completion {
	return completion{
		ID:       newID("chatcmpl-"),
		Object:   "chat.completion",
		Created:  x.run.Started().Unix(),
		Model:    x.server.modelName(),
		Choices:  []whole{{Message: delta{Role: "assistant", Content: &text}, FinishReason: finishReason(f)}},
		Usage:    usageOf(f),
		Metadata: map[string]string{"chat_session_id": x.session},
	}
}
