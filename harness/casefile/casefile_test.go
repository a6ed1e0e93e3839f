package casefile

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

var update = flag.Bool("update", false, "rewrite case.schema.json")

const good = `case: inactivity/stall
about: A silent model is given up.
source: https://example.org/1
covers: [inactivity.fires, cancel.aborts-provider]
needs: files
dialects: [openai, azure]
set: {inactivity: on, shutdown: off}
provider:
  - steps:
      - headers
      - text: {chunks: ["one ", "two "], every: inactivity/7}
      - keepalive: {form: comment, every: 5s}
      - await: gate
      - stall
client:
  - ask: {name: a, prompt: hello}
  - await: client a text "two "
  - pass: 3s
  - leave: {request: a, how: reset}
  - ask: {prompt: again, stream: false}
  - await-end: 2
  - signal: SIGTERM
  - open: gate
reached: provider stall
expect:
  - happens: client a error "stream_inactivity_timeout"
    after: provider text no. 2
    at: inactivity
  - happens: &gone provider left
    after: client error last
    within: once
    shows: cancel.aborts-provider
  - {never: 'client text "late"', after: *gone}
  - {count: provider request, min: 1}
  - {reads: client text, text: "one two "}
  - {order: [client finish, client done]}
  - {beats: client comment, after: client status, every: heartbeat, until: 3 heartbeat}
  - {happens: process exit, after: process signal, from: shutdown - tick, within: shutdown + straggler}
`

var catalogue = []string{"inactivity.fires", "cancel.aborts-provider"}

func TestParse(t *testing.T) {
	c, err := Parse("good.yaml", []byte(good), catalogue, harness.Short())
	require.NoError(t, err)
	require.Equal(t, "https://example.org/1", c.Source)
	s := c.Scenario
	require.Equal(t, "inactivity/stall", s.ID)
	require.Equal(t, "A silent model is given up.", s.Claim)
	require.Equal(t, []string{"openai", "azure"}, s.Dialects)
	require.True(t, s.Alone, "it signals its server")
	require.Equal(t, []harness.Feature{harness.Files, harness.Streaming, harness.NonStreaming, harness.Signals}, s.Needs)
	require.Equal(t, []expect.Event{{Lane: "provider", Kind: "stall"}}, s.Reached)
	cases := s.Cases()
	require.Len(t, cases, 1)
	require.Equal(t, "inactivity/stall", cases[0].ID())
	require.Equal(t, harness.Set{Inactivity: true, NoGrace: true}, cases[0].Variant.Set)
	require.Equal(t, catalogue, cases[0].Guarantees())
	stage := &harness.Stage{Windows: harness.Production().With(cases[0].Variant.Set), Usual: harness.Production(), Tick: time.Millisecond}
	var said []string
	for _, check := range cases[0].Checks() {
		said = append(said, check.Name+" "+check.Noun+": "+check.Expect(harness.At{Stage: stage}).String())
	}
	require.Equal(t, []string{
		`expect-1 client-error: client a error "stream_inactivity_timeout" 40s after provider text no. 2`,
		`expect-2 provider-left: provider left at once after client error (the last)`,
		`expect-3 client-text: no client text "late" after provider left`,
		`expect-4 provider-request: 1 to 200000 of provider request`,
		`expect-5 client-text: client text reading "one two "`,
		`expect-6 client-finish: client finish, then client done`,
		`expect-7 client-comment: client comment every 15s for 45s after client status`,
		`expect-8 process-exit: process exit 29.999s to 35s after process signal`,
	}, said)
	require.Equal(t, []harness.Feature{harness.ErrorFrames}, s.Checks[0].Needs)
	require.Empty(t, s.Checks[2].Needs)
}

func TestDialectsAreKnown(t *testing.T) {
	about := func(dialects string) ([]string, error) {
		c, err := Parse("d.yaml", []byte("case: a/b\nabout: x\ndialects: "+dialects+"\nclient: [ask: hello]\nexpect: [happens: client ask]\n"), nil)
		return c.Scenario.Dialects, err
	}
	one, err := about("gemini")
	require.NoError(t, err)
	require.Equal(t, []string{"gemini"}, one)
	_, err = about("[openai, gemni]")
	require.ErrorContains(t, err, `d.yaml:3:20: there is no dialect "gemni"; did you mean gemini?`)
	_, err = about("[]")
	require.ErrorContains(t, err, "d.yaml:3:11: dialects has no entry")
}

func TestPadIsBounded(t *testing.T) {
	padded := func(pad string) error {
		_, err := Parse("pad.yaml", []byte("case: a/b\nabout: x\nclient: [ask: {prompt: hello, pad: "+pad+"}]\nexpect: [happens: client ask]\n"), nil)
		return err
	}
	require.NoError(t, padded("0"))
	require.NoError(t, padded("2000000"))
	require.ErrorContains(t, padded("-1"), "pad.yaml:3:36: pad is -1: want 0 to 67108864 bytes")
	require.ErrorContains(t, padded("67108865"), "pad is 67108865: want 0 to")
}

func TestLengthsAreThoseOfTheStage(t *testing.T) {
	for name, u := range map[string]units{
		"virtual": {windows: harness.Production(), usual: harness.Production(), tick: time.Millisecond},
		"real":    {windows: harness.Short(), usual: harness.Short(), tick: 300 * time.Millisecond, once: time.Second},
	} {
		ps := programs("good.yaml", []byte(good), u)
		require.Equal(t, script.Script{{Steps: []script.Step{
			script.Headers{}, script.Text{Chunks: []string{"one ", "two "}, Every: u.must("inactivity/7")},
			script.Keepalive{Form: script.CommentForm, Every: 5 * time.Second}, script.Await{Gate: "gate"}, fault.Stall{},
		}}}, ps, name)
	}
}

func TestLengths(t *testing.T) {
	u := units{world: "these windows", windows: harness.Windows{FirstChunk: time.Second, Heartbeat: 700 * time.Millisecond}, usual: harness.Production(), tick: time.Millisecond}
	for _, c := range []struct {
		name, text string
		want       time.Duration
		problem    string
	}{
		{"a duration", "1.5s", 1500 * time.Millisecond, ""},
		{"nothing", "0", 0, ""},
		{"a window", "first-chunk", time.Second, ""},
		{"several", "3 heartbeat", 2100 * time.Millisecond, ""},
		{"a part", "heartbeat/7", 100 * time.Millisecond, ""},
		{"a fraction", "heartbeat * 2 / 7", 200 * time.Millisecond, ""},
		{"less a tick", "first-chunk - tick", 999 * time.Millisecond, ""},
		{"a sum", "first-chunk + 2 heartbeat - 400ms", 2 * time.Second, ""},
		{"at once in virtual time", "once", 0, ""},
		{"a clock that is off is as long as it usually is", "inactivity", 40 * time.Second, ""},
		{"a word with a slip", "hartbeat", 0, "did you mean heartbeat?"},
		{"a sign without spaces", "first-chunk-tick", 0, "put spaces around the sign"},
		{"below 0", "first-chunk - 2s", 0, "it is below 0 with these windows: -1s"},
		{"too long", "1000 inactivity * 1000", 0, "it is more than 1000h0m0s with these windows"},
		{"no end", "first-chunk +", 0, "a part is missing"},
		{"no divisor", "first-chunk /", 0, "a number is missing behind /"},
		{"a divisor of 0", "first-chunk/0", 0, `"0" behind /: want a number from 1 to 1000`},
		{"no unit", "3", 0, "a number without a unit"},
		{"no sign", "first-chunk heartbeat", 0, `"heartbeat" stands where + or - must`},
		{"too many parts", strings.Repeat("tick + ", 40) + "tick", 0, "at most 8 parts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := u.length(c.text)
			if c.problem != "" {
				require.ErrorContains(t, err, c.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, d)
		})
	}
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       expect.Event
		problem    string
	}{
		{"lane and kind", "provider left", expect.Event{Lane: "provider", Kind: "left"}, ""},
		{"a named request", "client a text", expect.Event{Lane: "client", Ref: "a", Kind: "text"}, ""},
		{"a numbered request", "provider 2 request", expect.Event{Lane: "provider", Ref: "#2", Kind: "request"}, ""},
		{"a number", "client text no. 3", expect.Event{Lane: "client", Kind: "text", Nth: 3}, ""},
		{"the last", "client text last", expect.Event{Lane: "client", Kind: "text", Nth: -1}, ""},
		{"a text", `client text "a \"b\" no. 9" no. 2`, expect.Event{Lane: "client", Kind: "text", Detail: `a "b" no. 9`, Nth: 2}, ""},
		{"no such lane", "clint text", expect.Event{}, `there is no lane "clint": want client, provider, process or server; did you mean client?`},
		{"no such kind", "client txt", expect.Event{}, `client has no event "txt"; did you mean text?`},
		{"one word", "client", expect.Event{}, "want LANE"},
		{"no end of the text", `client text "a`, expect.Event{}, "has no end"},
		{"something behind", `client text "a" b`, expect.Event{}, `"b" stands at its end`},
		{"no. 0", "client text no. 0", expect.Event{}, "want a number from 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := readEvent(c.text)
			if c.problem != "" {
				require.ErrorContains(t, err, c.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, e)
		})
	}
}

func TestProblemsAreToldAtOnceWithTheirPlaces(t *testing.T) {
	bad := `case: Inactivity
about: ""
sorce: x
covers: [inactivity.fired, cancel.aborts-provider]
set: {inactivity: 30s, grace: off}
provider:
  - text: {chunks: one, every: inactivty/2}
  - stal
client:
  - await-end
  - ask: {prompt: hello, strem: true}
  - leave: drop
  - leave: {request: b}
  - pass: 3
  - pass: first-chunk - 2s
  - signal: SIGKILL
  - wait: client text
  - ask: a
    leave: close
expect:
  - happens: client txt
  - happens: client text
    after: client ask
  - never: client text no. 2
    befor: client done
  - cuont: client text
  - reads: client text
`
	_, err := Parse("bad.yaml", []byte(bad), catalogue)
	require.Equal(t, strings.TrimSpace(`
bad.yaml:1:7: case is "Inactivity": want AREA/NAME in small letters, digits and dashes, such as inactivity/stall-after-two-chunks
bad.yaml:2:8: about is empty
bad.yaml:3:1: a case file has no key "sorce"; did you mean source?
bad.yaml:4:10: covers: there is no guarantee "inactivity.fired"; did you mean inactivity.fires?
bad.yaml:5:19: inactivity is "30s": want on or off; how long a clock is, the server's own settings say
bad.yaml:5:24: there is no clock "grace"; did you mean shutdown?
bad.yaml:7:32: every is "inactivty/2": there is no window "inactivty": want a length such as 200ms, inactivity/2 or first-chunk - tick; did you mean inactivity?
bad.yaml:8:5: there is no step "stal"; did you mean stall?
bad.yaml:10:5: await-end stands before any ask
bad.yaml:11:26: ask has no key "strem"; did you mean stream?
bad.yaml:12:12: leave is "drop": want close or reset
bad.yaml:13:22: leave: no request "b" was asked for
bad.yaml:14:11: pass is 3, without a unit; did you mean 3s?
bad.yaml:15:11: pass is "first-chunk - 2s": it is below 0 with short windows: -400ms
bad.yaml:16:13: signal is "SIGKILL": want SIGTERM or SIGINT
bad.yaml:17:5: there is no step "wait" of a client; did you mean await?
bad.yaml:19:5: "leave" stands beside "ask": a step is one kind; put a dash before it
bad.yaml:21:14: happens: client has no event "txt"; did you mean text?
bad.yaml:22:5: happens lacks at or within
bad.yaml:25:5: never has no key "befor"; did you mean before?
bad.yaml:24:12: there are more problems after these`), err.Error())
}

func TestProblems(t *testing.T) {
	head := "case: a/b\nabout: x\n"
	for _, c := range []struct{ name, file, want string }{
		{"a list", "- stall", "f.yaml:1:1: the file is a list: want the keys case, about"},
		{"nothing", "case: a/b", "f.yaml:1:1: the file lacks about"},
		{"no client", head + "client: []\nexpect: [happens: client text]", "f.yaml:3:9: client does nothing: begin with ask"},
		{"no expectation", head + "client: [ask: a]\nexpect: []", "f.yaml:4:9: nothing is expected"},
		{"covers without evidence", head + "covers: [inactivity.fires, cancel.aborts-provider]\nclient: [ask: a]\nexpect: [happens: client text]",
			`f.yaml:3:9: covers has "cancel.aborts-provider", and no expectation is evidence for it: add shows: cancel.aborts-provider to one`},
		{"shows without covers", head + "client: [ask: a]\nexpect: [{happens: client text, shows: inactivity.fires}]", `shows is "inactivity.fires", which covers has not`},
		{"an alias of a list", head + "needs: &n [files]\nclient: [ask: a]\nreached: *n\nexpect: [happens: client text]", "f.yaml:5:10: an alias of a list or a mapping: it is read inside programs only"},
		{"an alias of nothing", head + "client: [ask: a]\nexpect: [happens: *x]", "no anchor"},
		{"a provider of no list", head + "provider: stall\nclient: [ask: a]\nexpect: [happens: client text]", `f.yaml:3:11: provider is "stall": want a list of programs or of steps`},
		{"steps out of order", head + "provider: [stall, done]\nclient: [ask: a]\nexpect: [happens: client text]", "f.yaml:3:19: done comes after stall, which ends the exchange"},
		{"a step that is wrong in one world only", head + "provider: [pause: inactivity - 20s]\nclient: [ask: a]\nexpect: [happens: client text]", "it is below 0 with short windows"},
		{"two requests of a name", head + "client: [ask: {name: a, prompt: x}, ask: {name: a, prompt: y}]\nexpect: [happens: client text]", `a request is called "a" already`},
		{"at beside within", head + "client: [ask: a]\nexpect: [{happens: client text, at: 1s, within: 2s}]", "happens has at beside from or within"},
		{"an order of one", head + "client: [ask: a]\nexpect: [order: [client text]]", "order has 1 events: want two or more"},
		{"the numbered one of all", head + "client: [ask: a]\nexpect: [count: client text no. 2, times: 1]", "f.yaml:4:"},
		{"a window that is over before it begins", head + "client: [ask: a]\nexpect: [{happens: client text, after: client ask, from: 10s, within: 1s}]", "f.yaml:4:11: happens has from 10s above within 1s, with production windows"},
		{"such a window in one world only", head + "client: [ask: a]\nexpect: [{happens: client text, after: client ask, from: 2s, within: inactivity}]", "happens has from 2s above within inactivity, with short windows"},
		{"a gate that nobody opens", head + "provider:\n- role\n- await: draind\nclient: [ask: a, open: drained]\nexpect: [happens: client text]",
			"f.yaml:5:3: await names the gate \"draind\", which nothing opens; did you mean drained?\nf.yaml:6:24: open: no step of the provider awaits the gate \"drained\"; did you mean draind?"},
		{"a gate inside of a repeat", head + "provider:\n- repeat:\n    times: 2\n    steps: [role, await: x]\nclient: [ask: a]\nexpect: [happens: client text]",
			"f.yaml:6:19: await names the gate \"x\", which nothing opens; to wait for ever write await: never"},
		{"a gate of a provider that is none", head + "client: [ask: a, open: x]\nexpect: [happens: client text]", `f.yaml:3:24: open: no step of the provider awaits the gate "x"`},
		{"a gate that the provider opens for nobody", head + "provider: [open: x, await: never]\nclient: [ask: a]\nexpect: [happens: client text]", `f.yaml:3:12: open names the gate "x", which nothing awaits`},
		{"the gate that never opens", head + "provider: [await: never]\nclient: [ask: a, open: never]\nexpect: [happens: client text]", "f.yaml:4:24: open: the gate never is the one that never opens"},
		{"a sentence without colon", head + "client: [ask: a]\nexpect: [client text]", "there is no expectation"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(c.file), catalogue)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("case.schema.json", doc))
	s, err := c.Compile("case.schema.json")
	require.NoError(t, err)
	return s
}

func TestSchemaFileIsUpToDate(t *testing.T) {
	if *update {
		require.NoError(t, os.WriteFile("case.schema.json", Schema(), 0o644))
	}
	b, err := os.ReadFile("case.schema.json")
	require.NoError(t, err)
	require.Equal(t, string(Schema()), string(b), "run the test with -update")
}

func TestSchemaKnowsCaseFiles(t *testing.T) {
	s := compiled(t)
	valid := func(file string) error {
		var v any
		require.NoError(t, yaml.Unmarshal([]byte(file), &v))
		return s.Validate(v)
	}
	require.NoError(t, valid(good))
	for _, change := range [][2]string{{"about:", "abuot:"}, {"- open: gate", "- opne: gate"}, {"every: heartbeat", "evry: heartbeat"}, {"- headers", "- haeders"}} {
		require.Error(t, valid(strings.Replace(good, change[0], change[1], 1)), change[1])
	}
}

func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*s/*.yaml")
	require.NoError(t, err)
	files = slices.DeleteFunc(files, func(f string) bool { return strings.Contains(filepath.ToSlash(f), "/scripts/") })
	require.GreaterOrEqual(t, len(files), 80)
	s := compiled(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(b), "case.schema.json")
			var form struct{ Covers []string }
			require.NoError(t, yaml.Unmarshal(b, &form))
			_, err = Parse(file, b, form.Covers)
			require.NoError(t, err)
			var v any
			require.NoError(t, yaml.Unmarshal(b, &v))
			require.NoError(t, s.Validate(v))
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	files, _ := filepath.Glob("../../examples/cases/*.yaml")
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte("case: &a a/b\nabout: *a\nclient: [ask: *a]\nexpect: [{happens: client text, at: 1000 stream*1000/3 - tick}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f.yaml", data, append(catalogue, "first-chunk.fires"))
		if err != nil {
			problems, ok := err.(script.Problems)
			require.True(t, ok)
			require.LessOrEqual(t, len(problems), 21)
			return
		}
		// What was read can be made on a stage, whatever its windows are.
		for _, w := range []harness.Windows{harness.Production(), harness.Short()} {
			stage := &harness.Stage{Windows: w.With(c.Scenario.Cases()[0].Variant.Set), Usual: w, Tick: 300 * time.Millisecond, Once: time.Second}
			if bytes.Contains(data, []byte("provider")) {
				require.NotPanics(t, func() { programs("f.yaml", data, unitsOf(stage)) })
			}
			for _, check := range c.Scenario.Checks {
				require.NotEmpty(t, check.Expect(harness.At{Stage: stage}).String())
			}
		}
	})
}

func TestEveryWordIsExplained(t *testing.T) {
	for _, l := range Lanes() {
		seen := map[string]bool{}
		for _, e := range append([]Kind{l.Kind}, l.Events...) {
			require.NotEmpty(t, e.Word)
			require.True(t, strings.HasSuffix(e.About, "."), "%s %s: %s", l.Word, e.Word, e.About)
			if e != l.Kind {
				require.False(t, seen[e.Word], "%s twice", e.Word)
				seen[e.Word] = true
				got, err := readEvent(l.Word + " " + e.Word)
				require.NoError(t, err)
				require.Equal(t, expect.Event{Lane: l.Word, Kind: e.Word}, got)
			}
		}
	}
	worth := map[string]Length{}
	for _, l := range Lengths() {
		require.True(t, strings.HasSuffix(l.About, "."), l.Word)
		worth[l.Word] = l
	}
	require.Len(t, worth, len(lengthWords()))
	require.Equal(t, 40*time.Second, worth["inactivity"].Virtual)
	require.Zero(t, worth["once"].Virtual)
	require.Equal(t, time.Second, worth["once"].Real)
	require.Equal(t, harness.Short().Heartbeat, worth["heartbeat"].Real)
}

func TestOneSlipIsToldOnce(t *testing.T) {
	_, err := Parse("s.yaml", []byte("case: a/b\nabuot: x\nclient: [ask: hello]\nexpect: [happens: client ask]\n"), nil)
	require.EqualError(t, err, `s.yaml:2:1: a case file has no key "abuot"; did you mean about?`)
	_, err = Parse("s.yaml", nil, nil)
	require.EqualError(t, err, "s.yaml:1:1: the file is empty: want case, about, client and expect")
}
