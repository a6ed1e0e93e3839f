package wire

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"strings"

	"github.com/tmaxmax/go-sse"
)

// MaxEvent bounds an event, or a body of JSON, in bytes: the limit of the official Go SDKs, so that what they read is read
// here too.
const MaxEvent = 32 << 20

// Event is a server-sent event.
type Event = sse.Event

// Events reads the events of a body, each as soon as it ends; an unfinished last one is left out. It ends with the body's
// end, or with an error for [ReadFailed].
func Events(body io.Reader) iter.Seq2[Event, error] {
	return sse.Read(&steady{in: body}, &sse.ReadConfig{MaxEventSize: MaxEvent})
}

// FirstByte is the first byte that is neither white space nor of a byte order mark, 0 if none comes early. It consumes
// nothing. What a body is can be told by it where the content type lies.
func FirstByte(in *bufio.Reader) byte {
	for n := 1; n <= 64; n++ {
		b, err := in.Peek(n)
		if err != nil {
			return 0
		}
		if strings.IndexByte(" \t\r\n\xEF\xBB\xBF", b[n-1]) < 0 {
			return b[n-1]
		}
	}
	return 0
}

// Whole reads a body of JSON to its end, without a byte order mark. It fails with an error for [ReadFailed].
func Whole(in io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(in, MaxEvent+1))
	if err != nil {
		return nil, err
	}
	if len(body) > MaxEvent {
		return nil, bufio.ErrTooLong
	}
	return bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")), nil
}
