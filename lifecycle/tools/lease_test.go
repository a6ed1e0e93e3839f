package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"
)

func TestALeaseListsAndCalls(t *testing.T) {
	tests := []struct {
		name     string
		serves   string
		revision string // configured
		sse      bool
		seen     []string
	}{
		{"a server of the newest revision", modern, "", false, []string{"server/discover", "tools/list", "call 3 echo"}},
		{"the newest revision without the question", modern, modern, false, []string{"tools/list", "call 3 echo"}},
		{"an older server is asked and then initialized", legacy, "", false, []string{"server/discover", "initialize", "notifications/initialized", "tools/list", "call 4 echo", "DELETE"}},
		{"an older revision without the question", legacy, legacy, false, []string{"initialize", "notifications/initialized", "tools/list", "call 3 echo", "DELETE"}},
		{"HTTP with a stream beside it", legacy, "", true, []string{"GET", "initialize", "notifications/initialized", "tools/list", "call 3 echo", "stream left"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n network) {
				f := serve(t, n, "files", test.serves)
				defer f.close()
				s := at("files")
				s.Revision = test.revision
				if test.sse {
					f.sse()
					s.Transport = SSE
				}
				p := &Pool{Servers: []Server{s}, Dial: n.dial}
				l := lease(t, p)
				require.Equal(t, []Status{{Server: "files", Connected: true, Tools: 2}}, l.Status())
				require.Equal(t, []Tool{
					{Server: "files", Name: "echo", Description: "says it", Schema: json.RawMessage(`{"type":"object","x":1}`)},
					{Server: "files", Name: "slow", Schema: json.RawMessage(`{"type":"object"}`)},
				}, l.Tools())
				got, err := l.Call(t.Context(), echo("hi"), "", nil)
				require.NoError(t, err)
				require.Equal(t, Result{Text: `{"s":"hi"}`}, got)
				l.Cleanup(t.Context(), "timeout")
				require.Equal(t, test.seen, f.seen())
				require.Zero(t, f.elapsed())
			})
		})
	}
}

func TestCleanupCancelsWhatIsInFlight(t *testing.T) {
	tests := []struct {
		name   string
		serves string
		sse    bool
		seen   []string
	}{
		{"with a notification, then the end of the session", legacy, false, []string{"cancelled 5: timeout", "cancelled 6: timeout", "left 5", "left 6", "DELETE"}},
		{"of the newest revision by leaving the stream", modern, false, []string{"left 4", "left 5"}},
		{"with a notification beside the stream", legacy, true, []string{"cancelled 4: timeout", "cancelled 5: timeout", "stream left"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n network) {
				f := serve(t, n, "files", test.serves)
				defer f.close()
				s := at("files")
				if test.sse {
					f.sse()
					s.Transport = SSE
				}
				p := &Pool{Servers: []Server{s}, Dial: n.dial}
				l := lease(t, p)
				_, err := l.Call(t.Context(), echo("answered"), "", nil)
				require.NoError(t, err)
				calls := []*later{begin(l, slow(), "", nil), begin(l, slow(), "", nil)}
				f.seen()
				time.Sleep(time.Hour) // a call has no bound of its own
				gone := errors.New("run ended")
				for _, c := range calls {
					c.cancel(gone)
					<-c.done
					require.Equal(t, gone, c.err)
					require.Equal(t, time.Hour, c.after)
				}
				require.Empty(t, f.seen(), "still in flight")
				l.Cleanup(t.Context(), "timeout")
				l.Cleanup(t.Context(), "again")
				require.ElementsMatch(t, test.seen, f.seen())
				require.Equal(t, time.Hour, f.elapsed())
				_, err = l.Call(t.Context(), echo("late"), "", nil)
				require.Equal(t, errOver, err)
			})
		})
	}
}

func TestTheSessionEndsAfterTheCancellations(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		f.on["notifications/cancelled"] = func(w http.ResponseWriter, _ *http.Request, _ said) {
			time.Sleep(time.Second)
			f.note("taken")
			w.WriteHeader(http.StatusAccepted)
		}
		l := lease(t, &Pool{Servers: []Server{at("files")}, Dial: n.dial})
		c := begin(l, slow(), "", nil)
		f.seen()
		l.Cleanup(t.Context(), "client disconnected")
		require.Equal(t, []string{"cancelled 4: client disconnected", "taken"}, f.seen()[:2])
		require.Equal(t, time.Second, f.elapsed())
		<-c.done
		require.Equal(t, &TransportError{Server: "files", Message: "the connection is closed"}, c.err)
	})
}

func TestACallThatWasNotSentIsNotCancelled(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		var held atomic.Bool // the next connection does not come about
		p := &Pool{Servers: []Server{at("files")}, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if held.CompareAndSwap(true, false) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			return n.dial(ctx, network, addr)
		}}
		l := lease(t, p)
		f.seen()
		sent := begin(l, slow(), "", nil)
		require.Equal(t, []string{"call 4 slow"}, f.seen())
		held.Store(true)
		waits := begin(l, slow(), "", nil)
		require.Empty(t, f.seen())
		require.False(t, held.Load(), "it is being connected")
		l.Cleanup(t.Context(), "timeout")
		<-sent.done
		<-waits.done
		require.ElementsMatch(t, []string{"cancelled 4: timeout", "left 4", "DELETE"}, f.seen())
	})
}

// Also when the server does not take the cancellation, and with the caller's credentials like every other request.
func TestASessionIsEndedByItsCaller(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		f.on["notifications/cancelled"] = func(_ http.ResponseWriter, r *http.Request, _ said) { <-r.Context().Done() }
		f.on["DELETE"] = watchAuthorization(f, f.on["DELETE"])
		s := at("files")
		s.HeadersFromRequest = map[string]string{"Authorization": "X-Token"}
		p := &Pool{Servers: []Server{s}, Dial: n.dial, CleanupBound: 4 * time.Second}
		l := taken(t, p, "alice")
		c := begin(l, slow(), "", nil)
		f.seen()
		l.Cleanup(t.Context(), "timeout")
		<-c.done
		require.Equal(t, 2*time.Second, f.elapsed())
		require.ElementsMatch(t, []string{"cancelled 4: timeout", "left 4", "DELETE", "as [alice]"}, f.seen())
	})
}

func TestCleanupIsBounded(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request, _ said) { <-r.Context().Done() }
	bubble(t, func(t *testing.T, n network) {
		var servers []Server
		for _, name := range []string{"one", "two"} {
			f := serve(t, n, name, legacy)
			defer f.close()
			f.on["notifications/cancelled"], f.on["DELETE"] = hang, hang
			servers = append(servers, at(name))
		}
		p := &Pool{Servers: servers, Dial: n.dial, CleanupBound: 4 * time.Second}
		start := time.Now()
		for _, cut := range []time.Duration{0, time.Second, time.Minute} { // a deadline is the bound, be it short or long
			l := lease(t, p)
			one, two := begin(l, slow(), "", nil), begin(l, Call{Name: "two_slow"}, "", nil)
			synctest.Wait()
			ctx, stop, want := t.Context(), context.CancelFunc(func() {}), p.CleanupBound
			if cut > 0 {
				ctx, stop = context.WithTimeout(ctx, cut)
				want = cut
			}
			l.Cleanup(ctx, "timeout")
			stop()
			<-one.done
			<-two.done
			require.Equal(t, want, time.Since(start))
			start = time.Now()
		}
	})
}

func TestAnswersOverHTTP(t *testing.T) {
	stream := func(events string) handler {
		return func(w http.ResponseWriter, _ *http.Request, m said) {
			open(w)
			emit(w, strings.ReplaceAll(events, "ID", string(m.ID)))
		}
	}
	body := func(status int, kind, text string) handler {
		return func(w http.ResponseWriter, _ *http.Request, m said) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.ReplaceAll(text, "ID", string(m.ID)))
		}
	}
	const asJSON = "application/json"
	good := data(text("ID", "good"))
	tests := []struct {
		name   string
		answer handler
		text   string
		failed bool   // the result is an error
		err    string // else
	}{
		{"an answer in a stream", stream(good), "good", false, ""},
		{"an answer with status 202", func(w http.ResponseWriter, r *http.Request, m said) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusAccepted)
			emit(w, data(text(string(m.ID), "good")))
		}, "good", false, ""},
		{"a foreign answer first", stream(data(text("99", "foreign")) + good), "good", false, ""},
		{"its id as a string first", stream(data(text(`"ID"`, "foreign")) + good), "good", false, ""},
		{"its id as a fraction", stream(data(text("ID.0", "good"))), "good", false, ""},
		{"five answers", stream(good + strings.Repeat(data(text("ID", "more")), 4)), "good", false, ""},
		{"line ends of CR, comments, a BOM and no space", stream("\xEF\xBB\xBF: hi\r\revent:message\rdata:" + text("ID", "good") + "\r\r"), "good", false, ""},
		{"an answer in many lines", stream("data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":ID,\ndata:\ndata: \"result\":{\"content\":[{\"type\":\"text\",\"text\":\"good\"}]}}\n\n"), "good", false, ""},
		{"noise between events", stream("nonsense\n\ndata: {\n\ndata: [1]\n\n" + good), "good", false, ""},
		{"a stream that ends early", stream(data(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)), "", false, "the stream ended before the answer"},
		{"an answer without the blank line", stream(strings.TrimSuffix(good, "\n")), "", false, "the stream ended before the answer"},
		{"a stream that is cut", func(w http.ResponseWriter, r *http.Request, _ said) {
			open(w)
			panic(http.ErrAbortHandler)
		}, "", false, "the stream broke: unexpected EOF"},
		{"a connection that is cut", func(http.ResponseWriter, *http.Request, said) { panic(http.ErrAbortHandler) }, "", false, "EOF"},
		{"a foreign id", body(200, asJSON, text("99", "foreign")), "", false, "the answer has another request's id"},
		{"a string for the id", body(200, asJSON, text(`"ID"`, "foreign")), "", false, "the answer has another request's id"},
		{"cut JSON", body(200, asJSON, text("ID", "good")[:30]), "", false, "the answer cannot be read"},
		{"a batch", body(200, asJSON, "["+text("ID", "good")+"]"), "", false, "the answer cannot be read"},
		{"neither result nor error", body(200, asJSON, `{"jsonrpc":"2.0","id":ID}`), "", false, "the answer cannot be read"},
		{"a result that is none", body(200, asJSON, `{"jsonrpc":"2.0","id":ID,"result":7}`), "", false, "the answer cannot be read"},
		{"JSON ten thousand deep", body(200, asJSON, `{"jsonrpc":"2.0","id":ID,"result":`+strings.Repeat("[", 10000)+strings.Repeat("]", 10000)+`}`), "", false, "the answer cannot be read"},
		{"nothing", body(200, asJSON, ""), "", false, "the answer cannot be read"},
		{"no content type", func(w http.ResponseWriter, _ *http.Request, _ said) { w.WriteHeader(202) }, "", false, "status 202 without an answer"},
		{"a page", body(200, "text/html", "<p>"), "", false, `answered with content type "text/html"`},
		{"a refusal", body(503, "text/plain", "too\nbusy"), "", false, "status 503: too busy"},
		{"a refusal in JSON", body(500, asJSON, `{"detail":"x"}`), "", false, `status 500: {"detail":"x"}`},
		{"a refusal in JSON-RPC", body(400, asJSON, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"bad"}}`), "bad (code -32602)", true, ""},
		{"a refusal in JSON-RPC without an id", body(400, asJSON, `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"none"}}`), "none (code -32601)", true, ""},
		{"an error", body(200, asJSON, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"no"}}`), "no (code -32000)", true, ""},
		{"a tool's own error", body(200, asJSON, `{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}`), "no", true, ""},
		{"all kinds of content", body(200, asJSON, `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"resource","resource":{"uri":"f:1","text":"b"}},{"type":"resource","resource":{"uri":"f:2","blob":"AA","mimeType":"x/y"}},{"type":"resource_link","uri":"f:3"},{"type":"later"}]}}`),
			"a\n[image, image/png, 4 bytes in base64]\nb\n[resource f:2, x/y, 2 bytes in base64]\n[resource f:3]\n[later, , 0 bytes in base64]", false, ""},
		{"structured content alone", body(200, asJSON, `{"jsonrpc":"2.0","id":ID,"result":{"structuredContent":{"a":1}}}`), `{"a":1}`, false, ""},
		{"a question back", body(200, asJSON, `{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"?"}}}}}`), `the tool's server answered with "input_required", which this client cannot give`, true, ""},
		{"a redirect to another host", func(w http.ResponseWriter, r *http.Request, _ said) {
			http.Redirect(w, r, "http://other/mcp", http.StatusTemporaryRedirect)
		}, "", false, "status 307: "},
	}
	for _, revision := range []string{legacy, modern} {
		for _, test := range tests {
			t.Run(revision+" "+test.name, func(t *testing.T) {
				bubble(t, func(t *testing.T, n network) {
					f := serve(t, n, "files", revision)
					defer f.close()
					other := serve(t, n, "other", revision)
					defer other.close()
					f.on["tools/call"] = test.answer
					l := lease(t, &Pool{Servers: []Server{at("files")}, Dial: n.dial})
					got, err := l.Call(t.Context(), echo("hi"), "", nil)
					if test.err != "" {
						require.Equal(t, &TransportError{Server: "files", Message: strings.TrimSpace(test.err)}, err)
					} else {
						require.NoError(t, err)
						require.Equal(t, Result{Text: test.text, IsError: test.failed}, got)
					}
					require.Zero(t, f.elapsed())
					require.Empty(t, other.seen())
					l.Cleanup(t.Context(), "timeout")
					for _, event := range f.seen() {
						require.NotContains(t, event, "cancelled")
					}
				})
			})
		}
	}
}

func TestANewerServersUnknownMethodIsNoLostSession(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", modern)
		defer f.close()
		f.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m said) {
			w.WriteHeader(http.StatusNotFound)
			reply(w, m, `"error":{"code":-32601,"message":"none"}`)
		}
		l := lease(t, &Pool{Servers: []Server{at("files")}, Dial: n.dial})
		f.seen()
		got, err := l.Call(t.Context(), echo("hi"), "", nil)
		require.NoError(t, err)
		require.Equal(t, Result{Text: "none (code -32601)", IsError: true}, got)
		l.Cleanup(t.Context(), "timeout")
		require.Equal(t, []string{"call 3 echo"}, f.seen())
	})
}

func TestAnAnswerOf64MiBFailsOnlyItsCall(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(t *testing.T, n network) {
				f := serve(t, n, "files", modern)
				defer f.close()
				echoes := f.on["tools/call"]
				f.on["tools/call"] = func(w http.ResponseWriter, r *http.Request, m said) {
					if m.Params.Name == "echo" {
						echoes(w, r, m)
						return
					}
					w.Header().Set("Content-Type", kind)
					if kind != "application/json" {
						_, _ = io.WriteString(w, "data: ")
					}
					_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"content":[{"type":"text","text":"`)
					for range 64 {
						if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
							return
						}
					}
					f.note("all of it went out")
				}
				l := lease(t, &Pool{Servers: []Server{at("files")}, Dial: n.dial})
				f.seen()
				_, err := l.Call(t.Context(), slow(), "", nil)
				require.Equal(t, &TransportError{Server: "files", Message: errTooLarge.Error()}, err)
				_, err = l.Call(t.Context(), echo("hi"), "", nil)
				require.NoError(t, err)
				require.Equal(t, []string{"call 3 slow", "call 4 echo"}, f.seen())
				l.Return()
			})
		})
	}
}

func TestALongTextIsCutWithANote(t *testing.T) {
	got, err := result(json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("ü", maxResult) + `"}]}`))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("ü", maxResult/2)+fmt.Sprintf("\n[cut: the first %d of %d bytes]", maxResult, 2*maxResult), got.Text)
}

func TestProgress(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		f.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m said) {
			open(w)
			for i := 1; i <= 3; i++ {
				time.Sleep(time.Minute)
				emit(w, data(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"%s","progress":%d,"total":3,"message":"step"}}`, m.Params.Meta.Token, i)))
				emit(w, data(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"foreign","progress":9}}`))
			}
			emit(w, data(text(string(m.ID), "done")))
		}
		l := lease(t, &Pool{Servers: []Server{at("files")}, Dial: n.dial})
		var got []Progress
		r, err := l.Call(t.Context(), slow(), "tok", func(p Progress) { got = append(got, p) })
		require.NoError(t, err)
		require.Equal(t, "done", r.Text)
		require.Equal(t, []Progress{{1, 3, "step"}, {2, 3, "step"}, {3, 3, "step"}}, got)
		require.Equal(t, 3*time.Minute, f.elapsed())
		_, err = l.Call(t.Context(), slow(), "tok", nil)
		require.NoError(t, err)
		require.Len(t, got, 3)
		l.Cleanup(t.Context(), "timeout")
	})
}

func TestASlowReaderOfProgressHoldsUpNobody(t *testing.T) {
	for _, sse := range []bool{false, true} {
		bubble(t, func(t *testing.T, n network) {
			f := serve(t, n, "files", legacy)
			defer f.close()
			s := at("files")
			echoes := f.on["tools/call"]
			f.on["tools/call"] = func(w http.ResponseWriter, r *http.Request, m said) {
				if m.Params.Name == "echo" {
					echoes(w, r, m)
					return
				}
				open(w)
				for i := range 10 * kept {
					emit(w, data(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":%d}}`, i)))
				}
				<-r.Context().Done()
			}
			if sse {
				f.sse()
				s.Transport = SSE
				f.on["tools/call"] = func(w http.ResponseWriter, r *http.Request, m said) {
					w.WriteHeader(http.StatusAccepted)
					_ = http.NewResponseController(w).Flush()
					if m.Params.Name == "echo" {
						echoes(&onStream{f: f, gone: r.Context().Done()}, r, m)
						return
					}
					for i := range 10 * kept {
						_, _ = fmt.Fprintf(&onStream{f: f, gone: r.Context().Done()}, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":%d}}`, i)
					}
				}
			}
			l := lease(t, &Pool{Servers: []Server{s}, Dial: n.dial})
			var got []float64
			c := begin(l, slow(), "tok", func(p Progress) {
				time.Sleep(time.Hour)
				got = append(got, p.Progress)
			})
			synctest.Wait()
			_, err := l.Call(t.Context(), echo("hi"), "", nil)
			require.NoError(t, err)
			require.Zero(t, f.elapsed())
			c.cancel(errors.New("enough"))
			<-c.done
			require.Equal(t, []float64{0}, got, "none after the call is over")
			l.Cleanup(t.Context(), "timeout")
		})
	}
}

func TestAnExpiredSessionIsRenewedOnce(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		expired := 0
		echoes := f.on["tools/call"]
		f.on["tools/call"] = func(w http.ResponseWriter, r *http.Request, m said) {
			if expired > 0 {
				expired--
				w.WriteHeader(http.StatusNotFound)
				return
			}
			echoes(w, r, m)
		}
		f.on["initialize"] = watchAuthorization(f, f.on["initialize"])
		s := at("files")
		s.HeadersFromRequest = map[string]string{"Authorization": "X-Token"}
		p := &Pool{Servers: []Server{s}, Dial: n.dial}
		l := taken(t, p, "alice")
		f.seen()
		lost := &TransportError{Server: "files", Message: "the session expired"}
		expired = 1
		_, err := l.Call(t.Context(), echo("lost"), "", nil)
		require.Equal(t, lost, err)
		require.Equal(t, []string{"call 4 echo", "initialize", "as [alice]", "notifications/initialized"}, f.seen())
		got, err := l.Call(t.Context(), echo("hi"), "", nil)
		require.NoError(t, err)
		require.Equal(t, `{"s":"hi"}`, got.Text)
		expired = 1
		_, err = l.Call(t.Context(), echo("lost"), "", nil)
		require.Equal(t, lost, err)
		require.Equal(t, []string{"call 2 echo", "call 3 echo"}, f.seen())
		l.Return()
		require.Empty(t, f.seen(), "there is no session to end")
	})
}

func TestCallsOfAnExpiredSessionEndWithTheLease(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		calls := f.on["tools/call"]
		f.on["tools/call"] = func(w http.ResponseWriter, r *http.Request, m said) {
			if m.Params.Name == "echo" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			calls(w, r, m)
		}
		p := &Pool{Servers: []Server{at("files")}, Dial: n.dial}
		l := lease(t, p)
		old := begin(l, slow(), "", nil)
		f.seen()
		_, err := l.Call(t.Context(), echo("lost"), "", nil)
		require.Equal(t, &TransportError{Server: "files", Message: "the session expired"}, err)
		require.Equal(t, []string{"call 5 echo", "initialize", "notifications/initialized"}, f.seen())
		l.Cleanup(t.Context(), "timeout")
		<-old.done
		require.ElementsMatch(t, []string{"left 4", "DELETE"}, f.seen(), "there is no session to cancel it in")
	})
}

func TestCallsThatAreNotSent(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", modern)
		defer f.close()
		l := lease(t, &Pool{Servers: []Server{at("files")}, Dial: n.dial})
		f.seen()
		_, err := l.Call(t.Context(), Call{Name: "none"}, "", nil)
		require.Equal(t, ErrUnknownTool, err)
		for _, arguments := range []string{`{"a":`, `[1]`, `"a"`, `null`} {
			r, err := l.Call(t.Context(), Call{Name: "echo", Arguments: json.RawMessage(arguments)}, "", nil)
			require.NoError(t, err)
			require.True(t, r.IsError)
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		_, err = l.Call(ctx, echo("hi"), "", nil)
		require.Equal(t, gone, err)
		require.Empty(t, f.seen())
		r, err := l.Call(t.Context(), Call{Name: "echo"}, "", nil)
		require.NoError(t, err)
		require.Equal(t, "{}", r.Text)
		l.Cleanup(t.Context(), "timeout")
	})
}

func TestSSEStreams(t *testing.T) {
	play := func(t *testing.T, test func(t *testing.T, f *fake, l *Lease)) {
		bubble(t, func(t *testing.T, n network) {
			f := serve(t, n, "files", legacy)
			defer f.close()
			f.sse()
			s := at("files")
			s.Transport = SSE
			l := lease(t, &Pool{Servers: []Server{s}, Dial: n.dial})
			f.seen()
			test(t, f, l)
			l.Cleanup(t.Context(), "timeout")
		})
	}
	t.Run("a lost stream fails the calls at once", func(t *testing.T) {
		play(t, func(t *testing.T, f *fake, l *Lease) {
			c := begin(l, slow(), "", nil)
			synctest.Wait()
			f.close()
			<-c.done
			require.Equal(t, &TransportError{Server: "files", Message: "the event stream ended"}, c.err)
			require.Zero(t, c.after)
		})
	})
	t.Run("a request of the server is answered and is no answer", func(t *testing.T) {
		play(t, func(t *testing.T, f *fake, l *Lease) {
			c := begin(l, slow(), "", nil)
			synctest.Wait()
			stream := &onStream{f: f}
			_, _ = io.WriteString(stream, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
			_, _ = io.WriteString(stream, `{"jsonrpc":"2.0","id":3,"method":"roots/list"}`)
			_, _ = io.WriteString(stream, text("99", "foreign"))
			require.ElementsMatch(t, []string{"call 3 slow", `said {"jsonrpc":"2.0","id":3,"result":{}}`, `said {"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"not supported"}}`}, f.seen())
			time.Sleep(time.Hour)
			_, _ = io.WriteString(stream, text("3", "done"))
			_, _ = io.WriteString(stream, text("3", "again"))
			<-c.done
			require.NoError(t, c.err)
			require.Equal(t, "done", c.result.Text)
		})
	})
	t.Run("an answer that is too large fails only its call", func(t *testing.T) {
		play(t, func(t *testing.T, f *fake, l *Lease) {
			one, two := begin(l, slow(), "", nil), begin(l, slow(), "", nil)
			synctest.Wait()
			stream := &onStream{f: f}
			_, _ = io.WriteString(stream, `{"jsonrpc":"2.0","result":{"id":4,"content":[{"type":"text","text":"`+strings.Repeat(`\"`, maxBytes/2)+`"}]},"id":3}`)
			_, _ = io.WriteString(stream, text("4", "done"))
			<-one.done
			<-two.done
			var results []any
			for _, c := range []*later{one, two} {
				results = append(results, c.result.Text, c.err)
			}
			require.Subset(t, results, []any{"done", &TransportError{Server: "files", Message: errTooLarge.Error()}})
		})
	})
}

// many makes calls that overlap and are larger than what a pipe takes in one piece.
func many(t *testing.T, l *Lease) {
	t.Helper()
	big := strings.Repeat("x", 8<<10)
	calls := make([]*later, 20)
	for i := range calls {
		calls[i] = begin(l, echo(fmt.Sprint(i, big)), fmt.Sprint("tok", i), func(Progress) {})
	}
	for i, c := range calls {
		<-c.done
		require.NoError(t, c.err)
		require.Equal(t, fmt.Sprintf(`{"s":"%d%s"}`, i, big), c.result.Text)
	}
}

func TestManyCallsShareAConnection(t *testing.T) {
	for _, sse := range []bool{false, true} {
		bubble(t, func(t *testing.T, n network) {
			f := serve(t, n, "files", legacy)
			defer f.close()
			s := at("files")
			if sse {
				f.sse()
				s.Transport = SSE
			}
			l := lease(t, &Pool{Servers: []Server{s}, Dial: n.dial})
			many(t, l)
			l.Cleanup(t.Context(), "timeout")
		})
	}
}

// TestTheServerOfTheSDK plays with mcp-go's own server, so that a mistake that this package and its test fakes share would show.
func TestTheServerOfTheSDK(t *testing.T) {
	for _, revision := range []string{legacy, modern} {
		t.Run(revision, func(t *testing.T) {
			bubble(t, func(t *testing.T, n network) {
				cancelled := make(chan time.Time, 1)
				sdk := server.NewMCPServer("sdk", "1", server.WithToolCapabilities(false))
				sdk.AddTool(mcp.NewTool("echo", mcp.WithString("s", mcp.Required())), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return mcp.NewToolResultText(r.GetString("s", "")), nil
				})
				sdk.AddTool(mcp.NewTool("slow"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					<-ctx.Done()
					cancelled <- time.Now()
					return nil, ctx.Err()
				})
				f := serve(t, n, "files", revision)
				defer f.close()
				f.http.Handler = server.NewStreamableHTTPServer(sdk, server.WithStateful(true))
				s := at("files")
				s.Revision = revision
				l := lease(t, &Pool{Servers: []Server{s}, Dial: n.dial})
				require.Equal(t, []Status{{Server: "files", Connected: true, Tools: 2}}, l.Status())
				got, err := l.Call(t.Context(), echo("hi"), "", nil)
				require.NoError(t, err)
				require.Equal(t, Result{Text: "hi"}, got)
				c := begin(l, slow(), "", nil)
				synctest.Wait()
				time.Sleep(time.Minute)
				l.Cleanup(t.Context(), "timeout")
				<-c.done
				require.Equal(t, time.Minute, (<-cancelled).Sub(f.start))
			})
		})
	}
}

func TestAStreamIsTakenUpAgain(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		id := make(chan string, 1)
		f.on["tools/call"] = func(w http.ResponseWriter, _ *http.Request, m said) {
			id <- string(m.ID)
			open(w)
			emit(w, "id: e1\nretry: 3000\ndata:\n\n")
		}
		f.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ said) {
			f.note("from %s", r.Header.Get("Last-Event-ID"))
			open(w)
			emit(w, "event: message\nid: e2\n"+data(text(<-id, "late")))
			<-r.Context().Done()
		}
		l := lease(t, &Pool{Servers: []Server{at("files")}, Dial: n.dial})
		f.seen()
		got, err := l.Call(t.Context(), slow(), "", nil)
		require.NoError(t, err)
		require.Equal(t, "late", got.Text)
		require.Equal(t, 3*time.Second, f.elapsed())
		require.Equal(t, []string{"call 4 slow", "GET", "from e1"}, f.seen())
		l.Cleanup(t.Context(), "timeout")
	})
}

func TestACallWaitsForTheRenewalOfItsSession(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		var sessions atomic.Int32
		echoes, initialize := f.on["tools/call"], f.on["initialize"]
		f.on["tools/call"] = func(w http.ResponseWriter, r *http.Request, m said) {
			if sessions.Load() == 1 {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			echoes(w, r, m)
		}
		f.on["initialize"] = func(w http.ResponseWriter, r *http.Request, m said) {
			if sessions.Add(1) == 2 {
				time.Sleep(time.Second)
			}
			initialize(w, r, m)
		}
		l := lease(t, &Pool{Servers: []Server{at("files")}, Dial: n.dial})
		first := begin(l, echo("lost"), "", nil)
		synctest.Wait()
		second, third := begin(l, echo("hi"), "", nil), begin(l, echo("hi"), "", nil)
		synctest.Wait()
		gone := errors.New("gone")
		third.cancel(gone)
		<-third.done
		require.Equal(t, gone, third.err)
		require.Zero(t, third.after)
		<-first.done
		require.Error(t, first.err)
		<-second.done
		require.NoError(t, second.err)
		require.Equal(t, time.Second, second.after)
		l.Cleanup(t.Context(), "timeout")
	})
}

func TestOverTCP(t *testing.T) {
	f := &fake{t: t, on: map[string]handler{
		"initialize": func(w http.ResponseWriter, _ *http.Request, m said) {
			succeed(w, m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}`)
		},
		"tools/list": func(w http.ResponseWriter, _ *http.Request, m said) {
			succeed(w, m, `{"tools":[{"name":"slow","inputSchema":{}}]}`)
		},
	}}
	has, left := make(chan struct{}), make(chan struct{})
	f.on["tools/call"] = func(w http.ResponseWriter, r *http.Request, m said) {
		open(w)
		close(has)
		<-r.Context().Done()
		close(left)
	}
	s := httptest.NewServer(f)
	defer s.Close()
	p := &Pool{Servers: []Server{{Name: "files", Transport: HTTPStreamable, URL: s.URL, Revision: legacy}}}
	l := lease(t, p)
	c := begin(l, slow(), "", nil)
	<-has
	l.Cleanup(t.Context(), "server shutdown")
	<-left
	<-c.done
	p.Close(t.Context())
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Equal(t, []string{"initialize", "notifications/initialized", "tools/list", "call 3 slow", "cancelled 3: server shutdown"}, f.events)
}
