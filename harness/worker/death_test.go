package worker

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/harness/verdict"
)

func TestWordsBeginWhereTheProcessDies(t *testing.T) {
	noise := strings.Repeat("some warning\n", 2*wordsKept/13)
	for _, c := range []struct{ name, said, want string }{
		{"a line", "a warning", "a warning"},
		{"much", noise, noise[:wordsKept]},
		{"a line without an end", strings.Repeat("x", 2*wordsKept), strings.Repeat("x", wordsKept)},
		{"a panic after much", noise + "panic: oh\n\ngoroutine 7", "panic: oh\n\ngoroutine 7"},
		{"a panic inside a line", "http: panic: oh\ngo", "http: panic: oh\ngo"},
		{"stacks of one thread after another", "SIGQUIT: quit\none\nSIGQUIT: quit\n", "SIGQUIT: quit\none\nSIGQUIT: quit\n"},
		{"a panic and more", "panic: oh\n" + noise, ("panic: oh\n" + noise)[:wordsKept]},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole, parts := &words{}, &words{}
			whole.Write([]byte(c.said))
			for rest := c.said; rest != ""; {
				n := min(len(rest), 4093)
				parts.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			require.True(t, c.want == whole.String(), "at once")
			require.True(t, c.want == parts.String(), "in parts")
		})
	}
}

func TestTheCulpritOfADeath(t *testing.T) {
	const death = "SIGQUIT: quit\n\ngoroutine 1 [running, synctest bubble 1]:\nfirst\n\ngoroutine 2 [chan receive (durable), synctest bubble 1]:\nwaits\n\ngoroutine 3 gp=0x1 m=nil [sync.Mutex.Lock, 1 minutes, synctest bubble 1]:\nlocks\n\ngoroutine 4 [runnable, synctest bubble 1]:\nspins\n\ngoroutine 5 [syscall]:\nreads\n"
	require.Contains(t, culprit(death, verdict.Crash), "first")
	require.NotContains(t, culprit(death, verdict.Crash), "waits")
	hang := culprit(death, verdict.Hang)
	for _, in := range []string{"first", "locks", "spins"} {
		require.Contains(t, hang, in)
	}
	require.NotContains(t, hang, "waits")
	require.NotContains(t, hang, "reads")
	require.Empty(t, culprit("exit status 3", verdict.Crash))
}

func TestTheHeadOfADeathIsBounded(t *testing.T) {
	require.Equal(t, "one\ntwo", head("\none\ntwo\n"))
	require.Equal(t, "panic: oh\nmine(0x1)\n\tmine.go:3 +0x1\nmain()\n\tmain.go:4", head("panic: oh\nruntime.gopark(0x1)\n\tproc.go:462 +0xce fp=0x1\nmine(0x1)\n\tmine.go:3 +0x1 fp=0x1 sp=0x2\ninternal/sync.x(...)\n\tx.go:1\nmain()\n\tmain.go:4"))
	require.Len(t, strings.Split(head(strings.Repeat("x\n", 100)), "\n"), linesShown)
	require.LessOrEqual(t, len(head(strings.Repeat("é", 5*bytesShown))), bytesShown)
}
