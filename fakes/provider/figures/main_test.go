package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const printed = `goos: linux
pkg: example.test/fakes/provider
cpu: Some CPU
BenchmarkStreams/clients=1/server=fake-2   100   5 ns/op   20 cpu-µs/stream   300 streams/s
BenchmarkStreams/clients=1/server=bare-2   100   5 ns/op   20 cpu-µs/stream   200 streams/s
BenchmarkStreams/clients=1/server=fake-2   100   5 ns/op   20 cpu-µs/stream   100 streams/s
BenchmarkStreams/clients=1/server=bare-2   100   5 ns/op   20 cpu-µs/stream   200 streams/s
BenchmarkStreams/clients=1/server=fake-2   100   5 ns/op   20 cpu-µs/stream   190 streams/s
BenchmarkStreams/clients=1/server=bare-2   100   5 ns/op   20 cpu-µs/stream   200 streams/s
BenchmarkStalled/server=fake               1     5 ns/op   8000 resident-B/stream   15000 streams
BenchmarkStalled/server=bare               1     5 ns/op   16000 resident-B/stream   15000 streams
PASS
pkg: example.test/fakes/wire
BenchmarkFrame-16   100   1.5 ns/op   0 B/op
BenchmarkFrame-16   100   2.5 ns/op   0 B/op
`

func TestTable(t *testing.T) {
	found, err := read(strings.NewReader(printed), io.Discard)
	require.NoError(t, err)
	require.Equal(t, "Some CPU", found.cpu)
	var out bytes.Buffer
	require.NoError(t, found.write(&out, machine{cpu: "Some CPU", version: "go1", cores: 2, files: 20_000}))
	var rows []string
	for row := range strings.Lines(out.String()) {
		if fields := strings.Join(strings.Fields(row), " "); fields != "" {
			rows = append(rows, fields)
		}
	}
	require.Contains(t, rows[0], "Some CPU, 2 cores,")
	require.Contains(t, rows[0], "go1, 20000 open files.")
	require.Equal(t, []string{
		"fake provider fake bare net/http ratio aim",
		"stalled streams held at once 15000 15000 1.00 at least 15000: met",
		"memory of a stalled stream, resident, kB 8.0 16.0 0.50 at most 8: met",
		"answers of 20 chunks a second, 1 client 190 [100 300] 200 0.95 at least net/http's: missed",
		"others figures",
		"wire.Frame 2 ns/op, 0 B/op",
	}, rows[1:])
}

func TestWhatIsNoMeasurementIsAnError(t *testing.T) {
	tests := []struct {
		name, printed, want string
	}{
		{"a benchmark that failed", printed + "--- FAIL: BenchmarkX\n", "a benchmark failed: --- FAIL: BenchmarkX"},
		{"a package that does not build", "FAIL\texample.test [build failed]\n" + printed, "a benchmark failed: FAIL\texample.test [build failed]"},
		{"no benchmark", "PASS\n", "no benchmark ran"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.EqualError(t, run(strings.NewReader(test.printed), io.Discard, io.Discard, ""), test.want)
		})
	}
}

func TestLinesAreKeptForBenchstat(t *testing.T) {
	raw := filepath.Join(t.TempDir(), "bench.txt")
	var out, progress bytes.Buffer
	require.NoError(t, run(strings.NewReader(printed), &out, &progress, raw))
	kept, err := os.ReadFile(raw)
	require.NoError(t, err)
	require.Regexp(t, `^go: go\S+\ncores: \d+\nopen-files: \d+\n`, string(kept))
	require.True(t, strings.HasSuffix(string(kept), printed))
	require.Equal(t, string(kept), progress.String())
}
