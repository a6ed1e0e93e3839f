package admin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/admin"
	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// world is a fake with its admin API on a network, and a client of both.
type world struct {
	t       *testing.T
	root    string
	p       *provider.Provider
	handler *admin.Handler
	client  *http.Client
	opened  []io.Closer
	n       *memnet.Network // nil over TCP
}

func serve(t *testing.T, l net.Listener, dial func(ctx context.Context, network, addr string) (net.Conn, error), h *admin.Handler, f func(w *world)) {
	t.Helper()
	p := &provider.Provider{Dialects: []provider.Dialect{openai.Dialect{}}, Other: h, Reserved: admin.Prefix}
	h.Fake = admin.Provider{Provider: p}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	transport := &http.Transport{DialContext: dial}
	w := &world{t: t, root: "http://" + l.Addr().String(), p: p, handler: h, client: &http.Client{Transport: transport}}
	defer func() {
		for _, c := range w.opened {
			c.Close()
		}
		transport.CloseIdleConnections()
		require.NoError(t, p.Close())
		require.NoError(t, h.Close())
		require.NoError(t, <-served)
	}()
	f(w)
}

func overTCP(t *testing.T, h *admin.Handler, f func(w *world)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serve(t, l, new(net.Dialer).DialContext, h, f)
}

// inBubble plays f in virtual time.
func inBubble(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := new(memnet.Network)
		l, err := n.Listen("127.0.0.1:80")
		require.NoError(t, err)
		serve(t, l, n.DialContext, &admin.Handler{}, func(w *world) {
			w.n = n
			f(w)
		})
		synctest.Wait() // for the client's side
		require.Zero(t, n.Open(), "connections left: %v", n.Conns())
	})
}

func (w *world) open(ctx context.Context, method, path, body string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, w.root+path, strings.NewReader(body))
	require.NoError(w.t, err)
	resp, err := w.client.Do(r)
	require.NoError(w.t, err)
	return resp
}

func (w *world) send(method, path, body string) (int, string) {
	w.t.Helper()
	resp := w.open(context.Background(), method, path, body)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	return resp.StatusCode, strings.TrimSpace(string(b))
}

// must sends and wants success.
func (w *world) must(method, path, body string) string {
	w.t.Helper()
	status, answer := w.send(method, path, body)
	require.Equal(w.t, http.StatusOK, status, answer)
	return answer
}

// prompt asks the fake, in a session.
func (w *world) prompt(marker string) *http.Response {
	w.t.Helper()
	if marker != "" {
		marker = "[[sw:" + marker + "]]"
	}
	return w.open(context.Background(), "POST", "/v1/chat/completions", `{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":"hello `+marker+`"}]}`)
}

func (w *world) said(marker string) string {
	w.t.Helper()
	resp := w.prompt(marker)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	return string(b)
}

// follower reads a stream of events.
type follower struct {
	t    *testing.T
	resp *http.Response
	line *bufio.Scanner
}

func (w *world) follow(ctx context.Context, query string) *follower {
	w.t.Helper()
	resp := w.open(ctx, "GET", "/_stallwright/timeline/stream"+query, "")
	require.Equal(w.t, http.StatusOK, resp.StatusCode)
	require.Equal(w.t, "application/x-ndjson", resp.Header.Get("Content-Type"))
	w.opened = append(w.opened, resp.Body)
	return &follower{w.t, resp, bufio.NewScanner(resp.Body)}
}

func (f *follower) next() (timeline.Event, bool) {
	f.t.Helper()
	var e timeline.Event
	if !f.line.Scan() {
		return e, false
	}
	require.NoError(f.t, json.Unmarshal(f.line.Bytes(), &e))
	return e, true
}

func (f *follower) await(kind string) timeline.Event {
	f.t.Helper()
	for {
		e, ok := f.next()
		require.True(f.t, ok, "the stream has ended before %s: %v", kind, f.line.Err())
		if e.Kind == kind {
			return e
		}
	}
}

const gated = `{"about": "waits for a gate", "steps": [{"text": "before"}, {"await": "go"}, {"text": "after"}, "done"]}`

func TestASessionIsSteered(t *testing.T) {
	inBubble(t, func(w *world) {
		require.JSONEq(t, `{"marker":"a","about":"waits for a gate","programs":1,"gates":["go"]}`, w.must("POST", "/_stallwright/scripts?marker=a", gated))
		f := w.follow(w.t.Context(), "?marker=a")
		resp := w.prompt("a")
		defer resp.Body.Close()
		f.await("await")
		time.Sleep(time.Hour) // virtual: neither side gives up
		opened := f.openGate(w, "/_stallwright/gates/go?marker=a")
		require.Equal(t, timeline.Event{Seq: opened.Seq, At: opened.At, Lane: admin.Lane, Kind: "open", Detail: "go"}, opened)
		require.GreaterOrEqual(t, opened.At, time.Hour)
		end := f.await("end")
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Contains(t, string(b), "after")

		var read struct {
			Events []timeline.Event
			Lost   int
		}
		require.NoError(t, json.Unmarshal([]byte(w.must("GET", "/_stallwright/timeline?marker=a", "")), &read))
		require.Len(t, read.Events, end.Seq)
		require.Zero(t, read.Lost)
		require.JSONEq(t, `{"events":[],"more":false,"lost":0}`, w.must("GET", fmt.Sprintf("/_stallwright/timeline?marker=a&after=%d", end.Seq), ""))
		require.JSONEq(t, `{"status":"ok","sessions":1,"strays":0}`, w.must("GET", "/_stallwright/health", ""))
		require.JSONEq(t, `{"sessions":[{"marker":"a","about":"waits for a gate","programs":1,"gates":["go"]}]}`, w.must("GET", "/_stallwright/scripts", ""))
		require.JSONEq(t, `{"unplayed":[]}`, w.must("DELETE", "/_stallwright/scripts?marker=a", ""))
		f.await("released")
		_, more := f.next()
		require.False(t, more)
		require.NoError(t, f.line.Err())
	})
}

// openGate opens a gate and reads on to its event.
func (f *follower) openGate(w *world, path string) timeline.Event {
	f.t.Helper()
	w.must("POST", path, "")
	return f.await("open")
}

func TestAStreamBeginsWhereTheClientLeftOff(t *testing.T) {
	inBubble(t, func(w *world) {
		w.must("POST", "/_stallwright/scripts", `[text: "one", done]`)
		w.said("")
		first, ok := w.follow(w.t.Context(), "").next()
		require.True(t, ok)
		require.Equal(t, 1, first.Seq)
		f := w.follow(w.t.Context(), "?after=2")
		e, ok := f.next()
		require.True(t, ok)
		require.Equal(t, 3, e.Seq)
	})
}

func TestAStreamEnds(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(w *world)
	}{
		{"when its session is released", func(w *world) { w.must("DELETE", "/_stallwright/scripts?marker=a", "") }},
		{"at a reset", func(w *world) { w.must("POST", "/_stallwright/reset", "") }},
		{"when the handler is closed", func(w *world) { require.NoError(w.t, w.handler.Close()) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.must("POST", "/_stallwright/scripts?marker=a", gated)
				f := w.follow(w.t.Context(), "?marker=a")
				g := w.follow(w.t.Context(), "?marker=a")
				resp := w.prompt("a")
				defer resp.Body.Close()
				f.await("await")
				tc.end(w)
				for _, f := range []*follower{f, g} {
					f.await("closed") // the exchange under way
					f.await("released")
					_, more := f.next()
					require.False(t, more)
					require.NoError(t, f.line.Err())
				}
			})
		})
	}
	t.Run("when its client leaves", func(t *testing.T) {
		inBubble(t, func(w *world) {
			w.must("POST", "/_stallwright/scripts?marker=a", gated)
			before := followers()
			ctx, leave := context.WithCancel(w.t.Context())
			w.follow(ctx, "?marker=a")
			synctest.Wait()
			require.Equal(t, before+1, followers())
			leave()
			synctest.Wait()
			require.Equal(t, before, followers(), "its goroutine is free at once")
			require.Zero(t, w.n.Open(), "connections left: %v", w.n.Conns())
			require.JSONEq(t, `{"status":"ok","sessions":1,"strays":0}`, w.must("GET", "/_stallwright/health", ""))
		})
	})
	t.Run("when its timeline is full", func(t *testing.T) {
		inBubble(t, func(w *world) {
			w.must("POST", "/_stallwright/scripts?marker=a", gated)
			tl := w.handler.Timeline("a")
			for range timeline.Limit + 1 {
				tl.Add("test", "", "flood", "")
			}
			f := w.follow(w.t.Context(), fmt.Sprintf("?marker=a&after=%d", timeline.Limit-1))
			e, ok := f.next()
			require.True(t, ok)
			require.Equal(t, timeline.Limit, e.Seq)
			_, more := f.next()
			require.False(t, more)
		})
	})
	t.Run("when the fake is closed", func(t *testing.T) {
		inBubble(t, func(w *world) {
			w.must("POST", "/_stallwright/scripts?marker=a", gated)
			f := w.follow(w.t.Context(), "?marker=a")
			require.NoError(t, w.p.Close())
			for more := true; more; _, more = f.next() {
			}
		})
	})
	t.Run("when its client does not read", func(t *testing.T) {
		inBubble(t, func(w *world) {
			w.must("POST", "/_stallwright/scripts?marker=a", gated)
			f := w.follow(w.t.Context(), "?marker=a")
			tl := w.handler.Timeline("a")
			for range 2000 {
				tl.Add("test", "", "flood", strings.Repeat("x", timeline.DetailLimit))
			}
			time.Sleep(time.Minute) // virtual
			n := 0
			for f.line.Scan() {
				n++
			}
			require.Less(t, n, 2000)
			require.Error(t, f.line.Err())
		})
	})
}

func TestWhatIsLeftUnplayedIsTold(t *testing.T) {
	inBubble(t, func(w *world) {
		const two = "programs:\n- steps: [text: x, done]\n- when: {model: other}\n  steps: [text: y, done]\n"
		w.must("POST", "/_stallwright/scripts?marker=a", two)
		w.said("a")
		f := w.follow(w.t.Context(), "?marker=a")
		require.JSONEq(t, `{"unplayed":["program 2 (model \"other\") was taken by 0 of 1 requests"]}`, w.must("DELETE", "/_stallwright/scripts?marker=a", ""))
		require.Equal(t, `program 2 (model "other") was taken by 0 of 1 requests`, f.await("unplayed").Detail)
		w.must("POST", "/_stallwright/scripts?marker=b", two)
		require.JSONEq(t, `{"unplayed":{"b":["program 1 (any request) was taken by 0 of 1 requests","program 2 (model \"other\") was taken by 0 of 1 requests"]}}`, w.must("POST", "/_stallwright/reset", ""))
	})
}

func TestAStreamAtAGateIsLeftUnplayed(t *testing.T) {
	inBubble(t, func(w *world) {
		w.must("POST", "/_stallwright/scripts?marker=a", gated)
		f := w.follow(w.t.Context(), "?marker=a")
		resp := w.prompt("a")
		defer resp.Body.Close()
		f.await("await")
		synctest.Wait()
		require.JSONEq(t, `{"unplayed":["request 1 waits at the gate \"go\""]}`, w.must("DELETE", "/_stallwright/scripts?marker=a", ""))
		require.Equal(t, `request 1 waits at the gate "go"`, f.await("unplayed").Detail)
	})
}

func TestAPageOfAnotherSiteDoesNotRead(t *testing.T) {
	for _, tc := range []struct {
		name, host, origin string
		any                bool
		status             int
	}{
		{"no page", "127.0.0.1:80", "", false, 200},
		{"a page of the fake's own", "127.0.0.1:80", "http://127.0.0.1:80", false, 200},
		{"a page of another port", "127.0.0.1:80", "http://127.0.0.1:3000", false, 403},
		{"a page of another site", "127.0.0.1:80", "http://evil.test", false, 403},
		{"a page of a file", "127.0.0.1:80", "null", false, 403},
		{"a page of another site where all names are fine", "fake.test", "http://other.test", true, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			overTCP(t, &admin.Handler{AnyHost: tc.any}, func(w *world) {
				r, err := http.NewRequest("GET", w.root+"/_stallwright/health", nil)
				require.NoError(t, err)
				r.Host = tc.host
				if tc.origin != "" {
					r.Header.Set("Origin", tc.origin)
				}
				resp, err := w.client.Do(r)
				require.NoError(t, err)
				resp.Body.Close()
				require.Equal(t, tc.status, resp.StatusCode)
			})
		})
	}
}

func TestAResetBringsBackTheFirstScript(t *testing.T) {
	inBubble(t, func(w *world) {
		var told []string
		w.handler.Opened = func(marker string, _ *timeline.Timeline) { told = append(told, marker) }
		require.NoError(t, w.handler.Begin(admin.Provider{Provider: w.p}.Script(script.File{Programs: script.Script{script.Answer("at first")}})))
		require.Contains(t, w.said(""), "at first")
		w.must("POST", "/_stallwright/scripts", `[text: replaced, done]`)
		require.Contains(t, w.said(""), "replaced")
		w.must("POST", "/_stallwright/reset", "")
		require.JSONEq(t, `{"events":[],"more":false,"lost":0}`, w.must("GET", "/_stallwright/timeline", ""))
		require.Contains(t, w.said(""), "at first")
		require.Equal(t, []string{"", "", ""}, told)

		w.must("DELETE", "/_stallwright/scripts", "")
		w.said("")
		require.JSONEq(t, `{"status":"ok","sessions":0,"strays":1}`, w.must("GET", "/_stallwright/health", ""))
	})
}

func TestAStrictSessionValidates(t *testing.T) {
	overTCP(t, &admin.Handler{}, func(w *world) {
		w.must("POST", "/_stallwright/scripts?marker=a&strict=true", `[text: x, done]`)
		status, _ := w.send("POST", "/v1/chat/completions", `{"model":"m","messages":[{"role":"tool","tool_call_id":"none","content":"[[sw:a]]"}]}`)
		require.Equal(t, http.StatusBadRequest, status)
	})
}

func TestRefusals(t *testing.T) {
	const base = "/_stallwright/"
	overTCP(t, &admin.Handler{MaxSessions: 2, MaxBody: 1000}, func(w *world) {
		w.must("POST", base+"scripts?marker=a", gated)
		for _, tc := range []struct {
			name, method, path, body string
			status                   int
			want                     string
		}{
			{"an unknown path", "GET", base + "nothing", "", 404, `there is no \"/_stallwright/nothing\": want health`},
			{"a gate without a name", "POST", base + "gates/", "", 404, "there is no"},
			{"a path outside", "GET", "/elsewhere", "", 404, "there is no"},
			{"a method that the path has not", "DELETE", base + "timeline", "", 405, "timeline takes no DELETE: want GET"},
			{"a misspelt parameter", "POST", base + "scripts?markr=a", gated, 400, `scripts has no parameter \"markr\": want marker, strict`},
			{"a parameter where none is taken", "POST", base + "reset?marker=a", "", 400, "want none"},
			{"a script with a mistake, and where", "POST", base + "scripts?marker=b", "steps:\n- txt: hi\n", 400, `{"errors":[{"line":2,"column":3,"message":"there is no step \"txt\"","hint":"did you mean text?"}]}`},
			{"a script in JSON with a mistake", "POST", base + "scripts?marker=b", `{"steps": [{"text": 1}]}`, 400, `{"errors":[{"line":1,"column":21,"message":"text is 1: want a text","hint":"put it in quotes"}]}`},
			{"an empty body", "POST", base + "scripts?marker=b", "", 400, `"line":1,"column":1,"message":"the file is empty`},
			{"a body above the bound", "POST", base + "scripts?marker=b", strings.Repeat("#", 1001), 413, "more than 1000 bytes"},
			{"a script that is for connections too", "POST", base + "scripts?marker=b", `{"connections": {"refuse": 1}, "steps": ["done"]}`, 400, "connections belong to the whole fake"},
			{"a marker that is taken", "POST", base + "scripts?marker=a", gated, 409, "is open: DELETE it first"},
			{"a marker that no request can carry", "POST", base + "scripts?marker=%22", gated, 400, "marker"},
			{"strictness that is no bool", "POST", base + "scripts?marker=b&strict=very", gated, 400, "want true or false"},
			{"a session that is not open", "GET", base + "timeline?marker=zz", "", 404, `there is no session \"zz\"`},
			{"a stream of none", "GET", base + "timeline/stream?marker=zz", "", 404, "there is no session"},
			{"the end of none", "DELETE", base + "scripts?marker=zz", "", 404, "there is no session"},
			{"a gate of none", "POST", base + "gates/go?marker=zz", "", 404, "there is no session"},
			{"a gate that no step awaits", "POST", base + "gates/og?marker=a", "", 404, `no step awaits the gate \"og\"; those that are awaited: go`},
			{"an event number below zero", "GET", base + "timeline?marker=a&after=-1", "", 400, "want a number from 0 to 200000"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				status, answer := w.send(tc.method, tc.path, tc.body)
				require.Equal(t, tc.status, status, answer)
				require.Contains(t, answer, tc.want)
				require.Contains(t, answer, `{"errors":[{`)
			})
		}
		w.must("POST", base+"scripts?marker=c", gated)
		status, answer := w.send("POST", base+"scripts?marker=d", gated)
		require.Equal(t, http.StatusServiceUnavailable, status, answer)
		require.Contains(t, answer, "too many sessions")
	})
}

func TestOnlyThisMachineIsLetIn(t *testing.T) {
	for _, tc := range []struct {
		name, host, origin string
		any                bool
		status             int
	}{
		{"loopback's address", "127.0.0.1:80", "", false, 200},
		{"loopback's address of IPv6", "[::1]", "", false, 200},
		{"its name", "localhost:1", "", false, 200},
		{"a foreign name", "evil.test", "", false, 403},
		{"a name that begins like it", "127.0.0.1.evil.test:80", "", false, 403},
		{"a foreign name where all are fine", "fake.test", "", true, 200},
		{"a page of another site", "127.0.0.1:80", "http://evil.test", false, 403},
		{"a page of another site where all names are fine", "fake.test", "http://evil.test", true, 403},
	} {
		t.Run(tc.name, func(t *testing.T) {
			overTCP(t, &admin.Handler{AnyHost: tc.any}, func(w *world) {
				r, err := http.NewRequest("POST", w.root+"/_stallwright/reset", nil)
				require.NoError(t, err)
				r.Host = tc.host
				if tc.origin != "" {
					r.Header.Set("Origin", tc.origin)
				}
				resp, err := w.client.Do(r)
				require.NoError(t, err)
				resp.Body.Close()
				require.Equal(t, tc.status, resp.StatusCode)
			})
		})
	}
}

// unencrypted makes the client speak HTTP/2.
func (w *world) unencrypted(f func()) {
	transport := w.client.Transport.(*http.Transport).Clone()
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	w.client = &http.Client{Transport: transport}
	f()
}

func TestHTTP2(t *testing.T) {
	t.Run("a stream ends with its session", func(t *testing.T) {
		inBubble(t, func(w *world) {
			w.unencrypted(func() {
				w.must("POST", "/_stallwright/scripts?marker=a", gated)
				f := w.follow(w.t.Context(), "?marker=a")
				resp := w.prompt("a")
				defer resp.Body.Close()
				f.await("await")
				time.Sleep(time.Hour) // virtual: nothing is written, and nothing is late
				f.openGate(w, "/_stallwright/gates/go?marker=a")
				f.await("end")
				w.must("DELETE", "/_stallwright/scripts?marker=a", "")
				f.await("released")
				_, more := f.next()
				require.False(t, more)
				require.NoError(t, f.line.Err())
			})
		})
	})
	t.Run("a stream ends when its client leaves", func(t *testing.T) {
		inBubble(t, func(w *world) {
			w.unencrypted(func() {
				w.must("POST", "/_stallwright/scripts?marker=a", gated)
				before := followers()
				ctx, leave := context.WithCancel(w.t.Context())
				w.follow(ctx, "?marker=a")
				synctest.Wait()
				require.Equal(t, before+1, followers())
				leave()
				synctest.Wait()
				require.Equal(t, before, followers())
			})
		})
	})
	t.Run("a stream ends when its client does not read", func(t *testing.T) {
		inBubble(t, func(w *world) {
			w.unencrypted(func() {
				w.must("POST", "/_stallwright/scripts?marker=a", gated)
				f := w.follow(w.t.Context(), "?marker=a")
				tl := w.handler.Timeline("a")
				for range 3000 {
					tl.Add("test", "", "flood", strings.Repeat("x", timeline.DetailLimit))
				}
				time.Sleep(time.Minute) // virtual
				n := 0
				for f.line.Scan() {
					n++
				}
				require.Less(t, n, 3000)
				require.Error(t, f.line.Err())
				require.JSONEq(t, `{"status":"ok","sessions":1,"strays":0}`, w.must("GET", "/_stallwright/health", ""))
			})
		})
	})
}

// followers counts the goroutines that follow a timeline.
func followers() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "(*Timeline).Next(")
}

func TestATimelineIsReadInPages(t *testing.T) {
	inBubble(t, func(w *world) {
		w.must("POST", "/_stallwright/scripts?marker=a", gated)
		tl := w.handler.Timeline("a")
		for n := range 10_005 {
			tl.Add("test", "", "event", strconv.Itoa(n))
		}
		read := func(query string) (seqs []int, more bool) {
			var got struct {
				Events []timeline.Event
				More   bool
			}
			require.NoError(t, json.Unmarshal([]byte(w.must("GET", "/_stallwright/timeline?marker=a"+query, "")), &got))
			for _, e := range got.Events {
				seqs = append(seqs, e.Seq)
			}
			return seqs, got.More
		}
		seqs, more := read("&limit=3")
		require.Equal(t, []int{1, 2, 3}, seqs)
		require.True(t, more)
		seqs, more = read("&after=10003&limit=2")
		require.Equal(t, []int{10004, 10005}, seqs)
		require.False(t, more)
		seqs, more = read("&after=10005")
		require.Empty(t, seqs)
		require.False(t, more)
		seqs, more = read("")
		require.Len(t, seqs, 10_000)
		require.True(t, more)
		for _, query := range []string{"&limit=0", "&limit=10001", "&limit=x", "&after=200001"} {
			status, answer := w.send("GET", "/_stallwright/timeline?marker=a"+query, "")
			require.Equal(t, http.StatusBadRequest, status, answer)
			require.Contains(t, answer, "want a number from")
		}
	})
}

// A script may be about markers.
func TestAScriptMayHoldAMarker(t *testing.T) {
	inBubble(t, func(w *world) {
		w.must("POST", "/_stallwright/scripts?marker=a", `{"steps": [{"text": "say [[sw:b]]"}, "done"]}`)
		require.Contains(t, w.said("a"), "say [[sw:b]]")
		w.unencrypted(func() {
			w.must("POST", "/_stallwright/scripts?marker=b", `{"steps": [{"text": "to [[sw:a]]"}, "done"]}`)
			require.Contains(t, w.said("b"), "to [[sw:a]]")
		})
		status, answer := w.send("POST", "/elsewhere", "[[sw:a]]")
		require.Equal(t, 500, status)
		require.Contains(t, answer, "no dialect recognises")
		status, answer = w.send("POST", "/_stallwright/scripts", strings.Repeat("#", 9<<20))
		require.Equal(t, 413, status)
		require.JSONEq(t, `{"errors":[{"message":"the script has more than 1048576 bytes"}]}`, answer)
	})
}

func TestNothingOpensAfterClose(t *testing.T) {
	overTCP(t, &admin.Handler{}, func(w *world) {
		require.NoError(t, w.handler.Close())
		status, answer := w.send("POST", "/_stallwright/scripts", gated)
		require.Equal(t, http.StatusServiceUnavailable, status, answer)
		require.ErrorIs(t, w.handler.Begin(admin.Provider{Provider: w.p}.Script(script.File{Programs: script.Script{script.Answer("x")}})), net.ErrClosed)
	})
}
