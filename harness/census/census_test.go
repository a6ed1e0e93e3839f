package census_test

import (
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/census"
)

func TestACensusSeesWhatIsOpenedAndWhatIsClosed(t *testing.T) {
	for f, can := range census.Countable() {
		if !can {
			t.Skipf("this system does not show %s under /proc", f)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // whatever the runtime opens at the first use of the network
	require.NoError(t, err)
	require.NoError(t, l.Close())
	before := census.Of(os.Getpid())

	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	l, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	child := exec.Command(os.Args[0], "-test.run", "^$")
	in, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	held := census.Of(os.Getpid())
	require.Greater(t, held[harness.Files], before[harness.Files])
	require.Equal(t, before[harness.Sockets]+1, held[harness.Sockets])
	require.Equal(t, before[harness.Children]+1, held[harness.Children])

	require.NoError(t, file.Close())
	require.NoError(t, l.Close())
	in.Close()
	require.NoError(t, child.Wait())
	after := census.Of(os.Getpid())
	require.Equal(t, before[harness.Sockets], after[harness.Sockets])
	require.Equal(t, before[harness.Children], after[harness.Children])
	require.LessOrEqual(t, after[harness.Files], before[harness.Files]+1, "the runtime keeps one for child processes")
}

func TestAProcessThatHasEndedHoldsNothing(t *testing.T) {
	require.Empty(t, census.Of(1<<30))
}
