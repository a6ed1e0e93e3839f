package casefile

import (
	"cmp"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/stallwright/stallwright/fakes/dialects"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// The bounds of a case file beside those of its YAML.
const (
	mostActs   = 1000
	mostChecks = 200
	mostEvents = 100 // in one list
)

// reader makes a file of a document. It goes on after a problem, so that all are found at once.
type reader struct {
	*script.Document
	name       string
	guarantees []string
	worlds     []units
	script     script.Script   // the provider's, with what its lengths are worth in the last world in which it has no problem
	opened     []gate          // by the client
	names      map[string]bool // of the requests that were asked for
	asked      int
	covers     []string
	shown      map[string]bool // those of covers that an expectation is evidence for
}

// fileKeys are the keys of a case file.
func fileKeys() []string {
	return []string{"case", "about", "source", "covers", "needs", "dialects", "set", "provider", "client", "reached", "expect"}
}

var caseID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$`)

func (r *reader) file(windows []harness.Windows) file {
	var f file
	body := r.Follow(r.Body)
	if _, ok := body.(*ast.MappingNode); !ok {
		r.Fail(r.Body, "", "the file is %s: want the keys %s", script.Source(body), strings.Join(fileKeys(), ", "))
		return f
	}
	at := map[string]ast.Node{}
	var unknown []string
	for _, p := range r.Pairs(body) {
		if !slices.Contains(fileKeys(), p.Name) {
			unknown = append(unknown, p.Name)
			r.unknownKey(p, "a case file", fileKeys())
			continue
		}
		at[p.Name] = p.Value
		// Anchors are known to what stands behind them, whatever the order in which the keys are read.
		if p.Name != "provider" {
			anchors(r.Document, p.Value)
		}
	}
	for _, name := range []string{"case", "about", "client", "expect"} {
		// One slip is told once.
		meant := func(word string) bool { return script.Meant(word, []string{name}) != "" }
		if at[name] == nil && !slices.ContainsFunc(unknown, meant) {
			r.Fail(body, "", "the file lacks %s", name)
		}
	}
	if n := at["case"]; n != nil {
		f.id = r.text(n, "case")
		if f.id != "" && (!caseID.MatchString(f.id) || len(f.id) > 120) {
			r.Fail(n, "", "case is %s: want AREA/NAME in small letters, digits and dashes, such as inactivity/stall-after-two-chunks", script.Source(n))
		}
	}
	if n := at["about"]; n != nil {
		f.about = r.text(n, "about")
	}
	if n := at["source"]; n != nil {
		f.source = r.text(n, "source")
		if u, err := url.Parse(f.source); f.source != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
			r.Fail(n, "", "source is %s: want the URL of a report", script.Source(n))
		}
	}
	r.readCovers(at["covers"])
	f.needs = r.features(at["needs"])
	f.dialects = r.readDialects(at["dialects"])
	f.set = r.set(at["set"])
	r.worlds = worlds(f.set, windows)
	if n := at["provider"]; n != nil {
		f.scripted = true
		r.provider(n)
	}
	f.client = r.client(at["client"], &f)
	r.gates(at["provider"])
	f.reached = r.events(at["reached"], "reached")
	for _, e := range f.reached {
		f.needs = merged(f.needs, features(e.Event)...)
	}
	f.checks = r.expectations(at["expect"], &f)
	for _, g := range r.covers {
		if !r.shown[g] && len(f.checks) > 0 {
			r.Fail(at["covers"], "", "covers has %s, and no expectation is evidence for it: add shows: %s to one", script.Shown(g), g)
		}
	}
	return f
}

// anchors makes the anchors inside a value known.
func anchors(doc *script.Document, n ast.Node) {
	if a, ok := n.(*ast.AnchorNode); ok {
		doc.Follow(a)
		n = a.Value
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		for it := v.MapRange(); it.Next(); {
			anchors(doc, it.Value())
		}
	case *ast.SequenceNode:
		for it := v.ArrayRange(); it.Next(); {
			anchors(doc, it.Value())
		}
	}
}

func (r *reader) unknownKey(p script.Pair, subject string, keys []string) {
	hint := script.Meant(p.Name, keys)
	if hint == "" {
		hint = "its keys are " + strings.Join(keys, ", ")
	}
	r.Fail(p.Key, hint, "%s has no key %s", subject, script.Shown(p.Name))
}

// text reads a text that is not empty.
func (r *reader) text(n ast.Node, subject string) string {
	v := r.Follow(n)
	if v == nil {
		return ""
	}
	if s, ok := v.(*ast.StringNode); ok && s.Value == "" {
		r.Fail(v, "", "%s is empty", subject)
		return ""
	}
	var s string
	r.Decode(v, &s, subject)
	return s
}

// list is a list of values, or the only one.
func (r *reader) list(n ast.Node, subject string, most int) []ast.Node {
	if n == nil {
		return nil
	}
	v := r.Follow(n)
	list, ok := v.(*ast.SequenceNode)
	if !ok {
		if v == nil {
			return nil
		}
		return []ast.Node{v}
	}
	if len(list.Values) > most {
		r.Fail(n, "", "%s has %d entries: want at most %d", subject, len(list.Values), most)
		return nil
	}
	return list.Values
}

func (r *reader) readCovers(n ast.Node) {
	r.shown = map[string]bool{}
	for _, e := range r.list(n, "covers", mostEvents) {
		if g := r.guarantee(e, "covers"); g != "" && !slices.Contains(r.covers, g) {
			r.covers = append(r.covers, g)
		}
	}
}

// guarantee reads the ID of a guarantee.
func (r *reader) guarantee(n ast.Node, subject string) string {
	g := r.text(n, subject)
	if g == "" || slices.Contains(r.guarantees, g) {
		return g
	}
	r.Fail(n, script.Meant(g, r.guarantees), "%s: there is no guarantee %s", subject, script.Shown(g))
	return ""
}

func (r *reader) features(n ast.Node) []harness.Feature {
	var out []harness.Feature
	for _, e := range r.list(n, "needs", mostEvents) {
		word := r.text(e, "needs")
		if word == "" {
			continue
		}
		if !slices.Contains(harness.Features(), harness.Feature(word)) {
			var known []string
			for _, f := range harness.Features() {
				known = append(known, string(f))
			}
			hint := script.Meant(word, known)
			if hint == "" {
				hint = "they are " + strings.Join(known, ", ")
			}
			r.Fail(e, hint, "there is no feature %s", script.Shown(word))
			continue
		}
		out = merged(out, harness.Feature(word))
	}
	return out
}

// dialectWords are what a case may be about.
func dialectWords() []string { return append(dialects.Names(), dialects.Flavours()...) }

func (r *reader) readDialects(n ast.Node) []string {
	var out []string
	for _, e := range r.list(n, "dialects", mostEvents) {
		word := r.text(e, "dialects")
		switch {
		case word == "":
		case !slices.Contains(dialectWords(), word):
			hint := script.Meant(word, dialectWords())
			if hint == "" {
				hint = "they are " + strings.Join(dialectWords(), ", ")
			}
			r.Fail(e, hint, "there is no dialect %s", script.Shown(word))
		case !slices.Contains(out, word):
			out = append(out, word)
		}
	}
	if n != nil && out == nil && r.Err() == nil {
		r.Fail(n, "leave it out for every one", "dialects has no entry")
	}
	return out
}

// set reads which clocks are on and off, where that is not as usual.
func (r *reader) set(n ast.Node) harness.Set {
	var s harness.Set
	if n == nil {
		return s
	}
	keys := []string{"inactivity", "first-chunk", "stream", "heartbeat", "shutdown"}
	v := r.Follow(n)
	if _, ok := v.(*ast.MappingNode); !ok {
		r.Fail(n, "", "set is %s: want a mapping of clocks to on or off", script.Source(v))
		return s
	}
	for _, p := range r.Pairs(v) {
		if !slices.Contains(keys, p.Name) {
			if p.Name == "grace" {
				r.Fail(p.Key, "did you mean shutdown?", "there is no clock %s", script.Shown(p.Name))
				continue
			}
			r.unknownKey(p, "set", keys)
			continue
		}
		on, ok := onOff(r.Follow(p.Value))
		if !ok {
			r.Fail(p.Value, "how long a clock is, the server's own settings say", "%s is %s: want on or off", p.Name, script.Source(p.Value))
			continue
		}
		switch p.Name {
		case "inactivity":
			s.Inactivity = on
		case "first-chunk":
			s.NoFirstChunk = !on
		case "stream":
			s.NoStream = !on
		case "heartbeat":
			s.NoHeartbeat = !on
		case "shutdown":
			s.NoGrace = !on
		}
	}
	return s
}

func onOff(n ast.Node) (on, ok bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value == "on", v.Value == "on" || v.Value == "off"
	case *ast.BoolNode:
		word := v.GetToken().Value
		return v.Value, word == "on" || word == "off"
	}
	return false, false
}

// provider checks the programs with what their lengths are worth in every world, and stops at the first that has a
// problem: the others mostly have the same.
func (r *reader) provider(n ast.Node) {
	r.script = nil
	before := r.problems()
	for _, u := range r.worlds {
		ps := r.Programs(n, "provider", u.length)
		if r.problems() > before {
			return
		}
		if err := ps.Validate(); err != nil {
			r.Fail(n, "", "provider: %s", strings.TrimPrefix(err.Error(), "script: "))
			return
		}
		r.script = ps
	}
}

// gates wants every gate that the provider awaits to be opened, by itself or by the client, and every one that the
// client opens to be awaited.
func (r *reader) gates(provider ast.Node) {
	var opened []string
	awaited := r.script.Awaited()
	for _, g := range r.opened {
		opened = append(opened, g.name)
		switch {
		case g.name == script.Never:
			r.Fail(g.node, "", "open: the gate never is the one that never opens")
		case !slices.Contains(awaited, g.name) && (r.script != nil || provider == nil):
			r.Fail(g.node, script.Meant(g.name, awaited), "open: no step of the provider awaits the gate %s", script.Shown(g.name))
		}
	}
	r.Gates(provider, r.script, opened)
}

// inOrder are all problems by their places, or nil. The last of too many says that there are more, wherever it stands.
func (r *reader) inOrder() error {
	ps, ok := r.Err().(script.Problems)
	if !ok {
		return nil
	}
	told := ps[:min(len(ps), script.MostProblems)]
	slices.SortStableFunc(told, func(a, b script.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return ps
}

func (r *reader) problems() int {
	ps, _ := r.Err().(script.Problems)
	return len(ps)
}

// length reads a length of time, which is checked in every world.
func (r *reader) length(n ast.Node, subject string) string {
	v := r.Follow(n)
	switch v := v.(type) {
	case nil:
		return ""
	case *ast.IntegerNode:
		if v.Token.Value != "0" {
			hint := "did you mean " + strings.Trim(script.Shown(v.Token.Value), `"`) + "s?"
			r.Fail(n, hint, "%s is %s, without a unit", subject, script.Source(v))
			return ""
		}
		return "0s"
	}
	text := r.text(v, subject)
	if text == "" {
		return ""
	}
	for _, u := range r.worlds {
		if _, err := u.length(text); err != nil {
			r.Fail(n, "", "%s is %s: %v", subject, script.Source(v), err)
			return ""
		}
	}
	return text
}

// gate is one that is opened, and where.
type gate struct {
	name string
	node ast.Node
}

// event is one with its place, where its request is looked up when all are known.
type event struct {
	expect.Event
	node ast.Node
}

// event reads an event.
func (r *reader) event(n ast.Node, subject string) event {
	text := r.text(n, subject)
	if text == "" {
		return event{node: n}
	}
	e, err := readEvent(text)
	if err != nil {
		r.Fail(n, "", "%s: %v", subject, err)
		return event{node: n}
	}
	if e.Lane == caller.Lane && e.Ref != "" {
		r.knownRequest(n, subject, e.Ref)
	}
	return event{e, n}
}

// knownRequest wants a request to have been asked for so far.
func (r *reader) knownRequest(n ast.Node, subject, ref string) {
	if !r.names[ref] {
		names := slices.Sorted(maps.Keys(r.names))
		r.Fail(n, script.Meant(ref, names), "%s: no request %s was asked for", subject, script.Shown(ref))
	}
}

func (r *reader) events(n ast.Node, subject string) []event {
	var out []event
	for _, e := range r.list(n, subject, mostEvents) {
		if read := r.event(e, subject); read.Event != (expect.Event{}) {
			out = append(out, read)
		}
	}
	return out
}

// one reads a step or an expectation of one kind: a word, or a mapping with it.
func (r *reader) one(n ast.Node) (kind string, at, value ast.Node, pairs []script.Pair) {
	switch v := r.Follow(n).(type) {
	case *ast.StringNode:
		return v.Value, n, nil, nil
	case *ast.MappingNode:
		pairs = r.Pairs(v)
		if len(pairs) > 0 {
			return pairs[0].Name, pairs[0].Key, pairs[0].Value, pairs
		}
		r.Fail(n, "", "it is empty")
	case nil:
	default:
		r.Fail(n, "", "it is %s: want its kind", script.Source(v))
	}
	return "", nil, nil, nil
}
