package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/process"
	"github.com/stallwright/stallwright/harness/reference"
	"github.com/stallwright/stallwright/reports"
)

// runFlags are the flags of run, as given.
type runFlags struct {
	time         string
	jobs         int
	seed         uint64
	repeat       int
	verbose      bool
	quiet        bool
	first        bool
	maxFailures  int
	reports      []string
	format       string
	color        string
	ascii        bool
	strict       bool
	skip         []string
	cases        caseFlags // of run alone
	timeout      time.Duration
	dialects     []string
	execution    string
	url          string
	listen       string
	tools        string
	toolsListen  string
	claim        []string
	windows      harness.Windows
	windowsGiven []string
	allowRemote  string
	progress     string
	heartbeat    time.Duration
}

// plan is how cases are played: what a player is made from.
type plan struct {
	virtual     bool
	execution   string // of tool calls, by the built-in server
	jobs        int    // bubbles at once in virtual time, servers at once in real time
	url         string // of a server that runs already
	allowRemote string // the one host besides this machine
	listen      string // where the fake provider listens for a server that runs already
	tools       harness.Tooling
	toolsListen string
	claims      []harness.Feature // of a server that runs already, besides the usual
	windows     harness.Windows
	files       []string // the case files that the library was read from
	dialects    []string // that cases are played on; those of the library when nil
}

func (p plan) attached() bool { return p.url != "" }

// server is what the report calls the server under test.
func (p plan) server() string { return cmp.Or(p.url, "reference") }

func (p plan) time() string {
	if p.virtual {
		return "virtual"
	}
	return "real"
}

// mostRepeats bounds what is planned before the run begins: every playing has a result to keep.
const mostRepeats = 10_000

const (
	defaultListen = "127.0.0.1:4010"
	defaultTools  = process.DefaultTools
)

// usualFlags are the flags of a verb that plays cases, when none is given.
func usualFlags() runFlags {
	return runFlags{format: "text", color: "auto", progress: "auto", windows: harness.Production().With(harness.Set{})}
}

func (c *cli) runCommand() *cobra.Command {
	f := usualFlags()
	cmd := &cobra.Command{
		Use:   "run [PATTERN...]",
		Short: "play cases on a server and judge what it did",
		Long: "Plays the selected cases, all without a PATTERN, on the built-in server or on one that already runs (--url), and\n" +
			"judges what was seen.\n\n" +
			"A PATTERN is the ID or a glob of a scenario (area/name), a case (area/name@variant), a check (case::name), a\n" +
			"guarantee (area.name), or an area alone; * stands for letters within a part, ** for parts as well.\n\n" +
			"Case files (see `stallwright repro --help`) that --cases or a stallwright.yaml in the current folder names are played\n" +
			"beside the scenarios: version: 1, and cases: with a list of files and folders.\n\n" +
			"Failure blocks and closing lines go to stdout, or the results as JSON with --format json; all else to stderr.\n" +
			"Every long flag may also stand in the environment as STALLWRIGHT_UPPER_SNAKE. `stallwright explain exit` lists\n" +
			"the exit codes.",
		Example: "  stallwright run first-chunk cancel -v\n" +
			"  stallwright run first-chunk/fires@no-headers --seed 4182 --time real\n" +
			"  stallwright run --url http://127.0.0.1:8080 --window first-chunk=5s --report junit",
		ValidArgsFunction: c.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			watch := c.watchSignals(cmd)
			defer watch.finish()
			if err := c.readEnvironment(cmd); err != nil {
				return err
			}
			return c.runVerb(cmd, watch, f, args)
		},
	}
	f.register(cmd)
	f.cases.register(cmd)
	return cmd
}

// register makes the flags of a verb that plays cases.
func (f *runFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.Var(choice{&f.time, []string{"virtual", "real"}}, "time", "the clock (default virtual for the built-in server, real with --url)")
	fs.IntVarP(&f.jobs, "jobs", "j", 0, "trials at once in virtual time, servers at once in real time (default the cores; servers 4 a core and at most 8, 1 attached)")
	fs.Uint64Var(&f.seed, "seed", 0, "seed of all that is random (default a random one, which is printed)")
	fs.IntVar(&f.repeat, "repeat", 1, "play each case so many times")
	fs.Var(list{values: &f.skip}, "skip", "leave out what this pattern selects; may be repeated")
	fs.BoolVarP(&f.first, "first-failure", "x", false, "the same as --max-failures 1")
	fs.IntVar(&f.maxFailures, "max-failures", 0, "start no case after so many failed; 0 is no bound")
	fs.DurationVar(&f.timeout, "timeout", 0, "start no case after this time; 0 is no bound")
	fs.BoolVar(&f.strict, "strict", false, "a SHOULD counts as a MUST")
	fs.Var(list{values: &f.dialects}, "dialect", "what the server speaks to its model's provider; may be repeated (default all that the built-in server can, openai with --url)")
	fs.Var(choice{&f.execution, []string{"sequential", "batched", "concurrent", "concurrent-fifo"}}, "tool-execution", "how the built-in server executes the tool calls of one turn (default sequential)")
	fs.StringVar(&f.url, "url", "", "attach to the server that runs at this address")
	fs.StringVar(&f.listen, "provider-listen", defaultListen, "where the fake provider listens for an attached server")
	fs.StringVar(&f.tools, "tools", "", "the fake MCP servers that the attached server has: http, modern or sse, several joined by +")
	fs.StringVar(&f.toolsListen, "tools-listen", defaultTools, "where the first of them listens; each other one port higher")
	fs.Var(list{values: &f.claim}, "claim", "a feature that the attached server claims and is held to: "+or(claimable())+"; may be repeated")
	fs.Var(windows{&f.windows, &f.windowsGiven}, "window", "NAME=DURATION: a clock of the attached server; may be repeated (default those of production)")
	fs.StringVar(&f.allowRemote, "allow-remote", "", "the one host beside this machine that --url may name")
	fs.Var(list{values: &f.reports}, "report", "junit or json, and =PATH: a report besides; may be repeated")
	fs.Var(choice{&f.format, []string{"text", "json"}}, "format", "what goes to stdout")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "a line for each case that passed or was skipped too")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "only the closing lines")
	fs.Var(choice{&f.progress, []string{"auto", "live", "plain", "none"}}, "progress", "how progress is shown on stderr")
	fs.DurationVar(&f.heartbeat, "heartbeat", 30*time.Second, "how often plain progress says that all is well")
	fs.Var(choice{&f.color, []string{"auto", "always", "never"}}, "color", "colours")
	fs.BoolVar(&f.ascii, "ascii", false, "nothing but ASCII")
	fs.VisitAll(func(flag *pflag.Flag) {
		if c, ok := flag.Value.(choice); ok {
			cmd.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(c.words, cobra.ShellCompDirectiveNoFileComp))
		}
	})
	cmd.RegisterFlagCompletionFunc("claim", cobra.FixedCompletions(claimable(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(allDialects(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("report", cobra.FixedCompletions([]string{"junit", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

// plan checks the flags and makes the plan of them.
func (f *runFlags) plan(changed func(flag string) bool) (plan, error) {
	if changed("url") && f.url == "" {
		return plan{}, misuse("give it as http://127.0.0.1:8080; without --url the built-in server is judged", "--url is empty")
	}
	var err error
	p := plan{execution: f.execution, virtual: f.url == "", url: f.url, allowRemote: f.allowRemote, windows: f.windows}
	if f.time != "" {
		p.virtual = f.time == "virtual"
	}
	switch {
	case f.repeat < 1 || f.repeat > mostRepeats:
		return plan{}, misuse("", "--repeat %d: want 1 to %d", f.repeat, mostRepeats)
	case f.maxFailures < 0:
		return plan{}, misuse("", "--max-failures %d: want 0 (no bound) or more", f.maxFailures)
	case f.timeout < 0:
		return plan{}, misuse("", "--timeout %s: want 0 (no bound) or more", f.timeout)
	case f.heartbeat <= 0:
		return plan{}, misuse("", "--heartbeat %s: want more than 0", f.heartbeat)
	}
	if changed("jobs") && f.jobs < 1 {
		return plan{}, misuse("", "--jobs %d: want 1 or more", f.jobs)
	}
	if p.virtual && f.url != "" {
		return plan{}, misuse("leave --time out", "a server at a URL cannot be played in virtual time")
	}
	if f.url == "" {
		for _, flag := range []string{"provider-listen", "window", "allow-remote", "tools", "tools-listen", "claim"} {
			if changed(flag) {
				return plan{}, misuse("name it with --url", "--%s is about a server that already runs", flag)
			}
		}
	} else {
		if changed("tool-execution") {
			return plan{}, misuse("leave it out; how a server executes tool calls is asked of it with `run sequential`", "--tool-execution is about the built-in server")
		}
		if changed("tools-listen") && f.tools == "" {
			return plan{}, misuse("say which servers listen there with --tools", "--tools-listen is about the fake MCP servers, and there are none")
		}
		p.listen, p.toolsListen = f.listen, f.toolsListen
		if p.claims, err = f.claims(); err != nil {
			return plan{}, err
		}
		if p.tools, err = f.tooling(); err != nil {
			return plan{}, err
		}
		if err := f.checkAddresses(); err != nil {
			return plan{}, err
		}
	}
	if p.attached() {
		if why := f.windows.Bears(); why != "" {
			return plan{}, misuse("set the server's clocks so, and say what they are with --window", "%s", why)
		}
	}
	if p.attached() && f.jobs > 1 {
		return plan{}, misuse("leave --jobs out", "there is one server at %s", f.url)
	}
	if p.dialects, err = f.spoken(p.attached()); err != nil {
		return plan{}, err
	}
	switch {
	case f.jobs > 0:
		p.jobs = f.jobs
	case p.virtual:
		p.jobs = runtime.GOMAXPROCS(0)
	case p.attached():
		p.jobs = 1
	default:
		p.jobs = process.Instances()
	}
	return p, nil
}

// tooling are the MCP servers of --tools. What a server that runs already starts as a child is not ours.
func (f *runFlags) tooling() (harness.Tooling, error) {
	t := harness.Tooling(f.tools)
	can := []string{string(harness.HTTPTools), string(harness.ModernTools), string(harness.SSETools)}
	for _, one := range t.Servers() {
		if !slices.Contains(can, string(one)) {
			return "", misuse("join "+strings.Join(can, ", ")+" by +, such as http+http", "--tools %q is none of the fake MCP servers", one)
		}
	}
	host, port, err := net.SplitHostPort(f.toolsListen)
	if _, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil {
		return "", misuse("give it as "+defaultTools, "--tools-listen %s is not HOST:PORT", f.toolsListen)
	}
	if !isLoopback(host) && f.allowRemote == "" {
		return "", misuse("name the host that may reach it with --allow-remote", "--tools-listen %s is open to other machines", f.toolsListen)
	}
	return t, nil
}

// spoken are the dialects of --dialect. A server that runs already is set up for one, and stallwright cannot change that.
func (f *runFlags) spoken(attached bool) ([]string, error) {
	builtin := reference.Target("")
	can := slices.Concat(builtin.Dialects, builtin.Flavours)
	if attached {
		can = allDialects()
	}
	f.dialects = once(f.dialects)
	for _, d := range f.dialects {
		if !slices.Contains(can, d) {
			hint := didYouMean(d, can, "")
			if hint == "" {
				hint = "there are " + strings.Join(can, ", ")
			}
			return nil, misuse(hint, "--dialect %q is none that the server can speak", d)
		}
	}
	switch {
	case attached && len(f.dialects) > 1:
		return nil, misuse("run once for each dialect, with the server set up for it", "a server that runs already speaks one dialect to its provider: --dialect stands %d times", len(f.dialects))
	case attached && f.dialects == nil:
		return []string{harness.OpenAI}, nil
	}
	return f.dialects, nil
}

// once leaves out what stands before already.
func once(words []string) []string {
	var out []string
	for _, w := range words {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

func (f *runFlags) checkAddresses() error {
	u, err := url.Parse(f.url)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" {
		return misuse("give it as http://127.0.0.1:8080", "--url is not an http:// address")
	}
	if port := u.Port(); port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return misuse("", "--url has the port %s: want 1 to 65535", port)
		}
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return misuse("give it as http://127.0.0.1:8080", "--url holds more than an address and a path")
	}
	if !isLoopback(u.Hostname()) && u.Hostname() != f.allowRemote {
		return misuse("if faults may be played to it: --allow-remote "+u.Hostname(), "%s is not this machine", u.Hostname())
	}
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return misuse("give it as "+defaultListen, "--provider-listen %s is not HOST:PORT", f.listen)
	}
	if !isLoopback(host) && f.allowRemote == "" {
		return misuse("name the host that may reach it with --allow-remote", "--provider-listen %s is open to other machines", f.listen)
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return misuse("choose another with --provider-listen, and tell it to the server", "the fake provider cannot listen on %s: %v", f.listen, reason(err))
	}
	defer l.Close()
	return f.checkToolsAddresses()
}

// checkToolsAddresses listens where the fake MCP servers will: a wait for the server under test comes before that.
func (f *runFlags) checkToolsAddresses() error {
	host, port, _ := net.SplitHostPort(f.toolsListen) // tooling has looked at it
	first, _ := strconv.Atoi(port)
	n := len(harness.Tooling(f.tools).Servers())
	if last := first + n - 1; first > 0 && last > 65535 {
		return misuse(fmt.Sprintf("the first port may be %d", 65535-n+1), "--tools-listen %s leaves no port for %d servers, each one port higher", f.toolsListen, n)
	}
	for i := range n {
		at := net.JoinHostPort(host, strconv.Itoa(min(first, 1)*(first+i)))
		l, err := net.Listen("tcp", at)
		if err != nil {
			return misuse("choose another first address with --tools-listen, and tell it to the server", "the fake MCP server %s cannot listen on %s: %v", harness.ToolServerName(i), at, reason(err))
		}
		defer l.Close() // until all were tried
	}
	return nil
}

// isLoopback reports whether a host is this machine by its very name.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// watchSignals begins the watch over what stops a verb that plays cases.
func (c *cli) watchSignals(cmd *cobra.Command) *signals {
	return watchSignals(cmd.Context(), func(line string) { c.say("", line) })
}

func (c *cli) runVerb(cmd *cobra.Command, watch *signals, f runFlags, patterns []string) error {
	p, err := f.plan(cmd.Flags().Changed)
	if err != nil {
		return err
	}
	var windows []harness.Windows
	if p.attached() {
		windows = append(windows, p.windows)
	}
	files, err := c.caseFiles(f.cases, cmd.Flags().Changed("config"))
	if err != nil {
		return err
	}
	own := *c
	var from map[string]string
	if own.library, from, err = c.addCases(files, p.dialects, windows...); err != nil {
		return &trouble{code: exitUsage, err: err}
	}
	p.files = files
	if p.dialects != nil {
		own.library.dialects = p.dialects
	}
	c.leftOut(own.library.apart(from))
	chosen, err := own.library.choose(patterns)
	if err != nil {
		return err
	}
	if !p.virtual {
		chosen = own.library.inRotation(chosen, patterns)
	}
	for _, text := range patterns {
		if alone, err := own.library.choose([]string{text}); err == nil && len(alone) == 0 && len(chosen) > 0 {
			c.say("stallwright: note: ", "no scenario covers "+text+" yet: nothing is shown of it")
		}
	}
	if err := own.playable(p, patterns, chosen); err != nil {
		return err
	}
	return own.playChosen(cmd, watch, f, p, chosen, patterns, from)
}

// playChosen plays cases of the library, reports, and ends with the exit code. The words are what they were chosen by;
// the files are those that they were read from, by case.
func (c *cli) playChosen(cmd *cobra.Command, watch *signals, f runFlags, p plan, chosen []harness.Case, words []string, files map[string]string) error {
	out, err := c.library.leaveOut(f.skip)
	if err != nil {
		return err
	}
	if !cmd.Flags().Changed("seed") {
		f.seed = uint64(rand.Uint32()) // short enough to be typed
	}
	s := &session{
		cli: c, plan: p, flags: f, out: out,
		run: reports.Run{
			ID: fmt.Sprintf("%08x", rand.Uint32()), Version: version(), Server: p.server(), Time: p.time(), Seed: f.seed,
			Jobs: p.jobs, Args: f.args(words), Strict: f.strict, Files: files,
		},
	}
	s.schedule(chosen)
	if len(s.jobs) == 0 {
		c.say("stallwright: error: ", nothingLeft(words, len(chosen)))
		c.say("stallwright: hint: ", "`stallwright list` shows what there is to play")
		return ended(ending{empty: true}.code())
	}
	if s.files, err = openReports(f.reports); err != nil {
		return err
	}
	defer s.files.close()
	player, err := c.player(c, p)
	if err != nil {
		return internal(err)
	}
	return ended(s.play(watch, player))
}

func nothingLeft(patterns []string, chosen int) string {
	switch {
	case chosen > 0:
		return "nothing is left to play: --skip leaves out all that was selected"
	case len(patterns) > 0:
		return "nothing to play: no scenario covers " + strings.Join(patterns, " ") + " yet"
	default:
		return "nothing to play"
	}
}

// args are the words of the command line that change what is tested.
func (f *runFlags) args(patterns []string) []string {
	args := slices.Clone(patterns)
	for _, path := range f.cases.paths {
		args = append(args, "--cases", path)
	}
	if f.cases.config != "" {
		args = append(args, "--config", f.cases.config)
	}
	for _, s := range f.skip {
		args = append(args, "--skip", s)
	}
	if f.execution != "" {
		args = append(args, "--tool-execution", f.execution)
	}
	if f.repeat > 1 {
		args = append(args, "--repeat", fmt.Sprint(f.repeat))
	}
	if f.time != "" {
		args = append(args, "--time", f.time)
	}
	if f.strict {
		args = append(args, "--strict")
	}
	if f.url != "" {
		args = append(args, "--url", f.url)
	} else {
		for _, d := range f.dialects {
			args = append(args, "--dialect", d)
		}
	}
	return append(args, f.attachedArgs()...)
}

// attachedArgs are the words besides the URL that say how an attached server is played.
func (f *runFlags) attachedArgs() []string {
	var args []string
	if f.url == "" {
		return nil
	}
	for _, d := range f.dialects {
		args = append(args, "--dialect", d)
	}
	if f.listen != defaultListen {
		args = append(args, "--provider-listen", f.listen)
	}
	if f.tools != "" {
		args = append(args, "--tools", f.tools)
	}
	if f.toolsListen != defaultTools {
		args = append(args, "--tools-listen", f.toolsListen)
	}
	for _, claim := range f.claim {
		args = append(args, "--claim", claim)
	}
	for _, w := range f.windowsGiven {
		args = append(args, "--window", w)
	}
	if f.allowRemote != "" {
		args = append(args, "--allow-remote", f.allowRemote)
	}
	return args
}
