package server

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

// pieces is a model that says so many, one after another.
func pieces(n int) model {
	return func(_ context.Context, _ llm.Request, emit func(llm.Item) error) error {
		for range n {
			if err := emit(says("twelve bytes")); err != nil {
				return err
			}
		}
		return nil
	}
}

// BenchmarkStreams has clients read whole answers over TCP, so many at once, each on a kept connection: an operation is one answer.
func BenchmarkStreams(b *testing.B) {
	for _, bench := range []struct {
		name string
		once int
	}{{"1-at-once", 1}, {"200-at-once", 200}} {
		b.Run(bench.name, func(b *testing.B) {
			const said = 50
			c := valid()
			s, err := New(c)
			require.NoError(b, err)
			s.agent.Client = pieces(said)
			url, exited := listening(b, s)
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: bench.once}}
			answers := make(chan struct{})
			var clients sync.WaitGroup
			for range bench.once {
				clients.Go(func() {
					for range answers {
						resp, err := client.Post(url, "application/json", strings.NewReader(streaming))
						if err != nil {
							b.Error(err)
							continue
						}
						if n, err := io.Copy(io.Discard, resp.Body); err != nil || n == 0 {
							b.Errorf("%d bytes, %v", n, err)
						}
						resp.Body.Close()
					}
				})
			}
			b.ResetTimer()
			for range b.N {
				answers <- struct{}{}
			}
			close(answers)
			clients.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)*said/b.Elapsed().Seconds(), "frames/s")
			client.CloseIdleConnections()
			s.Signal("SIGTERM")
			require.Equal(b, Exit{Clean: true}, <-exited)
		})
	}
}

// BenchmarkHeldStreams says what one stream costs whose model is silent: 200 of them are held at once, and an operation is the opening and
// leaving of them all.
func BenchmarkHeldStreams(b *testing.B) {
	const once = 200
	c := valid()
	c.Settings.Heartbeat = 0
	s, err := New(c)
	require.NoError(b, err)
	s.agent.Client = model(silent)
	url, exited := listening(b, s)
	client := &http.Client{Transport: &http.Transport{}}
	var grown uint64
	for range b.N {
		before := heap()
		ctx, leave := context.WithCancel(context.Background())
		for range once {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(streaming))
			require.NoError(b, err)
			resp, err := client.Do(r)
			require.NoError(b, err)
			defer resp.Body.Close()
		}
		grown = max(grown, heap()-before)
		leave()
		<-s.registry.Idle()
	}
	b.ReportMetric(float64(grown)/once, "B/held-stream") // its client's share too
	client.CloseIdleConnections()
	s.Signal("SIGTERM")
	require.Equal(b, Exit{Clean: true}, <-exited)
	require.Zero(b, s.measures.streams.Load())
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
