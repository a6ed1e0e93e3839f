package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// runSlowReaderIsAlone: a client that stops reading holds up its own run, and no other.
func runSlowReaderIsAlone() harness.Scenario {
	pace := func(w harness.Windows) time.Duration { return w.Inactivity / 9 }
	// blocked has one client stop reading until the model itself is blocked, and another read all the while.
	blocked := func(t *harness.Trial) (slow, neighbour *caller.Request) {
		usage := script.Usage{Prompt: 9, Completion: 4}
		t.Script(
			script.Program{When: script.When{Contains: "a-flood"}, Steps: []script.Step{script.Text{Chunks: torrent(t.Stage.Flood)}, script.Finish{Reason: "stop"}, usage, script.Done{}, script.End{}}},
			script.Program{When: script.When{Contains: "a-trickle"}, Steps: []script.Step{script.Text{Chunks: []string{"drop ", "by ", "drop ", "by ", "drop"}, Every: pace(t.Windows)}, script.Finish{Reason: "stop"}, usage, script.Done{}, script.End{}}},
		)
		slow = t.Ask(caller.Ask{Name: "slow", Prompt: "a-flood", Stream: true, Hold: true})
		stuck(t)
		return slow, t.Ask(caller.Ask{Name: "neighbour", Prompt: "a-trickle", Stream: true})
	}
	check := func(name, noun string, x expect.Expectation) harness.Check {
		return harness.Check{Name: name, Guarantee: "run.slow-reader-is-alone", Noun: noun, Expect: shows(x)}
	}
	return harness.Scenario{
		ID:    "run/slow-reader-is-alone",
		Claim: "a client that does not read holds up its own run only, pauses that run's inactivity clock, and not its stream cap, after which its connection is cut within the last write's time",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "reads-later", Set: harness.Set{Inactivity: true, NoStream: true}, Play: func(t *harness.Trial) {
				slow, neighbour := blocked(t)
				t.AwaitEnd(neighbour)
				t.Pass(t.Windows.Inactivity) // beside the neighbour's time
				slow.Read()
				t.AwaitEnd(slow)
			}, Checks: []harness.Check{
				{Name: "gets-every-frame", Guarantee: "run.slow-reader-is-alone", Noun: "text", Expect: func(at harness.At) expect.Expectation {
					n := torrentFrames(at.Stage.Flood) + 1
					return expect.Times{What: of(clientText, "slow"), Min: n, Max: n}
				}},
				check("gets-the-end", "end", expect.InOrder{saying(of(clientText, "slow"), "the end"), saying(of(clientFinish, "slow"), "stop"), of(clientDone, "slow")}),
				check("no-error", "error-frame", expect.Never{What: clientError}),
			}},
			{Name: "never-reads-in-time", Set: harness.Set{Inactivity: true}, Play: func(t *harness.Trial) {
				slow, neighbour := blocked(t)
				t.AwaitEnd(neighbour)
				t.Await(of(providerLeft, "#1"))
				slow.Read()
				t.AwaitEnd(slow)
			}, Checks: []harness.Check{
				{Name: "stream-cap-ends-it", Guarantee: "run.slow-reader-is-alone", Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
					return expect.Happens{What: of(providerLeft, "#1"), After: of(providerRequest, "#1"), From: at.Stream, To: at.Stream + at.Once}
				}},
				check("no-ordinary-end", "finish", expect.Never{What: of(clientFinish, "slow")}),
			}},
			{Name: "reads-after-the-last-write", Set: harness.Set{Inactivity: true}, Play: func(t *harness.Trial) {
				slow, neighbour := blocked(t)
				t.AwaitEnd(neighbour)
				t.Await(of(providerLeft, "#1"))
				t.Pass(t.Windows.LastWrite + t.Stage.Tick)
				slow.Read()
				t.AwaitEnd(slow)
			}, Checks: []harness.Check{
				check("connection-is-cut", "client-connection", expect.Says{What: of(clientEnd, "slow"), Text: "cut"}),
				check("no-ordinary-end", "finish", expect.Never{What: of(clientFinish, "slow")}),
			}},
		},
		Checks: []harness.Check{
			{Name: "neighbour-at-full-pace", Guarantee: "run.slow-reader-is-alone", Noun: "neighbour-pace", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: nth(of(clientText, "neighbour"), 5), After: of(providerRequest, "#2"), From: 4 * pace(at.Windows), To: 4*pace(at.Windows) + at.Once}
			}},
			check("neighbour-whole", "neighbour-text", expect.Reads{What: of(clientText, "neighbour"), Text: "drop by drop by drop"}),
			check("neighbour-ends-well", "neighbour-end", expect.InOrder{of(clientFinish, "neighbour"), of(clientDone, "neighbour")}),
		},
	}
}

// torrentFrame is far above what a connection is bothered by, and keeps the frames of a torrent few.
const torrentFrame = 32 << 10

// torrentFrames is how many of them hold so many bytes.
func torrentFrames(size int) int { return size / torrentFrame }

// torrent is text of so many bytes, a frame each, which a server passes on one by one, and then the end.
func torrent(size int) []string {
	chunks := make([]string, torrentFrames(size))
	for i := range chunks {
		chunks[i] = fmt.Sprintf("%d %s", i+1, strings.Repeat("~", torrentFrame))
	}
	return append(chunks, "the end")
}
