// Package overlap tells from a timeline how a server executes the tool calls of one model turn: one after another, as some
// frameworks are assumed to, or otherwise. It judges nothing.
package overlap

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/caller"
)

// Answer says how calls are executed.
type Answer string

// The answers. In Batched none overlaps, but calls are announced before the one before them is finished. Unordered calls run in
// another order than the model listed them, or what is told of them is told under the wrong ids.
const (
	Sequential Answer = "sequential"
	Batched    Answer = "batched"
	Concurrent Answer = "concurrent"
	Unordered  Answer = "unordered"
	Unknown    Answer = "unknown" // fewer than two calls were seen to their end
)

// Call is one tool call as the lanes show it. An instant is -1 where nothing was seen.
type Call struct {
	Key       string // of its arguments, k1 for the first that the model listed
	Server    string
	Announced time.Duration // to the client
	Started   time.Duration // its request reached the MCP server
	Ended     time.Duration // its result left the MCP server
	Told      time.Duration // the model was told of it
	// Its result was seen to be told to the client, and to the model, under the id of one of the calls.
	ToClient, ToModel bool
}

// Picture is what was seen of the calls of one turn.
type Picture struct {
	Answer Answer
	Widest int      // how many were executed at once
	Wrong  []string // what was told under the wrong id, as sentences
	Calls  []Call   // as the model listed them
}

// Key is what the n-th call of a turn, from 1, has as the member key of its arguments, and ID its id. Done is the text of its
// result.
func Key(n int) string { return fmt.Sprintf("k%d", n) }

// ID is the id of the n-th call, from 1.
func ID(n int) string { return fmt.Sprintf("call_%d", n) }

// Done is the text of the result of the call with that key.
func Done(key string) string { return "done " + key }

// Of reads a timeline in which the model called n tools in one turn, with the keys and ids above.
func Of(events []timeline.Event, n int) Picture {
	p := Picture{Calls: make([]Call, n)}
	for i := range p.Calls {
		p.Calls[i] = Call{Key: Key(i + 1), Announced: -1, Started: -1, Ended: -1, Told: -1}
	}
	running := map[string]int{} // by the ref of the MCP server
	for _, e := range events {
		switch {
		case e.Lane == mcp.Lane:
			p.executed(e, running)
		case e.Lane == caller.Lane:
			p.shown(e)
		case e.Lane == provider.Lane && e.Kind == "told":
			p.told(e)
		}
	}
	for i := range p.Calls {
		// A fake notes that a result has left a moment after it has: a server may act on it before.
		if c := &p.Calls[i]; c.Started >= 0 && c.Ended >= 0 {
			c.Ended -= min((c.Ended-c.Started)/10, 20*time.Millisecond)
		}
	}
	p.Widest = widest(p.Calls)
	p.Answer = p.answer()
	return p
}

// call is the one with that key in a text, nil when it has none.
func (p *Picture) call(text string) *Call {
	for i := range p.Calls {
		if strings.Contains(text, `"key":"`+p.Calls[i].Key+`"`) {
			return &p.Calls[i]
		}
	}
	return nil
}

func (p *Picture) executed(e timeline.Event, running map[string]int) {
	switch e.Kind {
	case "request":
		if c := p.call(e.Detail); c != nil && strings.HasPrefix(e.Detail, "tools/call ") && c.Started < 0 {
			c.Started = e.At
			c.Server, _, _ = strings.Cut(e.Ref, "#")
			running[e.Ref] = slices.IndexFunc(p.Calls, func(o Call) bool { return o.Key == c.Key })
		}
	case "result":
		if at, ok := running[e.Ref]; ok {
			p.Calls[at].Ended = e.At
		}
	}
}

// shown reads what the client is told: tool_calls of Chat Completions, and the events of aura.
func (p *Picture) shown(e timeline.Event) {
	name, data, _ := strings.Cut(e.Detail, " ")
	switch {
	case e.Kind == "tool":
		if c := p.call(e.Detail); c != nil && c.Announced < 0 {
			c.Announced = e.At
		}
	case e.Kind == "event" && name == "aura.tool_requested":
		if c := p.call(data); c != nil && c.Announced < 0 {
			c.Announced = e.At
		}
	case e.Kind == "event" && name == "aura.tool_complete":
		var of struct {
			ID     string `json:"tool_id"`
			Result string `json:"result"`
		}
		if json.Unmarshal([]byte(data), &of) == nil {
			p.match("the client was told the end of", of.ID, of.Result, func(c *Call) { c.ToClient = true })
		}
	}
}

func (p *Picture) told(e timeline.Event) {
	id, text, _ := strings.Cut(e.Detail, " ")
	for i := range p.Calls {
		if id == ID(i+1) {
			p.Calls[i].Told = e.At
		}
	}
	p.match("the model was told the result of", id, text, func(c *Call) { c.ToModel = true })
}

// match marks the call whose result comes under an id of ours, and notes when that is another call's.
func (p *Picture) match(who, id, text string, mark func(*Call)) {
	for i := range p.Calls {
		if !strings.Contains(text, Done(p.Calls[i].Key)) || !strings.HasPrefix(id, "call_") {
			continue
		}
		mark(&p.Calls[i])
		if id != ID(i+1) {
			p.Wrong = append(p.Wrong, fmt.Sprintf("%s %s under the id %s", who, ID(i+1), id))
		}
	}
}

// widest is how many calls were executed at once.
func widest(calls []Call) int {
	most := 0
	for _, c := range calls {
		if c.Started < 0 {
			continue
		}
		at := 0
		for _, o := range calls {
			if o.Started >= 0 && o.Started <= c.Started && (o.Ended < 0 || o.Ended > c.Started) {
				at++
			}
		}
		most = max(most, at)
	}
	return most
}

func (p *Picture) answer() Answer {
	seen := slices.DeleteFunc(slices.Clone(p.Calls), func(c Call) bool { return c.Started < 0 || c.Ended < 0 })
	inOrder := slices.IsSortedFunc(seen, func(a, b Call) int { return cmp.Compare(a.Started, b.Started) })
	switch {
	case len(seen) < 2:
		return Unknown
	case len(p.Wrong) > 0:
		return Unordered
	case p.Widest > 1: // they begin together, in an order that is chance
		return Concurrent
	case !inOrder:
		return Unordered
	case slices.ContainsFunc(seen[1:], func(c Call) bool { return c.Announced >= 0 && c.Announced < seen[0].Ended }):
		return Batched
	}
	return Sequential
}

// Breaks says which assumptions of a FIFO that joins announcements with executions do not hold.
func (p Picture) Breaks() []string {
	var out []string
	for i, c := range p.Calls[1:] {
		before := p.Calls[i]
		switch {
		case c.Announced >= 0 && before.Ended >= 0 && c.Announced < before.Ended:
			out = append(out, fmt.Sprintf("%s is announced before %s has ended: two ids are in the FIFO", ID(i+2), ID(i+1)))
		case c.Started >= 0 && before.Ended >= 0 && c.Started < before.Ended:
			out = append(out, fmt.Sprintf("%s begins before %s has ended: its start is told under the id of %s", ID(i+2), ID(i+1), ID(i+1)))
		}
		if c.Ended >= 0 && before.Ended >= 0 && c.Ended < before.Ended {
			out = append(out, fmt.Sprintf("%s ends before %s: its result is told under the id of %s", ID(i+2), ID(i+1), ID(i+1)))
		}
	}
	return append(out, p.Wrong...)
}

// Draw is the calls as lines of text, at most width runes wide: a for announced, = for executed, t for told to the model.
func (p Picture) Draw(width int) []string {
	first, last := time.Duration(-1), time.Duration(0)
	for _, c := range p.Calls {
		for _, at := range []time.Duration{c.Announced, c.Started, c.Ended, c.Told} {
			if at >= 0 && (first < 0 || at < first) {
				first = at
			}
			last = max(last, at)
		}
	}
	var lines []string
	const label = 18
	room := max(width-label, 10)
	column := func(at time.Duration) int {
		if last <= first {
			return 0
		}
		return int(float64(at-first) / float64(last-first) * float64(room-1))
	}
	for i, c := range p.Calls {
		row := slices.Repeat([]byte(" "), room)
		if c.Started >= 0 {
			end := c.Ended
			if end < 0 {
				end = last
			}
			for x := column(c.Started); x <= column(end); x++ {
				row[x] = '='
			}
		}
		if c.Announced >= 0 {
			row[column(c.Announced)] = 'a'
		}
		if c.Told >= 0 {
			row[column(c.Told)] = 't'
		}
		lines = append(lines, fmt.Sprintf("%-8s%-*s%s", ID(i+1), label-8, c.Server, strings.TrimRight(string(row), " ")))
	}
	return lines
}

// String is the answer in a line.
func (p Picture) String() string {
	words := string(p.Answer)
	if p.Widest > 1 {
		words += fmt.Sprintf(", at most %d at once", p.Widest)
	}
	if p.Answer == Unknown {
		return words
	}
	if len(p.Wrong) > 0 {
		return words + fmt.Sprintf(", %d told under the wrong id", len(p.Wrong))
	}
	return words + ", " + p.ids()
}

// ids says of the ids, none of which was seen to be wrong, how much that shows: a server that tells its client nothing of tool
// calls may well mistake one for another.
func (p Picture) ids() string {
	client, model := 0, 0
	for _, c := range p.Calls {
		if c.ToClient {
			client++
		}
		if c.ToModel {
			model++
		}
	}
	switch n := len(p.Calls); {
	case client == n && model == n:
		return "every id right"
	case client == 0 && model == n:
		return "ids: only the results sent to the model were seen"
	case client == n && model == 0:
		return "ids: only what the client was told was seen"
	case client == 0 && model == 0:
		return "ids: none were seen"
	default:
		return fmt.Sprintf("ids: the client was told of %d of %d calls, the model of %d", client, n, model)
	}
}
