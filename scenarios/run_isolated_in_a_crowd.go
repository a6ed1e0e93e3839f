package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// runIsolatedInACrowd: very many runs at once, with every sort of ending among them, do no more to each other than a few do.
func runIsolatedInACrowd() harness.Scenario {
	const isolated, alone, survives = "run.isolated", "run.slow-reader-is-alone", "run.survives-panic"
	play := func(all []guest) func(*harness.Trial) {
		return func(t *harness.Trial) {
			programs := []script.Program{parting("first")}
			flood := torrent(t.Stage.Flood)
			for _, g := range all {
				programs = append(programs, g.programs(t, flood)...)
			}
			t.Script(append(programs, parting("last"))...)
			t.AwaitEnd(t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true}))
			t.Census()
			asked := make([]*caller.Request, len(all))
			for i, g := range all {
				asked[i] = t.Ask(g.ask())
			}
			stalled := 0
			for _, g := range all {
				if g.does == leaves {
					t.Await(nth(of(clientText, g.name), 3))
				}
				if g.does == leaves || g.does == staysSilent {
					stalled++
				}
			}
			t.Await(nth(providerStall, stalled)) // the last words may be read before it is under way
			for i, g := range all {
				if g.does == leaves {
					asked[i].Leave(caller.Close)
				}
			}
			for i, g := range all {
				if g.does != readsNothing && g.does != staysSilent {
					t.AwaitEnd(asked[i])
				}
			}
			for i, g := range all {
				if g.does == readsNothing {
					asked[i].Leave(caller.Close)
				}
			}
			for _, r := range asked {
				t.AwaitEnd(r)
			}
			t.AwaitEnd(t.Ask(caller.Ask{Name: "last", Prompt: "hello again", Stream: true}))
			t.Census()
		}
	}
	checks := func(all []guest) []harness.Check {
		of := func(name, guarantee, noun string, wrong func(g guest, at harness.At, saw []timeline.Event) (string, time.Duration), does ...doing) harness.Check {
			return harness.Check{Name: name, Guarantee: guarantee, Noun: noun, Expect: func(at harness.At) expect.Expectation {
				return crowd{all: all, does: does, at: at, wrong: wrong}
			}}
		}
		return []harness.Check{
			of("own-text", isolated, "text", guest.text, answers, answersWhole, fails, leaves),
			of("own-ending", isolated, "ending", guest.ending, answers, answersWhole, fails, leaves, staysSilent),
			of("at-full-pace", alone, "neighbour-pace", guest.pace, answers),
		}
	}
	// The long clock alone: a crowd may be slow on a busy machine.
	set := harness.Set{NoFirstChunk: true}
	mixed, panicking := guests(200, false), guests(50, true)
	return harness.Scenario{
		ID:       "run/isolated-in-a-crowd",
		Claim:    "of two hundred runs at once each gets its own text and ending, at full pace beside clients that do not read, and nothing of any is left",
		Needs:    []harness.Feature{harness.Streaming, harness.NonStreaming, harness.ErrorFrames},
		Alone:    true,
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "mixed", Set: set, Play: play(mixed), Checks: checks(mixed)},
			{Name: "with-panics", Set: set, Needs: []harness.Feature{harness.FaultHooks}, Play: play(panicking), Checks: append(checks(panicking),
				harness.Check{Name: "panics-are-their-own", Guarantee: survives, Noun: "ending", Expect: func(at harness.At) expect.Expectation {
					return crowd{all: panicking, does: []doing{panics}, at: at, wrong: guest.ending}
				}},
				harness.Check{Name: "neighbours-of-panics", Guarantee: survives, Noun: "neighbour", Expect: func(at harness.At) expect.Expectation {
					return crowd{all: panicking, does: []doing{answers, answersWhole}, at: at, wrong: guest.ending}
				}})},
		},
		Reached: []expect.Event{providerBlocked, of(clientFinish, "first"), of(clientFinish, "last")},
		Checks: []harness.Check{
			{Name: "own-identifiers", Guarantee: isolated, Noun: "answer-identifier", Expect: shows(expect.Distinct{What: clientID})},
			{Name: "no-goroutine-more", Guarantee: "leak.goroutines", Noun: "goroutines-held", Needs: []harness.Feature{harness.Goroutines}, Expect: shows(expect.Returns{What: goroutines})},
			{Name: "no-socket-more", Guarantee: "leak.sockets", Noun: "sockets-held", Needs: []harness.Feature{harness.Sockets}, Expect: shows(expect.Returns{What: sockets})},
		},
	}
}

// doing is what becomes of a run in a crowd.
type doing int

const (
	answers doing = iota
	answersWhole
	fails
	leaves
	staysSilent
	readsNothing
	panics
)

// guest is one run of a crowd.
type guest struct {
	name string
	does doing
}

// guests are so many; those that panic take the place of some that fail.
func guests(n int, panicking bool) []guest {
	var all []guest
	for i := range n {
		does := []doing{answers, answersWhole, answers, fails, leaves, answers, staysSilent, fails, answers, leaves}[i%10]
		switch {
		case i%100 == 0: // few, for each is sent more than a connection can hold
			does = readsNothing
		case panicking && i%10 == 7:
			does = panics
		}
		all = append(all, guest{fmt.Sprintf("g%03d", i), does})
	}
	return all
}

func (g guest) pieces() []string {
	return []string{g.name + "-one ", g.name + "-two ", g.name + "-three"}
}

// paceOf is the time between two pieces.
func paceOf(w harness.Windows) time.Duration { return w.Heartbeat * 2 / 7 }

func (g guest) programs(t *harness.Trial, flood []string) []script.Program {
	end := closing("stop")
	end[len(end)-1] = script.End{Close: true}
	text := script.Text{Chunks: g.pieces(), Every: paceOf(t.Windows)}
	steps := []script.Step{lastOnConnection()}
	switch g.does {
	case answers, answersWhole:
		steps = append(append(steps, text), end...)
	case fails:
		steps = append(steps, text, script.Error{Code: "overloaded", Message: g.name + "-fails"}, script.End{Close: true})
	case leaves:
		steps = append(steps, text, fault.Stall{})
	case staysSilent:
		steps = append(steps, fault.Stall{})
	case readsNothing:
		steps = append(append(steps, script.Text{Chunks: flood}), end...)
	case panics:
		return nil // the model is never asked
	}
	return forOnly(g.name, script.Program{Steps: steps})
}

func (g guest) ask() caller.Ask {
	a := askFor(g.name, g.does != answersWhole)
	a.Hold = g.does == readsNothing
	if g.does == panics {
		a.Prompt = "[[fault:panic]]"
	}
	return a
}

// crowd expects nothing to be wrong with any of the runs that do one of these things.
type crowd struct {
	all  []guest
	does []doing
	at   harness.At
	// wrong says what is wrong with what a run's client saw, "" when nothing is, and by how much an instant was missed.
	wrong func(g guest, at harness.At, saw []timeline.Event) (string, time.Duration)
}

// Judge fails as a value at the end of the first run with which something is wrong, and says how many there are.
func (x crowd) Judge(h expect.History) expect.Judgement {
	ev := verdict.Evidence{Kind: verdict.Value, At: h.End, Expected: x.String(), Found: "all are"}
	saw := map[string][]timeline.Event{}
	for _, e := range h.Events {
		if e.Lane == caller.Lane {
			saw[e.Ref] = append(saw[e.Ref], e)
		}
	}
	wrong, worst := 0, time.Duration(0)
	for _, g := range x.all {
		if !slices.Contains(x.does, g.does) {
			continue
		}
		why, missed := x.wrong(g, x.at, saw[g.name])
		if why != "" && hurried(g, saw[g.name]) {
			missed = max(missed, time.Millisecond) // a busy machine may be why
		}
		worst = max(worst, missed)
		if why == "" || wrong > 0 {
			wrong += min(len(why), 1)
			continue
		}
		wrong = 1
		ev.Found = g.name + " " + why
		if all := saw[g.name]; len(all) > 0 {
			last := all[len(all)-1]
			ev.At, ev.Because = last.At, []int{last.Seq}
		}
	}
	if wrong == 0 {
		return expect.Judgement{Verdict: verdict.Pass, Evidence: ev}
	}
	ev.Found = fmt.Sprintf("%d are not: %s", wrong, ev.Found)
	if worst > 0 {
		ev.Kind = verdict.Deadline
	}
	return expect.Judgement{Verdict: verdict.Fail, Evidence: ev, Missed: worst}
}

func (x crowd) String() string {
	n := 0
	for _, g := range x.all {
		if slices.Contains(x.does, g.does) {
			n++
		}
	}
	return fmt.Sprintf("%d of %d runs each as it should be", n, len(x.all))
}

// hurried says whether a clock may have ended a run that was to end otherwise.
func hurried(g guest, saw []timeline.Event) bool {
	late := func(detail string) bool { return strings.Contains(detail, "_timeout:") }
	return g.does != staysSilent && slices.ContainsFunc(details(saw, "error"), late)
}

func details(saw []timeline.Event, kind string) (out []string) {
	for _, e := range saw {
		if e.Kind == kind {
			out = append(out, e.Detail)
		}
	}
	return out
}

// text is what is wrong with what the client read: all of the run's own pieces and nothing of another's. A client that leaves has read them.
func (g guest) text(_ harness.At, saw []timeline.Event) (string, time.Duration) {
	if got, want := strings.Join(details(saw, "text"), ""), strings.Join(g.pieces(), ""); got != want {
		return fmt.Sprintf("read %.100q", got), 0
	}
	return "", 0
}

// ending is what is wrong with how the run ended.
func (g guest) ending(_ harness.At, saw []timeline.Event) (string, time.Duration) {
	finishes, errors, ends := len(details(saw, "finish")), details(saw, "error"), strings.Join(details(saw, "end"), ", ")
	code := map[doing]string{fails: "provider_error", staysSilent: "stream_timeout", panics: "internal_error"}[g.does]
	switch {
	case g.does == leaves:
		if len(details(saw, "left")) != 1 || len(errors) > 0 || finishes > 0 {
			return fmt.Sprintf("was left %d times, and had the errors %.200q and %d finishes", len(details(saw, "left")), errors, finishes), 0
		}
	case code != "":
		if len(errors) != 1 || !strings.HasPrefix(errors[0], code+":") || finishes > 0 || ends != "complete" {
			return fmt.Sprintf("had the errors %.200q, %d finishes, and the end %.100q", errors, finishes, ends), 0
		}
		if g.does == fails && !strings.Contains(errors[0], g.name+"-fails") {
			return fmt.Sprintf("had another's error: %.200q", errors[0]), 0
		}
	case finishes != 1 || len(errors) > 0 || ends != "complete":
		return fmt.Sprintf("had %d finishes, the errors %.200q, and the end %.100q", finishes, errors, ends), 0
	}
	return "", 0
}

// pace is what is wrong with the time that the client waited.
func (g guest) pace(at harness.At, saw []timeline.Event) (string, time.Duration) {
	var asked, read time.Duration
	for _, e := range saw {
		switch e.Kind {
		case "ask":
			asked = e.At
		case "text":
			read = e.At
		}
	}
	if took, due := read-asked, 2*paceOf(at.Windows); took > due+at.Once || took < due {
		return fmt.Sprintf("had its last text %s after it asked, and not %s", took, due), max(took-due-at.Once, time.Millisecond)
	}
	return "", 0
}
