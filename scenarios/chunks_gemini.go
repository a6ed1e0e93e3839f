package scenarios

// Chunks of a generateContent stream written by hand.

const someCounts = `"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11}`

// generated is a chunk with these members before the usual ones.
func generated(members string) string {
	return events(`{` + members + `,"modelVersion":"stallwright","responseId":"r1"}`)
}

// candidate is a chunk of which the first candidate has these members.
func candidate(members string) string {
	return generated(`"candidates":[{` + members + `,"index":0}],` + someCounts)
}

// partsOf is a chunk with these parts.
func partsOf(parts string) string {
	return candidate(`"content":{"parts":[` + parts + `],"role":"model"}`)
}

// textPart is a part with text.
func textPart(text string) string { return `{"text":` + quoted(text) + `}` }

// lastParts is a chunk with these parts and the reason why the model stopped.
func lastParts(parts, reason string) string {
	return candidate(`"content":{"parts":[` + parts + `],"role":"model"},"finishReason":` + quoted(reason))
}
