package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAServerThatDoesNotConnectIsAStatus(t *testing.T) {
	mute := func(_ http.ResponseWriter, r *http.Request, _ said) { <-r.Context().Done() }
	status := func(code int) handler {
		return func(w http.ResponseWriter, _ *http.Request, _ said) { w.WriteHeader(code) }
	}
	tests := []struct {
		name     string
		edit     func(f *fake, s *Server)
		err      string
		after    time.Duration
		revision string
	}{
		{"that answers nothing", func(f *fake, _ *Server) { f.on["server/discover"], f.on["initialize"] = mute, mute }, "not connected within 10s", 10 * time.Second, ""},
		{"that answers no initialize", func(f *fake, _ *Server) { f.on["initialize"] = mute }, "not connected within 10s", 10 * time.Second, legacy},
		{"that takes no notification", func(f *fake, _ *Server) { f.on["notifications/initialized"] = mute }, "not connected within 10s", 10 * time.Second, legacy},
		{"that lists nothing", func(f *fake, _ *Server) { f.on["tools/list"] = mute }, "not connected within 10s", 10 * time.Second, ""},
		{"that lists page after page", func(f *fake, _ *Server) {
			page := 0
			f.on["tools/list"] = func(w http.ResponseWriter, r *http.Request, m said) {
				select {
				case <-time.After(700 * time.Millisecond):
				case <-r.Context().Done():
				}
				page++
				succeed(w, m, fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, page))
			}
		}, "not connected within 10s", 10 * time.Second, ""},
		{"that lists a page twice", func(f *fake, _ *Server) {
			f.on["tools/list"] = func(w http.ResponseWriter, _ *http.Request, m said) { succeed(w, m, `{"tools":[],"nextCursor":"a"}`) }
		}, "the list of tools comes back to a page it had", 0, ""},
		{"that refuses", func(f *fake, _ *Server) { f.on["initialize"] = status(401) }, "status 401:", 0, legacy},
		{"that refuses the list", func(f *fake, _ *Server) {
			f.on["tools/list"] = func(w http.ResponseWriter, _ *http.Request, m said) {
				reply(w, m, `"error":{"code":-1,"message":"no\nlist"}`)
			}
		}, "no list", 0, ""},
		{"of a revision that nobody knows", func(f *fake, _ *Server) {
			f.on["initialize"] = func(w http.ResponseWriter, _ *http.Request, m said) {
				succeed(w, m, `{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"f","version":"1"}}`)
			}
		}, `unsupported protocol version: "1999-01-01"`, 0, legacy},
		{"that is not there", func(_ *fake, s *Server) { s.URL = "http://nowhere/mcp" }, "connection refused", 0, ""},
		{"with credentials in its URL", func(f *fake, s *Server) {
			s.URL = "http://u:pass-word@files/mcp?key=query-key"
			s.Headers = map[string]string{"Authorization": "Bearer header-key"}
			f.on["initialize"] = func(w http.ResponseWriter, r *http.Request, _ said) {
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, "not pass-word, query-key or "+r.Header.Get("Authorization"))
			}
		}, "status 403: not [redacted], [redacted] or [redacted]", 0, legacy},
		{"with no URL", func(_ *fake, s *Server) { s.URL = "::secret" }, "the URL is none of HTTP", 0, ""},
		{"of no transport", func(_ *fake, s *Server) { s.Transport = "pigeon" }, `there is no transport "pigeon"`, 0, ""},
		{"of HTTP+SSE that names no endpoint", func(f *fake, s *Server) {
			s.Transport = SSE
			f.on["GET"] = func(w http.ResponseWriter, r *http.Request, m said) {
				open(w)
				<-r.Context().Done()
			}
		}, "not connected within 10s", 10 * time.Second, ""},
		{"of HTTP+SSE that has an endpoint elsewhere", func(f *fake, s *Server) {
			s.Transport = SSE
			f.on["GET"] = func(w http.ResponseWriter, r *http.Request, m said) {
				open(w)
				emit(w, "event: endpoint\ndata: http://other/post\n\n")
				<-r.Context().Done()
			}
		}, "not connected within 10s", 10 * time.Second, ""},
		{"of HTTP+SSE that has no stream", func(f *fake, s *Server) {
			s.Transport = SSE
			f.on["GET"] = status(503)
		}, "unexpected status code: 503", 0, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n network) {
				f := serve(t, n, "files", legacy)
				defer f.close()
				good := serve(t, n, "good", modern)
				defer good.close()
				bad := at("files")
				bad.Revision = test.revision
				test.edit(f, &bad)
				p := &Pool{Servers: []Server{bad, at("good")}, Dial: n.dial}
				l := lease(t, p)
				require.Equal(t, test.after, f.elapsed())
				require.Equal(t, []Status{{Server: "files", Error: test.err}, {Server: "good", Connected: true, Tools: 2}}, l.Status())
				require.Len(t, l.Tools(), 2)
				got, err := l.Call(t.Context(), echo("hi"), "", nil)
				require.NoError(t, err)
				require.Equal(t, `{"s":"hi"}`, got.Text)
				l.Return()
				require.Empty(t, p.idle, "the next run tries the server again")
				for _, event := range f.seen() {
					require.NotContains(t, event, "cancelled")
				}
				p.Close(t.Context())
			})
		})
	}
}

func TestAServerThatIgnoresTheQuestionIsInitialized(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		f.on["server/discover"] = func(_ http.ResponseWriter, r *http.Request, _ said) { <-r.Context().Done() }
		l := lease(t, &Pool{Servers: []Server{at("files")}, Dial: n.dial, ConnectTimeout: 4 * time.Second})
		require.Equal(t, []Status{{Server: "files", Connected: true, Tools: 2}}, l.Status())
		require.Equal(t, 2*time.Second, f.elapsed())
		l.Cleanup(t.Context(), "timeout")
	})
}

func TestAServerThatAnswersTheQuestionWithOldRevisionsIsInitialized(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		f.on["server/discover"] = func(w http.ResponseWriter, _ *http.Request, m said) {
			succeed(w, m, `{"resultType":"complete","supportedVersions":["2025-11-25"],"capabilities":{}}`)
		}
		l := lease(t, &Pool{Servers: []Server{at("files")}, Dial: n.dial})
		require.Equal(t, []string{"server/discover", "initialize", "notifications/initialized", "tools/list"}, f.seen())
		l.Cleanup(t.Context(), "timeout")
	})
}

func TestServersConnectInParallel(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		var servers []Server
		for i := range 5 {
			name := fmt.Sprint("s", i)
			f := serve(t, n, name, modern)
			defer f.close()
			list := f.on["tools/list"]
			f.on["tools/list"] = func(w http.ResponseWriter, r *http.Request, m said) {
				time.Sleep(time.Second)
				list(w, r, m)
			}
			servers = append(servers, at(name))
		}
		start := time.Now()
		l := lease(t, &Pool{Servers: servers, Dial: n.dial})
		require.Equal(t, time.Second, time.Since(start))
		for i, s := range l.Status() {
			require.Equal(t, Status{Server: fmt.Sprint("s", i), Connected: true, Tools: 2}, s)
		}
		require.Equal(t, "s1_slow", l.Tools()[3].Name)
		l.Cleanup(t.Context(), "timeout")
	})
}

func TestAnEndedRunDoesNotWaitForServers(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f, quick := serve(t, n, "files", legacy), serve(t, n, "quick", legacy)
		defer f.close()
		defer quick.close()
		hang := func(_ http.ResponseWriter, r *http.Request, _ said) { <-r.Context().Done() }
		f.on["tools/list"], f.on["DELETE"] = hang, hang
		p := &Pool{Servers: []Server{at("files"), at("quick")}, Dial: n.dial}
		gone := errors.New("client left")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		_, err := p.Lease(ctx, nil)
		require.Equal(t, gone, err)
		require.Equal(t, time.Second, f.elapsed())
		_, err = p.Lease(ctx, nil)
		require.Equal(t, gone, err)
		require.Contains(t, quick.seen(), "DELETE")
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		p.Close(short)
		require.Equal(t, 2*time.Second, f.elapsed(), "cut")
		require.Equal(t, []string{"server/discover", "initialize", "notifications/initialized", "tools/list", "DELETE"}, f.seen())
	})
}

func TestConnectionsAreKeptForTheSameCaller(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		f.on["initialize"] = watchAuthorization(f, f.on["initialize"])
		s := at("files")
		s.Revision = legacy
		s.HeadersFromRequest = map[string]string{"Authorization": "X-Token"}
		s.Headers = map[string]string{"Mcp-Session-Id": "mine", "X-Agent": "a"}
		p := &Pool{Servers: []Server{s}, Dial: n.dial}
		use := func(token ...string) []string {
			header := http.Header{}
			for _, v := range token {
				header.Add("X-Token", v)
			}
			l, err := p.Lease(t.Context(), header)
			require.NoError(t, err)
			_, err = l.Call(t.Context(), echo("hi"), "", nil)
			require.NoError(t, err)
			require.Len(t, l.Tools(), 2)
			require.Equal(t, []Status{{Server: "files", Connected: true, Tools: 2}}, l.Status())
			l.Return()
			l.Return()
			_, err = l.Call(t.Context(), echo("late"), "", nil)
			require.Equal(t, errOver, err)
			return f.seen()
		}
		fresh := func(token string) []string {
			return []string{"initialize", token, "notifications/initialized", "tools/list", "call 3 echo"}
		}
		require.Equal(t, fresh("as [alice]"), use("alice"))
		require.Equal(t, []string{"call 4 echo"}, use("alice"))
		require.Equal(t, fresh("as [bob]"), use("bob"))
		require.Equal(t, fresh("as []"), use())
		require.Equal(t, fresh("as [alice bob]"), use("alice", "bob"))
		require.Equal(t, []string{"call 5 echo"}, use("alice"))
		require.Len(t, p.idle, 4)

		l, err := p.Lease(t.Context(), http.Header{"X-Token": {"alice"}})
		require.NoError(t, err)
		require.Equal(t, fresh("as [alice]")[:4], func() []string { lease := taken(t, p, "alice"); defer lease.Return(); return f.seen() }(), "never two runs at once")
		l.Return()
		p.Close(t.Context())
		require.Equal(t, []string{"DELETE", "DELETE", "DELETE", "DELETE", "DELETE"}, f.seen())
		_, err = p.Lease(t.Context(), nil)
		require.EqualError(t, err, "tools: the pool is closed")
	})
}

func TestCallersDifferByEveryHeaderOfEveryServer(t *testing.T) {
	p := &Pool{Servers: []Server{
		{Name: "none"}, {Name: "one", HeadersFromRequest: map[string]string{"Authorization": "X-Token"}},
		{Name: "two", HeadersFromRequest: map[string]string{"Authorization": "X-Token", "X-Account": "X-Account"}},
	}}
	tests := []struct {
		name   string
		header http.Header
	}{
		{"with nothing", nil},
		{"with a token", http.Header{"X-Token": {"alice"}}},
		{"with another token", http.Header{"X-Token": {"bob"}}},
		{"with both tokens", http.Header{"X-Token": {"alice", "bob"}}},
		{"with both in one", http.Header{"X-Token": {"alice, bob"}}},
		{"with an empty token", http.Header{"X-Token": {""}}},
		{"with the token as its account", http.Header{"X-Account": {"alice"}}},
		{"with an account besides", http.Header{"X-Token": {"alice"}, "X-Account": {"a"}}},
		{"with another account", http.Header{"X-Token": {"alice"}, "X-Account": {"b"}}},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for j, other := range tests {
				require.Equal(t, i == j, p.key(test.header) == p.key(other.header), "and one %s", other.name)
			}
			other := test.header.Clone()
			if other == nil {
				other = http.Header{}
			}
			other.Set("Authorization", "for this server alone")
			require.Equal(t, p.key(test.header), p.key(other), "what no server is given tells nobody apart")
		})
	}
}

func taken(t *testing.T, p *Pool, token string) *Lease {
	l, err := p.Lease(t.Context(), http.Header{"X-Token": {token}})
	require.NoError(t, err)
	return l
}

func watchAuthorization(f *fake, h handler) handler {
	return func(w http.ResponseWriter, r *http.Request, m said) {
		f.note("as %v", r.Header.Values("Authorization"))
		if got := r.Header.Values("Mcp-Session-Id"); len(got) > 1 {
			f.note("two sessions %v", got)
		}
		h(w, r, m)
	}
}

func TestKeptConnectionsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		s := at("files")
		s.Revision = legacy
		p := &Pool{Servers: []Server{s}, Dial: n.dial, MaxIdle: 2, MaxAge: time.Minute}
		leases := []*Lease{lease(t, p), lease(t, p), lease(t, p)}
		f.seen()
		for i, l := range leases {
			l.Return()
			require.Equal(t, i == 2, len(f.seen()) == 1, "the oldest goes")
		}
		time.Sleep(time.Minute - time.Nanosecond)
		require.Empty(t, f.seen())
		time.Sleep(time.Nanosecond)
		require.Equal(t, []string{"DELETE", "DELETE"}, f.seen(), "too old")
		l := lease(t, p)
		f.seen()
		time.Sleep(time.Hour)
		l.Return()
		require.Equal(t, []string{"DELETE"}, f.seen(), "too old to be kept")
		p.MaxIdle = -1
		lease(t, p).Return()
		require.Empty(t, p.idle)
		p.Close(t.Context())
	})
}

func TestUnsoundConnectionsAreNotKept(t *testing.T) {
	tests := []struct {
		name  string
		play  func(f *fake, l *Lease)
		seen  []string
		dirty bool
	}{
		{"with a call in flight", func(f *fake, l *Lease) {
			c := begin(l, slow(), "", nil)
			synctest.Wait()
			c.cancel(errors.New("given up"))
			<-c.done
		}, []string{"call 3 slow", "cancelled 3: run ended", "left 3", "DELETE"}, true},
		{"after a failed transport", func(f *fake, l *Lease) {
			f.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, _ said) { w.WriteHeader(500) }
			_, _ = l.Call(context.Background(), echo("hi"), "", nil)
		}, []string{"call 3 echo", "DELETE"}, true},
		{"but after an error of the tool they are", func(f *fake, l *Lease) {
			f.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m said) { reply(w, m, `"error":{"code":1,"message":"no"}`) }
			_, _ = l.Call(context.Background(), echo("hi"), "", nil)
		}, []string{"call 3 echo"}, false},
		{"but after a late answer they are", func(f *fake, l *Lease) {
			f.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m said) {
				time.Sleep(time.Second)
				succeed(w, m, `{"content":[]}`)
			}
			c := begin(l, slow(), "", nil)
			synctest.Wait()
			c.cancel(errors.New("given up"))
			<-c.done
			time.Sleep(2 * time.Second)
		}, []string{"call 3 slow"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n network) {
				f := serve(t, n, "files", legacy)
				defer f.close()
				s := at("files")
				s.Revision = legacy
				p := &Pool{Servers: []Server{s}, Dial: n.dial}
				l := lease(t, p)
				f.seen()
				test.play(f, l)
				l.Return()
				require.ElementsMatch(t, test.seen, f.seen())
				require.Equal(t, test.dirty, len(p.idle) == 0)
				p.Close(t.Context())
			})
		})
	}
}

func TestAConnectionThatDiesWhileIdleIsNotGiven(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		f.sse()
		s := at("files")
		s.Transport = SSE
		p := &Pool{Servers: []Server{s}, Dial: n.dial}
		lease(t, p).Return()
		f.close()
		synctest.Wait()
		again := serve(t, n, "files", legacy)
		defer again.close()
		again.sse()
		l := lease(t, p)
		require.Equal(t, []Status{{Server: "files", Connected: true, Tools: 2}}, l.Status())
		l.Cleanup(t.Context(), "timeout")
		p.Close(t.Context())
	})
}

func TestNoServersIsAnEmptyLease(t *testing.T) {
	p := &Pool{}
	l := lease(t, p)
	require.Empty(t, l.Status())
	require.Empty(t, l.Tools())
	_, err := l.Call(t.Context(), echo("hi"), "", nil)
	require.Equal(t, ErrUnknownTool, err)
	l.Return()
	p.Close(t.Context())
}

func TestCredentialsStayWithTheServer(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f, other := serve(t, n, "files", legacy), serve(t, n, "other", legacy)
		defer f.close()
		defer other.close()
		f.on["initialize"] = func(w http.ResponseWriter, r *http.Request, _ said) {
			http.Redirect(w, r, "http://other/mcp", http.StatusTemporaryRedirect)
		}
		s := at("files")
		s.Revision = legacy
		s.Headers = map[string]string{"Authorization": "Bearer secret"}
		var log bytes.Buffer
		p := &Pool{Servers: []Server{s}, Dial: n.dial, Log: slog.New(slog.NewTextHandler(&log, nil))}
		l := lease(t, p)
		require.Equal(t, []Status{{Server: "files", Error: "status 307:"}}, l.Status())
		require.Contains(t, log.String(), "status 307")
		l.Return()
		p.Close(t.Context())
		require.Empty(t, other.seen())

		once := true
		initialize := other.on["initialize"]
		other.on["initialize"] = func(w http.ResponseWriter, r *http.Request, m said) {
			if once {
				once = false
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
				return
			}
			initialize(w, r, m)
		}
		s = at("other")
		s.Revision = legacy
		l = lease(t, &Pool{Servers: []Server{s}, Dial: n.dial})
		require.True(t, l.Status()[0].Connected, "a redirect on the same host is followed")
		l.Cleanup(t.Context(), "timeout")
	})
}

func TestNoSocketIsLeft(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		var open atomic.Int32
		p := &Pool{Servers: []Server{at("files")}, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := n.dial(ctx, network, addr)
			open.Add(1)
			return &counted{Conn: c, open: &open}, err
		}}
		l := lease(t, p)
		c := begin(l, slow(), "", nil)
		synctest.Wait()
		require.NotZero(t, open.Load())
		l.Cleanup(t.Context(), "timeout")
		require.Zero(t, open.Load())
		<-c.done
	})
}

// counted counts itself out when it is closed.
type counted struct {
	net.Conn
	once sync.Once
	open *atomic.Int32
}

func (c *counted) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

func TestCloseWaitsForALeaseThatConnects(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		f.on["initialize"] = func(_ http.ResponseWriter, r *http.Request, _ said) { <-r.Context().Done() }
		p := &Pool{Servers: []Server{at("files")}, Dial: n.dial}
		statuses := make(chan []Status, 1)
		go func() {
			l, err := p.Lease(context.Background(), nil)
			if err == nil {
				statuses <- l.Status()
				l.Return()
			}
		}()
		f.seen()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		p.Close(ctx)
		require.Equal(t, time.Second, f.elapsed())
		require.Equal(t, []Status{{Server: "files", Error: errClosed.Error()}}, <-statuses)
	})
}
