package provider_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// eachServer runs a benchmark on the fake and, so that its figures mean something on any machine, on bare net/http.
// Each has a process of its own, so that the clients take none of its memory and of its open files.
func eachServer(b *testing.B, f func(b *testing.B, s *server)) {
	for _, kind := range []string{"fake", "bare"} {
		b.Run("server="+kind, func(b *testing.B) { f(b, startServer(b, kind)) })
	}
}

// benchClient is a connection that asks again and again.
type benchClient struct {
	net.Conn
	in *bufio.Reader
}

func (s *server) connect() (*benchClient, error) {
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		return nil, err
	}
	return &benchClient{c, bufio.NewReader(c)}, nil
}

// ask begins a stream.
func ask(c net.Conn, model string) error {
	body := fmt.Sprintf(`{"model":%q,"stream":true,"messages":[{"role":"user","content":"[[sw:%s]]"}]}`, model, benchMarker)
	_, err := fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// events reads a stream to its end and calls each for every data line.
func (c *benchClient) events(each func()) error {
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", resp.Status)
	}
	done := false
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			done = string(data) == "[DONE]"
			each()
		}
	}
	if !done {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// together runs f for each of n clients at once.
func together(n int, f func(i int) error) error {
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for i := range n {
		wg.Go(func() { errs <- f(i) })
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkStreams is short answers, each chunk in its own write, on connections that are kept. An operation is a
// stream. The fake records each, in a timeline that begins anew before it is full.
func BenchmarkStreams(b *testing.B) {
	for _, clients := range []int{1, 50} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			eachServer(b, func(b *testing.B, s *server) {
				conns := make([]*benchClient, clients)
				for i := range conns {
					c, err := s.connect()
					require.NoError(b, err)
					defer c.Close()
					conns[i] = c
				}
				const most = 1000 // a session of some size
				var cpu time.Duration
				for left := b.N; left > 0; left -= most {
					b.StopTimer()
					s.tell("fresh")
					began := s.cpu()
					b.StartTimer()
					var next atomic.Int64
					chunks := new(atomic.Int64)
					round := int64(min(left, most))
					require.NoError(b, together(clients, func(i int) error {
						for next.Add(1) <= round {
							if err := ask(conns[i], "short"); err != nil {
								return err
							}
							if err := conns[i].events(func() { chunks.Add(1) }); err != nil {
								return err
							}
						}
						return nil
					}))
					b.StopTimer()
					require.Equal(b, round*(shortChunks+1), chunks.Load())
					cpu += s.cpu() - began
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "streams/s")
				b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "cpu-µs/stream")
			})
		})
	}
}

// BenchmarkChunks is one long answer as fast as it goes, each chunk in its own write.
func BenchmarkChunks(b *testing.B) {
	eachServer(b, func(b *testing.B, s *server) {
		c, err := s.connect()
		require.NoError(b, err)
		defer c.Close()
		chunks := 0
		for b.Loop() {
			b.StopTimer()
			s.tell("fresh")
			b.StartTimer()
			require.NoError(b, ask(c, "long"))
			require.NoError(b, c.events(func() { chunks++ }))
		}
		require.Equal(b, b.N*(longChunks+1), chunks)
		b.ReportMetric(float64(chunks)/b.Elapsed().Seconds(), "chunks/s")
	})
}

// BenchmarkGaps is the time between chunks as a client sees it, against the script's, for streams that begin spread
// over one gap, and how far from its script a stream has come after all of them.
func BenchmarkGaps(b *testing.B) {
	for _, streams := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			eachServer(b, func(b *testing.B, s *server) {
				var errors, drifts []time.Duration
				for b.Loop() {
					s.tell("fresh")
					at := make([][]time.Time, streams)
					begin := time.Now()
					require.NoError(b, together(streams, func(i int) error {
						c, err := s.connect()
						if err != nil {
							return err
						}
						defer c.Close()
						<-time.After(time.Until(begin.Add(gap * time.Duration(i) / time.Duration(streams))))
						if err := ask(c, "gaps"); err != nil {
							return err
						}
						return c.events(func() { at[i] = append(at[i], time.Now()) })
					}))
					for _, at := range at {
						at = at[:len(at)-1] // [DONE] comes with no gap
						require.Len(b, at, gaps+1)
						for n := range gaps {
							errors = append(errors, (at[n+1].Sub(at[n]) - gap).Abs())
						}
						drifts = append(drifts, (at[gaps].Sub(at[0]) - gaps*gap).Abs())
					}
				}
				report(b, errors, map[string]float64{"error-ms-p50": 0.5, "error-ms-p99": 0.99, "error-ms-max": 1})
				report(b, drifts, map[string]float64{"drift-ms-p50": 0.5, "drift-ms-max": 1})
			})
		})
	}
}

// report reports quantiles in milliseconds.
func report(b *testing.B, list []time.Duration, quantiles map[string]float64) {
	slices.Sort(list)
	for unit, q := range quantiles {
		b.ReportMetric(float64(list[int(q*float64(len(list)-1))])/float64(time.Millisecond), unit)
	}
}

// heldMost bounds how many streams BenchmarkStalled opens where files are no limit: the clients have one address, which
// has some 28,000 ports for them.
const heldMost = 25_000

// BenchmarkStalled is as many streams that stall for ever after a chunk as the limit of open files allows, and what
// one costs the server. All are there until the clients leave, which the server confirms.
func BenchmarkStalled(b *testing.B) {
	var limit syscall.Rlimit
	require.NoError(b, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	const reserve = 64 // for all else that both processes have open
	count := int(min(limit.Cur-reserve, heldMost))
	eachServer(b, func(b *testing.B, s *server) {
		resident, inUse := s.memory() // it keeps what it once had of the machine
		for b.Loop() {
			s.tell("fresh")
			conns := make([]net.Conn, count)
			began := time.Now()
			const workers = 64
			require.NoError(b, together(workers, func(w int) error {
				buf := make([]byte, 4<<10)
				for i := w; i < count; i += workers {
					c, err := net.Dial("tcp", s.addr)
					if err != nil {
						return err
					}
					conns[i] = c
					if err := ask(c, "stall"); err != nil {
						return err
					}
					if err := readChunk(c, buf); err != nil {
						return err
					}
				}
				return nil
			}))
			opened := time.Since(began)
			residentNow, inUseNow := s.memory()
			for _, c := range conns {
				c.(*net.TCPConn).SetLinger(0) // its port is free at once
				c.Close()
			}
			s.tell(fmt.Sprintf("left %d", count))
			b.ReportMetric(float64(count), "streams")
			b.ReportMetric((residentNow-resident)/float64(count), "resident-B/stream")
			b.ReportMetric((inUseNow-inUse)/float64(count), "heap-B/stream")
			b.ReportMetric(opened.Seconds(), "open-s")
		}
	})
}

// readChunk reads until the first frame has come.
func readChunk(c net.Conn, buf []byte) error {
	for n := 0; ; {
		m, err := c.Read(buf[n:])
		if err != nil {
			return err
		}
		if n += m; bytes.Contains(buf[:n], []byte("data: ")) && bytes.HasSuffix(buf[:n], []byte("\n\n\r\n")) {
			return nil
		}
	}
}
