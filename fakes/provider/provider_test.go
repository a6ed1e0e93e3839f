package provider_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/fakes/wire"
)

func TestAnswerIsStreamedAndRecorded(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Program{Steps: []Step{
			Role{}, Think{Chunks: []string{"hm"}}, Text{Chunks: []string{"one ", "two"}, Every: time.Second},
			Tool{ID: "call_1", Name: "f", Args: []string{"{}"}}, Usage{Prompt: 1, Completion: 2}, Finish{Reason: "stop"}, Done{}, End{},
		}})
		resp, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, 200, resp.StatusCode)
		require.Equal(t, "text/event-stream; charset=utf-8", resp.Header.Get("Content-Type"))
		require.True(t, strings.HasSuffix(body, "data: [DONE]\n\n"), body)
		require.Equal(t, []string{
			"#1 " + asked, "#1 headers 200", "#1 role", "#1 think hm", "#1 text one ", "#1 text two",
			"#1 tool call_1 f", "#1 tool {}", "#1 finish stop", "#1 done", "#1 end",
		}, w.events(), "usage was not asked for")
		require.Equal(t, seconds(0, 1), w.at("text"))
		require.Empty(t, w.p.Release("case"))
	})
}

func TestStallOfAnHourCostsNothing(t *testing.T) {
	began := time.Now()
	inBubble(t, func(w *world) {
		w.open(Program{Steps: []Step{Text{Chunks: []string{"a"}}, fault.Stall{For: time.Hour}, Text{Chunks: []string{"b"}}, Done{}}})
		_, _, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, []string{
			"#1 " + asked, "#1 headers 200", "#1 text a", "#1 stall 1h0m0s", "#1 text b", "#1 done", "#1 end",
		}, w.events())
		require.Equal(t, seconds(0, 3600), w.at("text"))
		require.Equal(t, seconds(0), w.at("stall"))
	})
	require.Less(t, time.Since(began), 10*time.Second)
}

// Instants are absolute: time that steps take, here a slow reader's, is not added up.
func TestPaceDoesNotDrift(t *testing.T) {
	inBubble(t, func(w *world) {
		const gaps, every = 100, 50 * time.Millisecond
		chunks := make([]string, gaps+1)
		for i := range chunks {
			chunks[i] = strings.Repeat("x", 2000)
		}
		w.open(Program{Steps: []Step{Text{Chunks: chunks, Every: every}, Pause{For: every}, Done{}}})
		resp, err := w.post(context.Background(), streaming)
		require.NoError(t, err)
		defer resp.Body.Close()
		// The reader begins late: the buffer between holds some chunks, the others are late and then in time again.
		timer := time.NewTimer(3 * time.Second)
		<-timer.C
		_, err = io.ReadAll(resp.Body)
		require.NoError(t, err)
		at := w.at("text")
		require.Len(t, at, gaps+1)
		for i, d := range at {
			if want := time.Duration(i) * every; want > 3*time.Second || want < 1400*time.Millisecond {
				require.Equal(t, want, d, "chunk %d", i)
			}
		}
		require.Equal(t, []time.Duration{(gaps + 1) * every}, w.at("done"))
		require.NotEmpty(t, w.at("blocked"))
	})
}

func TestKeepalivesRunBehindWhatFollows(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Program{Steps: []Step{
			Pause{For: time.Second}, Keepalive{Form: CommentForm, Every: 5 * time.Second},
			Text{Chunks: []string{"a", "b"}, Every: 7 * time.Second}, // at 1 and 8
			fault.Stall{For: 4 * time.Second},                        // to 12
			Await{Gate: "go"},                                        // to 20
			Pause{For: 2 * time.Second}, Text{Chunks: []string{"c"}}, // at 22
			Keepalive{}, fault.Stall{For: time.Minute}, Done{},
		}})
		time.AfterFunc(20*time.Second, func() { w.gates.Open("go") })
		_, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, seconds(6, 11, 16, 21), w.at("keepalive"))
		require.Equal(t, seconds(1, 8, 22), w.at("text"))
		require.Equal(t, seconds(12), w.at("await"))
		require.Equal(t, seconds(82), w.at("end"))
		require.Equal(t, 4, strings.Count(body, ": ping\n\n"))
	})
}

func TestKeepalivesBeforeAnyFrameSendTheHead(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Program{Steps: []Step{Keepalive{Form: EmptyForm, Every: time.Second}, fault.Stall{}}})
		resp, err := w.post(context.Background(), streaming)
		require.NoError(t, err)
		require.Equal(t, seconds(1), w.at("headers"))
		resp.Body.Close()
		w.await("left")
	})
}

func TestAnOpenGateTakesNoTime(t *testing.T) {
	inBubble(t, func(w *world) {
		w.gates.Open("go")
		w.open(Program{Steps: []Step{Pause{For: time.Second}, Await{Gate: "go"}, Pause{For: time.Second}, Done{}}})
		_, _, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, seconds(2), w.at("done"))
	})
}

// A peer that leaves ends the program at once, wherever it is.
func TestPeerLeaves(t *testing.T) {
	tests := []struct {
		name string
		at   Step
	}{
		{"in a stall for ever", fault.Stall{}},
		{"in a stall", fault.Stall{For: time.Hour}},
		{"in a pause", Pause{For: time.Hour}},
		{"at a gate", Await{Gate: "never"}},
		{"between chunks", Text{Chunks: []string{"b", "c"}, Every: time.Hour}},
		{"in a drip", fault.Drip{Bytes: 1, Every: time.Hour}},
		{"after a half-close", fault.HalfClose{}},
	}
	for _, test := range tests {
		for _, body := range []string{streaming, whole} {
			t.Run(fmt.Sprintf("%s, stream %t", test.name, body == streaming), func(t *testing.T) {
				inBubble(t, func(w *world) {
					steps := []Step{Headers{}, test.at}
					switch test.at.(type) {
					case fault.HalfClose: // it is the last, and holds the connection
					case fault.Stall:
						if test.at != (fault.Stall{}) {
							steps = append(steps, Done{})
						}
					default:
						steps = append(steps, Text{Chunks: []string{"never"}}, Done{})
					}
					w.open(Program{Steps: steps})
					ctx, cancel := context.WithCancel(context.Background())
					resp, err := w.post(ctx, body)
					require.NoError(t, err)
					time.AfterFunc(10*time.Second, cancel)
					if _, half := test.at.(fault.HalfClose); half {
						_, err = io.ReadAll(resp.Body)
						require.ErrorIs(t, err, io.ErrUnexpectedEOF)
						cancel()
						resp.Body.Close()
						w.await("left")
						return
					}
					io.ReadAll(resp.Body)
					resp.Body.Close()
					require.Equal(t, 10*time.Second, w.await("left").At)
					synctest.Wait()
					last := w.events()[len(w.events())-1]
					require.Contains(t, []string{"#1 left fin", "#1 left rst"}, last)
					require.Empty(t, w.at("done"))
				})
			})
		}
	}
}

func TestEndingsSeenByARawPeer(t *testing.T) {
	text := Text{Chunks: []string{"a"}}
	pause := Pause{For: 20 * time.Millisecond} // else a reset takes the text with it
	tests := []struct {
		name   string
		steps  []Step
		err    error
		ends   string // suffix of what was received
		events []string
	}{
		{"a clean end with close", []Step{text, Done{}, End{Close: true}}, nil, "data: [DONE]\n\n\r\n0\r\n\r\n", []string{"done", "end"}},
		{"a cut after text", []Step{text, fault.Cut{}}, nil, "}\n\n\r\n", []string{"text a", "cut"}},
		{"a cut before any byte", []Step{fault.Cut{}}, nil, "", []string{asked, "cut"}},
		{"a cut after the headers", []Step{Headers{}, fault.Cut{}}, nil, "chunked\r\n\r\n", []string{"headers 200", "cut"}},
		{"a reset after text", []Step{text, pause, fault.Reset{}}, syscall.ECONNRESET, "", []string{"text a", "reset"}},
		{"a reset before any byte", []Step{fault.Reset{}}, syscall.ECONNRESET, "", []string{asked, "reset"}},
		{"a half-close", []Step{text, fault.HalfClose{}}, nil, "}\n\n\r\n", []string{"text a", "half-close", "left fin"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			play := func(w *world) {
				w.open(Program{Steps: test.steps})
				got, err := w.raw(streaming)
				if test.err != nil {
					require.ErrorIs(t, err, test.err)
				} else {
					require.NoError(t, err)
					require.True(t, strings.HasSuffix(got, test.ends), got)
					require.Equal(t, test.ends == "", got == "")
				}
				last := test.events[len(test.events)-1]
				kind, _, _ := strings.Cut(last, " ")
				w.await(kind)
				var got2 []string
				for _, e := range w.events() {
					got2 = append(got2, strings.TrimPrefix(e, "#1 "))
				}
				if got2[len(got2)-1] == "left rst" { // as the peer's close may be seen
					got2[len(got2)-1] = "left fin"
				}
				require.Equal(t, test.events, got2[len(got2)-len(test.events):])
			}
			t.Run("tcp", func(t *testing.T) { overTCP(t, play) })
			t.Run("memnet", func(t *testing.T) { inBubble(t, play) })
		})
	}
}

func TestResetAfterAHalfClose(t *testing.T) {
	play := func(w *world) {
		w.open(Program{Steps: []Step{fault.HalfClose{}, Await{Gate: "go"}, fault.Reset{}}})
		c, err := w.dial(context.Background(), "tcp", w.addr)
		require.NoError(w.t, err)
		defer c.Close()
		fmt.Fprintf(c, "POST /chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(streaming), streaming)
		b, err := io.ReadAll(c)
		require.NoError(w.t, err)
		require.Empty(w.t, b)
		_, err = c.Write([]byte("the other way is open"))
		require.NoError(w.t, err)
		w.gates.Open("go")
		w.await("reset")
		require.Empty(w.t, w.at("left"))
	}
	t.Run("tcp", func(t *testing.T) { overTCP(t, play) })
	t.Run("memnet", func(t *testing.T) { inBubble(t, play) })
}

func TestReleaseEndsRunningExchanges(t *testing.T) {
	play := func(w *world) {
		w.open(Program{Times: 3, Steps: []Step{Text{Chunks: []string{"a"}}, fault.Stall{}}}, Answer("unused"), Program{Times: Any, Steps: []Step{Done{}}})
		var bodies []io.ReadCloser
		for range 2 {
			resp, err := w.post(context.Background(), streaming)
			require.NoError(w.t, err)
			bodies = append(bodies, resp.Body)
		}
		left := w.p.Release("case")
		require.Equal(w.t, []string{
			"program 1 (any request) was taken by 2 of 3 requests", "program 2 (any request) was taken by 0 of 1 requests",
		}, left)
		require.Len(w.t, w.at("closed"), 2)
		require.Empty(w.t, w.at("left"))
		for _, b := range bodies {
			_, err := io.ReadAll(b)
			require.Error(w.t, err)
			b.Close()
		}
		require.Nil(w.t, w.p.Release("case"), "it is released")
		w.open(Answer("again")) // the marker is free
		_, body, err := w.ask(streaming)
		require.NoError(w.t, err)
		require.Contains(w.t, body, "again")
	}
	t.Run("tcp", func(t *testing.T) { overTCP(t, play) })
	t.Run("memnet", func(t *testing.T) { inBubble(t, play) })
}

// A peer that has the whole answer may ask again at once, whatever its session's owner does meanwhile.
func TestReleaseLeavesTheConnectionOfAFinishedAnswer(t *testing.T) {
	overTCP(t, func(w *world) {
		c, err := w.dial(context.Background(), "tcp", w.addr)
		require.NoError(t, err)
		defer c.Close()
		in := bufio.NewReader(c)
		for n := range 500 {
			w.open(Answer("text"))
			fmt.Fprintf(c, "POST /chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(streaming), streaming)
			resp, err := http.ReadResponse(in, nil)
			require.NoError(t, err, "request %d", n+1)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			w.p.Release("case")
		}
		require.Len(t, w.at("end"), 500)
	})
}

func TestReleaseClosesAnAnswerWhoseEndIsNotRead(t *testing.T) {
	inBubble(t, func(w *world) {
		blocked := 0
		const buffer = 64 << 10                               // of the network
		for size := buffer - 1500; size < buffer; size += 3 { // a head is in it too
			w.tl = timeline.New()
			w.open(Program{Steps: []Step{Raw{Bytes: strings.Repeat("x", size)}, End{}}})
			c, err := w.dial(context.Background(), "tcp", w.addr)
			require.NoError(t, err)
			fmt.Fprintf(c, "POST /chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(streaming), streaming)
			synctest.Wait()
			events := w.events()
			w.p.Release("case")
			if strings.HasPrefix(events[len(events)-1], "#1 raw") { // the text has left, the end has not
				blocked++
				require.Equal(t, []time.Duration{wire.Patience}, w.at("closed"))
			} else {
				require.Zero(t, w.tl.Now())
			}
			c.Close()
		}
		require.NotZero(t, blocked)
	})
}

func TestCloseEndsEverything(t *testing.T) {
	play := func(w *world) {
		w.open(Program{Steps: []Step{fault.Stall{}}})
		done := make(chan error)
		go func() {
			_, _, err := w.ask(streaming)
			done <- err
		}()
		w.await("stall")
		idle, err := w.dial(context.Background(), "tcp", w.addr)
		require.NoError(w.t, err)
		defer idle.Close()
		require.NoError(w.t, w.p.Close())
		require.Len(w.t, w.at("closed"), 1)
		require.Error(w.t, <-done)
		_, err = idle.Read(make([]byte, 1))
		require.Error(w.t, err)
		require.ErrorIs(w.t, w.p.Open("late", &provider.Session{}), net.ErrClosed)
		require.NoError(w.t, w.p.Close())
	}
	t.Run("tcp", func(t *testing.T) { overTCP(t, play) })
	t.Run("memnet", func(t *testing.T) { inBubble(t, play) })
}

func TestConnectionIsKeptAlive(t *testing.T) {
	play := func(w *world, idle time.Duration) {
		fail := Program{Steps: []Step{fault.Status{Code: 429}}}
		w.open(Answer("one"), fail, Answer("two"), Answer("three"))
		for i, body := range []string{streaming, streaming, whole, streaming} {
			if i > 0 {
				timer := time.NewTimer(idle)
				<-timer.C
			}
			reused := false
			trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
			resp, err := w.post(httptrace.WithClientTrace(context.Background(), trace), body)
			require.NoError(w.t, err)
			_, err = io.ReadAll(resp.Body)
			require.NoError(w.t, err)
			resp.Body.Close()
			require.Equal(w.t, i > 0, reused, "request %d", i+1)
		}
		require.Empty(w.t, w.p.Release("case"))
	}
	t.Run("tcp", func(t *testing.T) { overTCP(t, func(w *world) { play(w, 0) }) })
	t.Run("idle for longer than a head may take", func(t *testing.T) { inBubble(t, func(w *world) { play(w, 30*time.Second) }) })
}

func TestPipelinedRequestIsAnswered(t *testing.T) {
	play := func(w *world) {
		w.open(Answer("one"), Answer("two"), Program{Steps: []Step{Text{Chunks: []string{"three"}}, End{Close: true}}})
		c, err := w.dial(context.Background(), "tcp", w.addr)
		require.NoError(w.t, err)
		defer c.Close()
		one := fmt.Sprintf("POST /chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(streaming), streaming)
		_, err = c.Write([]byte(one + one + one))
		require.NoError(w.t, err)
		in := bufio.NewReader(c)
		for _, want := range []string{"one", "two", "three"} {
			resp, err := http.ReadResponse(in, nil)
			require.NoError(w.t, err)
			b, err := io.ReadAll(resp.Body)
			require.NoError(w.t, err)
			require.Contains(w.t, string(b), want)
		}
		_, err = in.ReadByte()
		require.ErrorIs(w.t, err, io.EOF)
	}
	t.Run("tcp", func(t *testing.T) { overTCP(t, play) })
	t.Run("memnet", func(t *testing.T) { inBubble(t, play) })
}

func TestHandlerAloneClosesConnections(t *testing.T) {
	p := &provider.Provider{Dialects: []provider.Dialect{openai.Dialect{}}, Fallback: &provider.Session{Script: Script{Answer("one"), Answer("two")}}}
	defer p.Close()
	s := httptest.NewServer(p)
	defer s.Close()
	defer s.Client().CloseIdleConnections()
	for _, want := range []string{"one", "two"} {
		resp, err := s.Client().Post(s.URL+"/chat/completions", "application/json", strings.NewReader(`{"stream":true}`))
		require.NoError(t, err)
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		require.Contains(t, string(b), want)
		require.True(t, resp.Close)
	}
}

func TestWriterThatCannotBeTakenOver(t *testing.T) {
	tl := timeline.New()
	p := &provider.Provider{Dialects: []provider.Dialect{openai.Dialect{}}, Fallback: &provider.Session{Script: Script{Answer("one")}, Timeline: tl}}
	rec := httptest.NewRecorder()
	p.ServeHTTP(rec, httptest.NewRequest("POST", "/chat/completions", strings.NewReader(`{}`)))
	require.Equal(t, 505, rec.Code)
	_, found := tl.Find(func(e timeline.Event) bool { return e.Kind == "violation" })
	require.True(t, found)
	require.NoError(t, p.Close())
}

func TestHTTP10PeerGetsNoChunks(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Answer("one"))
		c, err := w.dial(context.Background(), "tcp", w.addr)
		require.NoError(t, err)
		defer c.Close()
		fmt.Fprintf(c, "POST /chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(streaming), streaming)
		b, err := io.ReadAll(c)
		require.NoError(t, err)
		require.NotContains(t, string(b), "chunked")
		require.True(t, strings.HasSuffix(string(b), "\n\ndata: [DONE]\n\n"), string(b))
	})
}
