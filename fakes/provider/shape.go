package provider

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/fakes/fault"
)

// framing is how a body is divided into frames.
type framing int

const (
	other    framing = iota
	sse              // server-sent events
	ndjson           // a JSON a line
	messages         // with lengths and checksums
)

func framingOf(contentType string) framing {
	kind, _, _ := strings.Cut(contentType, ";")
	switch strings.TrimSpace(kind) {
	case "text/event-stream":
		return sse
	case "application/x-ndjson", "application/ndjson", "application/jsonl":
		return ndjson
	case "application/vnd.amazon.eventstream":
		return messages
	}
	return other
}

// shape changes frames between the dialect and the wire.
type shape struct {
	framing framing
	begun   bool // a frame has gone

	pending *fault.Garble // strikes with the next frame that it can break
	how     string        // the last one that struck, "" for that without a name

	line  *fault.Lines
	noted bool // it has struck

	gzip *zip
}

// garble breaks a frame, if one is to be broken and this one can be. text is what the frame says, where it is known.
func (s *shape) garble(frame *[]byte, text string) bool {
	if s.pending == nil {
		return false
	}
	how := s.pending.How
	broken := s.broken(*frame, how, text)
	if broken == nil {
		return false
	}
	*frame, s.pending, s.how = broken, nil, how
	return true
}

// broken is the frame as it is broken, nil when it cannot be so.
func (s *shape) broken(frame []byte, how, text string) []byte {
	if s.framing == messages && (how == "" || how == "brace" || how == "plain") {
		// A length or a checksum may look like a brace.
		from, to, ok := payload(frame)
		if !ok {
			return nil
		}
		inner := (&shape{}).broken(slices.Clone(frame[from:to]), how, text)
		if inner == nil {
			return nil
		}
		return slices.Concat(frame[:from], inner, frame[to:])
	}
	first, last := bytes.IndexByte(frame, '{'), bytes.LastIndexByte(frame, '}')
	whole := first >= 0 && last > first
	switch how {
	case "", "brace":
		if last >= 0 {
			return append(frame[:last], frame[last+1:]...)
		}
		return nil
	case "plain":
		if whole {
			return bytes.Join([][]byte{frame[:first], frame[last+1:]}, []byte("Internal Server Error"))
		}
		return nil
	case "crc", "prelude-crc":
		if s.framing == messages {
			return missummed(frame, how == "prelude-crc")
		}
		return nil
	case "utf-8":
		if s.framing == messages || (s.framing == sse && !hasData(frame)) {
			return nil
		}
		if at := textAt(frame, text); at >= 0 {
			return bytes.Join([][]byte{frame[:at], frame[at:]}, []byte{0xff})
		}
		return nil
	}
	if s.framing != sse || !hasData(frame) {
		return nil
	}
	var out []byte
	struck := false
	for line, end := range textLines(frame) {
		switch {
		case how == "doubled" && isField(line, "data") && !struck:
			out, struck = append(append(append(out, "data: "...), line...), end...), true
		case how == "no-data" && isField(line, "data"):
			out, struck = append(append(out, "data:"...), end...), true
		case how == "no-event" && isField(line, "event"), how == "no-blank" && len(line) == 0:
			struck = true
		default:
			out = append(append(out, line...), end...)
		}
	}
	if !struck {
		return nil
	}
	return out
}

// missummed inverts a byte of a checksum of the last message in a binary frame: that at its end, or with prelude that of
// its lengths. It returns nil when the frame holds no whole messages.
func missummed(frame []byte, prelude bool) []byte {
	at, ok := lastMessage(frame)
	if !ok {
		return nil
	}
	end := len(frame) - 4
	if prelude {
		frame[at+11] ^= 0xff
		binary.BigEndian.PutUint32(frame[end:], crc32.ChecksumIEEE(frame[at:end]))
	} else {
		frame[end+3] ^= 0xff
	}
	return frame
}

// lastMessage is where the last message of a binary frame begins, if the frame holds whole messages.
func lastMessage(frame []byte) (at int, ok bool) {
	const least = 16 // two lengths and two checksums
	for {
		rest := frame[at:]
		if len(rest) < least {
			return 0, false
		}
		switch length := int(binary.BigEndian.Uint32(rest)); {
		case length == len(rest):
			return at, true
		case length < least || length > len(rest):
			return 0, false
		default:
			at += length
		}
	}
}

// payload is where the last message of a binary frame has its payload.
func payload(frame []byte) (from, to int, ok bool) {
	at, ok := lastMessage(frame)
	if !ok {
		return 0, 0, false
	}
	const prelude = 12 // lengths of the message and of its headers, and their checksum
	from, to = at+prelude+int(binary.BigEndian.Uint32(frame[at+4:])), len(frame)-4
	return from, to, at+prelude <= from && from <= to
}

// textAt is where the text stands in a frame, as it is or as JSON escapes it; else where some string of it begins.
func textAt(frame []byte, text string) int {
	if text != "" {
		if at := bytes.LastIndex(frame, []byte(text)); at >= 0 {
			return at
		}
		if quoted, err := json.Marshal(text); err == nil {
			if at := bytes.LastIndex(frame, quoted[1:len(quoted)-1]); at >= 0 {
				return at
			}
		}
	}
	if at := bytes.LastIndex(frame, []byte(`:"`)); at >= 0 {
		return at + 2
	}
	return -1
}

// hasData says whether a server-sent event has data: a comment has none.
func hasData(frame []byte) bool {
	for line := range textLines(frame) {
		if isField(line, "data") {
			return true
		}
	}
	return false
}

func isField(line []byte, name string) bool {
	return bytes.HasPrefix(line, []byte(name)) && bytes.HasPrefix(line[len(name):], []byte(":"))
}

// textLines yields the lines of b, each with what ends it: LF, CRLF, CR, or nothing.
func textLines(b []byte) func(yield func(line, end []byte) bool) {
	return func(yield func(line, end []byte) bool) {
		for len(b) > 0 {
			at := bytes.IndexAny(b, "\r\n")
			if at < 0 {
				yield(b, nil)
				return
			}
			next := at + 1
			if b[at] == '\r' && next < len(b) && b[next] == '\n' {
				next++
			}
			if !yield(b[:at], b[at:next]) {
				return
			}
			b = b[next:]
		}
	}
}

func (s *shape) setLines(l fault.Lines) { s.line, s.noted = &l, false }

// lines shapes the lines of a frame, and says whether the fault strikes with it for the first time. Raw bytes stay as
// they are.
func (s *shape) lines(frame *[]byte, raw bool) bool {
	first := !s.begun
	s.begun = true
	if s.line == nil || (s.framing != sse && s.framing != ndjson) {
		return false
	}
	out := make([]byte, 0, len(*frame)+16)
	if first && s.line.BOM && s.framing == sse {
		out = append(out, "\ufeff"...)
	}
	if raw {
		out = append(out, *frame...)
	} else {
		for line, end := range textLines(*frame) {
			out = s.appendLine(out, line, end)
		}
	}
	struck := !s.noted && !bytes.Equal(out, *frame)
	s.noted = s.noted || struck
	*frame = out
	return struck
}

func (s *shape) appendLine(out, line, end []byte) []byte {
	if len(end) > 0 {
		end = []byte(map[string]string{"crlf": "\r\n", "cr": "\r"}[s.line.End])
		if len(end) == 0 {
			end = []byte("\n")
		}
	}
	name, value, found := bytes.Cut(line, []byte(":"))
	if s.framing != sse || !found {
		return append(append(out, line...), end...)
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	pieces := [][]byte{value}
	if s.line.Several && string(name) == "data" {
		pieces = atCommas(value)
	}
	for _, piece := range pieces {
		out = append(append(out, name...), ':')
		if !s.line.NoSpace && len(line) > len(name)+1 {
			out = append(out, ' ')
		}
		out = append(append(out, piece...), end...)
	}
	return out
}

// atCommas breaks JSON behind its commas, those in strings aside: a line break there would change it.
func atCommas(value []byte) [][]byte {
	var pieces [][]byte
	from, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch {
		case quoted && value[i] == '\\':
			i++
		case value[i] == '"':
			quoted = !quoted
		case value[i] == ',' && !quoted:
			pieces = append(pieces, value[from:i+1])
			from = i + 1
		}
	}
	return append(pieces, value[from:])
}

// zip compresses a body.
type zip struct {
	writer *gzip.Writer
	out    bytes.Buffer // takes all without an error
}

func newZip() *zip {
	z := &zip{}
	z.writer = gzip.NewWriter(&z.out)
	return z
}

// compress compresses a frame so that the peer can read all of it.
func (s *shape) compress(frame *[]byte) {
	if s.gzip != nil {
		s.gzip.writer.Write(*frame)
		s.gzip.writer.Flush()
		s.gzip.take(frame)
	}
}

// compressAll compresses a body in one piece.
func (s *shape) compressAll(body *[]byte) {
	if s.gzip != nil {
		s.gzip.writer.Write(*body)
		s.gzip.writer.Close()
		s.gzip.take(body)
	}
}

// tail is what ends a compressed stream.
func (s *shape) tail() (b []byte) {
	s.gzip.writer.Close()
	s.gzip.take(&b)
	return b
}

func (z *zip) take(b *[]byte) {
	*b = append((*b)[:0], z.out.Bytes()...)
	z.out.Reset()
}
