package provider_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// benchServer is the variable that makes this binary a server of a benchmark: fake or bare.
const benchServer = "STALLWRIGHT_BENCH_SERVER"

// What both servers answer, by the request's model.
const (
	shortChunks = 20
	longChunks  = 50_000
	gaps        = 100
	gap         = 50 * time.Millisecond
	chunkText   = "some text "
	// A frame as the fake sends it.
	chunkFrame = `data: {"id":"chatcmpl-sw","object":"chat.completion.chunk","created":1700000000,"model":"short","choices":[{"index":0,"delta":{"content":"some text "},"finish_reason":null}]}` + "\n\n"
)

// serveBench serves until the commands end. It writes its address, and a line for each command:
//
//	fresh   the sessions begin anew, with empty timelines
//	cpu     the CPU time spent, in nanoseconds
//	memory  resident memory in bytes, then heap and stacks in use after a collection
//	left N  waits for so many peers to have left a stalled stream
func serveBench(kind string, commands io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var s interface {
		serve(l net.Listener) error
		fresh() error
		left(n int) error
	}
	switch kind {
	case "fake":
		s = &fakeServer{p: &provider.Provider{Dialects: []provider.Dialect{openai.Dialect{}}, MaxConns: 1 << 20}}
	case "bare":
		s = bareServer{make(chan struct{}, 1<<20)}
	default:
		return fmt.Errorf("%s %q: want fake or bare", benchServer, kind)
	}
	if err := s.fresh(); err != nil {
		return err
	}
	go s.serve(l) // until the process ends
	fmt.Fprintln(out, l.Addr())
	for in := bufio.NewScanner(commands); in.Scan(); {
		command, number, _ := strings.Cut(in.Text(), " ")
		answer := "done"
		switch command {
		case "fresh":
			err = s.fresh()
		case "cpu":
			answer, err = cpuTime()
		case "memory":
			answer = fmt.Sprint(resident(), inUse())
		case "left":
			n, _ := strconv.Atoi(number)
			err = s.left(n)
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, answer)
	}
	return nil
}

func cpuTime() (string, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return "", err
	}
	return fmt.Sprint(r.Utime.Nano() + r.Stime.Nano()), nil
}

// resident is the memory that the process has of the machine, 0 where that is not told.
func resident() int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.Atoi(strings.Fields(string(b))[1])
	return pages * os.Getpagesize()
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC() // the first empties pools, the second frees what was in them
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// fakeServer records everything, as it does for a user.
type fakeServer struct {
	p  *provider.Provider
	tl *timeline.Timeline
}

const benchMarker = "bench"

func (s *fakeServer) serve(l net.Listener) error { return s.p.Serve(l) }

func (s *fakeServer) fresh() error {
	s.p.Release(benchMarker)
	s.tl = timeline.New()
	chunks := func(n int) []string { return strings.Split(strings.Repeat(chunkText+"\n", n-1)+chunkText, "\n") }
	program := func(model string, steps ...Step) Program {
		return Program{Times: Any, When: When{Model: model}, Steps: steps}
	}
	return s.p.Open(benchMarker, &provider.Session{Timeline: s.tl, Script: Script{
		program("short", Text{Chunks: chunks(shortChunks)}, Done{}, End{}),
		program("long", Text{Chunks: chunks(longChunks)}, Done{}, End{}),
		program("gaps", Text{Chunks: chunks(gaps + 1), Every: gap}, Done{}, End{}),
		program("stall", Text{Chunks: chunks(1)}, fault.Stall{}),
	}})
}

func (s *fakeServer) left(n int) error {
	count := 0
	_, ok := s.tl.Await(time.Minute, func(e timeline.Event) bool {
		if e.Kind == "left" {
			count++
		}
		return count == n
	})
	if !ok {
		return fmt.Errorf("%d of %d streams were held to their end", count, n)
	}
	return nil
}

// bareServer is what one writes by hand with net/http. It records nothing.
type bareServer struct{ gone chan struct{} }

func (s bareServer) serve(l net.Listener) error { return http.Serve(l, s) }

func (s bareServer) fresh() error { return nil }

func (s bareServer) left(n int) error {
	limit := time.After(time.Minute)
	for i := range n {
		select {
		case <-s.gone:
		case <-limit:
			return fmt.Errorf("%d of %d streams were held to their end", i, n)
		}
	}
	return nil
}

func (s bareServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string `json:"model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := http.NewResponseController(w)
	send := func(frame string) {
		io.WriteString(w, frame)
		flusher.Flush()
	}
	chunks, every := 1, time.Duration(0)
	switch asked.Model {
	case "short":
		chunks = shortChunks
	case "long":
		chunks = longChunks
	case "gaps":
		chunks, every = gaps+1, gap
	}
	for i := range chunks {
		if i > 0 && every > 0 {
			<-time.After(every)
		}
		send(chunkFrame)
	}
	if asked.Model == "stall" {
		<-r.Context().Done()
		s.gone <- struct{}{}
		return
	}
	send("data: [DONE]\n\n")
}

// server is a server in a process of its own, on two cores whatever the machine has: figures can be compared.
type server struct {
	b    testing.TB
	addr string
	in   io.Writer
	out  *bufio.Scanner
}

func startServer(b testing.TB, kind string) *server {
	b.Helper()
	self, err := os.Executable()
	require.NoError(b, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), benchServer+"="+kind, "GOMAXPROCS=2")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		in.Close() // it ends then
		require.NoError(b, cmd.Wait())
	})
	s := &server{b: b, in: in, out: bufio.NewScanner(out)}
	s.addr = s.line()
	return s
}

func (s *server) line() string {
	require.True(s.b, s.out.Scan(), "the server has ended: %v", s.out.Err())
	return s.out.Text()
}

func (s *server) tell(command string) string {
	_, err := fmt.Fprintln(s.in, command)
	require.NoError(s.b, err)
	return s.line()
}

func (s *server) cpu() (d time.Duration) {
	_, err := fmt.Sscan(s.tell("cpu"), &d)
	require.NoError(s.b, err)
	return d
}

func (s *server) memory() (resident, inUse float64) {
	_, err := fmt.Sscan(s.tell("memory"), &resident, &inUse)
	require.NoError(s.b, err)
	return resident, inUse
}
