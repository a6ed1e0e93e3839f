package scenarios

import (
	"fmt"
	"strings"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerFramesTolerated: one answer in every form that server-sent events allow.
func providerFramesTolerated() harness.Scenario {
	const told = "one deux… 三 🧵 four" // with characters of two, three and four bytes
	const splits = 32
	answer := []string{
		deltaOf(`{"role":"assistant","content":""}`), contentOf("one "), contentOf("deux… "), contentOf("三 🧵 "), contentOf("four"),
		finishOf("stop"), "[DONE]",
	}
	play := func(steps func(*harness.Trial) []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Steps: append(steps(t), script.End{})})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	checks := func(text string, and ...harness.Check) []harness.Check {
		return append(isWhole("provider.frames-tolerated", text), and...)
	}
	// apart sends the frames a tick apart: the first text must be there before the second comes, since lines are read as
	// they come and not at the end of the body.
	apart := func(name string, frame func(data string) string) harness.Variant {
		return harness.Variant{
			Name: name,
			Play: play(func(t *harness.Trial) (steps []script.Step) {
				for _, data := range answer {
					steps = append(steps, script.Raw{Bytes: frame(data)}, script.Pause{For: t.Stage.Tick})
				}
				return steps
			}),
			Checks: checks(told, harness.Check{Name: "as-it-comes", Guarantee: "provider.frames-tolerated", Noun: "text", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: saying(clientText, "one "), After: nth(providerRaw, 2), To: at.Once}
			}}),
		}
	}
	lines := func(end string) func(string) string {
		return func(data string) string { return "data: " + data + end + end }
	}
	// together sends all frames as one, in as few or many writes as the fault says.
	together := func(name, before string, with func(*harness.Trial) []script.Step) harness.Variant {
		return harness.Variant{Name: name, Checks: checks(told), Play: play(func(t *harness.Trial) []script.Step {
			return append(with(t), script.Raw{Bytes: before + events(answer...)})
		})}
	}
	noFault := func(*harness.Trial) []script.Step { return nil }
	return harness.Scenario{
		ID:    "provider/frames-tolerated",
		Claim: "an answer is decoded whole, and as it comes, in every form of line, frame and packet that its protocol allows",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			apart("lf", lines("\n")),
			apart("crlf", lines("\r\n")),
			apart("cr", lines("\r")),
			apart("no-space", func(data string) string { return "data:" + data + "\n\n" }),
			apart("comments", func(data string) string { return ": between\n\n:\n\n: before\ndata: " + data + "\n: after\n\n" }),
			apart("several-data-lines", func(data string) string { return "data: " + strings.ReplaceAll(data, `,"`, ",\ndata: \"") + "\n\n" }),
			apart("other-fields", func(data string) string {
				return "event: message\nid: 7\nretry: 1000\nunheard-of: x\nalone\ndata: " + data + "\n\n"
			}),
			apart("blank-lines", func(data string) string { return "\n\n\ndata: " + data + "\n\n" }),
			// A member that nobody knows fills each line to 1 MiB; the text stays short enough to be compared.
			apart("long-lines", func(data string) string {
				padding := fmt.Sprintf(`{"padding":%q,"id"`, strings.Repeat("p", 1<<20))
				return "data: " + strings.Replace(data, `{"id"`, padding, 1) + "\n\n"
			}),
			together("byte-order-mark", "\uFEFF", noFault),
			together("one-write", "", noFault),
			together("a-write-for-each-byte", "", func(*harness.Trial) []script.Step { return []script.Step{fault.Split{Every: 1}} }),
			together("byte-by-byte", "", func(t *harness.Trial) []script.Step {
				return []script.Step{fault.Drip{Bytes: 1, Every: t.Stage.Tick / 300}} // about a thousand bytes
			}),
			{
				Name: "split-anywhere", Checks: checks(strings.Repeat(told, splits)),
				Play: func(t *harness.Trial) {
					whole := strings.ReplaceAll(events(answer...), "\n", "\r\n")
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
