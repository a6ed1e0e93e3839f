package proof

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// How an answer ended, as its peer saw it. A stream of HTTP/2 can end by "RST_STREAM" and a code too.
const (
	complete = "complete" // the last chunk, END_STREAM, or all bytes of the length
	fin      = "FIN"
	rst      = "RST"
	late     = "nothing came"
)

// chunk is a piece of a body that stands by itself: a chunk, a DATA frame, or what one read has held of a body whose length
// is known.
type chunk struct {
	bytes string
	at    time.Duration // since the request
}

// peer sends requests over a connection, one after the other, and reads what comes.
type peer interface {
	ask(path, body string)
	// next reads the next piece of the present answer's body. Its end is told instead, once it has come.
	next() (c chunk, end string)
	// head is the status and the headers of the present answer, which it waits for. They are zero when the answer has none.
	head() (status int, h http.Header)
	// silent wants nothing to come for so long.
	silent(d time.Duration)
	// rest reads until the connection ends, and says what came and how it ended.
	rest() (bytes string, end string)
	socket() net.Conn
}

const patience = 20 * time.Second // real or virtual, for what must come

// ended says how a connection ended.
func ended(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return rst
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fin
	case errors.Is(err, os.ErrDeadlineExceeded):
		return late
	}
	return err.Error()
}

// peer1 speaks HTTP/1.1.
type peer1 struct {
	t     *testing.T
	c     net.Conn
	r     *bufio.Reader
	asked time.Time

	top     string // the head as it is on the wire
	status  int
	header  http.Header
	read    bool // the head was
	chunked bool
	left    int64 // of the length, -1 when there is none
	end     string
	torn    string // of a chunk that did not come whole
}

func newPeer1(t *testing.T, c net.Conn) *peer1 { return &peer1{t: t, c: c, r: bufio.NewReader(c)} }

func (p *peer1) socket() net.Conn { return p.c }

func (p *peer1) ask(path, body string) {
	*p = peer1{t: p.t, c: p.c, r: p.r, asked: time.Now()}
	_, err := fmt.Fprintf(p.c, "POST %s HTTP/1.1\r\nHost: m\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
	require.NoError(p.t, err)
}

func (p *peer1) line() (string, error) {
	p.c.SetReadDeadline(time.Now().Add(patience))
	return p.r.ReadString('\n')
}

func (p *peer1) head() (int, http.Header) {
	if p.read || p.end != "" {
		return p.status, p.header
	}
	p.read, p.header, p.left = true, http.Header{}, -1
	for {
		line, err := p.line()
		p.top += line
		if err != nil {
			p.end, p.torn = ended(err), line
			return 0, nil
		}
		switch name, value, ok := strings.Cut(strings.TrimSuffix(line, "\r\n"), ": "); {
		case p.status == 0:
			_, err := fmt.Sscanf(line, "HTTP/1.1 %d ", &p.status)
			require.NoError(p.t, err, line)
		case ok:
			p.header.Add(name, value)
		default:
			require.Equal(p.t, "\r\n", line)
			p.chunked = p.header.Get("Transfer-Encoding") == "chunked"
			if n := p.header.Get("Content-Length"); n != "" {
				p.left, err = strconv.ParseInt(n, 10, 64)
				require.NoError(p.t, err)
			}
			require.False(p.t, p.chunked && p.left >= 0, "a chunked body says no length")
			return p.status, p.header
		}
	}
}

func (p *peer1) next() (chunk, string) {
	if p.head(); p.end != "" {
		return chunk{}, p.end
	}
	if !p.chunked {
		return p.plain()
	}
	line, err := p.line()
	if err != nil {
		p.end, p.torn = ended(err), line
		return chunk{}, p.end
	}
	size, err := strconv.ParseInt(strings.TrimSuffix(line, "\r\n"), 16, 32)
	require.NoError(p.t, err, "the size of a chunk")
	b := make([]byte, size+2)
	n, err := io.ReadFull(p.r, b)
	if err != nil {
		p.end, p.torn = ended(err), string(b[:n])
		return chunk{}, p.end
	}
	require.Equal(p.t, "\r\n", string(b[size:]))
	if size == 0 {
		p.end = complete
		return chunk{}, p.end
	}
	return chunk{string(b[:size]), time.Since(p.asked)}, ""
}

func (p *peer1) plain() (chunk, string) {
	if p.left == 0 {
		p.end = complete
		return chunk{}, p.end
	}
	b := make([]byte, 64<<10)
	if p.left > 0 {
		b = b[:min(int64(len(b)), p.left)]
	}
	p.c.SetReadDeadline(time.Now().Add(patience))
	n, err := p.r.Read(b)
	if err != nil {
		p.end = ended(err)
		return chunk{}, p.end
	}
	if p.left > 0 {
		p.left -= int64(n)
	}
	return chunk{string(b[:n]), time.Since(p.asked)}, ""
}

func (p *peer1) silent(d time.Duration) {
	p.c.SetReadDeadline(time.Now().Add(d))
	b, err := p.r.Peek(1)
	require.ErrorIs(p.t, err, os.ErrDeadlineExceeded, "%q came", b)
}

func (p *peer1) rest() (string, string) {
	p.c.SetReadDeadline(time.Now().Add(patience))
	b, err := io.ReadAll(p.r)
	if err == nil {
		err = io.EOF
	}
	return string(b), ended(err)
}

// peer2 speaks HTTP/2, frame by frame.
type peer2 struct {
	t      *testing.T
	c      net.Conn
	framer *http2.Framer
	block  bytes.Buffer
	enc    *hpack.Encoder
	scheme string
	limits map[http2.SettingID]uint32 // what the server has said

	id     uint32
	asked  time.Time
	got    []http2.Frame // of other streams, and those of the connection but for settings and windows
	status int
	header http.Header
	read   bool
	body   []chunk // read already
	end    string
	over   string // how the connection ended
}

func newPeer2(t *testing.T, c net.Conn, scheme string) *peer2 {
	_, err := io.WriteString(c, http2.ClientPreface)
	require.NoError(t, err)
	p := &peer2{t: t, c: c, scheme: scheme, framer: http2.NewFramer(c, c), limits: map[http2.SettingID]uint32{}}
	p.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	p.enc = hpack.NewEncoder(&p.block)
	require.NoError(t, p.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 30}))
	require.NoError(t, p.framer.WriteWindowUpdate(0, 1<<30))
	return p
}

func (p *peer2) socket() net.Conn { return p.c }

func (p *peer2) ask(path, body string) {
	if p.id += 2; p.id == 2 {
		p.id = 1
	}
	p.asked, p.status, p.header, p.read, p.body, p.end = time.Now(), 0, nil, false, nil, ""
	p.open(p.id, path, body)
}

// open sends a request on a stream.
func (p *peer2) open(id uint32, path, body string) {
	p.block.Reset()
	p.fields(path)
	require.NoError(p.t, p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block.Bytes(), EndHeaders: true}))
	require.NoError(p.t, p.framer.WriteData(id, true, []byte(body)))
}

// fields writes the head of a request.
func (p *peer2) fields(path string) {
	for _, f := range [][2]string{
		{":method", "POST"}, {":scheme", p.scheme}, {":authority", "m"}, {":path", path}, {"content-type", "application/json"},
	} {
		require.NoError(p.t, p.enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}))
	}
}

// frame reads one frame and takes it in. It returns how the connection ended, or why nothing came.
func (p *peer2) frame(limit time.Duration) string {
	if p.over != "" {
		return p.over
	}
	p.c.SetReadDeadline(time.Now().Add(limit))
	f, err := p.framer.ReadFrame()
	if err != nil {
		how := ended(err)
		if how != late {
			p.over = how
		}
		return how
	}
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			f.ForeachSetting(func(s http2.Setting) error { p.limits[s.ID] = s.Val; return nil })
			if err := p.framer.WriteSettingsAck(); errors.Is(err, syscall.ECONNRESET) { // told once, to whoever comes first
				p.over = rst
			}
		}
	case *http2.WindowUpdateFrame:
	case *http2.MetaHeadersFrame:
		if f.StreamID != p.id {
			p.got = append(p.got, f)
			break
		}
		require.False(p.t, p.read, "one head")
		p.read, p.header = true, http.Header{}
		p.status, err = strconv.Atoi(f.PseudoValue("status"))
		require.NoError(p.t, err)
		for _, h := range f.RegularFields() {
			p.header.Add(h.Name, h.Value)
		}
		if f.StreamEnded() {
			p.end = complete
		}
	case *http2.DataFrame:
		if f.StreamID != p.id {
			p.got = append(p.got, f)
			break
		}
		if len(f.Data()) > 0 {
			p.body = append(p.body, chunk{string(f.Data()), time.Since(p.asked)})
		}
		if f.StreamEnded() {
			p.end = complete
		}
	case *http2.RSTStreamFrame:
		if f.StreamID != p.id {
			p.got = append(p.got, f)
			break
		}
		p.end = "RST_STREAM " + f.ErrCode.String()
	default:
		p.got = append(p.got, f)
	}
	return ""
}

func (p *peer2) head() (int, http.Header) {
	for !p.read && p.end == "" {
		if how := p.frame(patience); how != "" {
			p.end = how
		}
	}
	return p.status, p.header
}

func (p *peer2) next() (chunk, string) {
	for {
		if len(p.body) > 0 {
			c := p.body[0]
			p.body = p.body[1:]
			return c, ""
		}
		if p.end != "" {
			return chunk{}, p.end
		}
		if how := p.frame(patience); how != "" {
			p.end = how
		}
	}
}

func (p *peer2) silent(d time.Duration) {
	for until := time.Now().Add(d); ; {
		switch how := p.frame(time.Until(until)); how {
		case late:
			return
		default:
			require.Empty(p.t, how)
			require.Empty(p.t, p.body)
			require.Empty(p.t, p.end)
		}
	}
}

func (p *peer2) rest() (string, string) {
	for {
		if how := p.frame(patience); how != "" {
			return "", how
		}
	}
}

// away is the GOAWAY that came, nil when none has.
func (p *peer2) away() *http2.GoAwayFrame {
	for _, f := range p.got {
		if f, ok := f.(*http2.GoAwayFrame); ok {
			return f
		}
	}
	return nil
}
