//go:build unix

package mcp_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// started is a child process, and the fake that plays it.
type started struct {
	t    *testing.T
	f    *mcp.Fake
	tl   *timeline.Timeline
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs *bufio.Reader
}

func startChild(t *testing.T, s mcp.Script) *started {
	t.Helper()
	w := &started{t: t, tl: timeline.New()}
	w.f = &mcp.Fake{Name: "m", Fallback: &mcp.Session{Script: s, Timeline: w.tl}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- w.f.ServeChildren(l) }()
	w.cmd = exec.Command(os.Args[0])
	w.cmd.Env = append(os.Environ(), controlVariable+"="+l.Addr().String())
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	w.in, err = w.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := w.cmd.StdoutPipe()
	require.NoError(t, err)
	errs, err := w.cmd.StderrPipe()
	require.NoError(t, err)
	w.out, w.errs = bufio.NewReader(out), bufio.NewReader(errs)
	require.NoError(t, w.cmd.Start())
	t.Cleanup(func() {
		w.cmd.Process.Kill()
		require.NoError(t, w.f.Close())
		require.NoError(t, <-served)
	})
	return w
}

func (w *started) send(line string) {
	w.t.Helper()
	_, err := io.WriteString(w.in, line+"\n")
	require.NoError(w.t, err)
}

func (w *started) line() string {
	w.t.Helper()
	line, err := w.out.ReadString('\n')
	require.NoError(w.t, err)
	return line
}

// await waits for an event of no request.
func (w *started) await(kind, detail string) timeline.Event {
	w.t.Helper()
	e, ok := w.tl.Await(20*time.Second, func(e timeline.Event) bool { return e.Kind == kind && e.Detail == detail })
	require.True(w.t, ok, "no %s %q among %v", kind, detail, w.tl.Events())
	return e
}

// ended waits for the process, and returns how it ended.
func (w *started) ended() string {
	w.t.Helper()
	w.cmd.Wait()
	return w.cmd.ProcessState.String()
}

// fates are the events of the process itself, each as its kind and detail.
func (w *started) fates() []string {
	var out []string
	for _, e := range w.tl.Events() {
		if e.Ref == "m" && (e.Kind == "start" || e.Kind == "eof" || e.Kind == "signal" || e.Kind == "exit") {
			out = append(out, e.Kind+" "+e.Detail)
		}
	}
	return out
}

func TestAChildEnds(t *testing.T) {
	signal := func(s syscall.Signal) func(w *started) {
		return func(w *started) { require.NoError(w.t, w.cmd.Process.Signal(s)) }
	}
	tests := []struct {
		name    string
		process mcp.Process
		program []script.Step // of a call; none is made when nil
		then    []func(w *started)
		exit    string
		fates   []string
	}{
		{"when its input does", mcp.Process{}, nil, nil, "exit status 0", []string{"start child 1", "eof child 1", "exit 0 child 1"}},
		{"by SIGTERM when it ignores the end of its input", mcp.Process{IgnoresEOF: true}, nil,
			[]func(*started){signal(syscall.SIGTERM)}, "signal: terminated",
			[]string{"start child 1", "eof child 1", "signal SIGTERM child 1", "exit SIGTERM child 1"}},
		{"by SIGKILL when it ignores that too", mcp.Process{IgnoresEOF: true, IgnoresTERM: true}, nil,
			[]func(*started){
				signal(syscall.SIGTERM), func(w *started) { w.await("signal", "SIGTERM child 1") }, signal(syscall.SIGKILL),
				func(w *started) { w.await("exit", "unannounced child 1") },
			}, "signal: killed",
			[]string{"start child 1", "eof child 1", "signal SIGTERM child 1", "exit unannounced child 1"}},
		{"with a code in a call", mcp.Process{}, []script.Step{mcp.Exit{Code: 7}}, nil, "exit status 7", []string{"start child 1", "exit 7 child 1"}},
		{"by a signal of its own in a call", mcp.Process{}, []script.Step{mcp.Exit{Signal: "SIGKILL"}}, nil, "signal: killed",
			[]string{"start child 1", "exit SIGKILL child 1"}},
		{"when its server crashes", mcp.Process{}, []script.Step{mcp.Crash{}}, nil, "signal: killed", []string{"start child 1", "exit SIGKILL child 1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := startChild(t, mcp.Script{Manners: mcp.Manners{Process: test.process}, Programs: []mcp.Program{{Times: script.Any, Steps: append(test.program, mcp.Result{})}}})
			w.send(initialize)
			require.Contains(t, w.line(), `"protocolVersion":"2025-11-25"`)
			if test.program != nil {
				w.send(call("2", "any", ""))
			} else {
				require.NoError(t, w.in.Close())
				w.await("eof", "child 1")
			}
			for _, do := range test.then {
				do(w)
			}
			require.Equal(t, test.exit, w.ended())
			require.Equal(t, test.fates, w.fates())
		})
	}
}

func TestAChildDiesAtItsStart(t *testing.T) {
	w := startChild(t, mcp.Script{Manners: mcp.Manners{Process: mcp.Process{Dies: mcp.Exit{Code: 3, Stderr: "no such database\n"}}}})
	said, err := io.ReadAll(w.errs)
	require.NoError(t, err)
	require.Equal(t, "no such database\n", string(said))
	require.Equal(t, "exit status 3", w.ended())
	require.Equal(t, []string{"start child 1", "exit 3 child 1"}, w.fates())
}

func TestAChildFloodsItsStandardErrorFirst(t *testing.T) {
	const size = 1 << 20
	w := startChild(t, mcp.Script{Manners: mcp.Manners{Process: mcp.Process{Floods: size}}})
	w.send(initialize)
	n, err := io.CopyN(io.Discard, w.errs, size)
	require.NoError(t, err)
	require.EqualValues(t, size, n)
	require.Contains(t, w.line(), "protocolVersion")
}

func TestAChildReadsNothingWhenItsServerDoesNot(t *testing.T) {
	w := startChild(t, mcp.Script{Programs: []mcp.Program{{Steps: []script.Step{mcp.StopReading{}, mcp.Result{}}}}})
	w.send(initialize)
	w.line()
	w.send(call("2", "any", ""))
	w.line()
	pipe := w.in.(interface{ SetWriteDeadline(time.Time) error })
	require.NoError(t, pipe.SetWriteDeadline(time.Now().Add(200*time.Millisecond)))
	n, err := io.WriteString(w.in, strings.Repeat("{}\n", 1<<19))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Less(t, n, 200<<10) // the pipe, and what the process and the fake have read ahead
}

func TestAGrandchildHoldsTheOutput(t *testing.T) {
	for _, test := range []struct {
		name string
		kind mcp.Grandchild
		dies bool // with the group
	}{
		{"in the group", mcp.GrandchildStays, true},
		{"in a session of its own", mcp.GrandchildLeaves, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := startChild(t, mcp.Script{Manners: mcp.Manners{Process: mcp.Process{Grandchild: test.kind}}})
			w.send(initialize)
			w.line()
			w.await("start", "grandchild 2")
			require.NoError(t, w.in.Close())
			w.await("exit", "0 child 1")
			state, err := w.cmd.Process.Wait()
			require.NoError(t, err)
			require.Equal(t, "exit status 0", state.String())
			syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL) // nobody is in the group, when the grandchild has left it
			if test.dies {
				w.await("exit", "unannounced grandchild 2")
			} else {
				require.NoError(t, w.f.Close()) // ends it
			}
			_, err = io.ReadAll(w.out) // until nobody holds the output
			require.NoError(t, err)
		})
	}
}

func TestAChildIsTold(t *testing.T) {
	w := startChild(t, mcp.Script{})
	w.send(initialize)
	require.Contains(t, w.line(), "protocolVersion")
	require.NoError(t, w.f.Close())
	require.Contains(t, []string{"signal: killed", "exit status 1"}, w.ended())
}

func TestWhatIsNoChildIsLetGo(t *testing.T) {
	f := &mcp.Fake{Fallback: &mcp.Session{}}
	defer f.Close()
	near, far := net.Pipe()
	go far.Write([]byte{'i', 0, 0, 0, 0})
	require.ErrorContains(t, f.ServeChild(t.Context(), near), `begins with 'i'`)
	near, far = net.Pipe()
	go far.Write([]byte{'h', 0xff, 0, 0, 0})
	require.ErrorContains(t, f.ServeChild(t.Context(), near), "frame of")
}
