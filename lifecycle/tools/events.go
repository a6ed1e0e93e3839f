package tools

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// event is one server-sent event, or the first part of one that is too large.
type event struct {
	name  string
	data  []byte
	id    string
	hasID bool
	retry string
	large *idScanner // of an event whose data is larger than [maxBytes]: it went over all of it
}

// eventReader is the body of an event stream as mcp-go is to see it: only whole events that are of use, each with line ends that it
// takes. It is used by one goroutine; Close may be called by another.
type eventReader struct {
	body io.ReadCloser
	in   *bufio.Reader
	// take says whether an event is passed on, and with an error that it is the last. At the stream's end it gets no event but the
	// error, and returns the one to pass on.
	take func(*event, error) (bool, error)

	hasty bool // an event that is too large is given as soon as that is known, not when it ends

	begun, skipLF bool
	out           []byte
	err           error
}

func newEventReader(body io.ReadCloser, take func(*event, error) (bool, error)) *eventReader {
	return &eventReader{body: body, in: bufio.NewReader(body), take: take}
}

func (r *eventReader) Close() error { return r.body.Close() }

func (r *eventReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.err == nil {
		ev, err := r.next()
		if err != nil {
			_, r.err = r.take(nil, err)
			break
		}
		var pass bool
		if pass, r.err = r.take(ev, nil); pass {
			r.out = ev.text()
		}
	}
	if len(r.out) > 0 {
		n := copy(p, r.out)
		r.out = r.out[n:]
		return n, nil
	}
	return 0, r.err
}

// next reads up to the blank line that ends an event. An event that the stream's end cuts is none.
func (r *eventReader) next() (*event, error) {
	ev := &event{}
	some := false
	for {
		line, scan, err := r.line()
		switch {
		case err != nil:
			return nil, err
		case scan != nil:
			ev.large, some = scan, true
			if r.hasty {
				return ev, nil
			}
			continue
		case len(line) == 0 && some:
			return ev, nil
		case len(line) == 0:
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			ev.name, some = string(value), true
		case "data":
			some = true
			if ev.large != nil {
				ev.large.feed(value)
				continue
			}
			if len(ev.data) > 0 {
				ev.data = append(ev.data, '\n')
			}
			ev.data = append(ev.data, value...)
			if len(ev.data) > maxBytes {
				ev.large = &idScanner{}
				ev.large.feed(ev.data)
				ev.data = nil
				if r.hasty {
					return ev, nil
				}
			}
		case "id":
			ev.id, ev.hasID, some = string(value), !bytes.ContainsRune(value, 0), true
		case "retry":
			ev.retry, some = string(value), true
		}
	}
}

// line reads one line, which CR, LF or both end. Of a line that is too large it returns only the scanner that went over it.
func (r *eventReader) line() ([]byte, *idScanner, error) {
	var line []byte
	var scan *idScanner
	for {
		if _, err := r.in.Peek(1); err != nil {
			return nil, nil, err
		}
		part, _ := r.in.Peek(r.in.Buffered())
		if r.skipLF && part[0] == '\n' {
			_, _ = r.in.Discard(1)
			r.skipLF = false
			continue
		}
		r.skipLF = false
		end := bytes.IndexAny(part, "\r\n")
		ended := end >= 0
		if ended {
			r.skipLF = part[end] == '\r'
			part = part[:end]
		}
		if scan == nil {
			line = append(line, part...)
		} else {
			scan.feed(part)
		}
		_, _ = r.in.Discard(len(part))
		if scan == nil && len(line) > maxBytes+len("data: ") {
			scan = &idScanner{}
			scan.feed(bytes.TrimPrefix(line, []byte("data:")))
			line = nil
			ended = ended || r.hasty
		}
		if !ended {
			continue
		}
		if end >= 0 {
			_, _ = r.in.Discard(1)
		}
		if !r.begun {
			r.begun = true
			line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
		}
		return line, scan, nil
	}
}

// text is the event on the wire.
func (ev *event) text() []byte {
	var b bytes.Buffer
	put := func(field, value string) {
		b.WriteString(field + ": " + value + "\n")
	}
	if ev.name != "" {
		put("event", ev.name)
	}
	if ev.hasID {
		put("id", ev.id)
	}
	if ev.retry != "" {
		put("retry", ev.retry)
	}
	if len(ev.data) > 0 {
		for line := range strings.Lines(string(ev.data)) {
			put("data", strings.TrimSuffix(line, "\n"))
		}
	}
	b.WriteByte('\n')
	return b.Bytes()
}
