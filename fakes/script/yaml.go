package script

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxSize is the size of the largest script file, in bytes.
const MaxSize = 1 << 20

// The other bounds of a script file. A script of a thousand steps has a few thousand marks and is five deep; above these the
// YAML parser takes more time than a file is worth.
const (
	maxMarks = 50_000 // words and punctuation
	maxDepth = 32     // lists and mappings inside each other
	maxWidth = 128    // columns of indentation
	maxKeys  = 1000   // of one mapping
	maxCopy  = 10_000 // values that aliases bring in
)

// Parse reads a script file, which it calls name in errors. Its error is [Problems]. The file is valid as
// [File.Validate] has it. It is bounded: 1 MiB, 50,000 words and marks, 32 lists and mappings inside each other, and
// 10,000 values by way of aliases.
func Parse(name string, data []byte) (File, error) {
	doc, problem := parse(name, data, 0)
	if problem != nil {
		return File{}, Problems{problem.wants("programs or steps")}
	}
	d := &decoder{name: name, language: ours(), anchors: map[string]ast.Node{}}
	f := d.file(doc.Body)
	if len(d.problems) == 0 {
		if err := f.Validate(); err != nil {
			d.fail(doc.Body, "", "%s", strings.TrimPrefix(err.Error(), "script: "))
		}
	}
	if len(d.problems) > 0 {
		return File{}, d.problems
	}
	return f, nil
}

const emptyFile = "the file is empty"

// wants adds to the problem of an empty file what should be in it.
func (p Problem) wants(what string) Problem {
	if p.Text == emptyFile && what != "" {
		p.Text += ": want " + what
	}
	return p
}

// listed joins words as a sentence does.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// parse makes a tree of a file that keeps the bounds.
func parse(name string, data []byte, mode parser.Mode) (*ast.DocumentNode, *Problem) {
	bad := func(line, column int, format string, args ...any) *Problem {
		return &Problem{File: name, Line: line, Column: column, Text: fmt.Sprintf(format, args...)}
	}
	if len(data) > MaxSize {
		return nil, bad(1, 1, "the file has %d bytes: want at most %d", len(data), MaxSize)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for i, line := range bytes.Split(data, []byte("\n")) {
		for column, rest := 1, line; len(rest) > 0; column++ {
			r, size := utf8.DecodeRune(rest)
			if r == utf8.RuneError && size == 1 {
				return nil, bad(i+1, column, "the byte %#x is no UTF-8", rest[0])
			}
			if r < ' ' && r != '\t' && r != '\r' || r == 0x7f {
				return nil, bad(i+1, column, `the control character %q: write it as "\x%02x" in double quotes`, r, r)
			}
			rest = rest[size:]
		}
	}
	tokens := lexer.Tokenize(string(data))
	if problem := bounded(name, tokens); problem != nil {
		return nil, problem
	}
	// Duplicate keys are found while decoding, which knows where the first one stands.
	file, err := parser.Parse(tokens, mode, parser.AllowDuplicateMapKey())
	if err != nil {
		var syntax yaml.Error
		if !errors.As(err, &syntax) || syntax.GetToken() == nil || syntax.GetToken().Position == nil {
			return nil, bad(1, 1, "no YAML")
		}
		at := syntax.GetToken().Position
		return nil, bad(max(at.Line, 1), max(at.Column, 1), "%s", harmless(syntax.GetMessage()))
	}
	var doc *ast.DocumentNode
	for _, d := range file.Docs {
		_, comment := d.Body.(*ast.CommentGroupNode)
		if d.Body == nil || comment {
			continue
		}
		if doc != nil {
			line, column := place(d.Body)
			return nil, bad(line, column, "a second document: a file has one")
		}
		doc = d
	}
	if doc == nil {
		return nil, bad(1, 1, emptyFile)
	}
	return doc, nil
}

// bounded says what in the tokens is beyond the bounds, or is YAML that scripts do without.
func bounded(name string, tokens token.Tokens) *Problem {
	bad := func(t *token.Token, text string) *Problem {
		return &Problem{File: name, Line: t.Position.Line, Column: max(t.Position.Column, 1), Text: text}
	}
	if len(tokens) > maxMarks {
		return bad(tokens[maxMarks], fmt.Sprintf("more than %d words and marks", maxMarks))
	}
	flow, keys := 0, 0
	for i, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
			keys = 0
		case token.MappingEndType, token.SequenceEndType:
			flow = max(flow-1, 0)
		case token.SequenceEntryType:
			keys = 0
			if flow == 0 && t.Position.Column > maxWidth {
				return bad(t, "indented too far")
			}
		case token.MappingValueType:
			if keys++; keys > maxKeys {
				return bad(t, fmt.Sprintf("more than %d keys", maxKeys))
			}
			if flow == 0 && i > 0 && tokens[i-1].Position.Column > maxWidth {
				return bad(tokens[i-1], "indented too far")
			}
		case token.MappingKeyType:
			return bad(t, "a key with a question mark: write a plain one")
		case token.MergeKeyType:
			return bad(t, "merge keys are not read: give the whole value an alias")
		case token.DirectiveType:
			return bad(t, "directives are not read")
		case token.TagType:
			if t.Value != "!!binary" {
				return bad(t, "the tag "+shown(t.Value)+": only !!binary is read")
			}
		}
		if flow > maxDepth {
			return bad(t, fmt.Sprintf("more than %d lists and mappings inside each other", maxDepth))
		}
	}
	return nil
}

// place is where a node begins.
func place(n ast.Node) (line, column int) {
	switch m := n.(type) {
	case *ast.MappingNode:
		if len(m.Values) > 0 && !m.IsFlowStyle {
			return place(m.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return place(m.Key)
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1, 1
	}
	p := n.GetToken().Position
	return max(p.Line, 1), max(p.Column, 1)
}
