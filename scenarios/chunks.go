package scenarios

import (
	"fmt"
	"strings"
)

// Chunks of a Chat Completions stream written by hand, for what the fake's own dialect would never send.

// chunkOf is the JSON of a chunk with these members behind the usual ones.
func chunkOf(members string) string {
	return `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"stallwright",` + members + `}`
}

// deltaOf is the JSON of a chunk with this delta of the first choice.
func deltaOf(delta string) string {
	return chunkOf(fmt.Sprintf(`"choices":[{"index":0,"delta":%s,"finish_reason":null}]`, delta))
}

// contentOf is the JSON of a chunk with text.
func contentOf(text string) string {
	return deltaOf(fmt.Sprintf(`{"content":%s}`, quoted(text)))
}

// finishOf is the JSON of the chunk that ends an answer.
func finishOf(reason string) string {
	return chunkOf(fmt.Sprintf(`"choices":[{"index":0,"delta":{},"finish_reason":%q}]`, reason))
}

// events puts each piece of data in a server-sent event, in the plainest form.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

// named is a server-sent event whose data has its name as its type, in the plainest form.
func named(event, members string) string {
	return wire{events: true}.plainly(typed(event, members), "\n")
}
