package provider_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/stallwright/stallwright/fakes/provider"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// besieged plays f over TCP, while another client goes on asking and must be answered as if nothing were: on one
// connection that it keeps, and on new ones too unless f is to take them all. Requests go to the Fallback, whose
// timeline is the world's.
func besieged(t *testing.T, p *provider.Provider, newOnes bool, f func(w *world)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	besiegedOn(t, l, p, newOnes, f)
}

func besiegedOn(t *testing.T, l net.Listener, p *provider.Provider, newOnes bool, f func(w *world)) {
	t.Helper()
	answer := Answer("text")
	answer.Times = Any
	flood := Program{Times: Any, When: When{Model: "flood"}, Steps: []Step{Flood{Frames: 1000, Bytes: 100_000}, Done{}}}
	tl := timeline.New()
	p.Fallback = &provider.Session{Script: Script{flood, answer}, Timeline: tl}
	serve(t, p, l, new(net.Dialer).DialContext, func(w *world) {
		w.tl = tl
		kept, fresh := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		defer kept.CloseIdleConnections()
		require.NoError(t, w.asked(kept))
		stop, done := make(chan struct{}), make(chan error, 1)
		served := make(chan struct{}, 1)
		go func() {
			done <- func() error {
				for {
					if err := w.asked(kept); err != nil {
						return err
					}
					if newOnes {
						if err := w.asked(fresh); err != nil {
							return err
						}
					}
					select {
					case served <- struct{}{}:
					default:
					}
					select {
					case <-stop:
						return nil
					case <-time.After(10 * time.Millisecond):
					}
				}
			}()
		}()
		ended := false
		end := func() {
			if !ended {
				ended = true
				close(stop)
				require.NoError(t, <-done, "the other client")
			}
		}
		defer end()
		f(w)
		for range 2 { // one may be from before the end
			select {
			case <-served:
			case err := <-done:
				done <- err
			}
		}
		end()
	})
}

// asked asks once, and says what is wrong with the answer.
func (w *world) asked(client *http.Client) error {
	resp, err := client.Post(w.url, "application/json", strings.NewReader(unmarked))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != 200 || !strings.Contains(string(b), `"text"`) || !strings.HasSuffix(string(b), "[DONE]\n\n")) {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, b)
	}
	return err
}

func (w *world) connect() net.Conn {
	w.t.Helper()
	c, err := w.dial(context.Background(), "tcp", w.addr)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { c.Close() })
	return c
}

// happens awaits so many events of that kind whose detail begins so.
func (w *world) happens(times int, kind, detail string) {
	w.t.Helper()
	n := 0
	_, ok := w.tl.Await(30*time.Second, func(e timeline.Event) bool {
		if e.Kind == kind && strings.HasPrefix(e.Detail, detail) {
			n++
		}
		return n == times
	})
	require.True(w.t, ok, "%d of %d times: %s %s", n, times, kind, detail)
}

// costs asserts how much more memory is in use than before: the client's side is in it.
func (w *world) costs(before uint64, most int64) {
	w.t.Helper()
	require.LessOrEqual(w.t, int64(inUse())-int64(before), most)
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

const post = "POST /v1/chat/completions HTTP/1.1\r\nHost: m\r\n"

// A body is read up to its bound, whether or not its length is said.
func TestBodyOfAHundredMegabytes(t *testing.T) {
	for _, head := range []string{post + "Content-Length: 104857600\r\n\r\n", post + "Transfer-Encoding: chunked\r\n\r\n6400000\r\n"} {
		besieged(t, &provider.Provider{}, true, func(w *world) {
			before := allocated()
			c := w.connect()
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				io.WriteString(c, head)
				piece := make([]byte, 1<<20)
				for range 100 {
					if _, err := c.Write(piece); err != nil {
						return
					}
				}
			}()
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err)
			require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
			require.True(t, resp.Close)
			w.happens(1, "violation", "POST /v1/chat/completions has a body above 8388608 bytes")
			c.Close()
			<-sent
			require.Less(t, allocated()-before, uint64(80<<20), "in all: eight megabytes are kept, and were copied as they grew")
		})
	}
}

// Those above the bound are closed at once, the others when no request has come in time.
func TestConnectionsThatNeverAsk(t *testing.T) {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	// Both ends of those that are taken count, and there must be files for all else.
	most := int(min(4096, limit.Cur/4))
	count := int(min(10_000, limit.Cur-uint64(most)-200))
	besieged(t, &provider.Provider{MaxConns: most, HeaderTime: 5 * time.Second}, false, func(w *world) {
		before := inUse()
		conns := make([]net.Conn, count)
		for i := range conns {
			conns[i] = w.connect()
		}
		w.happens(1, "connection", fmt.Sprintf("closed: %d are open, and no more", most))
		w.costs(before, int64(count)*2<<10+int64(most)*8<<10)
		w.happens(most-1, "connection", "closed: no whole request came in time") // the other client's asks
		require.NoError(t, w.asked(w.client), "there is room again")
		for _, c := range conns {
			c.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, err := c.Read(make([]byte, 1))
			require.Error(t, err)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			c.Close()
		}
	})
}

// What comes too slowly is ended by a time for the whole, however regular it is.
func TestWhatNeverEnds(t *testing.T) {
	tests := []struct {
		name, head, drip string
		status           int
		tells            string
	}{
		{"a body", post + "Content-Length: 1000000\r\n\r\n", "x", 408, "the body of POST /v1/chat/completions did not arrive: "},
		{"a body in chunks", post + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", 408, "the body of POST /v1/chat/completions did not arrive: "},
		{"headers", post, "X-More: 1\r\n", 0, "closed: no whole request came in time"},
		{"a request line", "", "G", 0, "closed: no whole request came in time"},
		{"the beginning of HTTP/2", "PRI", "", 0, "closed: no whole request came in time"},
		{"HTTP/2 after its preface", http2.ClientPreface, "", 0, "closed: no whole request came in time"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			besieged(t, &provider.Provider{HeaderTime: 700 * time.Millisecond}, true, func(w *world) {
				before := inUse()
				conns := make([]net.Conn, 100)
				var dripping sync.WaitGroup
				began := time.Now()
				for i := range conns {
					c := w.connect()
					conns[i] = c
					_, err := io.WriteString(c, test.head)
					require.NoError(t, err)
					if test.drip == "" {
						continue
					}
					dripping.Go(func() {
						for {
							<-time.After(10 * time.Millisecond)
							if _, err := io.WriteString(c, test.drip); err != nil {
								return
							}
						}
					})
				}
				w.happens(len(conns), "connection", test.tells)
				require.Less(t, time.Since(began), 20*time.Second)
				for _, c := range conns {
					if test.status != 0 {
						resp, err := http.ReadResponse(bufio.NewReader(c), nil)
						require.NoError(t, err)
						require.Equal(t, test.status, resp.StatusCode)
					}
					c.Close()
				}
				dripping.Wait()
				w.costs(before, 4<<20)
			})
		})
	}
}

func TestHeadersWithoutEndThatComeFast(t *testing.T) {
	besieged(t, &provider.Provider{}, true, func(w *world) {
		before := allocated()
		c := w.connect()
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			io.WriteString(c, post)
			line := []byte("X-More: " + strings.Repeat("x", 1000) + "\r\n")
			for range 100_000 {
				if _, err := c.Write(line); err != nil {
					return
				}
			}
		}()
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, resp.StatusCode)
		w.happens(1, "connection", "closed: what came is no request of HTTP")
		c.Close()
		<-sent
		require.Less(t, allocated()-before, uint64(32<<20))
	})
}

// A client that never reads holds its connection, a frame of its answer, and what the dialect keeps of its text.
func TestClientsThatNeverRead(t *testing.T) {
	besieged(t, &provider.Provider{}, true, func(w *world) {
		before := inUse()
		const body = `{"model":"flood","stream":true}`
		conns := make([]net.Conn, 50)
		for i := range conns {
			conns[i] = w.connect()
			_, err := fmt.Fprintf(conns[i], "%sContent-Length: %d\r\n\r\n%s", post, len(body), body)
			require.NoError(t, err)
		}
		w.happens(len(conns), "blocked", "")
		w.costs(before, int64(len(conns))*3<<20)
		for _, c := range conns {
			c.Close()
		}
		w.happens(len(conns), "left", "rst") // what was not read makes one of the close
	})
}

func TestClientsThatOpenAndClose(t *testing.T) {
	besieged(t, &provider.Provider{}, true, func(w *world) {
		before := inUse()
		const count = 5000
		for range count {
			w.connect().Close()
		}
		w.happens(count, "connection", "left without a request")
		w.costs(before, 8<<20)
	})
}

func TestWhatIsNoRequest(t *testing.T) {
	tests := []struct {
		name, send, answer, tells string
	}{
		{"garbage", "\x00\xff\x10 this is nothing\r\n\r\n", "HTTP/1.1 400", "closed: what came is no request of HTTP"},
		{"a line without an end", strings.Repeat("A", 4<<20), "HTTP/1.1 431", "closed: what came is no request of HTTP"},
		{"another version", "GET / HTTP/9.9\r\n\r\n", "HTTP/1.1 505", "closed: what came is no request of HTTP"},
		{"two lengths", post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 400", "closed: what came is no request of HTTP"},
		{"a wrong preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", "", "closed: what came is no request of HTTP"},
		{"HTTP/2 and then garbage", http2.ClientPreface + strings.Repeat("\xff", 100), "\x00\x00\x0c\x04", "closed: what came is no request of HTTP"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			besieged(t, &provider.Provider{}, true, func(w *world) {
				c := w.connect()
				sent := make(chan struct{})
				go func() { defer close(sent); io.WriteString(c, test.send) }()
				b := make([]byte, len(test.answer))
				_, err := io.ReadFull(c, b)
				require.NoError(t, err)
				require.Equal(t, test.answer, string(b))
				w.happens(1, "connection", test.tells)
				_, err = io.Copy(io.Discard, c)
				if err != nil { // what was not read makes a reset of the close
					require.ErrorIs(t, err, syscall.ECONNRESET)
				}
				c.Close()
				<-sent
			})
		})
	}
}

func TestTLSWhereItIsNotSpoken(t *testing.T) {
	besieged(t, &provider.Provider{}, true, func(w *world) {
		err := tls.Client(w.connect(), &tls.Config{InsecureSkipVerify: true}).HandshakeContext(t.Context())
		require.ErrorContains(t, err, "first record does not look like a TLS handshake")
		w.happens(1, "connection", "closed: the peer began with TLS, and the fake speaks plain HTTP")
	})
}

func TestPlainHTTPWhereTLSIsSpoken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serveTLS(t, l, new(net.Dialer).DialContext, false, func(w *world) {
		require.NoError(t, w.p.Open("", &provider.Session{Script: Script{Answer("text")}, Timeline: w.tl}))
		c := w.connect()
		_, err := io.WriteString(c, post+"\r\n")
		require.NoError(t, err)
		_, err = io.ReadAll(c)
		if err != nil {
			require.ErrorIs(t, err, syscall.ECONNRESET)
		}
		w.happens(1, "connection", "closed: the peer does not begin with TLS, which the fake speaks")
		require.NoError(t, w.asked(w.client))
	})
}

// Requests that come before the answers are played in their order, as many as there are; more bytes than a request
// that is not played yet may have end the connection.
func TestManyPipelinedRequests(t *testing.T) {
	besieged(t, &provider.Provider{}, true, func(w *world) {
		before := inUse()
		request := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", post, len(unmarked), unmarked)
		for _, test := range []struct{ requests, least, most int }{{200, 200, 200}, {5000, 1, 4999}} {
			c := w.connect()
			sent := make(chan struct{})
			go func() { defer close(sent); io.WriteString(c, strings.Repeat(request, test.requests)) }()
			in := bufio.NewReader(c)
			answered := 0
			for answered < test.requests {
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					break
				}
				b, err := io.ReadAll(resp.Body)
				if err != nil {
					break
				}
				require.Contains(t, string(b), `"text"`)
				answered++
			}
			c.Close()
			<-sent
			require.GreaterOrEqual(t, answered, test.least)
			require.LessOrEqual(t, answered, test.most)
		}
		w.costs(before, 8<<20)
	})
}

// rawHTTP2 is a peer that writes frames, and reads only if it is told to.
func rawHTTP2(w *world) (c net.Conn, f *http2.Framer, headers func(id uint32) []byte) {
	c = w.connect()
	_, err := io.WriteString(c, http2.ClientPreface)
	require.NoError(w.t, err)
	f = http2.NewFramer(c, c)
	require.NoError(w.t, f.WriteSettings())
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	return c, f, func(uint32) []byte {
		block.Reset()
		for _, field := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", "/v1/chat/completions"}, {":authority", "m"}} {
			encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		}
		return block.Bytes()
	}
}

// Streams that are reset as soon as they are asked for cost no more than those that may run at once.
func TestStreamsThatAreResetAtOnce(t *testing.T) {
	besieged(t, &provider.Provider{}, true, func(w *world) {
		before := inUse()
		c, f, headers := rawHTTP2(w)
		read := make(chan struct{})
		go func() { defer close(read); io.Copy(io.Discard, c) }()
		const count = 10_000
		for i := range count {
			id := uint32(2*i + 1)
			require.NoError(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: headers(id), EndHeaders: true}))
			require.NoError(t, f.WriteData(id, true, []byte(`{"model":"flood","stream":true}`)))
			require.NoError(t, f.WriteRSTStream(id, http2.ErrCodeCancel))
		}
		require.NoError(t, f.WritePing(false, [8]byte{}))
		w.happens(1, "left", "rst-stream CANCEL")
		w.costs(before, 64<<20)
		c.Close()
		<-read
	})
}

// smallBuffers is a listener on whose connections little is on its way: a write soon waits for the peer.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		c.(*net.TCPConn).SetWriteBuffer(16 << 10)
	}
	return c, err
}

// A peer that makes the fake say much and reads none of it is cut off.
func TestFloodsOfHTTP2ThatReadNothing(t *testing.T) {
	tests := []struct {
		name  string
		write func(f *http2.Framer, id uint32, block []byte) error
	}{
		{"pings", func(f *http2.Framer, _ uint32, _ []byte) error { return f.WritePing(false, [8]byte{}) }},
		{"settings", func(f *http2.Framer, _ uint32, _ []byte) error { return f.WriteSettings() }},
		{"streams that are refused", func(f *http2.Framer, id uint32, block []byte) error {
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true})
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			besiegedOn(t, smallBuffers{l}, &provider.Provider{}, true, func(w *world) {
				before := inUse()
				c, _, headers := rawHTTP2(w)
				c.(*net.TCPConn).SetReadBuffer(64 << 10)
				const count = 1_000_000
				f := http2.NewFramer(bufio.NewWriterSize(c, 16<<10), nil)
				var err error
				c.SetWriteDeadline(time.Now().Add(time.Minute))
				for i := 0; i < count && err == nil; i++ {
					id := uint32(2*i + 1)
					err = test.write(f, id, headers(id))
				}
				require.Error(t, err, "it was let go on")
				var late net.Error
				require.False(t, errors.As(err, &late) && late.Timeout(), "nobody reads it, and nobody ends it")
				w.costs(before, 16<<20)
			})
		})
	}
}

func TestHTTP2BodyAByteAtATime(t *testing.T) {
	besieged(t, &provider.Provider{}, true, func(w *world) {
		before := inUse()
		c, f, headers := rawHTTP2(w)
		out := bufio.NewWriterSize(c, 16<<10)
		slow := http2.NewFramer(out, nil)
		require.NoError(t, slow.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headers(1), EndHeaders: true}))
		for _, b := range []byte(strings.Repeat(" ", 100_000) + unmarked) {
			require.NoError(t, slow.WriteData(1, false, []byte{b}))
		}
		require.NoError(t, slow.WriteData(1, true, nil))
		require.NoError(t, out.Flush())
		for {
			frame, err := f.ReadFrame()
			require.NoError(t, err)
			if data, ok := frame.(*http2.DataFrame); ok && bytes.Contains(data.Data(), []byte(`"text"`)) {
				break
			}
		}
		w.costs(before, 4<<20)
	})
}
