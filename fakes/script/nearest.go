package script

import (
	"slices"
	"strings"
)

// meant is a hint at the known word that was perhaps meant, or "".
func meant(word string, known []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, k := range known {
		// Longer words are nobody's slip, and comparing them takes time.
		if len(word) > 40 {
			return ""
		}
		if d := Slips(strings.ToLower(word), strings.ToLower(k)); d < least && d < len(k) {
			best, least = k, d
		}
	}
	for _, k := range known {
		if best == "" && len(word) > 2 && (strings.HasPrefix(k, word) || strings.HasPrefix(word, k+" ")) {
			best = k
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

// stepMeant is a hint at the step that was perhaps meant, or at all that there are.
func (l language) stepMeant(word string) string {
	plain := strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(word))
	if kind := synonyms()[plain]; kind != "" && slices.Contains(l.kinds, kind) {
		return "did you mean " + kind + "?"
	}
	if hint := meant(word, l.kinds); hint != "" {
		return hint
	}
	if !l.ordered {
		return "the steps are " + strings.Join(l.kinds, ", ")
	}
	return someSteps
}

// someSteps is a hint for who has no idea: a message has no room for all.
const someSteps = "there are text, think, tool, finish and done for the answer, comment and keepalive for signs of life, pause, await and repeat for time, " +
	"stall, cut, reset, status and garble for faults, and more: see `stallwright script schema`"

// synonyms are words for steps that people bring along from elsewhere.
func synonyms() map[string]string {
	return map[string]string{
		"sleep": "pause", "delay": "pause", "wait": "pause",
		"close": "end", "eof": "end",
		"reasoning": "think", "thinking": "think", "thought": "think",
		"tool-call": "tool", "tool-calls": "tool", "tool-use": "tool", "function": "tool", "function-call": "tool", "call": "tool",
		"chunk": "text", "chunks": "text", "content": "text", "delta": "text", "token": "text", "tokens": "text", "output": "text",
		"sse": "text", "event": "text", "data": "text",
		"bytes": "raw", "hang": "stall", "silence": "stall", "block": "stall", "freeze": "stall",
		"disconnect": "cut", "drop": "cut", "abort": "cut", "truncate": "cut", "fin": "cut", "rst": "reset", "rst-stream": "stream-reset", "goaway": "go-away",
		"slow": "drip", "trickle": "drip", "throttle": "drip", "corrupt": "garble", "malformed": "garble", "loop": "repeat",
		"heartbeat": "keepalive", "keep-alive": "keepalive", "stop": "finish", "finish-reason": "finish", "http": "status", "barrier": "meet", "gate": "await",
	}
}

// Slips counts the bytes to insert, delete, change, or swap with their neighbour to make b of a: how far a mistyped word
// is from a known one. It takes time of the product of their lengths.
func Slips(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
