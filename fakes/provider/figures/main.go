// Command figures reads what go test -bench prints and shows the medians in a table, with the facts of the machine that
// they depend on: the fake provider beside bare net/http, which was measured in the same run, and what is aimed at. The
// lines themselves go to a file as benchstat reads them.
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
)

func main() {
	raw := flag.String("o", "", "the file for benchstat")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, os.Stderr, *raw); err != nil {
		fmt.Fprintln(os.Stderr, "figures: error:", err)
		os.Exit(1)
	}
}

// run shows lines on progress as they come, for it all takes minutes, and the table on out at the end.
func run(in io.Reader, out, progress io.Writer, raw string) error {
	m, err := thisMachine()
	if err != nil {
		return err
	}
	lines := io.Writer(progress)
	if raw != "" {
		f, err := os.Create(raw)
		if err != nil {
			return err
		}
		defer f.Close()
		lines = io.MultiWriter(progress, f)
	}
	fmt.Fprintf(lines, "go: %s\ncores: %d\nopen-files: %d\n", m.version, m.cores, m.files)
	found, err := read(in, lines)
	if err != nil {
		return err
	}
	if m.cpu = found.cpu; m.cpu == "" {
		m.cpu = "unknown CPU"
	}
	fmt.Fprintln(out)
	return found.write(out, m)
}

// machine is what figures depend on.
type machine struct {
	cpu, version string
	cores        int
	files        uint64 // that a process may have open
}

func thisMachine() (machine, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return machine{}, err
	}
	return machine{version: runtime.Version(), cores: runtime.NumCPU(), files: uint64(limit.Cur)}, nil
}

// results are the values of each benchmark and unit, in the order in which they came.
type results struct {
	cpu    string
	names  []string
	units  map[string][]string
	values map[[2]string][]float64
}

var line = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.+)$`)

// read takes in the lines and copies them. It is an error when a test failed or no benchmark ran.
func read(in io.Reader, lines io.Writer) (*results, error) {
	r := &results{units: map[string][]string{}, values: map[[2]string][]float64{}}
	failed, pkg := "", ""
	s := bufio.NewScanner(in)
	for s.Scan() {
		text := s.Text()
		fmt.Fprintln(lines, text)
		if cpu, ok := strings.CutPrefix(text, "cpu: "); ok {
			r.cpu = cpu
		}
		if path, ok := strings.CutPrefix(text, "pkg: "); ok {
			pkg = path[strings.LastIndexByte(path, '/')+1:]
		}
		if failed == "" && (strings.HasPrefix(text, "FAIL") || strings.HasPrefix(text, "--- FAIL")) {
			failed = text
		}
		if m := line.FindStringSubmatch(text); m != nil {
			r.add(pkg+"."+m[1], strings.Fields(m[2]))
		}
	}
	switch {
	case s.Err() != nil:
		return nil, s.Err()
	case failed != "":
		return nil, fmt.Errorf("a benchmark failed: %s", failed)
	case len(r.names) == 0:
		return nil, fmt.Errorf("no benchmark ran")
	}
	return r, nil
}

func (r *results) add(name string, fields []string) {
	if r.units[name] == nil {
		r.names = append(r.names, name)
	}
	for ; len(fields) >= 2; fields = fields[2:] {
		value, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			continue
		}
		key := [2]string{name, fields[1]}
		if r.values[key] == nil {
			r.units[name] = append(r.units[name], fields[1])
		}
		r.values[key] = append(r.values[key], value)
	}
}

// measure is a row of the table.
type measure struct {
	name   string
	of     string // the benchmark, but for its server
	unit   string
	scale  float64 // of the unit in the table, 1 when 0
	digits int
	aim    aim
}

// aim is what a figure should be: at least or at most so much. Of is in the table's unit, or, relative, a share of
// what bare net/http has.
type aim struct {
	least    bool
	of       float64
	relative bool
}

// measures are the fake provider's. The aims are for two cores that have nothing else to do.
func measures(files uint64) []measure {
	// Three quarters of the files, up to where a machine's ports end.
	held := min(float64(files)*3/4, 15_000)
	list := []measure{
		{"stalled streams held at once", "Stalled", "streams", 0, 0, aim{true, held, false}},
		{"memory of a stalled stream, resident, kB", "Stalled", "resident-B/stream", 1e-3, 1, aim{false, 8, false}},
		{"memory of a stalled stream, heap and stack, kB", "Stalled", "heap-B/stream", 1e-3, 1, aim{}},
		{"time to open them, s", "Stalled", "open-s", 0, 1, aim{}},
		{"answers of 20 chunks a second, 1 client", "Streams/clients=1", "streams/s", 0, 0, aim{true, 1, true}},
		{"answers of 20 chunks a second, 50 clients", "Streams/clients=50", "streams/s", 0, 0, aim{true, 1, true}},
		{"CPU of an answer, 50 clients, µs", "Streams/clients=50", "cpu-µs/stream", 0, 0, aim{}},
		{"chunks a second, one stream", "Chunks", "chunks/s", 0, 0, aim{}},
	}
	for _, streams := range []string{"1", "100", "1000"} {
		of, most := "Gaps/streams="+streams, aim{}
		name := func(what string) string { return what + ", " + streams + " streams, ms" }
		if streams == "100" {
			most = aim{false, 1.5, false}
		}
		drift := aim{false, 2, false}
		if streams == "1000" {
			drift = aim{}
		}
		list = append(list,
			measure{name("error of a 50 ms gap, p50"), of, "error-ms-p50", 0, 2, aim{}},
			measure{name("error of a 50 ms gap, p99"), of, "error-ms-p99", 0, 2, most},
			measure{name("error of a 50 ms gap, max"), of, "error-ms-max", 0, 2, aim{}},
			measure{name("drift over 100 gaps, p50"), of, "drift-ms-p50", 0, 2, drift},
			measure{name("drift over 100 gaps, max"), of, "drift-ms-max", 0, 2, aim{}},
		)
	}
	return list
}

// write writes the table of the measures, and below it all other benchmarks.
func (r *results) write(out io.Writer, m machine) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s, %d cores, %s/%s, %s, %d open files. Medians, lowest and highest in brackets.\n\n",
		m.cpu, m.cores, runtime.GOOS, runtime.GOARCH, m.version, m.files)
	fmt.Fprintln(t, "fake provider\tfake\tbare net/http\tratio\taim")
	shown := map[string]bool{}
	for _, row := range measures(m.files) {
		benchmark := "provider." + row.of
		fake, bare := r.of(benchmark+"/server=fake", row), r.of(benchmark+"/server=bare", row)
		shown[benchmark+"/server=fake"], shown[benchmark+"/server=bare"] = true, true
		if len(fake) == 0 || len(bare) == 0 {
			continue
		}
		ratio := median(fake) / median(bare)
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t%s\n", row.name, row.show(fake), row.show(bare), ratio, row.aim.judge(median(fake), ratio))
	}
	fmt.Fprintln(t, "\nothers\tfigures")
	for _, name := range r.names {
		if shown[name] {
			continue
		}
		var list []string
		for _, unit := range r.units[name] {
			list = append(list, strconv.FormatFloat(median(r.values[[2]string{name, unit}]), 'g', 4, 64)+" "+unit)
		}
		fmt.Fprintf(t, "%s\t%s\n", name, strings.Join(list, ", "))
	}
	return t.Flush()
}

func (r *results) of(name string, row measure) []float64 {
	list := slices.Clone(r.values[[2]string{name, row.unit}])
	for i := range list {
		list[i] *= cmp.Or(row.scale, 1)
	}
	return list
}

func (row measure) show(list []float64) string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', row.digits, 64) }
	s := number(median(list))
	if low, high := number(slices.Min(list)), number(slices.Max(list)); low != high {
		s += " [" + low + " " + high + "]"
	}
	return s
}

func (a aim) judge(value, ratio float64) string {
	if a == (aim{}) {
		return ""
	}
	if a.relative {
		value = ratio
	}
	word, met := "at most", value <= a.of
	if a.least {
		word, met = "at least", value >= a.of
	}
	s := word + " " + strconv.FormatFloat(a.of, 'f', -1, 64)
	if a.relative {
		s = word + " net/http's"
	}
	if met {
		return s + ": met"
	}
	return s + ": missed"
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	list = slices.Sorted(slices.Values(list))
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}
