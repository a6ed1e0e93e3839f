package scenarios

import (
	"strings"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerFramesTolerated: one answer in every form that server-sent events allow, and lines of JSON in theirs.
func providerFramesTolerated() harness.Scenario {
	const splits = 32
	play := func(steps func(*harness.Trial, wire) []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Steps: append(steps(t, wireOf(t.Case.Dialect())), script.End{})})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	checks := func(text string, and ...harness.Check) []harness.Check {
		return append(isWhole("provider.frames-tolerated", text), and...)
	}
	// apart sends the frames a tick apart: the first text must be there before the second comes, since lines are read as
	// they come and not at the end of the body.
	apart := func(name string, on []string, form func(wire, frame) string) harness.Variant {
		return harness.Variant{
			Name: name, Dialects: on,
			Play: play(func(t *harness.Trial, w wire) (steps []script.Step) {
				for _, f := range w.frames {
					steps = append(steps, script.Raw{Bytes: form(w, f)}, script.Pause{For: t.Stage.Tick})
				}
				return steps
			}),
			Checks: checks(told, harness.Check{Name: "as-it-comes", Guarantee: "provider.frames-tolerated", Noun: "text", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: saying(clientText, "one "), After: nth(providerRaw, wireOf(at.Dialect).first), To: at.Once}
			}}),
		}
	}
	lines := func(end string) func(wire, frame) string {
		return func(w wire, f frame) string { return w.plainly(f, end) }
	}
	// event is a frame as an event whose data line, the fields before it and what comes behind are shaped so.
	event := func(shape func(name, data string) string) func(wire, frame) string {
		return func(_ wire, f frame) string {
			name := ""
			if f.event != "" {
				name = "event: " + f.event + "\n"
			}
			return shape(name, f.data)
		}
	}
	// together sends all frames as one, in as few or many writes as the fault says.
	together := func(name, before string, on []string, with func(*harness.Trial) []script.Step) harness.Variant {
		return harness.Variant{Name: name, Dialects: on, Checks: checks(told), Play: play(func(t *harness.Trial, w wire) []script.Step {
			return append(with(t), script.Raw{Bytes: before + w.whole("\n")})
		})}
	}
	noFault := func(*harness.Trial) []script.Step { return nil }
	return harness.Scenario{
		ID:       "provider/frames-tolerated",
		Claim:    "an answer is decoded whole, and as it comes, in every form of line, frame and packet that its protocol allows",
		Needs:    []harness.Feature{harness.Streaming},
		Dialects: onWires(),
		Variants: []harness.Variant{
			apart("lf", nil, lines("\n")),
			apart("crlf", nil, lines("\r\n")),
			apart("cr", inEvents(), lines("\r")),
			apart("no-space", inEvents(), func(w wire, f frame) string {
				return strings.NewReplacer("data: ", "data:", "event: ", "event:").Replace(w.plainly(f, "\n"))
			}),
			apart("comments", inEvents(), event(func(name, data string) string {
				return ": between\n\n:\n\n: before\n" + name + "data: " + data + "\n: after\n\n"
			})),
			apart("several-data-lines", inEvents(), event(func(name, data string) string {
				return name + "data: " + strings.ReplaceAll(data, `,"`, ",\ndata: \"") + "\n\n"
			})),
			apart("other-fields", inEvents(), event(func(name, data string) string {
				if name == "" {
					name = "event: message\n"
				}
				return name + "id: 7\nretry: 1000\nunheard-of: x\nalone\ndata: " + data + "\n\n"
			})),
			apart("blank-lines", inEvents(), event(func(name, data string) string { return "\n\n\n" + name + "data: " + data + "\n\n" })),
			// A member that nobody knows fills each line to 1 MiB; the text stays short enough to be compared.
			apart("long-lines", nil, func(w wire, f frame) string {
				f.data = strings.Replace(f.data, "{", `{"padding":"`+strings.Repeat("p", 1<<20)+`",`, 1)
				return w.plainly(f, "\n")
			}),
			together("byte-order-mark", "\uFEFF", inEvents(), noFault),
			together("one-write", "", nil, noFault),
			together("a-write-for-each-byte", "", nil, func(*harness.Trial) []script.Step { return []script.Step{fault.Split{Every: 1}} }),
			together("byte-by-byte", "", nil, func(t *harness.Trial) []script.Step {
				return []script.Step{fault.Drip{Bytes: 1, Every: t.Stage.Tick / 1000}} // some thousand bytes
			}),
			{
				Name: "split-anywhere", Checks: checks(strings.Repeat(told, splits)),
				Play: func(t *harness.Trial) {
					whole := wireOf(t.Case.Dialect()).whole("\r\n")
					var programs []script.Program
					for range splits {
						at := 1 + t.Rand.IntN(len(whole)-1)
						programs = append(programs, script.Program{Steps: []script.Step{
							script.Raw{Bytes: whole[:at]}, script.Pause{For: t.Stage.Tick / 30}, script.Raw{Bytes: whole[at:]}, script.End{},
						}})
					}
					t.Script(programs...)
					for range splits {
						t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
					}
				},
			},
		},
	}
}
