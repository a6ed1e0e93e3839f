package scenarios

import (
	"fmt"
	"strings"
)

// Events of a Messages stream written by hand.

const (
	pinged     = "event: ping\ndata: {\"type\": \"ping\"}\n\n"
	fewTokens  = `{"input_tokens":9,"output_tokens":1}` // what message_start counts
	textOpened = `{"type":"text","text":""}`            // how a block of text begins
)

// messageStart is the event that begins an answer, with these counts.
func messageStart(usage string) string {
	return named("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"stallwright","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":`+usage+`}`)
}

// blockStart is the event that begins the block at an index.
func blockStart(index int, block string) string {
	return named("content_block_start", fmt.Sprintf(`"index":%d,"content_block":%s`, index, block))
}

// blockDelta is the event that goes on with it.
func blockDelta(index int, delta string) string {
	return named("content_block_delta", fmt.Sprintf(`"index":%d,"delta":%s`, index, delta))
}

// textDelta is one with text.
func textDelta(index int, text string) string {
	return blockDelta(index, `{"type":"text_delta","text":`+quoted(text)+`}`)
}

// inputDelta is one with a fragment of a tool call's input.
func inputDelta(index int, fragment string) string {
	return blockDelta(index, `{"type":"input_json_delta","partial_json":`+quoted(fragment)+`}`)
}

// blockStop is the event that ends it.
func blockStop(index int) string {
	return named("content_block_stop", fmt.Sprintf(`"index":%d`, index))
}

// blockOf is a block as a whole.
func blockOf(index int, start string, deltas ...string) string {
	return blockStart(index, start) + strings.Join(deltas, "") + blockStop(index)
}

// messageDelta is the event that says why the model stopped, with these counts.
func messageDelta(reason, usage string) string {
	return named("message_delta", `"delta":{"stop_reason":`+quoted(reason)+`,"stop_sequence":null,"stop_details":null},"usage":`+usage)
}

// messageStop ends an answer.
func messageStop() string { return named("message_stop", "") }

// stopped ends an answer for a reason.
func stopped(reason string) string {
	return messageDelta(reason, `{"output_tokens":2}`) + messageStop()
}
