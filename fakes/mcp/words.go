package mcp

import (
	"math"
	"reflect"

	"github.com/stallwright/stallwright/fakes/script"
)

type (
	word = script.Word
	keys = map[string]script.Key
)

// language is what script files say.
func language() script.Language {
	all := words()
	return script.Language{
		Steps: Steps(), Words: all, Check: checker{all}.step,
		Forms: map[string]reflect.Type{
			"FILE": reflect.TypeFor[fileForm](), "PROGRAM": reflect.TypeFor[programForm](), "WHEN": reflect.TypeFor[When](),
			"CONNECTIONS": reflect.TypeFor[script.Connections](), "MANNERS": reflect.TypeFor[Manners](), "SESSIONS": reflect.TypeFor[Lives](),
			"LIST": reflect.TypeFor[List](), "PROCESS": reflect.TypeFor[Process](), "CANCEL": reflect.TypeFor[OnCancel](), "TOOL": reflect.TypeFor[Tool](),
		},
	}
}

func words() map[string]word {
	all := map[string]word{}
	for _, part := range []map[string]word{mappings(), steps()} {
		for entry, w := range part {
			all[entry] = w
		}
	}
	return all
}

// choices are the values of a key.
func choices[T ~string](about string, values ...T) script.Key {
	k := script.Key{About: about}
	for _, v := range values {
		k.Words = append(k.Words, string(v))
	}
	return k
}

// says is a key that a text says all of.
func says(about string) script.Key { return script.Key{About: about} }

// anyNumber is a key for a number that may be below 0.
func anyNumber(about string) script.Key { return script.Key{About: about, Least: math.MinInt} }

// mappings has the mappings that are no steps.
func mappings() map[string]word {
	cancel := says("what becomes of a call that is cancelled")
	return map[string]word{
		"FILE": {About: "A script of a fake MCP server: its tools, its manners, and what it answers in place of what the protocol would have.", Keys: keys{
			"about":       says("what the script is for, in a sentence"),
			"name":        says("what the server is called, in timelines and by itself"),
			"seed":        says("of all jitter; without it, or with 0, a random one is drawn and shown"),
			"connections": says("what the fake does with connections, before and between their requests"),
			"revisions":   says("the revisions of the protocol that it speaks; all when left out"),
			"manners":     says("how the server behaves in what is not one request's"),
			"ready":       says("ready tools by their names, or all"),
			"tools":       says("the tools"),
			"programs":    says("the programs: a request takes the first that fits and is not used up, and is answered well when there is none"),
		}},
		"PROGRAM": {About: "The answer to one request, or to several.", Keys: keys{
			"when":      says("the requests that it is for; calls of any tool when left out"),
			"times":     says("how many requests it answers: a number, or any; once when left out"),
			"on-cancel": cancel,
			"steps":     says("what is done, in this order"),
		}},
		"WHEN": {About: "Chooses requests. What is left out fits every request, but for the method, which is then tools/call.", Keys: keys{
			"method":   says("such as initialize, tools/list, notifications/cancelled, GET or DELETE; * is any request. A client that asks server/discover first may never send initialize: leave revision 2026-07-28 out of revisions, or have a program for server/discover too"),
			"tool":     says("the tool that is called"),
			"contains": says("the parameters have this text"),
			"request":  says("the so-many-th request of the session, from 1"),
		}},
		"MANNERS": {About: "How a server behaves in what is not one request's.", Keys: keys{
			"answers":   choices("what the body of an HTTP answer is; event streams for calls of tools when left out", StreamAnswers, JSONAnswers),
			"no-ids":    says("no session ids are given out"),
			"sessions":  says("when sessions end by themselves"),
			"get":       choices("what a GET for an event stream is answered; a stream that is held when left out", GetEmpty, GetRefused, GetBad, GetText),
			"delete":    choices("what a DELETE of a session is answered; 204 when left out", DeleteUnknown, DeleteRefused, DeleteHangs),
			"single":    says("one tool call at a time; the others wait"),
			"on-cancel": cancel,
			"loose":     says("a cancel whose id has another JSON type counts"),
			"event-ids": says("events have ids, and streams can be resumed"),
			"list":      says("how the list of tools is told"),
			"endpoint":  choices("what the event stream of HTTP+SSE says first; where messages go when left out", NoEndpoint, ForeignEndpoint, TwoEndpoints),
			"banner":    says("what stands on a pipe before the first message"),
			"process":   says("how the child process behaves that is a server over stdio"),
		}},
		"SESSIONS": {About: "When sessions of Streamable HTTP end by themselves.", Keys: keys{
			"for":     {About: "how long each lives; for ever when left out", Forever: true},
			"lost-at": says("the gate whose opening ends all that are open"),
		}},
		"LIST": {About: "How the list of tools is told.", Keys: keys{
			"short":   says("how many tools the first tools/list names"),
			"changed": says("how long after it a change is notified; never when left out"),
		}},
		"PROCESS": {About: "How the child process behaves that is a server over stdio. Where it is none, starts-after and dies alone mean anything.", Keys: keys{
			"starts-after": says("how long it does nothing"),
			"floods":       says("how many bytes it writes to standard error before its first message, at most 1 GiB"),
			"dies":         says("how it ends at its start; it lives when left out"),
			"ignores-eof":  says("it goes on when its input has ended"),
			"ignores-term": says("it goes on after SIGTERM"),
			"grandchild":   choices("a process that it starts, which holds its output and outlives it: in its process group, or in a session of its own", GrandchildStays, GrandchildLeaves),
		}},
		"CANCEL": {About: "What becomes of a call that is cancelled.", Keys: keys{
			"do":    choices("what is done; stop when left out", Stop, Ignore, AnswerWell, AnswerError, AnswerTwice),
			"after": says("how long after the cancel"),
		}},
		"TOOL": {About: "A tool that the server has, well behaved where nothing else is said.", Keys: keys{
			"name":        says("its name"),
			"description": says("what it says of itself"),
			"schema":      says("the JSON Schema of its arguments, as a text"),
			"output":      says("the JSON Schema of its structured result, as a text"),
			"read-only":   says("said in its annotations"),
			"idempotent":  says("said in its annotations"),
			"takes":       says("how long it takes"),
			"gate":        says("the gate that it waits for after that"),
			"progress":    says("what it tells meanwhile"),
			"effect":      choices("when its effect is committed; it has none when left out", AtStart, AtAnswer, AfterAnswer),
			"on-cancel":   cancel,
			"result":      says("its result"),
		}},
	}
}

// steps has the kinds of steps that are this package's.
func steps() map[string]word {
	stream := choices("the session's own stream, in place of the call's", OnSession)
	id := choices("the answer's id; the request's when left out", WrongID, TextID, NullID, NoID, ForeignID)
	return map[string]word{
		"progress": {About: "Tells the call's progress.", Keys: keys{
			"every": says("the time before each"), "count": says("how many; one when left out"), "total": says("the total that is told"),
			"text": says("its message"), "token": choices("which token it has; the request's, and nothing is sent without one, when left out", AlwaysToken, UnknownToken),
		}},
		"log": {About: "Sends a log message.", Short: []string{"text"}, Keys: keys{"level": says("info when left out"), "text": says("the message")}},
		"notify": {About: "Sends any notification.", Short: []string{"method"}, Keys: keys{
			"method": says("its method"), "params": says("its parameters, as JSON"), "on": stream,
		}},
		"ask": {About: "Sends a request to the client.", Short: []string{"method"}, Keys: keys{
			"method": says("such as sampling/createMessage, elicitation/create, roots/list or ping"), "params": says("its parameters, as JSON"),
			"id": choices("its id; a new one when left out", SameID), "on": stream,
			"for": {About: "how long the answer is waited for; until it comes when left out", Forever: true}, "blind": says("the answer is not waited for"),
		}},
		"result": {About: "Sends the result: the proper one of the method when nothing is said.", Short: []string{"text"}, Keys: keys{
			"text": says("its text"), "size": says("or so many bytes of text, at most 1 GiB"), "structured": says("its structure, as JSON"),
			"json": says("the whole result, as JSON"), "is-error": says("the tool has failed"), "id": id, "times": says("how often it is sent; once when left out"),
			"with": choices("what else is wrong with the response", ErrorToo, Neither, NoVersion),
		}},
		"error": {About: "Sends an error of JSON-RPC.", Short: []string{"code"}, Keys: keys{
			"code": anyNumber("its code"), "message": says("its message"), "data": says("its data, as JSON"), "id": id,
		}},
		"end-stream":   {About: "Ends the stream of the response as HTTP says, answered or not. The call goes on without it.", Keys: keys{"retry": says("when to come back, which is told before")}},
		"await-cancel": {About: "Waits until the call is cancelled."},
		"effect":       {About: "Commits the tool's effect."},
		"crash":        {About: "The server dies and is there again: connections are reset, pipes end, calls and sessions are forgotten."},
		"exit": {About: "Ends the process that a server over stdio is.", Short: []string{"code"}, Keys: keys{
			"code": says("its code; 0 when left out"), "signal": choices("or the signal that it dies of", "SIGKILL", "SIGTERM"), "stderr": says("what it says before, at most 16 KiB"),
		}},
		"stop-reading": {About: "Reads nothing more of a pipe.", Short: []string{"for"}, Keys: keys{"for": {About: "how long; for ever when left out", Forever: true}}},
	}
}
