package process

import (
	"errors"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/census"
)

func TestAChildThatHearsNoSignalIsKilled(t *testing.T) {
	executable, err := os.Executable()
	require.NoError(t, err)
	c, err := startChild(t.Context(), command(executable, "deaf", harness.Setup{}), 20*time.Second)
	require.NoError(t, err)
	require.DirExists(t, c.folder)
	require.Contains(t, c.log.last(), "stream 0s", "the config is in the working folder")
	c.Signal("SIGTERM")
	require.Panics(t, func() { c.Signal("SIGSEGV") })
	c.stop()
	require.True(t, c.ended())
	require.Equal(t, "signal: killed", c.code())
	require.Equal(t, "was ended by a signal: killed", c.ending())
	require.Equal(t, -1, c.Exit())
	require.NoDirExists(t, c.folder)
	require.Empty(t, census.Of(c.cmd.Process.Pid))
	c.Signal("SIGTERM") // nobody is there
}

func TestTheEnvironmentIsClean(t *testing.T) {
	require.Equal(t, []string{"GORACE=atexit_sleep_ms=0", "HOME=/h", "GORACE=halt_on_error=1"}, environment([]string{"HOME=/h", "OPENAI_API_KEY=k", "GORACE=halt_on_error=1", "PATHS=x"}))
}

func TestAJournalKeepsTheEnd(t *testing.T) {
	j := &journal{ready: func(line string) string { _, a, _ := strings.Cut(line, "at "); return a }, found: make(chan string, 1)}
	var told strings.Builder
	j.tell(&told)
	long := strings.Repeat("x", 3*logKept)
	j.readAll(strings.NewReader("at one\nat two\n" + long + "\n\x1b[2Jlast\tline without an end"))
	require.Equal(t, "one", <-j.found)
	require.Len(t, j.kept, logKept)
	require.LessOrEqual(t, len(j.last()), bytesShown+10)
	require.True(t, strings.HasSuffix(j.last(), "\n�[2Jlast line without an end"))
	require.Equal(t, "at one\nat two\n"+long+"\n\x1b[2Jlast\tline without an end\n", told.String())
}

func TestEveryWindowIsAboveATick(t *testing.T) {
	w := reflect.ValueOf(harness.Short())
	for i := range w.NumField() {
		// The wait of phase 3 is an upper bound only: no scenario steps into it.
		if name := w.Type().Field(i).Name; name != "Abort" {
			require.Greater(t, time.Duration(w.Field(i).Int()), tick, name)
		}
	}
	require.Greater(t, tick, slack)
	require.Greater(t, rest, slack)
	h := host{usual: harness.Short()}
	limit, _ := (&run{Pool: &Pool{}}).limits(h)
	require.Greater(t, h.patience(), 2*harness.Short().Stream)
	require.Greater(t, limit, 2*h.patience())
}

func TestNoConnectionHoldsAFlood(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	writer, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer writer.Close()
	reader, err := l.Accept()
	require.NoError(t, err)
	defer reader.Close()
	// One that has read fast before: its buffer has grown.
	const warm = 128 << 20
	read := make(chan error, 1)
	go func() {
		b := make([]byte, 1<<20)
		for n := 0; n < warm; {
			m, err := reader.Read(b)
			if err != nil {
				read <- err
				return
			}
			n += m
		}
		read <- nil
	}()
	_, err = writer.Write(make([]byte, warm))
	require.NoError(t, err)
	require.NoError(t, <-read)
	require.NoError(t, writer.SetWriteDeadline(time.Now().Add(time.Second)))
	n, err := writer.Write(make([]byte, flood))
	require.True(t, errors.Is(err, os.ErrDeadlineExceeded), "%d bytes were taken", n)
	t.Logf("%d bytes were taken", n)
}
