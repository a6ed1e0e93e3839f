package caller_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/caller"
)

// peer is a raw server: each connection's request is read, then handled byte by byte.
type peer struct {
	listener net.Listener
	done     chan struct{}
}

// listen serves one connection with serve and closes it.
func listen(t *testing.T, serve func(conn *net.TCPConn, body string)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &peer{listener: l, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		body, _ := io.ReadAll(req.Body)
		serve(conn.(*net.TCPConn), string(body))
	}()
	t.Cleanup(func() {
		l.Close()
		<-p.done
	})
	return p
}

func to(p *peer) *caller.Caller {
	var d net.Dialer
	return &caller.Caller{Dial: d.DialContext, Address: p.listener.Addr().String(), Timeline: timeline.New()}
}

// kinds are what a caller recorded, as "kind detail".
func kinds(c *caller.Caller) []string {
	var out []string
	for _, e := range c.Timeline.Events() {
		s := e.Kind
		if e.Detail != "" {
			s += " " + e.Detail
		}
		out = append(out, s)
	}
	return out
}

const (
	head  = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	words = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"hi\"}}]}\n\n"
)

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

func TestFramesAreRecordedByWhatTheyCarry(t *testing.T) {
	frames := ": heartbeat\n\n" + words +
		"event: aura.usage\ndata: {\"x\":1}\n\n" +
		"data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n" +
		"data: nonsense\n\n" +
		"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3}}\n\n" +
		"data: [DONE]\n\n"
	p := listen(t, func(conn *net.TCPConn, body string) {
		io.WriteString(conn, head+chunk(frames)+"0\r\n\r\n")
	})
	c := to(p)
	r := c.Ask(caller.Ask{Prompt: "hello", Stream: true})
	<-r.Ended()
	require.Equal(t, []string{
		"ask POST /v1/chat/completions, stream true", "status 200 text/event-stream", "comment heartbeat", "text hi",
		"event aura.usage {\"x\":1}", "reasoning hm", "tool f {}", "garbage nonsense", "finish stop",
		"usage prompt 1, completion 2, total 3", "done", "end complete",
	}, kinds(c))
}

func TestEndsAreToldApart(t *testing.T) {
	tests := []struct {
		name  string
		serve func(conn *net.TCPConn, body string)
		want  string
	}{
		{"a body that is ended", func(c *net.TCPConn, _ string) { io.WriteString(c, head+chunk(words)+"0\r\n\r\n") }, "end complete"},
		{"a body that is cut", func(c *net.TCPConn, _ string) { io.WriteString(c, head+chunk(words)) }, "end cut: closed"},
		{"a body that is reset", func(c *net.TCPConn, _ string) {
			io.WriteString(c, head+chunk(words))
			c.SetLinger(0)
		}, "end cut: reset"},
		{"no answer at all", func(*net.TCPConn, string) {}, "end no response: closed"},
		{"an answer that is no HTTP", func(c *net.TCPConn, _ string) { io.WriteString(c, "220 ready\r\n") }, "end no response: malformed HTTP status code \"ready\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := to(listen(t, tt.serve))
			<-c.Ask(caller.Ask{Prompt: "hello", Stream: true}).Ended()
			got := kinds(c)
			require.Equal(t, tt.want, got[len(got)-1])
		})
	}
}

func TestAJSONAnswerIsReadLikeAStream(t *testing.T) {
	p := listen(t, func(c *net.TCPConn, _ string) {
		io.WriteString(c, "HTTP/1.1 504 Gateway Timeout\r\nContent-Type: application/json\r\nRetry-After: 1\r\nContent-Length: 53\r\n\r\n{\"error\":{\"message\":\"m\",\"type\":\"t\",\"code\":\"a_code\"}}\n")
	})
	c := to(p)
	<-c.Ask(caller.Ask{Prompt: "hello"}).Ended()
	require.Equal(t, []string{"ask POST /v1/chat/completions, stream false", "status 504 application/json, retry-after 1", "error a_code: m", "end complete"}, kinds(c))
}

func TestIdentifiersAreRecordedOnce(t *testing.T) {
	const named = "data: {\"id\":\"c-1\",\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"
	p := listen(t, func(c *net.TCPConn, _ string) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Chat-Session-Id: s-1\r\nTransfer-Encoding: chunked\r\n\r\n"+
			chunk("data: {\"id\":7}\n\n"+named+named)+"0\r\n\r\n")
	})
	c := to(p)
	<-c.Ask(caller.Ask{Prompt: "hello", Stream: true}).Ended()
	require.Equal(t, []string{
		"ask POST /v1/chat/completions, stream true", "status 200 text/event-stream", "session s-1", "id c-1", "text hi", "text hi", "end complete",
	}, kinds(c))
}

func TestHeadersGoWithTheRequest(t *testing.T) {
	sent := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent <- r.Header.Get("Authorization") }))
	defer server.Close()
	var d net.Dialer
	c := &caller.Caller{Dial: d.DialContext, Address: server.Listener.Addr().String(), Timeline: timeline.New()}
	r := c.Ask(caller.Ask{Prompt: "hello", Header: http.Header{"Authorization": {"Bearer anna"}}})
	require.Equal(t, "Bearer anna", <-sent)
	r.Leave(caller.Close)
}

func TestAnHTMLAnswerIsGarbage(t *testing.T) {
	p := listen(t, func(c *net.TCPConn, _ string) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>")
	})
	c := to(p)
	<-c.Ask(caller.Ask{Prompt: "hello", Stream: true}).Ended()
	require.Contains(t, kinds(c), "garbage <html>")
}

func TestLeavingIsSeenByTheServerAndRecordsNoEnd(t *testing.T) {
	for _, how := range []caller.Leaving{caller.Close, caller.Reset} {
		t.Run(string(how), func(t *testing.T) {
			seen := make(chan error, 1)
			p := listen(t, func(conn *net.TCPConn, _ string) {
				io.WriteString(conn, head)
				_, err := conn.Read(make([]byte, 1))
				seen <- err
			})
			c := to(p)
			r := c.Ask(caller.Ask{Prompt: "hello", Stream: true})
			_, ok := c.Timeline.Await(10*time.Second, func(e timeline.Event) bool { return e.Kind == "status" })
			require.True(t, ok)
			r.Leave(how)
			require.Error(t, <-seen)
			got := kinds(c)
			require.Equal(t, "left "+string(how), got[len(got)-1])
		})
	}
}

func TestAHeldAnswerIsReadOnRequest(t *testing.T) {
	p := listen(t, func(c *net.TCPConn, _ string) { io.WriteString(c, head+chunk(words)+"0\r\n\r\n") })
	c := to(p)
	r := c.Ask(caller.Ask{Prompt: "hello", Stream: true, Hold: true})
	_, ok := c.Timeline.Await(10*time.Second, func(e timeline.Event) bool { return e.Kind == "ask" })
	require.True(t, ok)
	<-p.done // all was written
	require.Len(t, kinds(c), 1)
	r.Read()
	<-r.Ended()
	require.Contains(t, kinds(c), "text hi")
}

func TestAllThatIsHeldIsRead(t *testing.T) {
	p := listen(t, func(c *net.TCPConn, _ string) { io.WriteString(c, head+chunk(words)+"0\r\n\r\n") })
	c := to(p)
	r := c.Ask(caller.Ask{Prompt: "hello", Stream: true, Hold: true})
	require.Equal(t, []*caller.Request{r}, c.ReadAll())
	<-r.Ended()
	require.Contains(t, kinds(c), "text hi")
	require.Empty(t, c.ReadAll())
}

func TestLeaveAllEndsWhatHangs(t *testing.T) {
	p := listen(t, func(conn *net.TCPConn, _ string) { conn.Read(make([]byte, 1)) })
	c := to(p)
	c.Ask(caller.Ask{Prompt: "hello"})
	c.Ask(caller.Ask{Prompt: "never accepted", Hold: true})
	c.LeaveAll()
}

func TestARefusedConnectionIsRecorded(t *testing.T) {
	c := &caller.Caller{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, net.UnknownNetworkError("none") }, Timeline: timeline.New()}
	<-c.Ask(caller.Ask{Prompt: "hello"}).Ended()
	require.Equal(t, []string{"refused unknown network none"}, kinds(c))
}

func TestAnAnswerWithoutContentIsRecordedInItsLane(t *testing.T) {
	p := listen(t, func(conn *net.TCPConn, body string) {
		io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n") //nolint:errcheck // a test
	})
	c := to(p)
	c.Lane = "person"
	r := c.Ask(caller.Ask{Name: "yes", Path: "/v1/approvals/x", Body: `{"approved":true}`})
	<-r.Ended()
	r.Abandon()
	var got []string
	for _, e := range c.Timeline.Events() {
		require.Equal(t, "person", e.Lane)
		got = append(got, e.Kind+" "+e.Detail)
	}
	require.Equal(t, []string{"ask POST /v1/approvals/x, 17 bytes", "status 204 ", "end complete"}, got)
}

func TestAbandonSaysNothing(t *testing.T) {
	p := listen(t, func(conn *net.TCPConn, body string) {
		conn.Read(make([]byte, 1)) //nolint:errcheck // until the caller is gone
	})
	c := to(p)
	r := c.Ask(caller.Ask{Body: "{}"})
	c.Timeline.Await(time.Second, func(e timeline.Event) bool { return e.Kind == "ask" })
	r.Abandon()
	require.Len(t, c.Timeline.Events(), 1)
}
