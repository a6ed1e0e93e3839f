package casefile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// act is one step of the client, and the line it stands on.
type act struct {
	line int
	play func(*playing)
}

// acts are the kinds of steps of a client, and the keys of those that take some.
func acts() map[string][]string {
	return map[string][]string{
		"ask":       {"name", "prompt", "pad", "stream", "hold", "method", "path", "body"},
		"await":     nil,
		"await-end": {"request"},
		"leave":     {"request", "how"},
		"read":      {"request"},
		"pass":      nil,
		"signal":    nil,
		"open":      nil,
		"census":    nil,
	}
}

func actWords() []string {
	return []string{"ask", "await", "await-end", "leave", "read", "pass", "signal", "open", "census"}
}

func (r *reader) client(n ast.Node, f *file) []act {
	var out []act
	for _, e := range r.list(n, "client", mostActs) {
		kind, at, value, pairs := r.one(e)
		if kind == "" {
			continue
		}
		keys, ok := acts()[kind]
		switch {
		case !ok:
			hint := script.Meant(kind, actWords())
			if hint == "" {
				hint = "they are " + strings.Join(actWords(), ", ")
			}
			r.Fail(at, hint, "there is no step %s of a client", script.Shown(kind))
			continue
		case len(pairs) > 1:
			hint := script.Meant(pairs[1].Name, actWords())
			if slices.Contains(keys, pairs[1].Name) {
				hint = "put it into " + kind + ": {…}"
			} else if slices.Contains(actWords(), pairs[1].Name) {
				hint = "put a dash before it"
			}
			r.Fail(pairs[1].Key, hint, "%s stands beside %s: a step is one kind", script.Shown(pairs[1].Name), script.Shown(kind))
			continue
		}
		line, _ := script.Place(at)
		if play := r.act(kind, at, value, f); play != nil {
			out = append(out, act{line, play})
		}
	}
	if n != nil && len(out) == 0 && r.Err() == nil {
		r.Fail(n, "", "client does nothing: begin with ask")
	}
	return out
}

// act reads the value of a step. It is nil when there was a problem.
func (r *reader) act(kind string, at, value ast.Node, f *file) func(*playing) {
	if value != nil {
		if value = r.Follow(value); value == nil {
			return nil
		}
		if _, null := value.(*ast.NullNode); null {
			value = nil
		}
	}
	if value == nil && slices.Contains([]string{"ask", "await", "pass", "signal", "open"}, kind) {
		r.Fail(at, "", "%s lacks what it is about: %s", kind, map[string]string{
			"ask": "a prompt", "await": "an event, such as client text", "pass": "a length of time", "signal": "SIGTERM or SIGINT", "open": "a gate",
		}[kind])
		return nil
	}
	switch kind {
	case "ask":
		return r.ask(value, f)
	case "await":
		e := r.event(value, kind)
		f.needs = merged(f.needs, features(e.Event)...)
		return func(p *playing) { p.Await(e.Event) }
	case "await-end", "read", "leave":
		return r.about(kind, at, value)
	case "pass":
		d := r.length(value, kind)
		return func(p *playing) { p.Pass(p.units.must(d)) }
	case "signal":
		name := r.word(value, kind, []string{"SIGTERM", "SIGINT"})
		f.needs, f.alone = merged(f.needs, harness.Signals), true
		return func(p *playing) { p.Signal(name) }
	case "open":
		name := r.text(value, kind)
		if name != "" {
			r.opened = append(r.opened, gate{name, value})
		}
		return func(p *playing) { p.Open(name) }
	default: // census
		if value != nil {
			r.Fail(value, "", "census takes nothing, and was given %s", script.Source(value))
		}
		f.alone = true
		return func(p *playing) { p.Census() }
	}
}

// word reads one of a few words.
func (r *reader) word(n ast.Node, subject string, words []string) string {
	s := r.text(n, subject)
	if s != "" && !slices.Contains(words, s) {
		r.Fail(n, script.Meant(s, words), "%s is %s: want %s", subject, script.Source(n), strings.Join(words, " or "))
	}
	return s
}

// mostPad bounds what a prompt is padded with: above what any server takes, and few of them fit into memory.
const mostPad = 64 << 20

// ask reads a request: its prompt, or a mapping. It streams unless it says otherwise.
func (r *reader) ask(n ast.Node, f *file) func(*playing) {
	a := caller.Ask{Stream: true}
	pad := 0
	if _, ok := n.(*ast.MappingNode); ok {
		for _, p := range r.Pairs(n) {
			v := r.Follow(p.Value)
			if v == nil {
				continue
			}
			switch p.Name {
			case "name":
				a.Name = r.text(v, p.Name)
				if strings.ContainsAny(a.Name, "# \"\t\n") || len(a.Name) > 40 {
					r.Fail(v, "", "name is %s: want a word", script.Source(v))
				}
			case "prompt":
				r.Decode(v, &a.Prompt, p.Name)
			case "pad":
				r.Decode(v, &pad, p.Name)
				if pad < 0 || pad > mostPad {
					r.Fail(v, "", "pad is %d: want 0 to %d bytes", pad, mostPad)
					pad = 0
				}
			case "stream":
				r.Decode(v, &a.Stream, p.Name)
			case "hold":
				r.Decode(v, &a.Hold, p.Name)
			case "method":
				a.Method = r.word(v, p.Name, []string{"GET", "POST"})
			case "path":
				a.Path = r.text(v, p.Name)
				if a.Path != "" && (a.Path[0] != '/' || strings.ContainsAny(a.Path, " \r\n\t")) {
					r.Fail(v, "", "path is %s: want one such as /v1/models", script.Source(v))
				}
			case "body":
				a.Body = r.text(v, p.Name)
			default:
				r.unknownKey(p, "ask", acts()["ask"])
			}
		}
	} else {
		a.Prompt = r.text(n, "ask")
	}
	r.asked++
	name := a.Name
	if name == "" {
		name = "#" + strconv.Itoa(r.asked)
	}
	if r.names[name] {
		r.Fail(n, "", "a request is called %s already", script.Shown(name))
	}
	r.names[name] = true
	switch {
	case a.Body != "" || a.Method == "GET":
	case a.Stream:
		f.needs = merged(f.needs, harness.Streaming)
	default:
		f.needs = merged(f.needs, harness.NonStreaming)
	}
	if strings.Contains(a.Prompt, "[[fault:") {
		f.needs = merged(f.needs, harness.FaultHooks)
	}
	return func(p *playing) {
		a := a
		if pad > 0 {
			a.Prompt += " " + strings.Repeat(".", pad) // made when it plays: files are kept, this need not be
		}
		p.last = p.Ask(a)
		p.asked[p.last.Name] = p.last
	}
}

// about reads a step about a request: the last one that was asked for, unless it is named.
func (r *reader) about(kind string, at, n ast.Node) func(*playing) {
	request, how := "", caller.Close
	if r.asked == 0 {
		r.Fail(at, "", "%s stands before any ask", kind)
	}
	named := func(n ast.Node) {
		v := r.Follow(n)
		if v == nil {
			return
		}
		if i, ok := v.(*ast.IntegerNode); ok {
			request = "#" + i.Token.Value
		} else if request = r.text(v, "request"); request == "" {
			return
		}
		r.knownRequest(n, kind, request)
	}
	leavings := []string{string(caller.Close), string(caller.Reset)}
	switch n.(type) {
	case nil:
	case *ast.MappingNode:
		for _, p := range r.Pairs(n) {
			switch {
			case p.Name == "request":
				named(p.Value)
			case p.Name == "how" && kind == "leave":
				how = caller.Leaving(r.word(p.Value, p.Name, leavings))
			default:
				r.unknownKey(p, kind, acts()[kind])
			}
		}
	default:
		if kind == "leave" {
			how = caller.Leaving(r.word(n, kind, leavings))
		} else {
			named(n)
		}
	}
	return func(p *playing) {
		q := p.request(request)
		switch kind {
		case "await-end":
			p.AwaitEnd(q)
		case "read":
			q.Read()
		default:
			q.Leave(how)
		}
	}
}
