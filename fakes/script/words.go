package script

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/fakes/fault"
)

// word is what a script file may say of one kind of step, or of one of its other mappings. The keys and their types
// are those of the Go type; this adds what a type cannot say.
type word struct {
	about string
	short []string // the keys that a value other than a mapping sets: the first that it fits
	stop  bool     // the value stop ends what an earlier step of the kind began
	keys  map[string]key
}

// key is one key of a mapping.
type key struct {
	about   string
	words   []string // the only values
	forever bool     // 0 is without end, which is written forever
	least   int      // of a number
	without string   // what it is when it is left out, for whom it is too low
}

// words has all kinds of steps and, in capitals, the mappings that are no steps. Editors and documents show its texts.
func words() map[string]word {
	chunks := key{about: "the texts, one frame for each"}
	every := key{about: "the time between two frames; the first is sent at once"}
	jitter := key{about: "each interval is longer by up to this, drawn from the seed"}
	code := key{about: "the name of an HTTP/2 error code", words: Codes()}
	header := key{about: "headers, added to or in place of the dialect's own"}
	return map[string]word{
		"FILE": {about: "A script: what a fake answers, program by program. A file that has only steps is one program that answers any number of requests.", keys: map[string]key{
			"about":       {about: "what the script is for, in a sentence"},
			"seed":        {about: "of all jitter; without it, or with 0, a random one is drawn and shown"},
			"connections": {about: "what the fake does with connections, before and between their requests"},
			"programs":    {about: "the programs: a request takes the first that fits and is not used up"},
			"steps":       {about: "the steps of the only program, in place of programs"},
		}},
		"PROGRAM": {about: "The answer to one request, or to several.", keys: map[string]key{
			"when":  {about: "the requests that it is for; all when left out"},
			"times": {about: "how many requests it answers: a number, or any; once when left out"},
			"steps": {about: "what is done, in this order"},
		}},
		"WHEN": {about: "Chooses requests. What is left out fits every request.", keys: map[string]key{
			"request":  {about: "the so-many-th request of the session, from 1", least: 1, without: "any"},
			"dialect":  {about: "the name of the request's dialect, such as openai"},
			"path":     {about: "the request's path ends so"},
			"model":    {about: "the model that is asked for"},
			"stream":   {about: "whether a stream is asked for"},
			"header":   {about: "headers, each of which holds this text"},
			"contains": {about: "the raw body has this text, byte for byte: as JSON escapes it, and with its spaces"},
			"attempt":  {about: "the client's own retry count plus one, where it says so", least: 1, without: "any"},
		}},
		"CONNECTIONS": {about: "What a fake does with connections, before and between their requests.", keys: map[string]key{
			"refuse":       {about: "reset the first so many as they are accepted"},
			"mute":         {about: "accept the next so many, read them, and never answer"},
			"accept-after": {about: "hold each so long before its first byte is read"},
			"idle-close":   {about: "close a kept connection that was idle for so long"},
			"requests":     {about: "close a connection after so many answers, without saying so"},
			"streams":      {about: "HTTP/2: how many streams the peer may open at once"},
		}},
		"PART": {about: "A part of a tool call. What is left out is absent from the frame; null is null.", keys: map[string]key{
			"index": {about: "the number of the call that it belongs to"},
			"id":    {about: "the id of the call"},
			"type":  {about: "the type of the call, such as function"},
			"name":  {about: "the name of the tool"},
			"args":  {about: "a fragment of the arguments"},
		}},

		"headers": {about: "Sends the status line and headers of a stream. Without it they go with the first frame.", short: []string{"status"}, keys: map[string]key{
			"status": {about: "the HTTP status, 200 to 599; 200 when left out"},
			"header": header,
			"gzip":   {about: "the body is compressed, and flushed after each frame"},
		}},
		"role":    {about: "Sends the frame that opens the answer and carries no output."},
		"text":    {about: "Sends visible output.", short: []string{"chunks"}, keys: map[string]key{"chunks": chunks, "every": every, "jitter": jitter}},
		"think":   {about: "Sends visible reasoning, in the dialect's own field.", short: []string{"chunks"}, keys: map[string]key{"chunks": chunks, "every": every, "jitter": jitter}},
		"refusal": {about: "Sends the model's refusal, in the dialect's own field.", short: []string{"chunks"}, keys: map[string]key{"chunks": chunks, "every": every}},
		"flood": {about: "Sends visible output in bulk.", keys: map[string]key{
			"frames": {about: "how many frames", least: 1}, "bytes": {about: "of text in each frame, at most 64 MiB", least: 1}, "every": every,
		}},
		"tool": {about: "Sends one tool call: its opening, then one frame for each fragment of the arguments.", keys: map[string]key{
			"index": {about: "the number of the call in this answer, from 0"},
			"id":    {about: "the id of the call"},
			"name":  {about: "the name of the tool"},
			"args":  {about: "the fragments of the arguments"},
			"every": every,
		}},
		"tool-chunk": {about: "Sends one frame with parts of tool calls as they stand: absent, null, empty, repeated or out of order.", short: []string{"parts"}, keys: map[string]key{
			"parts": {about: "the parts, in the order of the frame"},
		}},
		"usage": {about: "Reports tokens.", keys: map[string]key{
			"prompt":     {about: "tokens of the prompt"},
			"completion": {about: "tokens of the answer"},
			"reasoning":  {about: "how many of the completion are reasoning"},
			"cached":     {about: "how many of the prompt were cached"},
		}},
		"finish": {about: "Says why the model stopped.", short: []string{"reason"}, keys: map[string]key{
			"reason": {about: "stop, length, tool_calls, content_filter, which dialects translate, or any other word, which is passed as it is"},
			"empty":  {about: "the reason is the empty string, not null"},
		}},
		"done":    {about: "Sends the dialect's terminator."},
		"message": {about: "Sends one frame that holds the whole message so far once more, as some gateways do at the end."},
		"error": {about: "Sends an error frame inside the stream.", short: []string{"message"}, keys: map[string]key{
			"type":    {about: "the error's type"},
			"code":    {about: "the error's code"},
			"message": {about: "the error's message"},
			"form":    {about: "what the frame looks like; as the dialect's documentation has it when left out", words: []string{string(DataForm), string(ChoicesForm), string(FlatForm)}},
		}},
		"raw":     {about: "Sends bytes as given, as one frame. Bytes that are no text are written as !!binary.", short: []string{"bytes"}, keys: map[string]key{"bytes": {about: "the bytes"}}},
		"comment": {about: "Sends one SSE comment.", short: []string{"text"}, keys: map[string]key{"text": {about: "the comment"}}},
		"ping":    {about: "Sends the dialect's own keepalive frame."},
		"empty":   {about: "Sends a frame with an empty delta: no output."},
		"keepalive": {about: "Sends a frame that carries no output every so often, behind all steps that follow.", stop: true, keys: map[string]key{
			"form":  {about: "what is sent", words: []string{string(CommentForm), string(PingForm), string(EmptyForm), string(EmptyDataForm), string(RoleForm), string(BlankForm)}},
			"every": {about: "the time between two; 0s ends those of an earlier keepalive"},
			"for":   {about: "how long; without end when left out", forever: true},
		}},
		"pause": {about: "Lets time go by: pace, not a fault.", short: []string{"for"}, keys: map[string]key{"for": {about: "how long"}, "jitter": {about: "longer by up to this, drawn from the seed"}}},
		"await": {about: "Waits until a gate is open. Instants after it are counted from its opening. The gate never is never opened: it waits until the peer leaves, and is no fault.", short: []string{"gate"}, keys: map[string]key{"gate": {about: "the name of the gate"}}},
		"open":  {about: "Opens a gate, which a step of the script awaits, for other streams of the session and for whoever watches.", short: []string{"gate"}, keys: map[string]key{"gate": {about: "the name of the gate"}}},
		"meet": {about: "Waits until so many streams of the session have come to it: a barrier.", keys: map[string]key{
			"barrier": {about: "the name of the barrier"}, "streams": {about: "how many must come", least: 2},
		}},
		"repeat": {about: "Plays its steps so many times.", keys: map[string]key{
			"times": {about: "how often; without end when left out", forever: true, least: 1, without: "one without end"}, "steps": {about: "what is repeated"},
		}},
		"end": {about: "Ends the body as HTTP says. The connection is kept for the next request.", keys: map[string]key{"close": {about: "the connection is closed"}}},

		"stall":      {about: "Silence with the connection open.", short: []string{"for"}, keys: map[string]key{"for": {about: "how long; until the peer leaves when left out", forever: true}}},
		"cut":        {about: "Closes the connection in the middle of the answer, or before any byte of it."},
		"reset":      {about: "Resets the connection."},
		"half-close": {about: "Ends the answer without a last chunk and goes on reading."},
		"drip": {about: "Sends what follows a few bytes at a time.", keys: map[string]key{
			"bytes": {about: "in one write", least: 1}, "every": {about: "the time between two writes"},
		}},
		"split": {about: "Cuts each frame that follows into several writes.", short: []string{"every", "at"}, stop: true, keys: map[string]key{
			"at": {about: "the offsets in the frame, ascending, above 0"}, "every": {about: "or: after every so many bytes"},
		}},
		"status": {about: "Answers with this HTTP status and body in place of a stream.", short: []string{"code"}, keys: map[string]key{
			"code":         {about: "the HTTP status, 200 to 599", least: 200},
			"content-type": {about: "of the body; the dialect's own for an error when left out"},
			"body":         {about: "the body; the dialect's own error for the code when left out"},
			"header":       {about: "headers, such as Retry-After"},
			"blank":        {about: "the body is empty"},
		}},
		"batch": {about: "Puts so many of the frames that follow into one write, and goes on so.", short: []string{"frames"}, keys: map[string]key{"frames": {about: "how many", least: 2}}},
		"lines": {about: "Shapes the lines of all server-sent events that follow, in ways that the specification allows.", short: []string{"end"}, keys: map[string]key{
			"end":      {about: "what ends a line; lf when left out", words: []string{"lf", "crlf", "cr"}},
			"bom":      {about: "a byte order mark goes before the first"},
			"no-space": {about: "no space stands after the colon"},
			"several":  {about: "data is broken over several data lines, at its commas"},
		}},
		"garble":       {about: "Breaks the next frame.", short: []string{"how"}, keys: map[string]key{"how": {about: "in what way; brace when left out", words: fault.Garbles()}}},
		"stream-reset": {about: "Ends an HTTP/2 stream with RST_STREAM.", short: []string{"code"}, keys: map[string]key{"code": code}},
		"go-away": {about: "Says on an HTTP/2 connection that no further stream is taken, and goes on with those it names.", short: []string{"code"}, keys: map[string]key{
			"code": code, "last": {about: "the last stream that is still answered; 0 is the present one, -1 none", least: -1},
		}},
	}
}

// forms has the Go type of each entry of words.
func forms() map[string]reflect.Type {
	all := map[string]reflect.Type{
		"FILE": reflect.TypeFor[fileForm](), "PROGRAM": reflect.TypeFor[programForm](), "WHEN": reflect.TypeFor[When](),
		"CONNECTIONS": reflect.TypeFor[Connections](), "PART": reflect.TypeFor[ToolPart](),
	}
	for _, s := range Steps() {
		all[s.Kind()] = reflect.TypeOf(s)
	}
	return all
}

// kinds lists the words for steps.
func kinds() []string {
	var out []string
	for _, s := range Steps() {
		out = append(out, s.Kind())
	}
	return out
}

// fileForm is a file as it is written.
type fileForm struct {
	About       string        `yaml:"about,omitempty"`
	Seed        uint64        `yaml:"seed,omitempty"`
	Connections Connections   `yaml:"connections,omitempty"`
	Programs    []programForm `yaml:"programs,omitempty"`
	Steps       []Step        `yaml:"steps,omitempty"`
}

type programForm struct {
	When  When   `yaml:"when,omitempty"`
	Times times  `yaml:"times,omitempty"`
	Steps []Step `yaml:"steps"`
}

// times is a number or any.
type times int

// field is one key of a Go type.
type field struct {
	name     string
	index    int
	required bool
}

// fields are the keys of a Go type in their order.
func fields(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name == "-" {
			continue
		}
		out = append(out, field{name, i, options != "omitempty"})
	}
	return out
}

func names(fs []field) []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.name)
	}
	return out
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
