package script

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
)

// dice makes valid files by chance.
type dice struct {
	*rand.Rand
	words map[string]word
	forms map[string]reflect.Type
}

func newDice(seed, stream uint64) dice {
	return dice{rand.New(rand.NewPCG(seed, stream)), words(), forms()}
}

func (d dice) text() string {
	letters := []string{"a", "Z", " ", "\n", "\t", "\r", `"`, `\`, "'", ":", "#", "- ", "{", "}", "[", "]", ",", "&", "*", "!", "|", ">", "%", "@", "`", "?",
		"0", "1", "é", "\u0085", "\u2028", "\ufeff", "😀", "\x00", "\x7f", "\x1b", "~", "null", "true", "=", "<<", "---", "..."}
	switch d.IntN(6) {
	case 0:
		return []string{"", "stop", "forever", "any", "null", "Yes", "off", "1.0", "-1", "0x10", "1e3", "a-b", "~", ".inf"}[d.IntN(14)]
	case 1:
		return string([]byte{0xff, byte(d.IntN(256)), 'a'})
	}
	var b strings.Builder
	for range d.IntN(8) {
		b.WriteString(letters[d.IntN(len(letters))])
	}
	return b.String()
}

// fill sets some of a value's fields, or all.
func (d dice) fill(v reflect.Value, k key, depth int) {
	some := func() bool { return d.IntN(3) > 0 }
	switch p := v.Addr().Interface().(type) {
	case *time.Duration:
		*p = []time.Duration{0, 1, time.Millisecond, 1500 * time.Millisecond, time.Duration(d.Int64())}[d.IntN(5)]
	case *uint64:
		*p = []uint64{1, 1 << 63, d.Uint64()}[d.IntN(3)]
	case *times:
		*p = times(d.IntN(4) - 1)
	case *int:
		*p = k.least + d.IntN(5)
	case *bool:
		*p = some()
	case **bool:
		*p = new(bool)
		**p = some()
	case *[]string:
		for range 1 + d.IntN(3) {
			*p = append(*p, d.text())
		}
	case *[]int:
		for range d.IntN(3) + 1 {
			*p = append(*p, len(*p)*7+d.IntN(6)+1)
		}
	case *map[string]string:
		*p = map[string]string{}
		for range 1 + d.IntN(3) {
			(*p)[[]string{"X-A", "x-b", "C_9", "off", "1.0", "!"}[d.IntN(6)]] = d.text()
		}
	case *Value:
		switch d.IntN(3) {
		case 0:
			*p = Null()
		case 1:
			*p = Is(d.text())
		}
	case *[]ToolPart:
		for range 1 + d.IntN(3) {
			var part ToolPart
			d.fill(reflect.ValueOf(&part).Elem(), key{}, depth)
			part.Index = []Value{{}, Null(), Is("0"), Is("-7"), Is("007"), Is("+1")}[d.IntN(6)]
			*p = append(*p, part)
		}
	case *[]Step:
		*p = d.steps(depth + 1)
	case *[]programForm:
		for range d.IntN(4) {
			var program programForm
			d.fill(reflect.ValueOf(&program).Elem(), key{}, depth)
			*p = append(*p, program)
		}
	default:
		switch v.Kind() {
		case reflect.Struct:
			for entry, t := range d.forms {
				if t != v.Type() {
					continue
				}
				for _, f := range fields(t) {
					if f.required || some() {
						d.fill(v.Field(f.index), d.words[entry].keys[f.name], depth)
					}
				}
			}
		case reflect.String:
			if k.words != nil {
				v.SetString(k.words[d.IntN(len(k.words))])
			} else {
				v.SetString(d.text())
			}
		}
	}
}

// steps draws steps until some are valid together.
func (d dice) steps(depth int) []Step {
	var out []Step
	for want := 1 + d.IntN(5); len(out) < want; {
		s := d.step(Steps()[d.IntN(len(Steps()))], depth)
		if (&order{}).steps(append(out[:len(out):len(out)], s), depth) == nil {
			out = append(out, s)
		} else if d.IntN(20) == 0 && len(out) > 0 {
			break
		}
	}
	return out
}

func (d dice) step(s Step, depth int) Step {
	if _, ok := s.(Repeat); ok && depth > 3 {
		return Ping{}
	}
	v := reflect.New(reflect.TypeOf(s)).Elem()
	d.fill(v, key{}, depth)
	return v.Interface().(Step)
}

func (d dice) file() File {
	var form fileForm
	d.fill(reflect.ValueOf(&form).Elem(), key{}, 0)
	f := File{About: form.About, Seed: form.Seed, Connections: form.Connections}
	for _, p := range form.Programs {
		for meaning(p.Steps, p.When) != nil { // some steps do nothing in one piece, or at the end
			p.When.Stream = nil
			p.Steps = d.steps(1)
		}
		f.Programs = append(f.Programs, Program{When: p.When, Times: int(p.Times), Steps: p.Steps})
		if last := len(f.Programs) - 1; f.Programs.hiding(last) >= 0 {
			f.Programs = f.Programs[:last]
		}
	}
	for _, gate := range f.Programs.Opened() { // each is awaited
		f.Programs = append(Script{{Steps: []Step{Await{Gate: gate}}}}, f.Programs...)
	}
	return f
}

func TestFilesRoundTrip(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(500) {
		f := newDice(seed, 1).file()
		require.NoError(t, f.Validate())
		b, err := f.YAML()
		require.NoError(t, err)
		again, err := Parse("f.yaml", b)
		require.NoError(t, err, "seed %d\n%s", seed, b)
		require.Equal(t, f, again, "seed %d\n%s", seed, b)
		twice, err := again.YAML()
		require.NoError(t, err)
		require.Equal(t, string(b), string(twice))
		for _, p := range f.Programs {
			for _, s := range p.Steps {
				kinds[s.Kind()]++
			}
		}
	}
	for _, s := range Steps() {
		require.NotZero(t, kinds[s.Kind()], "no %s was drawn", s.Kind())
	}
}

func program(steps ...Step) File { return File{Programs: Script{{Times: Any, Steps: steps}}} }

var goodFiles = []struct {
	name, file string
	want       File
}{
	{"a list of steps", "- role\n- text: hi\n- end", program(Role{}, Text{Chunks: []string{"hi"}}, End{})},
	{"a mapping with only steps", "steps:\n- role\n", program(Role{})},
	{"steps with a head", "about: a test\nseed: 7\nconnections: {refuse: 1, idle-close: 5s}\nsteps: [done]",
		File{About: "a test", Seed: 7, Connections: Connections{Refuse: 1, IdleClose: 5 * time.Second}, Programs: Script{{Times: Any, Steps: []Step{Done{}}}}}},
	{"programs", "programs:\n- {when: {stream: true, request: 2, header: {X-N: 5}}, times: any, steps: [ping]}\n- {times: 3, steps: [ping]}\n- steps: [ping]",
		File{Programs: Script{
			{When: When{Ordinal: 2, Stream: new(true), Header: map[string]string{"X-N": "5"}}, Times: Any, Steps: []Step{Ping{}}},
			{Times: 3, Steps: []Step{Ping{}}}, {Steps: []Step{Ping{}}},
		}}},
	{"no programs", "programs: []", File{}},
	{"short and long texts", "- text: [a, b]\n- think: {chunks: a, every: 200ms}\n- refusal: no way\n- raw: |\n    data: x\n\n- comment: ''",
		program(Text{Chunks: []string{"a", "b"}}, Think{Chunks: []string{"a"}, Every: 200 * time.Millisecond}, Refusal{Chunks: []string{"no way"}}, Raw{Bytes: "data: x\n"}, Comment{})},
	{"short waits", "- pause: 200ms\n- pause: 0\n- open: a\n- await: a\n- await: never\n- stall: 5s\n- stall: forever",
		program(Pause{For: 200 * time.Millisecond}, Pause{}, Open{Gate: "a"}, Await{Gate: "a"}, Await{Gate: Never}, fault.Stall{For: 5 * time.Second}, fault.Stall{})},
	{"a bare stall", "- stall", program(fault.Stall{})},
	{"a kind with a colon and nothing behind it", "- stall:", program(fault.Stall{})},
	{"keepalives", "- keepalive: {form: comment, every: 5s, for: forever}\n- keepalive: stop", program(Keepalive{Form: CommentForm, Every: 5 * time.Second}, Keepalive{})},
	{"splits", "- split: 7\n- split: [1, 5]\n- split: {at: [2]}\n- split: stop", program(fault.Split{Every: 7}, fault.Split{At: []int{1, 5}}, fault.Split{At: []int{2}}, fault.Split{})},
	{"short faults", "- batch: 2\n- lines: crlf\n- garble: no-blank\n- ping\n- garble\n- ping\n- go-away: CANCEL\n- stream-reset: CANCEL",
		program(fault.Batch{Frames: 2}, fault.Lines{End: "crlf"}, fault.Garble{How: "no-blank"}, Ping{}, fault.Garble{}, Ping{}, fault.GoAway{Code: "CANCEL"}, fault.StreamReset{Code: "CANCEL"})},
	{"errors and finishes", "- headers: 201\n- error: broken\n- error: {code: '1', form: flat}\n- finish: stop\n- finish: {empty: true}\n- finish",
		program(Headers{Status: 201}, Error{Message: "broken"}, Error{Code: "1", Form: FlatForm}, Finish{Reason: "stop"}, Finish{Empty: true}, Finish{})},
	{"a short status", "- status: 503", program(fault.Status{Code: 503})},
	{"parts of tool calls that are null, absent and empty", "- tool-chunk: [{index: 0, id: null, name: '', args: x}, {}]",
		program(ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Null(), Name: Is(""), Args: Is("x")}, {}}})},
	{"repeats", "- repeat: {times: 3, steps: [ping, repeat: {times: 2, steps: [empty]}]}\n- repeat: {times: forever, steps: [pause: 1s]}",
		program(Repeat{Times: 3, Steps: []Step{Ping{}, Repeat{Times: 2, Steps: []Step{Empty{}}}}}, Repeat{Steps: []Step{Pause{For: time.Second}}})},
	{"bytes", "- raw: !!binary /w==", program(Raw{Bytes: "\xff"})},
	{"aliases", "- text: &both [a, b]\n- think: *both", program(Text{Chunks: []string{"a", "b"}}, Think{Chunks: []string{"a", "b"}})},
	{"a byte order mark and Windows lines", "\ufeff- role\r\n- text: {chunks: [a], every: 1s}\r\n", program(Role{}, Text{Chunks: []string{"a"}, Every: time.Second})},
}

func TestParse(t *testing.T) {
	for _, test := range goodFiles {
		t.Run(test.name, func(t *testing.T) {
			f, err := Parse("f.yaml", []byte(test.file))
			require.NoError(t, err)
			require.Equal(t, test.want, f)
		})
	}
}

func TestYAML(t *testing.T) {
	for _, test := range []struct {
		name string
		file File
		want string
	}{
		{"one program for all", File{About: "It stalls.", Programs: Script{{Times: Any, Steps: []Step{
			Headers{}, Text{Chunks: []string{"one ", "two"}, Every: 200 * time.Millisecond}, Keepalive{Form: CommentForm, Every: 5 * time.Second}, fault.Stall{},
		}}}}, `about: "It stalls."
steps:
  - headers
  - text: {chunks: ["one ", two], every: 200ms}
  - keepalive: {form: comment, every: 5s}
  - stall: forever
`},
		{"two programs", File{Programs: Script{
			{When: When{Stream: new(false)}, Times: 2, Steps: []Step{fault.Status{Code: 503}}},
			{Steps: []Step{Repeat{Times: 3, Steps: []Step{Ping{}, Pause{For: time.Second}}}, Keepalive{}, fault.Split{Every: 7}, fault.Split{}, ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Null()}}}, Raw{Bytes: "\xff"}}},
		}}, `programs:
  - when: {stream: false}
    times: 2
    steps:
      - status: 503
  - steps:
      - repeat:
          times: 3
          steps:
            - ping
            - pause: 1s
      - keepalive: stop
      - split: 7
      - split: stop
      - tool-chunk: [{index: 0, id: null}]
      - raw: !!binary "/w=="
`},
	} {
		b, err := test.file.YAML()
		require.NoError(t, err, test.name)
		require.Equal(t, test.want, string(b), test.name)
	}
	_, err := program().YAML()
	require.EqualError(t, err, "script: program 1 has no steps")
	_, err = program(&Role{}).YAML()
	require.EqualError(t, err, "script: a step of the type *script.Role, which files do not know")
	_, err = program(Headers{Header: map[string]string{"\xff": "x"}}).YAML()
	require.EqualError(t, err, `script: program 1, step 1 (headers): header "\xff": want a name of letters, digits and dashes`)
}

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for _, test := range []struct{ name, file, want string }{
		{"nothing", "", "1:1: the file is empty: want programs or steps"},
		{"only a comment", "# x\n", "1:1: the file is empty: want programs or steps"},
		{"a text", "hello", `1:1: the file is "hello": want programs, or a list of steps`},
		{"a gate that is opened for nobody", "- {open: go-on}\n- await: goon\n- await: x", `1:3: open names the gate "go-on", which nothing awaits; did you mean goon?`},
		{"such a gate in one of several programs", "programs:\n- steps: [await: a]\n- steps: [ping, repeat: {times: 2, steps: [open: b]}]", `3:44: open names the gate "b", which nothing awaits`},
		{"the gate that never opens", "- open: never", "1:9: open: gate never is the one that never opens"},
		{"neither programs nor steps", "about: x", "1:1: the file has neither programs nor steps"},
		{"both", "programs: []\nsteps: [ping]", "2:8: steps beside programs: want one of them"},
		{"two documents", "- ping\n---\n- ping", "3:1: a second document: a file has one"},
		{"broken YAML", "a: [1\n", "1:4: sequence end token ']' not found"},
		{"a tab", "- text: a\n\t- ping", "2:1: found character '\\t' that cannot start any token"},
		{"an unknown key of the file", "abuot: x\nsteps: [ping]", `1:1: the file has no key "abuot"; did you mean about?`},
		{"an unknown key that is like none", "zebra: x\nsteps: [ping]", `1:1: the file has no key "zebra"; its keys are about, seed, connections, programs, steps`},
		{"a key twice", "about: x\nabout: y\nsteps: [ping]", `2:1: the key "about" stands twice, first at 1:1`},
		{"a key that is a number", "1: x\nsteps: [ping]", `1:1: the key 1: want a word`},
		{"an unknown step", "- stal: 5s", `1:3: there is no step "stal"; did you mean stall?`},
		{"an unknown bare step", "- role\n- don", `2:3: there is no step "don"; did you mean done?`},
		{"a word of this package", "- FILE", `1:3: there is no step "FILE"; ` + someSteps},
		{"a program among steps", "- steps: [ping]", `1:3: there is no step "steps"; programs stand under programs:`},
		{"a list as a step", "- [ping]", "1:3: a step is a list: want its kind"},
		{"a key of the step beside it", "- text: a\n  every: 5s", `2:3: "every" stands beside "text": a step is one kind; put it into text: {…}`},
		{"two steps in one", "- ping:\n  empty:", `2:3: "empty" stands beside "ping": a step is one kind; put a dash before it`},
		{"an unknown key of a step", "- text: {chunks: [a], evry: 5s}", `1:23: text has no key "evry"; did you mean every?`},
		{"a key of a step that has none", "- cut: {now: true}", `1:9: cut has no key "now"; it takes none`},
		{"a step that takes nothing", "- cut: now", `1:8: cut takes nothing, and was given "now"`},
		{"a step that needs more", "- text", "1:3: text lacks chunks"},
		{"a mapping that needs more", "- usage: {prompt: 1}", "1:10: usage lacks completion"},
		{"a short form where there is none", "- flood: 5", "1:10: flood is 5: want a mapping of frames, bytes, every"},
		{"a number in place of a text", "- text: [a, 1.0]", "1:13: text is 1.0: want a text; put it in quotes"},
		{"null in place of a text", "- text: [~]", "1:10: text is nothing: want a text"},
		{"a text in place of a number", "- batch: two", `1:10: batch is "two": want a number`},
		{"a number in another base", "- batch: 0x10", "1:10: batch is 0x10: want a decimal number that is not so large"},
		{"a text in place of a truth", "- end: {close: yes}", `1:16: close is "yes": want true or false`},
		{"a bad duration", "- pause: soon", `1:10: pause is "soon": want a duration such as 200ms or 1.5s`},
		{"a duration without a unit", "- pause: 5", "1:10: pause is 5, without a unit; did you mean 5s or 5ms?"},
		{"a negative duration", "- pause: -5s", `1:10: pause is "-5s": want 0s or more`},
		{"forever misspelt", "- stall: forevr", `1:10: stall is "forevr": want a duration such as 200ms or 1.5s, or forever; did you mean forever?`},
		{"a pause without end", "- pause: forever", `1:10: pause is "forever": want a duration such as 200ms or 1.5s; only stall, and the end of a keepalive or a repeat, may be forever`},
		{"an unknown form", "- keepalive: {form: coment, every: 5s}", `1:21: form is "coment": want comment, ping, empty, empty-data, role, blank; did you mean comment?`},
		{"one of many words", "- go-away: CANCLE", `1:12: go-away is "CANCLE"; did you mean CANCEL?`},
		{"what validation says of a value", "- headers: {gzip: true, status: 99}", "1:33: headers: status 99: want 200 to 599"},
		{"what validation says of a step", "- role\n- text: []", "2:3: text: no chunks"},
		{"a step that does nothing for its requests", "programs:\n- when: {dialect: ollama}\n  steps:\n  - text: a\n  - repeat:\n      times: 2\n      steps:\n      - garble: doubled\n      - text: b\n",
			"8:9: garble does nothing for these requests: ollama has no server-sent events"},
		{"what validation says of the order", "- end\n- ping", "2:3: ping comes after end, which ends the exchange"},
		{"what validation says inside a repeat", "- repeat:\n    times: 2\n    steps:\n      - ping\n      - headers", "5:9: headers opens the answer, but steps before have sent some of it"},
		{"a repeat that takes no time", "- repeat: {steps: [ping]}", "1:3: repeat: takes no time, and would never let another go on: put a pause into it"},
		{"no steps", "steps: []", "1:8: no steps"},
		{"a negative count of connections", "connections: {refuse: -1}\nsteps: [ping]", "1:23: refuse is -1: want 0 or more"},
		{"a negative number of times", "programs: [{times: -1, steps: [ping]}]", "1:20: times is -1: want 1 or more, or any; leave it out for once"},
		{"no times", "programs: [{times: 0, steps: [ping]}]", "1:20: times is 0: want 1 or more, or any; leave it out for once"},
		{"no request", "programs: [{when: {request: 0}, steps: [ping]}]", "1:29: request is 0: want 1 or more; leave it out for any"},
		{"no repeat", "- repeat: {times: 0, steps: [text: a]}", "1:19: times is 0: want 1 or more, or forever; leave it out for one without end"},
		{"a word that is like none", "- xyzzyx", `1:3: there is no step "xyzzyx"; ` + someSteps},
		{"a word from elsewhere", "- sleep: 5s", `1:3: there is no step "sleep"; did you mean pause?`},
		{"a word from elsewhere with other signs", "- tool_call: {name: x}", `1:3: there is no step "tool_call"; did you mean tool?`},
		{"a key that is needed and misspelt", "programs: [{stesp: [ping]}]", `1:13: a program has no key "stesp"; did you mean steps?`},
		{"a name of a header with a space", "- headers: {header: {\"X A\": b}}", `1:21: headers: header "X A": want a name of letters, digits and dashes`},
		{"a value of a header with a line break", "- status: {code: 500, header: {X-A: \"b\\r\\nc\"}}", `1:31: status: header "X-A" has the value "b\r\nc": want a text on one line`},
		{"a content type with a line break", "- status: {code: 500, content-type: \"b\\nc\"}", `1:37: status: content-type "b\nc": want a text on one line`},
		{"the name of a header that no request has", "programs: [{when: {header: {\"X A\": b}}, steps: [ping]}]", `1:19: when: header "X A": want a name of letters, digits and dashes`},
		{"a garble at the end", "- text: a\n- garble\n- end", "2:3: garble breaks nothing: no frame comes behind it"},
		{"a garble before another", "- garble\n- garble: plain\n- text: a", "1:3: garble breaks nothing: no frame comes behind it"},
		{"a garble before silence", "- text: a\n- garble\n- keepalive: {form: comment, every: 1s}\n- stall", "2:3: garble breaks nothing: no frame comes behind it"},
		{"a garble at the end of a last round", "- repeat:\n    times: 2\n    steps:\n      - text: a\n      - garble", "5:9: garble breaks nothing: no frame comes behind it"},
		{"a program that no request reaches", "programs:\n- {when: {stream: true}, times: any, steps: [ping]}\n- {when: {stream: true, model: m}, steps: [ping]}",
			"3:3: never reached: program 1, for any number of requests, takes all that this one is for; put it before that one"},
		{"an index that is no number", "- tool-chunk: [{index: x}]", `1:3: tool-chunk: index "x": want a number`},
		{"bytes that are no base64", "- raw: !!binary '?'", `1:8: raw is "?": want base64 behind !!binary`},
		{"another tag", "- raw: !!str x", `1:8: the tag "!!str": only !!binary is read`},
		{"an alias of nothing", "- text: *x", `1:9: no anchor "&x" stands before`},
		{"a merge key", "a: &a {b: c}\nd:\n  <<: *a", "3:3: merge keys are not read: give the whole value an alias"},
		{"bytes that are no UTF-8", "- ping\n- text: é\xff", "2:10: the byte 0xff is no UTF-8"},
		{"a control character", "- text: \x1b[2J", `1:9: the control character '\x1b': write it as "\x1b" in double quotes`},
		{"text that would draw on a terminal", "- \"\\e[2J\"", `1:3: there is no step "\x1b[2J"; ` + someSteps},
		{"too much", strings.Repeat("#", 1<<20+1), "1:1: the file has 1048577 bytes: want at most 1048576"},
		{"too many words", "[" + strings.Repeat("a,", 30_000) + "]", "1:50001: more than 50000 words and marks"},
		{"too deep", deep, "1:33: more than 32 lists and mappings inside each other"},
		{"too deep without brackets", strings.Repeat("- ", 100) + "a", "1:129: indented too far"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(test.file))
			require.EqualError(t, err, "f.yaml:"+test.want)
		})
	}
}

func TestParseTellsAllProblemsAtOnce(t *testing.T) {
	_, err := Parse("f.yaml", []byte("- stal\n- text: 1\n- batch: 1\n"))
	require.Equal(t, Problems{
		{File: "f.yaml", Line: 1, Column: 3, Text: `there is no step "stal"`, Hint: "did you mean stall?"},
		{File: "f.yaml", Line: 2, Column: 9, Text: "text is 1: want a text", Hint: "put it in quotes"},
		{File: "f.yaml", Line: 3, Column: 10, Text: "batch is 1: want 2 or more"},
	}, err)
	_, err = Parse("f.yaml", []byte(strings.Repeat("- x\n", 100)))
	require.Len(t, err, 21)
	require.ErrorContains(t, err, "f.yaml:21:3: there are more problems after these")
}

func TestAliasesAreBounded(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("- text: &a0 [lol]\n")
	for i := range 20 {
		fmt.Fprintf(&laughs, "- repeat: &a%d {times: 1, steps: [%s]}\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("repeat: *a%d, ", i), 9), ", "))
	}
	for _, file := range []string{
		laughs.String(),
		"- repeat: &a {times: 1, steps: [repeat: *a, repeat: *a]}",
		"- &a [*a, *a]",
		"- &a *a",
		"- text: &a\n    - *a",
	} {
		_, err := Parse("f.yaml", []byte(file))
		require.Error(t, err, file)
	}
}

func TestFormat(t *testing.T) {
	in := "\n\n# about it\nabout:   \"x\"\n\n\nprograms:\n# the first\n- when:   {stream: true}   # streams\n  steps:\n      - role   \n\n      # a block\n" +
		"      - raw: |\n          data: x\n\n            y  \n\n      -   text: &x [a,\n            b]\n      - repeat:\n              times: 3\n              steps:\n" +
		"              - think: *x\n              # - ping\n      - stall: 5s\n# end\n\n"
	want := "# about it\nabout: \"x\"\n\nprograms:\n  # the first\n  - when: {stream: true}   # streams\n    steps:\n      - role\n\n      # a block\n" +
		"      - raw: |\n          data: x\n\n            y  \n\n      - text: &x [a,\n            b]\n      - repeat:\n          times: 3\n          steps:\n" +
		"            - think: *x\n            # - ping\n      - stall: 5s\n# end\n"
	out, err := Format("f.yaml", []byte(in))
	require.NoError(t, err)
	require.Equal(t, want, string(out))
	again, err := Format("f.yaml", out)
	require.NoError(t, err)
	require.Equal(t, want, string(again))
	_, err = Format("f.yaml", []byte("- stal"))
	require.EqualError(t, err, `f.yaml:1:3: there is no step "stal"; did you mean stall?`)
	// What YAML writes is in its usual layout.
	for seed := range uint64(100) {
		b, err := newDice(seed, 3).file().YAML()
		require.NoError(t, err)
		same, err := Format("f.yaml", b)
		require.NoError(t, err)
		require.Equal(t, string(b), string(same))
	}
}

func FuzzParse(f *testing.F) {
	for _, test := range goodFiles {
		f.Add([]byte(test.file))
	}
	for seed := range uint64(20) {
		b, err := newDice(seed, 4).file().YAML()
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte("- repeat: &a {times: 1, steps: [repeat: *a]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f.yaml", data)
		if err != nil {
			return
		}
		require.NoError(t, file.Validate())
		b, err := file.YAML()
		require.NoError(t, err)
		again, err := Parse("f.yaml", b)
		require.NoError(t, err, "%s", b)
		twice, err := again.YAML()
		require.NoError(t, err)
		require.Equal(t, string(b), string(twice))
		out, err := Format("f.yaml", data)
		if err != nil {
			return // it says so where it cannot
		}
		same, err := Format("f.yaml", out)
		require.NoError(t, err, "%q", out)
		require.Equal(t, string(out), string(same))
	})
}
