//go:build unix

package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// playChild is an MCP server on its standard streams that writes down what it sees.
func playChild(role string) int {
	record, err := os.OpenFile(os.Getenv(logVariable), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return 1
	}
	note := func(format string, args ...any) { fmt.Fprintf(record, format+"\n", args...) }
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM)
	switch role {
	case "sleeper":
		held, err := os.OpenFile(os.Getenv(logVariable)+".held", os.O_WRONLY, 0)
		if err != nil {
			return 1
		}
		fmt.Fprintln(held, "up")
		for range signals {
		}
	case "exits at start":
		fmt.Fprintln(os.Stderr, "no such database\x1b[31m, token hunter22")
		return 3
	case "grandchild":
		sleeper := exec.Command(os.Args[0])
		sleeper.Env = append(os.Environ(), roleVariable+"=sleeper")
		sleeper.Stdout = os.Stdout // noise for the client, and held open
		if err := sleeper.Start(); err != nil {
			return 1
		}
	}
	serveLines(role, note)
	note("eof")
	switch role {
	case "ignores eof":
		<-signals
		note("term")
	case "ignores all":
		for range signals {
			note("term")
		}
	}
	return 0
}

func serveLines(role string, note func(string, ...any)) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m said
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			note("garbage")
			continue
		}
		switch {
		case m.Method == "notifications/cancelled":
			note("cancelled %s: %s", m.Params.RequestID, m.Params.Reason)
		case m.Method == "tools/call":
			note("call %s %s", m.ID, m.Params.Name)
		case m.Method == "":
			note("said %s", in.Bytes())
		default:
			note("%s", m.Method)
		}
		if role == "flood" {
			_, _ = os.Stderr.Write(bytes.Repeat([]byte("x"), 3<<20))
		}
		if role == "noise" {
			fmt.Print("banner\n\x00\xff\n{\"level\":\"info\"}\n[]\n\n" + text("99", "foreign") + "\n" + text(`"`+string(m.ID)+`"`, "foreign") + "\n")
		}
		switch m.Method {
		case "server/discover":
			if role == "modern" {
				fmt.Println(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`)
			} else {
				fmt.Println(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"no"}}`)
			}
		case "initialize":
			fmt.Println(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"child","version":"1"}}}`)
		case "tools/list":
			fmt.Println(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"slow","inputSchema":{"type":"object"}}]}}`)
			if role == "unread" {
				note("reads no more")
				select {}
			}
		case "tools/call":
			childCall(role, m)
		}
	}
}

func childCall(role string, m said) {
	progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"` + m.Params.Meta.Token + `","progress":1}}`
	switch {
	case role == "dies":
		os.Exit(9)
	case role == "dies in a line":
		fmt.Print(text(string(m.ID), "half")[:20])
		os.Exit(9)
	case role == "closes its output":
		os.Stdout.Close()
	case role == "huge" && m.Params.Name == "slow":
		out := bufio.NewWriter(os.Stdout)
		_, _ = out.WriteString(`{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"`)
		for range 64 {
			_, _ = out.Write(bytes.Repeat([]byte("x"), 1<<20))
		}
		_, _ = out.WriteString(`"}]},"id":` + string(m.ID) + "}\n")
		_ = out.Flush()
	case role == "deep" && m.Params.Name == "slow":
		fmt.Println(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + "}")
	case m.Params.Name == "slow":
		fmt.Println(progress)
	default:
		if role == "pings" {
			fmt.Println(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		}
		fmt.Println(text(string(m.ID), string(m.Params.Arguments)))
		if role == "noise" {
			fmt.Println(text(string(m.ID), "again") + "\n" + text(string(m.ID), "and again"))
		}
	}
}

// started is a child that plays a role, and its record.
type started struct {
	t      *testing.T
	pool   *Pool
	record string
}

func run(t *testing.T, role string) *started {
	s := &started{t: t, record: filepath.Join(t.TempDir(), "record")}
	self, err := os.Executable()
	require.NoError(t, err)
	s.pool = &Pool{CleanupBound: 3 * time.Second, Servers: []Server{{Name: "child", Transport: Stdio, Command: self,
		Env: map[string]string{roleVariable: role, logVariable: s.record, "TOKEN": "hunter22",
			"GORACE": "atexit_sleep_ms=0"}}}}
	return s
}

// seen is the record. It is whole once the child has ended.
func (s *started) seen() []string {
	s.t.Helper()
	text, err := os.ReadFile(s.record)
	require.NoError(s.t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// underway begins a call and returns when the child has it.
func underway(l *Lease) *later {
	has := make(chan struct{})
	c := begin(l, slow(), "tok", func(Progress) { close(has) })
	<-has
	return c
}

// descriptors are the open files of this process.
func descriptors(t *testing.T) int {
	if runtime.GOOS != "linux" {
		return 0 // elsewhere nothing lists them
	}
	names, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(names)
}

// gone says that there is no process of this id, not even a dead one that waits for its parent.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestAChildIsCalledAndCancelled(t *testing.T) {
	shake := []string{"server/discover", "initialize", "notifications/initialized", "tools/list"}
	tests := []struct {
		name, role string
		seen       []string
	}{
		{"of an older revision", "plain", append(shake, "call 4 echo", "call 5 slow", "cancelled 5: client disconnected", "eof")},
		{"of the newest revision", "modern", []string{"server/discover", "tools/list", "call 3 echo", "call 4 slow", "cancelled 4: client disconnected", "eof"}},
		{"that says much else", "noise", append(shake, "call 4 echo", "call 5 slow", "cancelled 5: client disconnected", "eof")},
		{"that floods its standard error", "flood", append(shake, "call 4 echo", "call 5 slow", "cancelled 5: client disconnected", "eof")},
		{"that ignores the end of its input", "ignores eof", append(shake, "call 4 echo", "call 5 slow", "cancelled 5: client disconnected", "eof", "term")},
		{"that ignores everything", "ignores all", append(shake, "call 4 echo", "call 5 slow", "cancelled 5: client disconnected", "eof", "term")},
		{"that asks back", "pings", append(shake, "call 4 echo", `said {"jsonrpc":"2.0","id":"p","result":{}}`, "call 5 slow", "cancelled 5: client disconnected", "eof")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := descriptors(t)
			s := run(t, test.role)
			l := lease(t, s.pool)
			require.Equal(t, []Status{{Server: "child", Connected: true, Tools: 2}}, l.Status())
			r, err := l.Call(t.Context(), echo("hi"), "", nil)
			require.NoError(t, err)
			require.Equal(t, `{"s":"hi"}`, r.Text)
			c := underway(l)
			pid := l.set.slots[0].conn.child.cmd.Process.Pid
			start := time.Now()
			l.Cleanup(t.Context(), "client disconnected")
			require.Less(t, time.Since(start), s.pool.CleanupBound)
			require.True(t, gone(pid))
			require.Equal(t, before, descriptors(t))
			<-c.done
			require.Error(t, c.err)
			if test.role == "pings" {
				require.ElementsMatch(t, test.seen, s.seen()) // the answer to the ping may come after the next call
			} else {
				require.Equal(t, test.seen, s.seen())
			}
		})
	}
}

func TestAChildThatFailsACall(t *testing.T) {
	tests := []struct {
		name, role, err string
		lives           bool
	}{
		{"by its death", "dies", "the server exited: exit status 9", false},
		{"by its death in an answer", "dies in a line", "the server exited: exit status 9", false},
		{"by closing its output", "closes its output", "the server closed its output", false},
		{"by 64 MiB", "huge", errTooLarge.Error(), true},
		{"by JSON ten thousand deep", "deep", errMalformed.Error(), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := run(t, test.role)
			l := lease(t, s.pool)
			pid := l.set.slots[0].conn.child.cmd.Process.Pid
			_, err := l.Call(t.Context(), slow(), "", nil)
			require.Equal(t, &TransportError{Server: "child", Message: test.err}, err)
			_, err = l.Call(t.Context(), echo("hi"), "", nil)
			require.Equal(t, test.lives, err == nil, err)
			l.Return()
			require.True(t, gone(pid))
			for _, event := range s.seen() {
				require.NotContains(t, event, "cancelled")
			}
		})
	}
}

func TestManyCallsShareAChild(t *testing.T) {
	s := run(t, "plain")
	l := lease(t, s.pool)
	many(t, l)
	l.Return()
	kept := lease(t, s.pool)
	many(t, kept)
	kept.Return()
	s.pool.Close(t.Context())
	seen := s.seen()
	require.Equal(t, "server/discover", seen[0])
	require.NotContains(t, seen[1:], "server/discover", "the second lease has the same child")
	require.Equal(t, "eof", seen[len(seen)-1])
}

func TestADeadChildIsReapedWithoutCleanup(t *testing.T) {
	s := run(t, "dies")
	l := lease(t, s.pool)
	c := l.set.slots[0].conn.child
	_, err := l.Call(t.Context(), slow(), "", nil)
	require.Error(t, err)
	<-c.exited
	require.True(t, gone(c.cmd.Process.Pid))
	l.Cleanup(t.Context(), "timeout")
}

func TestAGrandchildEndsWithTheChild(t *testing.T) {
	s := run(t, "grandchild")
	require.NoError(t, syscall.Mkfifo(s.record+".held", 0o600))
	l := lease(t, s.pool)
	held, err := os.Open(s.record + ".held")
	require.NoError(t, err)
	defer held.Close()
	up := make([]byte, 3)
	_, err = io.ReadFull(held, up)
	require.NoError(t, err)
	c := underway(l)
	l.Cleanup(t.Context(), "timeout")
	<-c.done
	rest, err := io.ReadAll(held) // ends with the one that holds it
	require.NoError(t, err)
	require.Empty(t, rest)
}

func TestAChildThatReadsNothing(t *testing.T) {
	s := run(t, "unread")
	l := lease(t, s.pool)
	pid := l.set.slots[0].conn.child.cmd.Process.Pid
	big := Call{Name: "echo", Arguments: json.RawMessage(`{"s":"` + strings.Repeat("x", 1<<20) + `"}`)}
	left := errors.New("left")
	var calls []*later
	for range 3 {
		calls = append(calls, begin(l, big, "", nil))
	}
	for _, c := range calls {
		c.cancel(left)
		<-c.done
		require.Equal(t, left, c.err)
	}
	start := time.Now()
	ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer stop()
	l.Cleanup(ctx, "timeout")
	require.Less(t, time.Since(start), 5*time.Second) // not the write window, not the bound of a quiet child
	require.True(t, gone(pid))
	require.Equal(t, "reads no more", s.seen()[len(s.seen())-1])
}

func TestAChildThatDoesNotStart(t *testing.T) {
	t.Run("because it is not there", func(t *testing.T) {
		p := &Pool{Servers: []Server{{Name: "child", Transport: Stdio, Command: "no-such-command-here"}}}
		l := lease(t, p)
		require.Equal(t, []Status{{Server: "child", Error: `exec: "no-such-command-here": executable file not found in $PATH`}}, l.Status())
		l.Return()
		p.Close(t.Context())
	})
	t.Run("because it exits", func(t *testing.T) {
		s := run(t, "exits at start")
		var log bytes.Buffer
		s.pool.Log = slog.New(slog.NewTextHandler(&log, nil))
		l := lease(t, s.pool)
		require.Equal(t, []Status{{Server: "child", Error: "the server exited: exit status 3"}}, l.Status())
		l.Return()
		s.pool.Close(t.Context())
		require.Contains(t, log.String(), "no such database [31m, token [redacted]")
		require.NotContains(t, log.String(), "hunter22")
	})
}

func TestAChildSeesLittleOfTheEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	env := environment(map[string]string{"MINE": "1"})
	require.Contains(t, env, "MINE=1")
	require.Contains(t, env, "PATH="+os.Getenv("PATH"))
	require.NotContains(t, strings.Join(env, "\n"), "sk-secret")
}

func TestAChildThatStopsReadingIsNoticed(t *testing.T) {
	for _, many := range []bool{false, true} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer r.Close()
		stuck := make(chan struct{}, 2*maxFrames)
		box := &outbox{link: newLink(), file: w, frames: make(chan frame, maxFrames), done: make(chan struct{}), window: time.Hour, stuck: func() { stuck <- struct{}{} }}
		if !many {
			box.window = time.Millisecond
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			box.write()
		}()
		frames := 1
		if many {
			frames = maxFrames + 2 // one is being written
		}
		for range frames {
			_, err := box.Write(bytes.Repeat([]byte("x"), 128<<10)) // more than a pipe holds
			require.NoError(t, err)
		}
		<-stuck
		require.NoError(t, box.Close())
		<-ended
	}
}

func TestTheTailIsBounded(t *testing.T) {
	var last tail
	_, _ = io.WriteString(&last, strings.Repeat("x", 10*lastWords))
	_, _ = io.WriteString(&last, "end")
	require.Equal(t, strings.Repeat("x", lastWords-3)+"end", last.String())
}
