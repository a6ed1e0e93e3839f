package casefile

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// check is one expectation as it was read.
type check struct {
	guarantee string
	noun      string
	needs     []harness.Feature
	expect    func(units) expect.Expectation
}

// check makes what judges of it.
func (c check) check(name string) harness.Check {
	return harness.Check{Name: name, Guarantee: c.guarantee, Noun: c.noun, Needs: c.needs, Expect: func(at harness.At) expect.Expectation {
		return c.expect(unitsOf(at.Stage))
	}}
}

// kinds are the kinds of expectations, with their keys beside shows and what they are about.
func kinds() map[string][]string {
	return map[string][]string{
		"happens":  {"after", "at", "from", "within"},
		"never":    {"after", "before"},
		"count":    {"after", "times", "min", "max"},
		"reads":    {"text"},
		"says":     {"text"},
		"order":    {},
		"distinct": {},
		"returns":  {},
		"beats":    {"after", "every", "until"},
	}
}

func kindWords() []string {
	return []string{"happens", "never", "count", "reads", "says", "order", "distinct", "returns", "beats"}
}

func (r *reader) expectations(n ast.Node, f *file) []check {
	var out []check
	for _, e := range r.list(n, "expect", mostChecks) {
		if c, ok := r.expectation(e); ok {
			out = append(out, c)
		}
	}
	if n != nil && len(out) == 0 && r.Err() == nil {
		r.Fail(n, "", "nothing is expected")
	}
	return out
}

// fields are what an expectation says beside what it is about.
type fields struct {
	after, before             event
	at, from, within          string
	every, until              string
	text                      string
	times, least, most        int
	hasTimes, hasMin, hasMax  bool
	hasText, hasAfter, hasEnd bool
}

func (r *reader) expectation(n ast.Node) (check, bool) {
	kind, at, value, pairs := r.one(n)
	if kind == "" {
		return check{}, false
	}
	keys, ok := kinds()[kind]
	if !ok {
		hint := script.Meant(kind, kindWords())
		if hint == "" {
			hint = "begin with " + strings.Join(kindWords(), ", ")
		}
		r.Fail(at, hint, "there is no expectation %s", script.Shown(kind))
		return check{}, false
	}
	if value == nil {
		r.Fail(at, "", "%s lacks its event", kind)
		return check{}, false
	}
	var c check
	if len(r.covers) > 0 {
		c.guarantee = r.covers[0]
	}
	var x fields
	for _, p := range pairs[1:] {
		if p.Name == "shows" {
			if g := r.guarantee(p.Value, "shows"); g != "" {
				c.guarantee = g
				if !slices.Contains(r.covers, g) {
					r.Fail(p.Value, "", "shows is %s, which covers has not", script.Shown(g))
				}
			}
			continue
		}
		if !slices.Contains(keys, p.Name) {
			r.unknownKey(p, kind, append(slices.Clone(keys), "shows"))
			continue
		}
		r.field(p, &x)
	}
	r.shown[c.guarantee] = true
	var about []event
	if kind == "order" {
		if about = r.events(value, kind); len(about) < 2 && r.Err() == nil {
			r.Fail(value, "", "order has %d events: want two or more", len(about))
		}
	} else {
		about = []event{r.event(value, kind)}
	}
	if len(about) == 0 || about[0].Event == (expect.Event{}) {
		return check{}, false
	}
	c.noun = about[0].Lane + "-" + about[0].Kind
	r.complete(kind, at, about[0], x)
	c.expect = x.build(kind, about)
	// That nothing happened a stage need not be able to show.
	if kind != "never" {
		for _, e := range about {
			c.needs = merged(c.needs, features(e.Event)...)
		}
	}
	c.needs = merged(merged(c.needs, features(x.after.Event)...), features(x.before.Event)...)
	return c, true
}

// field reads one key of an expectation.
func (r *reader) field(p script.Pair, x *fields) {
	switch p.Name {
	case "after":
		x.after, x.hasAfter = r.event(p.Value, p.Name), true
	case "before":
		x.before = r.event(p.Value, p.Name)
	case "at":
		x.at, x.hasEnd = r.length(p.Value, p.Name), true
	case "from":
		x.from = r.length(p.Value, p.Name)
	case "within":
		x.within, x.hasEnd = r.length(p.Value, p.Name), true
	case "every":
		x.every = r.length(p.Value, p.Name)
	case "until":
		x.until = r.length(p.Value, p.Name)
	case "text":
		r.Decode(p.Value, &x.text, p.Name)
		x.hasText = true
	case "times":
		x.times, x.hasTimes = r.number(p), true
	case "min":
		x.least, x.hasMin = r.number(p), true
	case "max":
		x.most, x.hasMax = r.number(p), true
	}
}

func (r *reader) number(p script.Pair) int {
	var n int
	r.Decode(p.Value, &n, p.Name)
	if n < 0 || n > timeline.Limit {
		r.Fail(p.Value, "", "%s is %d: want 0 to %d", p.Name, n, timeline.Limit)
	}
	return n
}

// complete says what an expectation lacks, or has too much of.
func (r *reader) complete(kind string, at ast.Node, what event, x fields) {
	lacks := func(ok bool, what string) {
		if !ok {
			r.Fail(at, "", "%s lacks %s", kind, what)
		}
	}
	switch kind {
	case "happens":
		lacks(x.hasEnd || !x.hasAfter && x.from == "", "at or within")
		if x.at != "" && (x.within != "" || x.from != "") {
			r.Fail(at, "", "happens has at beside from or within: want one of them")
		}
		for _, u := range r.worlds {
			if x.from != "" && x.within != "" && u.must(x.from) > u.must(x.within) {
				r.Fail(at, "", "happens has from %s above within %s, with %s", x.from, x.within, u.world)
				break
			}
		}
	case "count":
		lacks(x.hasTimes || x.hasMin || x.hasMax, "times, or min or max")
		if x.hasTimes && (x.hasMin || x.hasMax) {
			r.Fail(at, "", "count has times beside min or max: want one of them")
		}
		if x.hasMax && x.least > x.most {
			r.Fail(at, "", "count has min %d above max %d", x.least, x.most)
		}
	case "reads", "says":
		lacks(x.hasText, "text")
		if what.Detail != "" {
			r.Fail(what.node, "what is read stands under text", "%s is about an event with a text", kind)
		}
	case "beats":
		lacks(x.hasAfter, "after")
		lacks(x.every != "", "every")
		lacks(x.until != "", "until")
	}
	if what.Nth != 0 && slices.Contains([]string{"never", "count", "reads", "distinct", "returns", "beats"}, kind) {
		r.Fail(what.node, "leave no. and last out", "%s is about all such events", kind)
	}
}

// build makes the expectation, whose lengths are known on a stage.
func (x fields) build(kind string, about []event) func(units) expect.Expectation {
	what := about[0].Event
	return func(u units) expect.Expectation {
		switch kind {
		case "happens":
			from, to := u.must(x.from), u.must(x.within)
			if x.at != "" {
				from = u.must(x.at)
				to = from
			}
			if !x.hasEnd {
				return expect.InOrder{what}
			}
			return expect.Happens{What: what, After: x.after.Event, From: from, To: to}
		case "never":
			return expect.Never{What: what, After: x.after.Event, Before: x.before.Event}
		case "count":
			least, most := x.least, x.most
			switch {
			case x.hasTimes:
				least, most = x.times, x.times
			case !x.hasMax:
				most = timeline.Limit
			}
			return expect.Times{What: what, After: x.after.Event, Min: least, Max: most}
		case "reads":
			return expect.Reads{What: what, Text: x.text}
		case "says":
			return expect.Says{What: what, Text: x.text}
		case "order":
			var order expect.InOrder
			for _, e := range about {
				order = append(order, e.Event)
			}
			return order
		case "distinct":
			return expect.Distinct{What: what}
		case "returns":
			return expect.Returns{What: what}
		default:
			return expect.Beats{What: what, After: x.after.Event, Every: u.must(x.every), Until: u.must(x.until)}
		}
	}
}
