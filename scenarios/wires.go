package scenarios

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/fakes/dialects"
	"github.com/stallwright/stallwright/harness"
)

// What not every wire can show, each as the dialects whose wire can.

// chat is Chat Completions alone, with its flavours: for what is written in its own bytes.
func chat() []string { return append([]string{harness.OpenAI}, dialects.Flavours()...) }

// inPieces are those that send the arguments of a tool call piece by piece; others send a call as a whole.
func inPieces() []string {
	pieces := slices.DeleteFunc(chat(), func(d string) bool { return d == "mistral" })
	return append(pieces, "responses", "anthropic", "bedrock")
}

// inEvents are those whose streams are server-sent events, which have comments.
func inEvents() []string { return append(chat(), "responses", "anthropic", "gemini") }

// opening are those whose answer begins with a frame that says nothing yet.
func opening() []string { return append(chat(), "responses", "anthropic", "bedrock") }

// finishing are those that say why the model stopped before they end the answer; with others that is one frame.
func finishing() []string { return append(chat(), "anthropic", "gemini", "bedrock") }

// usageLast are those that can report usage a while after the model has stopped.
func usageLast() []string { return append(chat(), "anthropic", "bedrock") }

// pinging are those with a keepalive frame of their own.
func pinging() []string { return []string{"responses", "anthropic"} }

// terminated are those with a frame that ends the answer; the others' just ends.
func terminated() []string { return append(chat(), "responses", "anthropic", "ollama") }

// speaking are a dialect and its flavours: for what is written in its own bytes.
func speaking(dialect string) []string {
	if dialect == harness.OpenAI {
		return chat()
	}
	return []string{dialect}
}

// frame is one frame of an answer, before its dialect's framing.
type frame struct{ event, data string }

// wire is one good answer as a dialect's provider sends it, frame by frame, written by hand: for forms that the fake's
// own dialect would never have.
type wire struct {
	dialect string
	frames  []frame
	first   int  // of the frame with the first text, from 1
	events  bool // they are server-sent events; else lines of JSON
}

// told is the text of every wire, in four pieces of which the first is "one "; it has characters of two, three and
// four bytes.
const told = "one deux… 三 🧵 four"

// wires lists one of each dialect that is text, saying these pieces one after another.
func wires(pieces ...string) []wire {
	chat := wire{dialect: "openai", first: 2, events: true, frames: []frame{{data: deltaOf(`{"role":"assistant","content":""}`)}}}
	for _, p := range pieces {
		chat.frames = append(chat.frames, frame{data: contentOf(p)})
	}
	chat.frames = append(chat.frames, frame{data: finishOf("stop")}, frame{data: "[DONE]"})

	responses := wire{dialect: "responses", first: 5, events: true, frames: []frame{
		typed("response.created", `"sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"stallwright","output":[]}`),
		typed("response.in_progress", `"sequence_number":1,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"stallwright","output":[]}`),
		typed("response.output_item.added", `"sequence_number":2,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}`),
		typed("response.content_part.added", `"sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`),
	}}
	for _, p := range pieces {
		responses.frames = append(responses.frames, typed("response.output_text.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"logprobs":[],"delta":`+quoted(p)))
	}
	all := quoted(strings.Join(pieces, ""))
	whole := `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":` + all + `,"annotations":[]}]}`
	responses.frames = append(responses.frames,
		typed("response.output_text.done", `"item_id":"msg_1","output_index":0,"content_index":0,"text":`+all),
		typed("response.output_item.done", `"output_index":0,"item":`+whole),
		typed("response.completed", `"response":{"id":"resp_1","object":"response","status":"completed","model":"stallwright","output":[`+whole+`],"usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13}}`))

	anthropic := wire{dialect: "anthropic", first: 3, events: true, frames: []frame{
		typed("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"stallwright","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}`),
		typed("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`),
	}}
	for _, p := range pieces {
		anthropic.frames = append(anthropic.frames, typed("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":`+quoted(p)+`}`))
	}
	anthropic.frames = append(anthropic.frames, typed("content_block_stop", `"index":0`),
		typed("message_delta", `"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}`),
		typed("message_stop", ""))

	gemini := wire{dialect: "gemini", first: 1, events: true}
	for i, p := range pieces {
		finish := ""
		if i == len(pieces)-1 {
			finish = `,"finishReason":"STOP"`
		}
		gemini.frames = append(gemini.frames, frame{data: `{"candidates":[{"content":{"parts":[{"text":` + quoted(p) + `}],"role":"model"}` + finish + `,"index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13},"modelVersion":"stallwright","responseId":"r1"}`})
	}

	ollama := wire{dialect: "ollama", first: 1}
	for _, p := range pieces {
		ollama.frames = append(ollama.frames, frame{data: `{"model":"stallwright","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":` + quoted(p) + `},"done":false}`})
	}
	ollama.frames = append(ollama.frames, frame{data: `{"model":"stallwright","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":4}`})
	return []wire{chat, responses, anthropic, gemini, ollama}
}

// typed is a frame whose data has the event's name as its type.
func typed(event, members string) frame {
	if members != "" {
		members = "," + members
	}
	return frame{event, `{"type":"` + event + `"` + members + `}`}
}

// quoted is a text in JSON.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a string cannot fail
	return string(b)
}

// wireOf is the one of a dialect that says what is told. There must be one.
func wireOf(dialect string) wire { return wireSaying(dialect, "one ", "deux… ", "三 🧵 ", "four") }

// wireSaying is the one of a dialect that says these pieces.
func wireSaying(dialect string, pieces ...string) wire {
	all := wires(pieces...)
	return all[slices.IndexFunc(all, func(w wire) bool { return w.dialect == dialects.Base(dialect) })]
}

// onWires are the dialects that have one.
func onWires() []string {
	names := dialects.Flavours()
	for _, w := range wires() {
		names = append(names, w.dialect)
	}
	return names
}

// plainly is a frame in its dialect's usual framing, with these ends of lines.
func (w wire) plainly(f frame, end string) string {
	switch {
	case !w.events:
		return f.data + end
	case f.event == "":
		return "data: " + f.data + end + end
	default:
		return "event: " + f.event + end + "data: " + f.data + end + end
	}
}

// whole is the answer in its usual framing.
func (w wire) whole(end string) string {
	var all string
	for _, f := range w.frames {
		all += w.plainly(f, end)
	}
	return all
}
