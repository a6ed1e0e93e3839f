package proof

import (
	"io"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// begun reads what has left before a sudden end: the head, and of a stream the first frame.
func (x *exchange) begun() {
	x.t.Helper()
	x.begin()
	status, _ := x.head()
	require.Equal(x.t, 200, status)
	if x.stream() {
		x.take(1)
	}
}

// firstFrame is what a stream has sent before a sudden end. Of an answer in one piece nothing has.
func (x *exchange) firstFrame() []string {
	if x.stream() {
		return x.frames()[:1]
	}
	return nil
}

// wantNoHead wants no byte of the answer to have come before it ended so.
func (x *exchange) wantNoHead(end string) {
	x.t.Helper()
	x.begin()
	_, how := x.next()
	require.Equal(x.t, end, how)
	status, _ := x.head()
	require.Zero(x.t, status)
	if p, one := x.peer.(*peer1); one {
		require.Empty(x.t, p.top)
	}
}

// wantWholeChunks wants the answer to have ended between two chunks, and without the last.
func (x *exchange) wantWholeChunks() {
	if p, one := x.peer.(*peer1); one {
		require.True(x.t, p.chunked)
		require.Empty(x.t, p.torn)
	}
}

func endings() []proof {
	sudden := func(end script.Step) func(variant, time.Duration) []script.Step {
		return list(script.Headers{}, text("one"), script.Await{Gate: gate}, end)
	}
	return []proof{
		{name: "an end leaves the connection fit for the next request", proves: []string{"end"}, steps: ended2(text("one", "two")), judge: func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			x.wantPieces(x.frames())
			x.wantWrites(x.frames())
			_, h := x.head()
			require.Equal(x.t, x.types[200], h.Get("Content-Type"))
			x.await("end")
			x.wantAgain()
		}},
		{name: "an end that closes", proves: []string{"end.close"}, steps: list(text("one"), script.Done{}, script.End{Close: true}), judge: func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			x.wantPieces(x.frames())
			_, h := x.head()
			require.Empty(x.t, h.Get("Connection"), "it does not say so")
			x.wantClosed(fin)
			if p, two := x.peer.(*peer2); two {
				require.Equal(x.t, uint32(1), p.away().LastStreamID)
				require.Equal(x.t, http2.ErrCodeNo, p.away().ErrCode)
			}
		}},
		{name: "a cut before any byte", proves: []string{"cut"}, steps: list(fault.Cut{}), judge: func(x *exchange) { x.wantNoHead(fin) }},
		{name: "a cut in the middle", proves: []string{"cut"}, steps: sudden(fault.Cut{}), judge: func(x *exchange) {
			x.begun()
			x.went()
			require.Equal(x.t, fin, x.finish())
			want := x.firstFrame()
			if !x.stream() { // half of the body
				body := x.frames()[0]
				want = []string{body[:len(body)/2]}
			}
			x.wantPieces(want)
			x.wantWholeChunks()
			x.wantWrites(want)
		}},
		{name: "a reset before any byte", proves: []string{"reset"}, steps: list(fault.Reset{}), judge: func(x *exchange) { x.wantNoHead(rst) }},
		{name: "a reset in the middle", proves: []string{"reset"}, steps: sudden(fault.Reset{}), judge: func(x *exchange) {
			x.begun()
			x.went()
			require.Equal(x.t, rst, x.finish())
			x.wantPieces(x.firstFrame())
			x.wantWholeChunks()
		}},
		{name: "a half-close goes on reading", proves: []string{"half-close"}, steps: list(script.Headers{}, text("one"), fault.HalfClose{}), judge: func(x *exchange) {
			x.begun()
			require.Equal(x.t, fin, x.finish())
			x.wantPieces(x.firstFrame())
			x.wantWholeChunks()
			x.await("half-close")
			if p, two := x.peer.(*peer2); two { // its frames are still read
				require.NoError(x.t, p.framer.WriteRSTStream(1, http2.ErrCodeCancel))
				require.Contains(x.t, x.await("left").Detail, "rst-stream CANCEL")
				return
			}
			_, err := io.WriteString(x.socket(), "more")
			require.NoError(x.t, err)
			x.socket().Close()
			left := x.await("left").Detail
			require.True(x.t, strings.HasPrefix(left, "fin "), left)
			require.Contains(x.t, left, "unread=4")
		}},
		{name: "a stall without end", proves: []string{"stall"}, steps: list(script.Headers{}, text("one"), fault.Stall{}), judge: func(x *exchange) {
			x.begun()
			x.silent(map[bool]time.Duration{true: 24 * time.Hour, false: 5 * x.u}[x.virtual])
			x.wantPieces(x.firstFrame())
			x.socket().Close()
			left := x.await("left").Detail
			require.True(x.t, strings.HasPrefix(left, "fin "), left)
		}},
		{name: "a stall before the head", proves: []string{"stall"}, steps: func(_ variant, u time.Duration) []script.Step {
			return ending(fault.Stall{For: 2 * u}, text("one"))
		}, judge: func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			x.wantPieces(x.frames())
			for _, c := range x.pieces {
				x.wantInstant(2*x.u, c)
			}
			x.wantAgain()
		}},
		{name: "a stall in the middle", proves: []string{"stall.for"}, steps: func(_ variant, u time.Duration) []script.Step {
			return ending(script.Headers{}, text("one"), fault.Stall{For: 3 * u}, text("two"))
		}, judge: func(x *exchange) {
			x.begin()
			x.head()
			require.Equal(x.t, complete, x.finish())
			x.wantPieces(x.frames())
			for i, c := range x.pieces {
				if i == 0 && x.stream() {
					x.wantInstant(0, c)
				} else {
					x.wantInstant(3*x.u, c)
				}
			}
		}},
	}
}

// wantInstant wants a piece to have come then; in real time, not before.
func (x *exchange) wantInstant(at time.Duration, c chunk) {
	x.t.Helper()
	if x.virtual {
		require.Equal(x.t, at, c.at)
	} else {
		require.GreaterOrEqual(x.t, c.at, at)
	}
}
