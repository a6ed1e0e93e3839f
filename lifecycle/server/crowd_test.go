package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func limitedTo(n int) func(*Config) { return func(c *Config) { c.Settings.Connections = n } }

func TestAConnectionAboveTheLimitIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, late(time.Minute), limitedTo(2))
		one, two := f.ask(streaming), f.ask(streaming)
		for range 3 {
			resp := f.do(http.MethodGet, "/health", "")
			require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
			require.Equal(t, "1", resp.Header.Get("Retry-After"))
			require.True(t, resp.Close, "the connection makes room")
			require.JSONEq(t, `{"error":{"message":"Server has too many connections","type":"service_unavailable","param":null,"code":null}}`, text(t, resp))
		}
		require.Contains(t, text(t, one), "late", "those that are served go on")
		require.Contains(t, text(t, two), "late")
		f.client.CloseIdleConnections()
		synctest.Wait()
		require.Contains(t, text(t, f.do(http.MethodGet, "/health", "")), "healthy", "there is room again")
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}

// Whoever only connects holds a place for no longer than the window for headers; those that wait behind the surplus get theirs then.
func TestConnectionsAboveTheSurplusWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, items(says("hi")), limitedTo(1))
		var idle []net.Conn
		for i := range 1 + maxSurplus {
			conn, err := f.pipes.dial(context.Background(), "", "")
			require.NoError(t, err)
			idle = append(idle, conn)
			go io.Copy(io.Discard, conn) // ends with the connection
			if i == 0 {
				time.Sleep(time.Second) // the one that is served goes first
			}
		}
		synctest.Wait()
		require.Equal(t, 1+maxSurplus, f.server.conns.count())
		start := time.Now()
		require.Contains(t, text(t, f.do(http.MethodGet, "/health", "")), "healthy")
		require.Equal(t, headerWindow, time.Since(start))
		for _, conn := range idle {
			require.NoError(t, conn.Close())
		}
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}

func TestAServerThatIsFullShutsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, items(says("hi")), limitedTo(1))
		for range 1 + maxSurplus {
			conn, err := f.pipes.dial(context.Background(), "", "")
			require.NoError(t, err)
			defer conn.Close()
		}
		synctest.Wait()
		require.Equal(t, Exit{Clean: true}, f.end())
		require.Less(t, f.elapsed(), headerWindow)
	})
}

// A client that sends its headers a byte at a time is cut at the window, whatever it sends.
func TestSlowHeadersAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, items(says("hi")), nil)
		conn, err := f.pipes.dial(context.Background(), "", "")
		require.NoError(t, err)
		ended := make(chan time.Duration, 1)
		go func() {
			_, _ = io.Copy(io.Discard, conn)
			ended <- f.elapsed()
		}()
		for _, b := range []byte("GET /health HTTP/1.1\r\nHost: server.test\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaa") {
			if _, err := conn.Write([]byte{b}); err != nil {
				break
			}
			time.Sleep(headerWindow / 20)
		}
		require.Equal(t, headerWindow, <-ended)
		_ = conn.Close()
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}

func TestHeadersThatAreTooLargeAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, items(says("hi")), nil)
		r, err := http.NewRequest(http.MethodGet, "http://server.test/health", nil)
		require.NoError(t, err)
		r.Header.Set("X-Large", strings.Repeat("x", 2*maxHeaderBytes))
		resp, err := f.client.Do(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, resp.StatusCode)
		require.NoError(t, resp.Body.Close())
		time.Sleep(time.Second) // the HTTP server lingers for half of it, so that the answer is read
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}
