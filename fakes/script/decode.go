package script

import (
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// decoder makes a File of a tree. It goes on after a problem, so that all are found at once.
type decoder struct {
	name string
	language
	problems Problems
	anchors  map[string]ast.Node
	copied   int // values that came by way of aliases
	aliases  int // how many are being followed
	depth    int
	repeats  int              // how many are being read
	inner    []spot           // the steps that were read last
	spots    map[*Step][]spot // of each list of steps outside of repeats, by its first
	programs []ast.Node       // where the programs stand that were read last
	stopped  bool             // nothing more is read

	length func(string) (time.Duration, error) // reads durations that Go does not know; nil when there are none
}

// spot is where a step stands, and those inside it.
type spot struct {
	node  ast.Node
	inner []spot
}

func (d *decoder) fail(n ast.Node, hint, format string, args ...any) {
	if d.stopped {
		return
	}
	line, column := place(n)
	p := Problem{File: d.name, Line: line, Column: column, Text: fmt.Sprintf(format, args...), Hint: hint}
	if len(d.problems) == tooMany {
		p.Text, p.Hint = "there are more problems after these", ""
		d.stopped = true
	}
	d.problems = append(d.problems, p)
}

// enter follows anchors and aliases to the value, which is one level deeper until leave.
func (d *decoder) enter(n ast.Node) (value ast.Node, leave func()) {
	d.depth++
	alias := 0
	leave = func() { d.depth--; d.aliases -= alias }
	if d.stopped {
		return nil, leave
	}
	for range maxDepth {
		switch v := n.(type) {
		case *ast.AnchorNode:
			d.anchors[v.Name.GetToken().Value] = v.Value
			n = v.Value
			continue
		case *ast.AliasNode:
			name := v.Value.GetToken().Value
			to, ok := d.anchors[name]
			if !ok {
				d.fail(v, meant(name, sorted(d.anchors)), "no anchor %s stands before", shown("&"+name))
				return nil, leave
			}
			alias++
			d.aliases++
			n = to
			continue
		}
		break
	}
	if d.aliases > 0 {
		d.copied++
	}
	if d.copied > maxCopy || d.depth > 2*maxDepth {
		d.fail(n, "", "too much by way of aliases, or too deep: want at most %d values of aliases, and %d levels", maxCopy, 2*maxDepth)
		d.stopped = true
		return nil, leave
	}
	return n, leave
}

// pair is a key with its value.
type pair struct {
	name       string
	key, value ast.Node
}

// pairs are those of a mapping, or nil when n is none.
func (d *decoder) pairs(n ast.Node) []pair {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return nil
	}
	out := []pair{}
	first := map[string]ast.Node{}
	for it := m.MapRange(); it.Next(); {
		key, ok := it.Key().(*ast.StringNode)
		if !ok {
			d.fail(it.Key(), "", "the key %s: want a word", source(it.Key()))
			continue
		}
		if before := first[key.Value]; before != nil {
			line, column := place(before)
			d.fail(key, "", "the key %s stands twice, first at %d:%d", shown(key.Value), line, column)
			continue
		}
		first[key.Value] = key
		out = append(out, pair{key.Value, key, it.Value()})
	}
	return out
}

// source is a value as it stands in messages.
func source(n ast.Node) string {
	switch v := n.(type) {
	case *ast.NullNode:
		return "nothing"
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode:
		return shown(v.Value)
	case *ast.LiteralNode:
		return shown(v.Value.Value)
	}
	if n == nil || n.GetToken() == nil {
		return "nothing"
	}
	return strings.Trim(shown(n.GetToken().Value), `"`)
}

func (d *decoder) file(n ast.Node) File {
	n, leave := d.enter(n)
	defer leave()
	var form fileForm
	var seen map[string]ast.Node
	switch n.(type) {
	case nil:
	case *ast.SequenceNode:
		d.value(n, reflect.ValueOf(&form.Steps).Elem(), "the file", key{})
		seen = map[string]ast.Node{"steps": n}
	case *ast.MappingNode:
		seen = d.mapping(n, reflect.ValueOf(&form).Elem(), "the file", "FILE")
	default:
		d.fail(n, "", "the file is %s: want programs, or a list of steps", source(n))
	}
	programs, steps := seen["programs"], seen["steps"]
	switch {
	case programs != nil && steps != nil:
		d.fail(steps, "", "steps beside programs: want one of them")
	case programs == nil && steps == nil && len(d.problems) == 0:
		d.fail(n, "", "the file has neither programs nor steps")
	}
	f := File{About: form.About, Seed: form.Seed, Connections: form.Connections}
	if steps != nil {
		f.Programs = Script{{Times: Any, Steps: form.Steps}}
	}
	for _, p := range form.Programs {
		f.Programs = append(f.Programs, Program{When: p.When, Times: int(p.Times), Steps: p.Steps})
	}
	d.meaning(n, f.Programs)
	if len(d.problems) == 0 {
		d.gates(n, f.Programs, unawaited(f.Programs.Awaited()))
	}
	return f
}

// mapping reads a mapping into a struct, and returns the values that it gives. The entry of words says what it may
// hold.
func (d *decoder) mapping(n ast.Node, to reflect.Value, subject, entry string) map[string]ast.Node {
	fs := fields(to.Type())
	known := names(fs)
	seen := map[string]ast.Node{}
	var unknown []string
	w := d.words[entry]
next:
	for _, p := range d.pairs(n) {
		for _, f := range fs {
			if f.name == p.name {
				seen[p.name] = p.value
				d.value(p.value, to.Field(f.index), p.name, w.keys[p.name])
				continue next
			}
		}
		hint := meant(p.name, known)
		switch {
		case len(known) == 0:
			hint = "it takes none"
		case hint == "":
			hint = "its keys are " + strings.Join(known, ", ")
		}
		unknown = append(unknown, p.name)
		d.fail(p.key, hint, "%s has no key %s", subject, shown(p.name))
	}
	for _, f := range fs {
		// One slip is told once.
		meantIt := func(word string) bool { return meant(word, []string{f.name}) != "" }
		if f.required && seen[f.name] == nil && !slices.ContainsFunc(unknown, meantIt) {
			d.fail(n, "", "%s lacks %s", subject, f.name)
		}
	}
	return seen
}

// steps reads a list of steps. Their order is judged when no repeat is around them, and nothing was wrong in them.
func (d *decoder) steps(n *ast.SequenceNode) []Step {
	before := len(d.problems)
	out := []Step{}
	var spots []spot
	for it := n.ArrayRange(); it.Next(); {
		d.inner = nil
		step := d.step(it.Value())
		spots = append(spots, spot{it.Value(), d.inner})
		out = append(out, step)
	}
	if len(out) == 0 {
		d.fail(n, "", "no steps")
	}
	d.inner = spots
	if d.repeats > 0 || len(d.problems) > before || d.stopped || !d.ordered {
		return out
	}
	d.misplaced(n, spots, (&order{}).steps(out, 0))
	if d.spots == nil {
		d.spots = map[*Step][]spot{}
	}
	d.spots[&out[0]] = spots
	return out
}

// misplaced tells what is wrong with a step, at its place.
func (d *decoder) misplaced(n ast.Node, spots []spot, err error) {
	if err == nil {
		return
	}
	at, text := n, err.Error()
	for m, ok := errors.AsType[*misstep](err); ok && m.number <= len(spots); m, ok = errors.AsType[*misstep](m.cause) {
		at, spots = spots[m.number-1].node, spots[m.number-1].inner
		text = m.kind + " " + m.cause.Error()
	}
	d.fail(at, "", "%s", text)
}

// meaning tells which steps do nothing for the requests that their programs choose.
func (d *decoder) meaning(n ast.Node, s Script) {
	if len(d.problems) > 0 || d.stopped {
		return
	}
	for i, p := range s {
		if len(p.Steps) > 0 {
			d.misplaced(n, d.spots[&p.Steps[0]], meaning(p.Steps, p.When))
		}
		if by := s.hiding(i); by >= 0 && len(d.programs) == len(s) {
			d.fail(d.programs[i], "", "%s", neverReached(by))
		}
	}
}

// gates tells which steps of programs without a problem are wrong about gates.
func (d *decoder) gates(n ast.Node, s Script, wrong func(Step) string) {
	for _, p := range s {
		if len(p.Steps) > 0 {
			d.misplaced(n, d.spots[&p.Steps[0]], stray(p.Steps, wrong))
		}
	}
}

// step reads one step, or nil.
func (d *decoder) step(n ast.Node) Step {
	n, leave := d.enter(n)
	defer leave()
	var kind string
	var at, value ast.Node
	switch v := n.(type) {
	case nil:
		return nil
	case *ast.StringNode:
		kind, at = v.Value, n
	case *ast.MappingNode:
		ps := d.pairs(n)
		if len(ps) == 0 {
			d.fail(n, "", "a step without its kind")
			return nil
		}
		kind, at, value = ps[0].name, ps[0].key, ps[0].value
		if len(ps) > 1 {
			d.fail(ps[1].key, d.besides(kind, ps[1].name), "%s stands beside %s: a step is one kind", shown(ps[1].name), shown(kind))
			return nil
		}
	default:
		d.fail(n, "", "a step is %s: want its kind", source(n))
		return nil
	}
	t, ok := d.forms[kind]
	if !ok || strings.ToUpper(kind) == kind {
		hint := d.stepMeant(kind)
		switch kind {
		case "steps", "when", "times":
			hint = "programs stand under programs:"
		}
		d.fail(at, hint, "there is no step %s", shown(kind))
		return nil
	}
	before := len(d.problems)
	to := reflect.New(t).Elem()
	seen := d.fill(at, value, to, kind)
	step := to.Interface().(Step)
	if len(d.problems) == before && !d.stopped {
		if err := d.check(step); err != nil {
			first, _, _ := strings.Cut(err.Error(), " ")
			if v := seen[first]; v != nil {
				at = v
			}
			d.fail(at, "", "%s: %v", kind, err)
		}
	}
	return step
}

// besides is a hint for a key that stands beside the kind of a step.
func (d *decoder) besides(kind, other string) string {
	if t, ok := d.forms[kind]; ok {
		for _, f := range fields(t) {
			if f.name == other {
				return fmt.Sprintf("put it into %s: {…}", kind)
			}
		}
	}
	if _, ok := d.forms[other]; ok {
		return "put a dash before it"
	}
	return meant(other, d.kinds)
}

// fill reads the value of a step, in the short form or the long one.
func (d *decoder) fill(at, value ast.Node, to reflect.Value, kind string) map[string]ast.Node {
	if kind == "repeat" {
		d.repeats++
		defer func() { d.repeats-- }()
	}
	w := d.words[kind]
	var n ast.Node
	if value != nil {
		v, leave := d.enter(value)
		defer leave()
		if v == nil {
			return nil
		}
		n = v
	}
	switch v := n.(type) {
	case nil, *ast.NullNode:
		for _, f := range fields(to.Type()) {
			if f.required {
				d.fail(at, "", "%s lacks %s", kind, f.name)
			}
		}
		return nil
	case *ast.MappingNode:
		return d.mapping(n, to, kind, kind)
	case *ast.StringNode:
		if w.stop && v.Value == "stop" {
			return nil
		}
	}
	fs := fields(to.Type())
	for i, short := range w.short {
		for _, f := range fs {
			if f.name != short {
				continue
			}
			_, list := n.(*ast.SequenceNode)
			if i == len(w.short)-1 || list == (to.Field(f.index).Kind() == reflect.Slice) {
				d.value(n, to.Field(f.index), kind, w.keys[short])
				return map[string]ast.Node{short: n}
			}
		}
	}
	switch {
	case len(fs) == 0:
		d.fail(value, "", "%s takes nothing, and was given %s", kind, source(n))
	default:
		d.fail(value, "", "%s is %s: want a mapping of %s", kind, source(n), strings.Join(names(fs), ", "))
	}
	return nil
}

// value reads any value into a field of a Go type. The subject names it in messages.
func (d *decoder) value(n ast.Node, to reflect.Value, subject string, k key) {
	n, leave := d.enter(n)
	defer leave()
	if n == nil {
		return
	}
	wrong := func(want string) { d.fail(n, "", "%s is %s: want %s", subject, source(n), want) }
	switch p := to.Addr().Interface().(type) {
	case *time.Duration:
		d.duration(n, p, subject, k, wrong)
	case *times:
		if s, ok := n.(*ast.StringNode); ok && s.Value == "any" {
			*p = Any
		} else if i, ok := d.number(n, 64, wrong, "a number, or any"); ok {
			if i < 1 {
				wrong("1 or more, or any; leave it out for once")
			}
			*p = times(i)
		}
	case *uint64:
		if i, ok := n.(*ast.IntegerNode); !ok {
			wrong("a number")
		} else if v, err := strconv.ParseUint(i.Token.Value, 10, 64); err != nil {
			wrong("a decimal number, at most 18446744073709551615")
		} else {
			*p = v
		}
	case *int:
		if s, ok := n.(*ast.StringNode); ok && k.forever && s.Value == "forever" {
			return
		}
		if i, ok := d.number(n, strconv.IntSize, wrong, "a number"); ok {
			if *p = int(i); *p < k.least {
				want := fmt.Sprintf("%d or more", k.least)
				if k.forever {
					want += ", or forever"
				}
				if k.without != "" {
					want += "; leave it out for " + k.without
				}
				wrong(want)
			}
		}
	case *bool:
		if b, ok := n.(*ast.BoolNode); ok {
			*p = b.Value
		} else {
			wrong("true or false")
		}
	case **bool:
		if b, ok := n.(*ast.BoolNode); ok {
			*p = &b.Value
		} else {
			wrong("true or false")
		}
	case *[]string:
		d.texts(n, p, subject)
	case *[]int:
		d.list(n, subject, "a list of numbers", func(e ast.Node) {
			var i int
			d.value(e, reflect.ValueOf(&i).Elem(), subject, key{})
			*p = append(*p, i)
		})
	case *map[string]string:
		ps := d.pairs(n)
		if ps == nil {
			wrong("a mapping of names to texts")
		}
		for _, e := range ps {
			if *p == nil {
				*p = map[string]string{}
			}
			v, leave := d.enter(e.value)
			if i, ok := v.(*ast.IntegerNode); ok {
				(*p)[e.name] = i.Token.Value
			} else if v != nil {
				(*p)[e.name] = d.text(v, e.name)
			}
			leave()
		}
	case *Value:
		switch v := n.(type) {
		case *ast.NullNode:
			*p = Null()
		case *ast.IntegerNode:
			*p = Is(v.Token.Value)
		default:
			*p = Is(d.text(n, subject))
		}
	case *When:
		d.record(n, to, "when", "WHEN")
		for _, name := range sorted(p.Header) {
			if !headerName(name) {
				d.fail(n, "", "when: header %s: want a name of letters, digits and dashes", shown(name))
			}
		}
	case *Connections:
		d.record(n, to, "connections", "CONNECTIONS")
	case *[]ToolPart:
		d.list(n, subject, "a list of parts", func(e ast.Node) {
			var part ToolPart
			d.record(e, reflect.ValueOf(&part).Elem(), "a part", "PART")
			*p = append(*p, part)
		})
	case *[]programForm:
		d.programs = nil
		d.list(n, subject, "a list of programs", func(e ast.Node) {
			var program programForm
			d.record(e, reflect.ValueOf(&program).Elem(), "a program", "PROGRAM")
			*p = append(*p, program)
			d.programs = append(d.programs, e)
		})
	case *[]Step:
		if list, ok := n.(*ast.SequenceNode); ok {
			*p = d.steps(list)
		} else {
			wrong("a list of steps")
		}
	default: // a mapping or a list of a language, a text, or one of a few words
		d.more(n, to, subject, k)
	}
}

func (d *decoder) word(n ast.Node, to reflect.Value, subject string, k key) {
	before := len(d.problems)
	s := d.text(n, subject)
	to.SetString(s)
	if k.words == nil || s == "" || len(d.problems) > before {
		return
	}
	for _, w := range k.words {
		if w == s {
			return
		}
	}
	hint := meant(s, k.words)
	if len(k.words) <= 7 || hint == "" {
		d.fail(n, hint, "%s is %s: want %s", subject, source(n), strings.Join(k.words, ", "))
	} else {
		d.fail(n, hint, "%s is %s", subject, source(n))
	}
}

func (d *decoder) number(n ast.Node, bits int, wrong func(string), want string) (int64, bool) {
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		wrong(want)
		return 0, false
	}
	v, err := strconv.ParseInt(i.Token.Value, 10, bits)
	if err != nil {
		wrong("a decimal number that is not so large")
	}
	return v, err == nil
}

func (d *decoder) duration(n ast.Node, to *time.Duration, subject string, k key, wrong func(string)) {
	example := "a duration such as 200ms or 1.5s"
	if k.forever {
		example += ", or forever"
	}
	switch v := n.(type) {
	case *ast.StringNode:
		if v.Value == "forever" && k.forever {
			return
		}
		parsed, err := time.ParseDuration(v.Value)
		if err != nil && v.Value != "forever" && d.length != nil {
			if parsed, err = d.length(v.Value); err != nil {
				d.fail(n, "", "%s is %s: %v", subject, source(n), err)
				return
			}
		}
		switch {
		case err != nil:
			hint := ""
			if k.forever {
				hint = meant(v.Value, []string{"forever"})
			}
			if v.Value == "forever" {
				hint = "only stall, and the end of a keepalive or a repeat, may be forever"
			}
			d.fail(n, hint, "%s is %s: want %s", subject, source(n), example)
		case parsed < 0:
			wrong("0s or more")
		}
		*to = parsed
	case *ast.IntegerNode:
		if v.Token.Value == "0" {
			return
		}
		d.fail(n, fmt.Sprintf("did you mean %ss or %[1]sms?", strings.Trim(shown(v.Token.Value), `"`)), "%s is %s, without a unit", subject, source(n))
	default:
		wrong(example)
	}
}

// record reads a mapping that is no step.
func (d *decoder) record(n ast.Node, to reflect.Value, subject, entry string) {
	n, leave := d.enter(n)
	defer leave()
	switch n.(type) {
	case nil:
	case *ast.MappingNode:
		d.mapping(n, to, subject, entry)
	default:
		d.fail(n, "", "%s is %s: want a mapping", subject, source(n))
	}
}

func (d *decoder) list(n ast.Node, subject, want string, each func(ast.Node)) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fail(n, "", "%s is %s: want %s", subject, source(n), want)
		return
	}
	for it := list.ArrayRange(); it.Next(); {
		each(it.Value())
	}
}

// texts reads a list of texts, or one text.
func (d *decoder) texts(n ast.Node, to *[]string, subject string) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		*to = []string{d.text(n, subject)}
		return
	}
	for it := list.ArrayRange(); it.Next(); {
		v, leave := d.enter(it.Value())
		if v != nil {
			*to = append(*to, d.text(v, subject))
		}
		leave()
	}
}

// text reads a text. A number is none: what would be left of 1.0 or 0x10 is not for a script to guess.
func (d *decoder) text(n ast.Node, subject string) string {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value
	case *ast.LiteralNode:
		return v.Value.Value
	case *ast.TagNode: // of bytes, the only one that is let in
		switch v.Value.(type) {
		case *ast.StringNode, *ast.LiteralNode:
			coded := strings.Join(strings.Fields(d.text(v.Value, subject)), "")
			b, err := base64.StdEncoding.DecodeString(coded)
			if err != nil {
				d.fail(v, "", "%s is %s: want base64 behind !!binary", subject, shown(coded))
			}
			return string(b)
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		d.fail(n, "put it in quotes", "%s is %s: want a text", subject, source(n))
		return ""
	}
	d.fail(n, "", "%s is %s: want a text", subject, source(n))
	return ""
}
