package casefile

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
)

type node = map[string]any

// Schema is the JSON Schema of case files (draft 2020-12), for editors. It knows words, keys and types; what an event
// or a length of time may say only [Parse] knows.
func Schema() []byte {
	var scripts struct {
		Defs node `json:"$defs"`
	}
	if err := json.Unmarshal(script.Schema(), &scripts); err != nil {
		panic(err) // it is ours
	}
	defs := scripts.Defs
	defs["duration"] = node{"anyOf": []any{node{"type": "string", "minLength": 1}, node{"const": 0}},
		"description": "a duration such as 200ms, or a length such as inactivity/2, 3 heartbeat or first-chunk - tick. The words: " + lengthText()}
	defs["event"] = node{"type": "string", "minLength": 1, "description": EventForm + ". The kinds by their lanes: " + eventText()}
	defs["events"] = node{"anyOf": []any{ref("event"), node{"type": "array", "items": ref("event")}}}
	defs["switch"] = node{"enum": []any{"on", "off", true, false}}
	defs["act"] = actSchema()
	defs["expectation"] = expectationSchema()
	var features []any
	for _, f := range harness.Features() {
		features = append(features, f)
	}
	var spoken []any
	for _, d := range dialectWords() {
		spoken = append(spoken, d)
	}
	file := object(node{
		"case":     described(node{"type": "string", "pattern": caseID.String()}, "AREA/NAME, the ID of the case"),
		"about":    described(node{"type": "string", "minLength": 1}, "what must be so, in a sentence"),
		"source":   described(node{"type": "string", "format": "uri"}, "where the fault was reported"),
		"covers":   described(node{"anyOf": []any{node{"type": "string"}, node{"type": "array", "items": node{"type": "string"}}}}, "the guarantees that the case is evidence for; expectations are for the first unless they say shows"),
		"needs":    described(node{"anyOf": []any{node{"enum": features}, node{"type": "array", "items": node{"enum": features}}}}, "what the server must offer besides what the steps need"),
		"dialects": described(node{"anyOf": []any{node{"enum": spoken}, node{"type": "array", "items": node{"enum": spoken}, "minItems": 1}}}, "the only dialects of the provider that the case is about; every one when left out"),
		"set": described(object(node{
			"inactivity": ref("switch"), "first-chunk": ref("switch"), "stream": ref("switch"), "heartbeat": ref("switch"), "shutdown": ref("switch"),
		}), "the clocks that are not as usual: usually all are on but inactivity"),
		"provider": described(node{"anyOf": []any{ref("steps"), node{"type": "array", "items": ref("program"), "minItems": 1}}}, "what the provider answers: steps, for one request, or programs"),
		"client":   described(node{"type": "array", "items": ref("act"), "minItems": 1}, "what the client does, in this order"),
		"reached":  described(ref("events"), "events without which the case proves nothing"),
		"expect":   described(node{"type": "array", "items": ref("expectation"), "minItems": 1}, "what the timeline must show"),
	}, "case", "about", "client", "expect")
	file["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	file["title"] = "stallwright case"
	file["description"] = "A case: what a fake provider answers, what a client does, and what the timeline must then show."
	file["$defs"] = defs
	b, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		panic(err) // strings, numbers, maps and lists
	}
	return append(b, '\n')
}

// lengthText says what each word of a length is, and is worth.
func lengthText() string {
	var parts []string
	for _, l := range Lengths() {
		parts = append(parts, fmt.Sprintf("%s (%s in virtual time, %s in real time): %s", l.Word, l.Virtual, l.Real, l.About))
	}
	return strings.Join(parts, " ")
}

// eventText says what each kind of event is. The steps of a script are told of in the scripts' own part of the schema.
func eventText() string {
	var parts []string
	for _, lane := range Lanes() {
		var kinds []string
		for _, k := range lane.Events {
			kinds = append(kinds, k.Word)
		}
		parts = append(parts, fmt.Sprintf("%s: %s. %s", lane.Word, strings.Join(kinds, ", "), lane.About))
	}
	return strings.Join(parts, " ")
}

func ref(name string) node { return node{"$ref": "#/$defs/" + name} }

func described(n node, about string) node {
	n["description"] = about
	return n
}

func object(properties node, required ...string) node {
	o := node{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		o["required"] = required
	}
	return o
}

func actSchema() node {
	text := func() node { return node{"type": "string"} }
	request := func() node { return node{"type": []any{"string", "integer"}, "description": "the last when left out"} }
	how := func() node { return node{"enum": []any{"close", "reset"}} }
	about := func() node {
		return node{"anyOf": []any{node{"type": "null"}, request(), object(node{"request": request()})}}
	}
	o := object(node{
		"ask": described(node{"anyOf": []any{text(), object(node{
			"name":   described(text(), "what it is called; its number when left out"),
			"prompt": text(),
			"pad":    described(node{"type": "integer", "minimum": 0, "maximum": mostPad}, "so many bytes are added to the prompt"),
			"stream": described(node{"type": "boolean"}, "true when left out"),
			"hold":   described(node{"type": "boolean"}, "the answer stays unread until read"),
			"method": node{"enum": []any{"GET", "POST"}}, "path": text(),
			"body": described(text(), "sent as it is, in place of the prompt"),
		})}}, "sends a request"),
		"await":     described(ref("event"), "waits for an event"),
		"await-end": described(about(), "waits for the end of a request"),
		"leave":     described(node{"anyOf": []any{node{"type": "null"}, how(), object(node{"request": request(), "how": how()})}}, "leaves a request before its end; by close when nothing is said"),
		"read":      described(about(), "reads an answer that was held"),
		"pass":      described(ref("duration"), "lets time go by"),
		"signal":    described(node{"enum": []any{"SIGTERM", "SIGINT"}}, "sends the server a signal"),
		"open":      described(text(), "opens a gate that the provider awaits"),
		"census":    described(node{"type": "null"}, "counts what the server holds"),
	})
	o["minProperties"], o["maxProperties"] = 1, 1
	return node{"anyOf": []any{node{"enum": []any{"await-end", "leave", "read", "census"}}, o}}
}

func expectationSchema() node {
	properties := map[string]func() node{
		"after":  func() node { return described(ref("event"), "from this event on; from the start when left out") },
		"before": func() node { return described(ref("event"), "until this event") },
		"at":     func() node { return described(ref("duration"), "exactly so long after it") },
		"from":   func() node { return described(ref("duration"), "not earlier after it") },
		"within": func() node { return described(ref("duration"), "not later after it") },
		"every":  func() node { return ref("duration") },
		"until":  func() node { return ref("duration") },
		"text":   func() node { return node{"type": "string"} },
		"times":  func() node { return node{"type": "integer", "minimum": 0} },
		"min":    func() node { return node{"type": "integer", "minimum": 0} },
		"max":    func() node { return node{"type": "integer", "minimum": 0} },
	}
	about := map[string]string{
		"happens": "the event comes, in its time", "never": "no such event comes", "count": "so many of these events come",
		"reads": "the texts of these events, joined, are this", "says": "the event's text has this in it", "order": "these events come one after another",
		"distinct": "the texts of these events differ", "returns": "the last count is no higher than the first", "beats": "the event comes in every interval",
	}
	var forms []any
	for _, kind := range kindWords() {
		what := ref("event")
		if kind == "order" {
			what = node{"type": "array", "items": ref("event"), "minItems": 2}
		}
		ps := node{kind: described(what, about[kind]), "shows": node{"type": "string", "description": "the guarantee that it is evidence for"}}
		for _, k := range kinds()[kind] {
			ps[k] = properties[k]()
		}
		forms = append(forms, object(ps, kind))
	}
	return node{"anyOf": forms}
}
