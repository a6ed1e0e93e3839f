package memnet_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stretchr/testify/require"
)

// serve runs handler on addr, and returns a client that dials on n and a stop that
// returns when both have let go of their connections.
func serve(t *testing.T, n *memnet.Network, addr string, handler http.HandlerFunc) (client *http.Client, stop func()) {
	t.Helper()
	l, err := n.Listen(addr)
	require.NoError(t, err)
	server := &http.Server{Handler: handler}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	transport := &http.Transport{DialContext: n.DialContext}
	return &http.Client{Transport: transport}, func() {
		transport.CloseIdleConnections()
		require.NoError(t, server.Shutdown(context.Background()))
		require.Equal(t, http.ErrServerClosed, <-served)
	}
}

func TestHTTPKeepsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n memnet.Network
		defer n.Close()
		client, stop := serve(t, &n, "svc.test:80", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Minute)
			// Read whole first: net/http closes a connection whose answer overtakes a long body.
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			w.Write(body)
		})

		long := strings.Repeat("all work and no play ", 20_000) // more than the buffers hold
		start := time.Now()
		for i := range 3 {
			var reused bool
			ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
				GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused },
			})
			req, err := http.NewRequestWithContext(ctx, "POST", "http://svc.test/echo", strings.NewReader(long))
			require.NoError(t, err)
			res, err := client.Do(req)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, long, string(body))
			require.Equal(t, i > 0, reused)
			synctest.Wait() // the transport takes the connection back on its own goroutine
			require.Equal(t, 2, n.Open())
		}
		require.Equal(t, 3*time.Minute, time.Since(start))
		stop()
		synctest.Wait()
		require.Zero(t, n.Open(), n.Conns())
	})
}

func TestHTTPHandlerNoticesThatTheClientLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n memnet.Network
		defer n.Close()
		start := time.Now()
		var noticed time.Duration
		client, stop := serve(t, &n, "svc.test:80", func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			noticed = time.Since(start)
		})
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "GET", "http://svc.test/", nil)
		require.NoError(t, err)
		_, err = client.Do(req)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		stop()
		require.Equal(t, 10*time.Minute, noticed)
		require.Zero(t, n.Open(), n.Conns())
	})
}

func TestHTTPClientSeesAReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n memnet.Network
		defer n.Close()
		client, stop := serve(t, &n, "svc.test:80", func(w http.ResponseWriter, r *http.Request) {
			conn, buffered, err := http.NewResponseController(w).Hijack()
			require.NoError(t, err)
			buffered.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
			buffered.Flush()
			conn.(*memnet.Conn).Reset()
		})
		res, err := client.Get("http://svc.test/")
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.Equal(t, "half", string(body))
		require.ErrorIs(t, err, syscall.ECONNRESET)
		res.Body.Close()
		stop()
		synctest.Wait()
		require.Zero(t, n.Open(), n.Conns())
	})
}
