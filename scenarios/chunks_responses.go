package scenarios

import (
	"fmt"
	"strings"
)

// Events of a Responses stream written by hand, without their numbers.

// responseOf is the member that holds the response as it stands.
func responseOf(status, members string) string {
	return `"response":{"id":"resp_1","object":"response","created_at":1760000000,"model":"stallwright","status":` + quoted(status) + `,` + members + `}`
}

// created begins an answer.
func created() string {
	r := responseOf("in_progress", `"background":false,"error":null,"incomplete_details":null,"output":[],"usage":null`)
	return named("response.created", r) + named("response.in_progress", r)
}

// itemAdded is the event that begins an output item, itemDone the one that ends it.
func itemAdded(index int, item string) string {
	return named("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, index, item))
}

func itemDone(index int, item string) string {
	return named("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, index, item))
}

// messageOf is a message item with these parts.
func messageOf(status, parts string) string {
	return `{"id":"msg_1","type":"message","status":` + quoted(status) + `,"role":"assistant","content":[` + parts + `]}`
}

// outputText is a part of a message with text.
func outputText(text string) string {
	return `{"type":"output_text","text":` + quoted(text) + `,"annotations":[],"logprobs":[]}`
}

// partEvent is an event about the first part of the message at an index.
func partEvent(event string, index int, members string) string {
	return named(event, fmt.Sprintf(`"item_id":"msg_1","output_index":%d,"content_index":0,%s`, index, members))
}

// outputDelta is an event with text of the message at an index.
func outputDelta(index int, text string) string {
	return partEvent("response.output_text.delta", index, `"delta":`+quoted(text)+`,"logprobs":[]`)
}

// messageOpened and messageClosed are what stands before and behind the deltas of a message.
func messageOpened(index int) string {
	return itemAdded(index, messageOf("in_progress", "")) + partEvent("response.content_part.added", index, `"part":`+outputText(""))
}

func messageClosed(index int, text string) string {
	return partEvent("response.output_text.done", index, `"text":`+quoted(text)+`,"logprobs":[]`) +
		partEvent("response.content_part.done", index, `"part":`+outputText(text)) +
		itemDone(index, messageOf("completed", outputText(text)))
}

// messageSaid is a message as a whole.
func messageSaid(index int, pieces ...string) string {
	s := messageOpened(index)
	for _, p := range pieces {
		s += outputDelta(index, p)
	}
	return s + messageClosed(index, strings.Join(pieces, ""))
}

// completed ends an answer with this output.
func completed(output string) string {
	return named("response.completed", responseOf("completed", `"error":null,"incomplete_details":null,"output":[`+output+`],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}`))
}

// numbered gives the events of an answer their numbers, from 0.
func numbered(pieces []string) []string {
	n := 0
	var all []string
	for _, p := range pieces {
		var b strings.Builder
		for i, event := range strings.Split(p, "\ndata: {") {
			if i > 0 {
				fmt.Fprintf(&b, "\ndata: {\"sequence_number\":%d,", n)
				n++
			}
			b.WriteString(event)
		}
		all = append(all, b.String())
	}
	return all
}
