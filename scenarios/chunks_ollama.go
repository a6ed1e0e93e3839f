package scenarios

// Lines of a chat of Ollama written by hand.

const (
	lineHead  = `"model":"stallwright","created_at":"2026-01-01T00:00:00Z"`
	lastCount = `"total_duration":7577982042,"load_duration":58847000,"prompt_eval_count":9,"prompt_eval_duration":707514083,"eval_count":2,"eval_duration":6286536118`
)

// lineOf is a line with these members.
func lineOf(members string) string { return `{` + lineHead + `,` + members + "}\n" }

// saysOf is a line whose message has these members behind its role.
func saysOf(members string) string {
	return lineOf(`"message":{"role":"assistant",` + members + `},"done":false`)
}

// lineText is a line with text.
func lineText(text string) string { return saysOf(`"content":` + quoted(text)) }

// lineDone is the last line of an answer.
func lineDone() string {
	return lineOf(`"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",` + lastCount)
}
