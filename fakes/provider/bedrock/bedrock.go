// Package bedrock renders the Converse wire format of AWS Bedrock, from its public documentation and recorded answers.
//
// A stream is binary frames with checksums (frame.go). What a script breaks below the dialect leaves them as they were:
// a garbled frame, whose brace is missing, is a byte short and fails its checksum. Two garbles of scripts break a checksum
// alone; BadCRC and BadPrelude do so to a frame of every answer, those that no step of a script renders by itself included.
package bedrock

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// Dialect is Converse: POST /model/ID/converse and …/converse-stream. The zero value works. Signatures are not looked at.
type Dialect struct {
	BadCRC     int // the so-many-th frame of each stream, from 1, has a wrong checksum at its end; 0 is none
	BadPrelude int // the same for the checksum of the lengths at its beginning
}

// Name is bedrock.
func (Dialect) Name() string { return "bedrock" }

// Recognise reads a request by its path, which has the model with %3A and %2F in it, and its JSON body. The path alone
// says whether the answer is a stream.
func (d Dialect) Recognise(r *http.Request, body []byte) (provider.Request, provider.Answer) {
	path := r.URL.EscapedPath()
	path, stream := strings.CutSuffix(path, "/converse-stream")
	path, whole := strings.CutSuffix(path, "/converse")
	at := strings.LastIndex(path, "/model/")
	if r.Method != http.MethodPost || stream == whole || at < 0 {
		return provider.Request{}, nil
	}
	model, err := url.PathUnescape(path[at+len("/model/"):])
	var in map[string]json.RawMessage
	if err != nil || model == "" || json.Unmarshal(body, &in) != nil {
		return provider.Request{}, nil
	}
	sum := fnv.New64a() // ids follow from the request, so that a replay has the same
	sum.Write([]byte(path))
	sum.Write(body)
	return provider.Request{Model: model, Stream: stream, Attempt: attempt(r.Header.Get("Amz-Sdk-Request")), Results: results(body)},
		&answer{dialect: d, model: model, sum: sum.Sum64(), began: time.Now(), input: max(1, len(body)/4)}
}

// attempt reads what the official SDKs say: attempt=2; max=3.
func attempt(header string) int {
	for part := range strings.SplitSeq(header, ";") {
		if value, found := strings.CutPrefix(strings.TrimSpace(part), "attempt="); found {
			if n, err := strconv.Atoi(value); err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}

// answer renders one answer. Text and reasoning stay in the block they are in while they can; a block ends when another
// begins, by Finish, or by Done.
type answer struct {
	dialect Dialect
	model   string
	sum     uint64
	began   time.Time
	frames  int // so far

	started bool // messageStart was sent
	next    int  // the index of the next block
	open    []block
	tools   []tool

	usage    script.Usage
	reported bool // usage was said
	input    int  // tokens where it was not
	output   int  // deltas so far
	finished bool
	metadata bool // was sent for what was said
}

type block struct {
	kind  string
	index int
}

// The kinds of blocks.
const (
	text     = "text"
	thinking = "thinking"
	toolUse  = "tool"
)

// tool is where a tool call is.
type tool struct {
	number   int // the script's
	index    int // of its block
	opened   bool
	id, name string
}

// Header sets the headers that the API documents.
func (a *answer) Header(h http.Header, status int, stream bool) {
	h.Set("Content-Type", "application/json")
	if stream {
		h.Set("Content-Type", "application/vnd.amazon.eventstream")
	}
	h.Set("X-Amzn-Requestid", a.uuid())
	if status >= 400 {
		kind, _ := a.problem(status)
		h.Set("X-Amzn-Errortype", kind+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	}
}

func (a *answer) uuid() string {
	hex := strconv.FormatUint(a.sum|1<<63, 16)
	return hex[:8] + "-" + hex[8:12] + "-4" + hex[13:16] + "-8" + hex[1:4] + "-" + hex[4:]
}

// Append appends the frames of a step: those that open or close blocks go with the delta that needs them. A text has no
// start. A refusal is text: the API has no field for it. The last frame is the metadata, which Usage sends behind Finish, and
// which Done sends when nothing has.
func (a *answer) Append(b []byte, step script.Step, n int) []byte {
	switch s := step.(type) {
	case script.Role:
		return a.start(b)
	case script.Text:
		return a.text(b, s.Chunks[n])
	case script.Refusal:
		return a.text(b, s.Chunks[n])
	case script.Think:
		a.output++
		b = a.enter(b, thinking)
		return a.thought(b, `text":`, s.Chunks[n])
	case script.Tool:
		return a.tool(b, s, n)
	case script.ToolChunk:
		for _, p := range s.Parts {
			b = a.part(b, p)
		}
	case script.Empty:
		return a.empty(b)
	case script.Usage:
		a.usage, a.reported, a.metadata = s, true, false
		if a.finished {
			return a.appendMetadata(b)
		}
	case script.Finish:
		if !a.started {
			b = a.start(b)
		}
		b = a.close(b)
		at := len(b)
		b = append(begin(b, "messageStop"), `{"stopReason":`...)
		b = a.end(appendReason(b, s), at)
		a.finished = true
		if a.reported && !a.metadata {
			b = a.appendMetadata(b)
		}
	case script.Done:
		b = a.close(b)
		if !a.metadata {
			b = a.appendMetadata(b)
		}
	case script.Error:
		return a.failure(b, s)
	}
	return b
}

func (a *answer) start(b []byte) []byte {
	a.started = true
	at := len(b)
	return a.end(append(begin(b, "messageStart"), `{"role":"assistant"`...), at)
}

func (a *answer) text(b []byte, chunk string) []byte {
	a.output++
	b = a.enter(b, text)
	at := len(b)
	b = append(a.delta(b, a.open[0].index), `"text":`...)
	return a.end(append(provider.AppendString(b, chunk), '}'), at)
}

// thought appends a delta of reasoning with one member, of which the name and what follows it are given.
func (a *answer) thought(b []byte, member, value string) []byte {
	at := len(b)
	b = append(a.delta(b, a.open[0].index), `"reasoningContent":{"`...)
	b = append(b, member...)
	return a.end(append(provider.AppendString(b, value), "}}"...), at)
}

// enter appends what it takes to be in a block of text or reasoning, and in no other.
func (a *answer) enter(b []byte, kind string) []byte {
	if len(a.open) == 1 && a.open[0].kind == kind {
		return b
	}
	b = a.close(b)
	if !a.started {
		b = a.start(b)
	}
	a.open = append(a.open, block{kind, a.next})
	a.next++
	return b
}

// close appends the end of every open block.
func (a *answer) close(b []byte) []byte {
	for _, k := range a.open {
		if k.kind == thinking {
			b = a.thought(b, `signature":`, a.signature())
		}
		at := len(b)
		b = append(begin(b, "contentBlockStop"), `{"contentBlockIndex":`...)
		b = a.end(strconv.AppendInt(b, int64(k.index), 10), at)
	}
	a.open = a.open[:0]
	return b
}

// delta appends a frame up to the members of its delta; what is left is one brace, then end.
func (a *answer) delta(b []byte, index int) []byte {
	b = append(begin(b, "contentBlockDelta"), `{"contentBlockIndex":`...)
	b = strconv.AppendInt(b, int64(index), 10)
	return append(b, `,"delta":{`...)
}

// empty appends a delta with nothing in it, of the block that is open; of a text where none is.
func (a *answer) empty(b []byte) []byte {
	if a.finished {
		return b
	}
	if len(a.open) == 0 {
		b = a.enter(b, text)
	}
	k := a.open[len(a.open)-1]
	at := len(b)
	b = a.delta(b, k.index)
	switch k.kind {
	case text:
		b = append(b, `"text":""}`...)
	case thinking:
		b = append(b, `"reasoningContent":{"text":""}}`...)
	default:
		b = append(b, `"toolUse":{"input":""}}`...)
	}
	return a.end(b, at)
}

func (a *answer) appendMetadata(b []byte) []byte {
	a.metadata = true
	at := len(b)
	b = append(begin(b, "metadata"), '{')
	return a.end(a.totals(b), at)
}

// end ends a payload and its frame, which begins at at. Like the API it hides the length of the text behind some padding.
func (a *answer) end(b []byte, at int) []byte {
	const padding = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	b = append(b, `,"p":"`...)
	b = append(b, padding[:4+(a.sum>>8+uint64(a.frames)*23)%uint64(len(padding)-4)]...)
	return a.seal(append(b, `"}`...), at)
}

func (a *answer) seal(b []byte, at int) []byte {
	a.frames++
	return seal(b, at, a.frames == a.dialect.BadPrelude, a.frames == a.dialect.BadCRC)
}
