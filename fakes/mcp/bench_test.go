package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

func listen(b *testing.B, s mcp.Script) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	f := &mcp.Fake{Fallback: &mcp.Session{Script: s}}
	served := make(chan error)
	go func() { served <- f.Serve(l) }()
	b.Cleanup(func() {
		require.NoError(b, f.Close())
		require.NoError(b, <-served)
	})
	return l.Addr().String()
}

// BenchmarkHeldCalls is the memory of calls that are held after a progress, the peers' sockets included.
func BenchmarkHeldCalls(b *testing.B) {
	const count = 1000
	held := mcp.Script{
		Manners:  mcp.Manners{NoIDs: true},
		Programs: []mcp.Program{{Times: script.Any, Steps: []script.Step{mcp.Progress{}, fault.Stall{}}}},
	}
	for b.Loop() {
		addr := listen(b, held)
		before := inUse()
		conns := make([]net.Conn, count)
		for i := range conns {
			c, err := new(net.Dialer).DialContext(context.Background(), "tcp", addr)
			require.NoError(b, err)
			body := call(fmt.Sprint(i), "any", `"text":"some words of an argument"`)
			_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: m\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			require.NoError(b, err)
			_, err = c.Read(make([]byte, 1))
			require.NoError(b, err)
			conns[i] = c
		}
		b.ReportMetric(float64(inUse()-before)/count, "B/call")
		for _, c := range conns {
			c.Close()
		}
	}
}

// BenchmarkLargeResult is a result of 64 MiB: what it allocates is small beside that.
func BenchmarkLargeResult(b *testing.B) {
	const size = 64 << 20
	addr := listen(b, mcp.Script{Manners: mcp.Manners{NoIDs: true}, Tools: []mcp.Tool{{Name: "large", Result: mcp.Result{Size: size}}}})
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		resp, err := http.Post("http://"+addr+"/mcp", "application/json", strings.NewReader(call("1", "large", "")))
		require.NoError(b, err)
		n, err := io.Copy(io.Discard, resp.Body)
		require.NoError(b, err)
		require.Greater(b, n, int64(size))
		resp.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC() // the first empties pools, the second frees what was in them
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
