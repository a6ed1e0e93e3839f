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
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

const address = "model.test:80"

// world is a provider on a network, and a client of it.
type world struct {
	t      *testing.T
	p      *provider.Provider
	url    string
	addr   string
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	client *http.Client
	tl     *timeline.Timeline
	gates  *Gates
	settle func() // a peer sees bytes before their event is recorded: in a bubble one can wait for it
}

// inBubble plays f in virtual time.
func inBubble(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := new(memnet.Network)
		l, err := n.Listen(address)
		require.NoError(t, err)
		serve(t, &provider.Provider{}, l, n.DialContext, func(w *world) {
			w.settle = synctest.Wait
			f(w)
		})
		synctest.Wait() // for the client's side
		require.Zero(t, n.Open(), "connections left: %v", n.Conns())
	})
}

// overTCP plays f in real time.
func overTCP(t *testing.T, f func(w *world)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serve(t, &provider.Provider{}, l, new(net.Dialer).DialContext, f)
}

func serve(t *testing.T, p *provider.Provider, l net.Listener, dial func(ctx context.Context, network, addr string) (net.Conn, error), f func(w *world)) {
	t.Helper()
	p.Dialects = []provider.Dialect{openai.Dialect{}}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	transport := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 100}
	w := &world{
		t: t, p: p, addr: l.Addr().String(), dial: dial, client: &http.Client{Transport: transport},
		tl: timeline.New(), gates: new(Gates), settle: func() {},
	}
	w.url = "http://" + w.addr + "/v1/chat/completions"
	defer func() {
		transport.CloseIdleConnections()
		require.NoError(t, p.Close())
		require.NoError(t, <-served)
	}()
	f(w)
}

func (w *world) open(s ...Program) {
	w.t.Helper()
	require.NoError(w.t, w.p.Open("case", &provider.Session{Script: s, Timeline: w.tl, Gates: w.gates}))
}

const streaming = `{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":"hello [[sw:case]]"}]}`

var whole = strings.Replace(streaming, "true", "false", 1)

func (w *world) post(ctx context.Context, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, "POST", w.url, strings.NewReader(body))
	require.NoError(w.t, err)
	r.Header.Set("Authorization", "Bearer sk-secret")
	return w.client.Do(r)
}

// ask reads the whole answer.
func (w *world) ask(body string) (*http.Response, string, error) {
	w.t.Helper()
	resp, err := w.post(context.Background(), body)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

func (w *world) await(kind string) timeline.Event {
	w.t.Helper()
	e, ok := w.tl.Await(10*time.Second, func(e timeline.Event) bool { return e.Kind == kind })
	require.True(w.t, ok, "no %s in %v", kind, w.events())
	return e
}

// counted is what an event says of how much was sent and is open, which has tests of its own.
var counted = regexp.MustCompile(` ?(open=|bytes=).*`)

// events are the timeline's, in short.
func (w *world) events() []string {
	w.settle()
	var list []string
	for _, e := range w.tl.Events() {
		s := e.Ref + " " + e.Kind
		if detail := counted.ReplaceAllString(e.Detail, ""); detail != "" {
			s += " " + detail
		}
		list = append(list, s)
	}
	return list
}

// at lists the instants of a kind.
func (w *world) at(kind string) []time.Duration {
	w.settle()
	var list []time.Duration
	for _, e := range w.tl.Events() {
		if e.Kind == kind {
			list = append(list, e.At)
		}
	}
	return list
}

func seconds(list ...float64) []time.Duration {
	var out []time.Duration
	for _, s := range list {
		out = append(out, time.Duration(s*float64(time.Second)))
	}
	return out
}

const asked = "request POST /v1/chat/completions model=gpt-x stream=true attempt=0"

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

// raw asks over a socket of its own and returns what came until the connection ended, and how.
func (w *world) raw(body string) (string, error) {
	w.t.Helper()
	c, err := w.dial(context.Background(), "tcp", w.addr)
	require.NoError(w.t, err)
	defer c.Close()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	b, err := io.ReadAll(c)
	return string(b), err
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

func TestSessionsAreSeparate(t *testing.T) {
	inBubble(t, func(w *world) {
		timelines := map[string]*timeline.Timeline{"a": timeline.New(), "b/c@d": timeline.New()}
		done := make(chan string)
		for marker, tl := range timelines {
			s := &provider.Session{Script: Script{Program{Times: 2, Steps: []Step{
				Text{Chunks: []string{marker + ",", marker}, Every: time.Second}, Done{}}}}, Timeline: tl}
			require.NoError(t, w.p.Open(marker, s))
			for range 2 {
				go func() {
					_, body, err := w.ask(strings.Replace(streaming, "sw:case", "sw:"+marker, 1))
					if err != nil || strings.Count(body, `"`+marker) != 2 {
						body = fmt.Sprint("wrong: ", body, err)
					} else {
						body = ""
					}
					done <- body
				}()
			}
		}
		for range 4 {
			require.Empty(t, <-done)
		}
		for marker, tl := range timelines {
			texts := 0
			for _, e := range tl.Events() {
				if e.Kind == "text" {
					texts++
					require.Contains(t, e.Detail, marker)
				}
			}
			require.Equal(t, 4, texts)
			require.Empty(t, w.p.Release(marker))
		}
		require.Equal(t, time.Second, timelines["a"].Now())
	})
}

func TestProgramIsChosen(t *testing.T) {
	inBubble(t, func(w *world) {
		one := func(name string, when When, times int) Program {
			p := Answer(name)
			p.When, p.Times = when, times
			return p
		}
		w.open(
			one("by path", When{Path: "/other/chat/completions"}, 0),
			one("by model", When{Model: "gpt-y"}, 2),
			one("by text", When{Contains: "tool_call_id"}, Any),
			one("by attempt", When{Attempt: 2}, 0),
			one("first", When{}, 0),
			one("second", When{}, 0),
		)
		ask := func(path, body, retry, want string) {
			t.Helper()
			r, err := http.NewRequest("POST", "http://"+address+path, strings.NewReader(body))
			require.NoError(t, err)
			if retry != "" {
				r.Header.Set("X-Stainless-Retry-Count", retry)
			}
			resp, err := w.client.Do(r)
			require.NoError(t, err)
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Contains(t, string(b), want)
		}
		const path = "/v1/chat/completions"
		y := strings.Replace(streaming, "gpt-x", "gpt-y", 1)
		tool := strings.Replace(streaming, "hello", "tool_call_id", 1)
		ask(path, streaming, "", "first")
		ask(path, y, "", "by model")
		ask(path, streaming, "1", "by attempt")
		ask(path, y, "", "by model")
		for range 3 {
			ask(path, tool, "", "by text")
		}
		ask(path, y, "", "second")
		ask("/other"+path, streaming, "", "no program left")
		ask("/other/chat/completions", streaming, "0", "by path")
		ask(path, streaming, "3", "no program left")
		require.Len(t, w.at("violation"), 2)
	})
}

func TestViolations(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Answer("one"))
		_, _, err := w.ask(streaming)
		require.NoError(t, err)
		resp, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.JSONEq(t, `{"error":{"message":"stallwright: no program left for POST /v1/chat/completions (model \"gpt-x\", attempt 0); expected no further request"}}`, body)
		resp, body, err = w.ask(`{ "broken": [[sw:case]]`)
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.Contains(t, body, "no dialect recognises POST /v1/chat/completions")
		events := w.events()
		require.Equal(t, []string{
			"#2 " + asked,
			`#2 violation no program left for POST /v1/chat/completions (model "gpt-x", attempt 0); expected no further request`,
			"#3 request POST /v1/chat/completions model= stream=false attempt=0",
			"#3 violation no dialect recognises POST /v1/chat/completions with a body of 23 bytes",
		}, events[len(events)-4:])
		require.Zero(t, w.p.Strays())
		require.NotContains(t, strings.Join(events, "\n"), "secret")

		resp, body, err = w.ask(strings.Replace(streaming, "sw:case", "sw:other", 1))
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.Contains(t, body, `no session \"other\"`)
		resp, _, err = w.ask(`{}`)
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.Equal(t, 2, w.p.Strays())
		require.Len(t, w.events(), len(events))
	})
}

func TestExpectedProgramsAreNamed(t *testing.T) {
	inBubble(t, func(w *world) {
		p := Answer("x")
		p.When = When{Path: "/p", Model: "m", Contains: "c", Attempt: 2}
		w.open(p)
		_, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Contains(t, body, `expected program 1 (path \"/p\", model \"m\", contains \"c\", attempt 2)`)
		require.Equal(t, []string{`program 1 (path "/p", model "m", contains "c", attempt 2) was taken by 0 of 1 requests`}, w.p.Release("case"))
	})
}

func TestFallbackAnswersRequestsWithoutMarker(t *testing.T) {
	inBubble(t, func(w *world) {
		w.p.Fallback = &provider.Session{Script: Script{Answer("fallback")}, Timeline: w.tl}
		require.Error(t, w.p.Open("", &provider.Session{}))
		_, body, err := w.ask(`{"stream":true}`)
		require.NoError(t, err)
		require.Contains(t, body, "fallback")
		resp, _, err := w.ask(`{"stream":true}`)
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.Len(t, w.at("violation"), 1)
		_, _, err = w.ask(strings.Replace(streaming, "sw:case", "sw:unknown", 1))
		require.NoError(t, err)
		require.Equal(t, 1, w.p.Strays(), "a marker is never the fallback's")
		require.Empty(t, w.p.Release(""))
		_, _, err = w.ask(`{}`)
		require.NoError(t, err)
		require.Equal(t, 2, w.p.Strays())
	})
}

func TestOpenRefuses(t *testing.T) {
	p := &provider.Provider{}
	require.NoError(t, p.Open("taken", &provider.Session{}))
	tests := []struct {
		name, marker string
		script       Script
		want         string
	}{
		{"a marker that is taken", "taken", nil, "open already"},
		{"a marker that JSON escapes", `a"b`, nil, `has '"'`},
		{"a marker with a bracket", "a]]", nil, `has ']'`},
		{"a long marker", strings.Repeat("x", 201), nil, "at most 200"},
		{"an invalid script", "x", Script{{}}, "program 1 has no steps"},
		{"a step of another fake", "x", Script{{Steps: []Step{&Done{}}}}, "a provider has no step *script.Done"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.ErrorContains(t, p.Open(test.marker, &provider.Session{Script: test.script}), test.want)
		})
	}
}

func TestRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(memnet.Network)
		l, err := n.Listen(address)
		require.NoError(t, err)
		serve(t, &provider.Provider{MaxBody: 200, MaxConns: 2}, l, n.DialContext, func(w *world) {
			w.open(Answer("one"))
			resp, body, err := w.ask(streaming + strings.Repeat(" ", 200))
			require.NoError(t, err)
			require.Equal(t, 413, resp.StatusCode)
			require.Contains(t, body, "a body above 200 bytes")
			require.Len(t, w.at("violation"), 1)
			synctest.Wait()

			var conns []net.Conn
			for range 3 {
				c, err := n.DialContext(context.Background(), "tcp", address)
				require.NoError(t, err)
				defer c.Close()
				conns = append(conns, c)
			}
			synctest.Wait()
			start := time.Now()
			_, err = conns[2].Read(make([]byte, 1))
			require.Error(t, err)
			require.Zero(t, time.Since(start), "the third is closed at once")
			fmt.Fprint(conns[0], "POST / HTTP/1.1\r\n")
			io.ReadAll(conns[0])
			require.Equal(t, 10*time.Second, time.Since(start), "the head did not come")
			fmt.Fprint(conns[1], "x") // closed too
			start = time.Now()

			c, err := n.DialContext(context.Background(), "tcp", address)
			require.NoError(t, err)
			defer c.Close()
			fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: m\r\nContent-Length: 100\r\n\r\nhalf")
			io.ReadAll(c)
			require.Equal(t, 30*time.Second, time.Since(start), "the body did not come")
		})
	})
}

func TestOtherHandlerAnswersWhatNoDialectRecognises(t *testing.T) {
	inBubble(t, func(w *world) {
		w.p.Other = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { io.Copy(rw, r.Body) })
		resp, err := w.client.Post("http://"+address+"/_admin", "", strings.NewReader("echo"))
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, "echo", string(b))
		require.Zero(t, w.p.Strays())
	})
}

func TestModelsNeedNoProgram(t *testing.T) {
	inBubble(t, func(w *world) {
		resp, err := w.client.Get("http://" + address + "/v1/models")
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.JSONEq(t, `{"object":"list","data":[{"id":"gpt-x","object":"model","created":1700000000,"owned_by":"stallwright"}]}`, string(b))
		require.Zero(t, w.p.Strays())
	})
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
