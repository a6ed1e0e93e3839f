package mcp_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

// BenchmarkAnsweringHeldCalls is one fake that holds 1,000 calls of tools at a gate: the memory of each, its client's
// socket included, and the time from the gate's opening until the last client has its answer.
func BenchmarkAnsweringHeldCalls(b *testing.B) {
	const count = 1000
	var memory, answering float64
	for b.Loop() {
		gates := new(script.Gates)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(b, err)
		f := &mcp.Fake{Fallback: &mcp.Session{Gates: gates, Script: mcp.Script{
			Manners: mcp.Manners{NoIDs: true},
			Tools:   []mcp.Tool{{Name: "held", Progress: mcp.Progress{Count: 1}, Gate: "go", Result: mcp.Result{Text: "done"}}},
		}}}
		served := make(chan error, 1)
		go func() { served <- f.Serve(l) }()
		before := inUse()
		held := make([]net.Conn, count)
		readers := make([]*bufio.Reader, count)
		for i := range held {
			c, err := net.Dial("tcp", l.Addr().String())
			require.NoError(b, err)
			body := call(fmt.Sprint(i), "held", "")
			_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: m\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			require.NoError(b, err)
			held[i], readers[i] = c, bufio.NewReaderSize(c, 16)
			_, err = readers[i].ReadByte() // the progress is on its way: the call is at the gate, or about to be
			require.NoError(b, err)
		}
		memory += float64(inUse()-before) / count
		opened := time.Now()
		gates.Open("go")
		for i, r := range readers {
			answer := new(strings.Builder)
			answer.WriteByte('H')
			for !strings.Contains(answer.String(), `"text":"done"`) {
				line, err := r.ReadString('\n')
				require.NoError(b, err, "call %d: %s", i, answer)
				answer.WriteString(line)
			}
			require.Contains(b, answer.String(), fmt.Sprintf("200 %s", http.StatusText(200)))
		}
		answering += time.Since(opened).Seconds()
		for _, c := range held {
			c.Close()
		}
		require.NoError(b, f.Close())
		require.NoError(b, <-served)
	}
	b.ReportMetric(memory/float64(b.N), "B/call")
	b.ReportMetric(1000*answering/float64(b.N), "ms-to-answer-all")
}
