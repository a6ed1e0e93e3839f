package script

import (
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Document is a YAML file that has programs among other things. It is read as a script file is: with its bounds, and
// with all problems at once, each with its place. It is not safe for concurrent use.
type Document struct {
	Body ast.Node
	d    *decoder
}

// Pair is a key of a mapping with its value.
type Pair struct {
	Name       string
	Key, Value ast.Node
}

// Read reads a document, which it calls name in errors. Its error is [Problems]; that of an empty file says that these
// keys are wanted. The bounds are those of [Parse].
func Read(name string, data []byte, keys ...string) (*Document, error) {
	doc, problem := parse(name, data, 0)
	if problem != nil {
		return nil, Problems{problem.wants(listed(keys))}
	}
	return &Document{doc.Body, &decoder{name: name, language: ours(), anchors: map[string]ast.Node{}}}, nil
}

// Err has all problems found so far as [Problems], or is nil.
func (doc *Document) Err() error {
	if len(doc.d.problems) == 0 {
		return nil
	}
	return doc.d.problems
}

// Problems counts the problems found so far.
func (doc *Document) Problems() int { return len(doc.d.problems) }

// Fail tells a problem with what stands at n. The hint says what was perhaps meant, or is empty.
func (doc *Document) Fail(n ast.Node, hint, format string, args ...any) {
	doc.d.fail(n, hint, format, args...)
}

// Follow is the value that n stands for: an alias may stand for a word or a number, and for more only inside programs.
// It is nil, and a problem, when there is none.
func (doc *Document) Follow(n ast.Node) ast.Node {
	v, leave := doc.d.enter(n)
	leave()
	if _, alias := n.(*ast.AliasNode); alias {
		switch v.(type) {
		case *ast.MappingNode, *ast.SequenceNode:
			doc.Fail(n, "", "an alias of a list or a mapping: it is read inside programs only")
			return nil
		}
	}
	return v
}

// Pairs are those of a mapping in their order, or nil when n is none.
func (doc *Document) Pairs(n ast.Node) []Pair {
	var out []Pair
	for _, p := range doc.d.pairs(n) {
		out = append(out, Pair{p.name, p.key, p.value})
	}
	return out
}

// Decode reads a value into a *string, *int, *bool or *[]string. The subject names it in problems.
func (doc *Document) Decode(n ast.Node, to any, subject string) {
	doc.d.value(n, reflect.ValueOf(to).Elem(), subject, key{})
}

// Programs reads a list of programs, or a list of steps, which is one program that answers one request. A duration that
// is none as Go writes it is length's to read.
func (doc *Document) Programs(n ast.Node, subject string, length func(string) (time.Duration, error)) Script {
	doc.d.length, doc.d.copied = length, 0
	before := len(doc.d.problems)
	defer func() { doc.d.length = nil }()
	v, leave := doc.d.enter(n)
	defer leave()
	list, ok := v.(*ast.SequenceNode)
	if !ok {
		if v != nil {
			doc.Fail(v, "", "%s is %s: want a list of programs or of steps", subject, source(v))
		}
		return nil
	}
	if !programs(list) {
		out := Script{{Steps: doc.d.steps(list)}}
		doc.d.meaning(list, out)
		if len(doc.d.problems) == before {
			doc.d.gates(list, out, unawaited(out.Awaited()))
		}
		return out
	}
	var form struct {
		Programs []programForm `yaml:"programs"`
	}
	doc.d.value(list, reflect.ValueOf(&form).Elem().Field(0), subject, key{})
	var out Script
	for _, p := range form.Programs {
		out = append(out, Program{When: p.When, Times: int(p.Times), Steps: p.Steps})
	}
	doc.d.meaning(list, out)
	if len(doc.d.problems) == before {
		doc.d.gates(list, out, unawaited(out.Awaited()))
	}
	return out
}

// Gates tells which steps of programs, read from n without a problem, wait at a gate that neither they nor one of others opens.
func (doc *Document) Gates(n ast.Node, s Script, others []string) {
	doc.d.gates(n, s, unopened(append(s.Opened(), others...)))
}

// programs says whether a list is one of programs: its first entry has a key that programs have and steps have not.
func programs(list *ast.SequenceNode) bool {
	if len(list.Values) == 0 {
		return false
	}
	first := list.Values[0]
	if a, ok := first.(*ast.AnchorNode); ok {
		first = a.Value
	}
	m, ok := first.(*ast.MappingNode)
	if !ok {
		return false
	}
	for it := m.MapRange(); it.Next(); {
		if k, ok := it.Key().(*ast.StringNode); ok && (k.Value == "steps" || k.Value == "when" || k.Value == "times") {
			return true
		}
	}
	return false
}

// About is a sentence on a kind of step, "" when there is none of that word.
func About(kind string) string {
	if kind == strings.ToUpper(kind) {
		return "" // a mapping that is no step
	}
	return words()[kind].about
}

// Place is where a node begins, counted from 1.
func Place(n ast.Node) (line, column int) { return place(n) }

// Source is a value as it stands in problems: bounded, and on one line.
func Source(n ast.Node) string { return source(n) }

// Meant is a hint at the known word that was perhaps meant, or "".
func Meant(word string, known []string) string { return meant(word, known) }

// Shown is text of a file as it stands in problems: in quotes, on one line, and bounded.
func Shown(text string) string { return shown(text) }
