package provider_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	. "github.com/stallwright/stallwright/fakes/script"
)

func listen(b *testing.B, s *provider.Session) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	p := &provider.Provider{Dialects: []provider.Dialect{openai.Dialect{}}, Fallback: s, MaxConns: 10_000}
	served := make(chan error)
	go func() { served <- p.Serve(l) }()
	b.Cleanup(func() {
		require.NoError(b, p.Close())
		require.NoError(b, <-served)
	})
	return l.Addr().String()
}

func request(b *testing.B, addr string) net.Conn {
	c, err := new(net.Dialer).DialContext(context.Background(), "tcp", addr)
	require.NoError(b, err)
	const body = `{"model":"gpt-x","stream":true}`
	_, err = fmt.Fprintf(c, "POST /chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	require.NoError(b, err)
	return c
}

// BenchmarkFrames is one exchange over TCP: an operation is a frame.
func BenchmarkFrames(b *testing.B) {
	chunks := make([]string, b.N)
	for i := range chunks {
		chunks[i] = "some text "
	}
	addr := listen(b, &provider.Session{Script: Script{{Steps: []Step{Text{Chunks: chunks}, Done{}, End{Close: true}}}}})
	b.ReportAllocs()
	b.ResetTimer()
	c := request(b, addr)
	defer c.Close()
	_, err := io.Copy(io.Discard, c)
	require.NoError(b, err)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

// BenchmarkStalled is the memory of some 10,000 exchanges that stall for ever after a frame, the peers' sockets included: as
// many as 20,000 open files allow.
func BenchmarkStalled(b *testing.B) {
	const count = 9_900
	for b.Loop() {
		addr := listen(b, &provider.Session{Script: Script{{Times: Any, Steps: []Step{Text{Chunks: []string{"a"}}, fault.Stall{}}}}})
		before := inUse()
		conns := make([]net.Conn, count)
		for i := range conns {
			conns[i] = request(b, addr)
			_, err := conns[i].Read(make([]byte, 1))
			require.NoError(b, err)
		}
		b.ReportMetric(float64(inUse()-before)/count, "B/exchange")
		for _, c := range conns {
			c.Close()
		}
	}
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC() // the first empties pools, the second frees what was in them
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
