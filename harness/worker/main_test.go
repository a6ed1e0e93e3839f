package worker_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/worker"
)

// roleVar makes this binary something else than tests.
const roleVar = "WORKER_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "worker":
		worker.Main(os.Stdin, os.Stdout, harness.Target{Name: "little", Features: harness.Features(), Start: start}, find)
	case "broken":
		fmt.Fprintln(os.Stderr, "no such machine")
		os.Exit(9)
	case "mute":
		<-time.After(time.Minute) // the parent ends it before
		os.Exit(0)
	case "babbling":
		line := strings.Repeat("x", 1<<20)
		for range 64 {
			fmt.Print(line)
		}
		os.Exit(0)
	case "lazy": // takes the order and does nothing
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// start is a server that ends at once when it is signalled, and asks for nothing.
func start(s harness.Setup) (harness.Server, error) {
	r := &server{listener: s.Listener, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for {
			c, err := s.Listener.Accept()
			if err != nil {
				return
			}
			go underTest(c)
		}
	}()
	return r, nil
}

type server struct {
	listener net.Listener
	done     chan struct{}
}

func (s *server) Signal(string)         { s.listener.Close() }
func (s *server) Done() <-chan struct{} { return s.done }
func (s *server) Exit() int             { return 0 }

// underTest answers one request, and does wrong when the request says so. Its name is the Package of the tests.
func underTest(c net.Conn) {
	defer c.Close()
	b := make([]byte, 16<<10)
	n, _ := c.Read(b)
	request := string(b[:n])
	switch {
	case strings.Contains(request, "panic"):
		panic("the server's own")
	case strings.Contains(request, "exit"):
		os.Exit(0)
	case strings.Contains(request, "spin"):
		for i := 0; ; i++ {
		}
	case strings.Contains(request, "mutex"):
		var mu sync.Mutex
		mu.Lock()
		mu.Lock()
	case strings.Contains(request, "print"):
		fmt.Print("no line end: {\"job\":") // on stdout
	}
	fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n%s",
		`{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}`)
}

// find knows a case for each thing that can go wrong, test/WHAT, and its variants 1 to 9.
func find(id string) (harness.Case, bool) {
	name, _, _ := strings.Cut(id, "@")
	what, ok := strings.CutPrefix(name, "test/")
	if !ok {
		return harness.Case{}, false
	}
	s := harness.Scenario{
		ID: name, Claim: "a request is answered",
		Play: func(t *harness.Trial) {
			switch what {
			case "ours":
				go panic("stallwright's own")
			case "wait":
				t.Pass(time.Hour) // virtual
			}
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: what}))
		},
		Checks: []harness.Check{
			{Name: "answer", Guarantee: "test.answered", Noun: "answer", Expect: func(harness.At) expect.Expectation {
				return expect.Reads{What: expect.Event{Lane: "client", Kind: "text"}, Text: "hello"}
			}},
			{Name: "end", Guarantee: "test.ends", Noun: "end", Expect: func(harness.At) expect.Expectation {
				return expect.Times{What: expect.Event{Lane: "client", Kind: "end"}, Min: 1, Max: 1}
			}},
		},
	}
	if what == "error" {
		s.Play = func(t *harness.Trial) { t.Script(script.Program{}, script.Program{}); t.Script() }
	}
	for i := range 10 {
		s.Variants = append(s.Variants, harness.Variant{Name: fmt.Sprint(i)})
	}
	s.Variants[0].Name = ""
	for _, c := range s.Cases() {
		if c.ID() == id {
			return c, true
		}
	}
	return harness.Case{}, false
}
