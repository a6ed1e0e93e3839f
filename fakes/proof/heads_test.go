package proof

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// heads are the faults of statuses and headers.
func heads() []proof {
	own := func(name, value string) script.Step {
		return script.Headers{Header: map[string]string{name: value}}
	}
	all := []proof{
		{name: "headers leave at once", proves: []string{"headers"}, steps: func(_ variant, u time.Duration) []script.Step {
			return ending(script.Headers{}, fault.Stall{For: 2 * u}, text("one"))
		}, judge: func(x *exchange) {
			asked := time.Now()
			x.begin()
			status, h := x.head()
			if x.virtual {
				require.Zero(x.t, time.Since(asked))
			}
			require.Equal(x.t, 200, status)
			require.Equal(x.t, x.types[200], h.Get("Content-Type"))
			require.Equal(x.t, complete, x.finish())
			for _, c := range x.pieces {
				x.wantInstant(2*x.u, c)
			}
			x.wantPieces(x.frames())
		}},
		{name: "a status and headers of the script", proves: []string{"headers.status", "headers.header"}, steps: list(
			script.Headers{Status: 503, Header: map[string]string{"Retry-After": "7", "Content-Type": "text/html", "X-Odd": "a, b"}}, script.Raw{Bytes: "<html>"}, script.End{},
		), judge: func(x *exchange) {
			x.begin()
			status, h := x.head()
			require.Equal(x.t, 503, status)
			for name, want := range map[string]string{"Retry-After": "7", "Content-Type": "text/html", "X-Odd": "a, b"} {
				require.Equal(x.t, want, h.Get(name))
			}
			require.Equal(x.t, complete, x.finish())
			x.wantPieces([]string{"<html>"})
			x.wantAgain()
		}},
		{name: "a length that is too long", proves: []string{"headers.header"}, steps: ended2(own("Content-Length", "100000"), text("one")), judge: func(x *exchange) {
			x.begin()
			_, h := x.head()
			require.Equal(x.t, "100000", h.Get("Content-Length"))
			require.Empty(x.t, h.Get("Transfer-Encoding"))
			if x.two {
				require.Equal(x.t, complete, x.finish(), "the stream ends early")
			} else {
				require.Equal(x.t, fin, x.finish(), "the connection ends early")
			}
			require.Equal(x.t, strings.Join(x.frames(), ""), x.joined())
		}},
		{name: "a length that is too short", proves: []string{"headers.header"}, steps: ended2(own("Content-Length", "5"), text("one")), judge: func(x *exchange) {
			x.begin()
			_, h := x.head()
			require.Equal(x.t, "5", h.Get("Content-Length"))
			require.Equal(x.t, complete, x.finish())
			if x.two {
				require.Equal(x.t, strings.Join(x.frames(), ""), x.joined())
				return
			}
			more, end := x.rest()
			require.Equal(x.t, fin, end)
			require.Len(x.t, x.joined(), 5)
			require.Equal(x.t, strings.Join(x.frames(), ""), x.joined()+more, "the rest stands behind the answer")
		}},
		{name: "a compression that is none", proves: []string{"headers.header"}, steps: ended2(own("Content-Encoding", "gzip"), text("one")), judge: func(x *exchange) {
			x.begin()
			_, h := x.head()
			require.Equal(x.t, "gzip", h.Get("Content-Encoding"))
			require.Equal(x.t, complete, x.finish())
			x.wantPieces(x.frames())
		}},
		{name: "a compressed body", proves: []string{"headers.gzip"}, steps: ended2(script.Headers{Gzip: true}, text("one", "two")), judge: func(x *exchange) {
			x.begin()
			_, h := x.head()
			require.Equal(x.t, "gzip", h.Get("Content-Encoding"))
			require.Equal(x.t, complete, x.finish())
			var got, want strings.Builder
			for i, c := range x.pieces {
				got.WriteString(c.bytes)
				if i < len(x.frames()) {
					want.WriteString(x.frames()[i])
				}
				z, err := gzip.NewReader(strings.NewReader(got.String()))
				require.NoError(x.t, err)
				plain, err := io.ReadAll(z)
				require.Equal(x.t, want.String(), string(plain), "each frame can be read when it has come")
				if last := i == len(x.pieces)-1; last {
					require.NoError(x.t, err)
				} else {
					require.ErrorIs(x.t, err, io.ErrUnexpectedEOF)
				}
			}
			require.Equal(x.t, strings.Join(x.frames(), ""), want.String())
			x.wantAgain()
		}},
		{name: "a status with a body of the script", proves: []string{"status.body", "status.content-type", "status.header"}, steps: list(
			fault.Status{Code: 502, ContentType: "text/html", Body: "<html>bad</html>", Header: map[string]string{"Retry-After": "9"}},
		), judge: func(x *exchange) {
			h := x.wantStatus(502, "<html>bad</html>")
			require.Equal(x.t, "text/html", h.Get("Content-Type"))
			require.Equal(x.t, "9", h.Get("Retry-After"))
			x.wantAgain()
		}},
		{name: "a status with a body of the script and the dialect's type", proves: []string{"status.body"}, steps: list(fault.Status{Code: 400, Body: "{}"}), judge: func(x *exchange) {
			require.Equal(x.t, x.types[400], x.wantStatus(400, "{}").Get("Content-Type"))
		}},
		{name: "a status with an empty body", proves: []string{"status.blank"}, steps: list(fault.Status{Code: 429, Blank: true}), judge: func(x *exchange) {
			x.wantStatus(429, "")
			x.wantAgain()
		}},
	}
	for _, code := range []int{400, 401, 429} {
		all = append(all, proof{name: fmt.Sprintf("a status %d in the dialect's words", code), proves: []string{"status.code"}, steps: list(fault.Status{Code: code}), judge: func(x *exchange) {
			x.begin()
			x.await("status")
			body := x.frames()[0]
			h := x.readStatus(code, body)
			require.Equal(x.t, x.types[code], h.Get("Content-Type"))
			require.Contains(x.t, body, "{")
			x.wantAgain()
		}})
	}
	return all
}

// joined is the body that came.
func (x *exchange) joined() string {
	var b bytes.Buffer
	for _, c := range x.pieces {
		b.WriteString(c.bytes)
	}
	return b.String()
}

// wantStatus asks, and wants an answer with that status and body and its right length.
func (x *exchange) wantStatus(code int, body string) interface{ Get(string) string } {
	x.t.Helper()
	x.begin()
	return x.readStatus(code, body)
}

func (x *exchange) readStatus(code int, body string) interface{ Get(string) string } {
	x.t.Helper()
	status, h := x.head()
	require.Equal(x.t, code, status)
	require.Equal(x.t, strconv.Itoa(len(body)), h.Get("Content-Length"))
	require.Empty(x.t, h.Get("Transfer-Encoding"))
	require.Equal(x.t, complete, x.finish())
	require.Equal(x.t, body, x.joined())
	return h
}
