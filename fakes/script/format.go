package script

import (
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Format gives a script file its usual layout: two columns of indentation for each level, lists indented too, one
// space behind dashes and colons, at most one blank line. Comments, the order of keys, the choice of short or long
// forms, and what stands inside braces and texts stay as they are. The file must be valid: the error is that of
// [Parse]. Should the new layout mean anything else, which it is checked for, that is an error too.
func Format(name string, data []byte) ([]byte, error) { return FormatAs(name, data, Parse) }

// FormatAs is Format for the files of another [Language], which read reads.
func FormatAs[F any](name string, data []byte, read func(name string, data []byte) (F, error)) ([]byte, error) {
	f, err := read(name, data)
	if err != nil {
		return nil, err
	}
	source := strings.TrimPrefix(string(data), "\ufeff")
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	doc, problem := parse(name, []byte(source), 0)
	if problem != nil {
		return nil, Problems{*problem}
	}
	l := &layout{lines: strings.Split(source, "\n"), indent: map[int]int{}, comments: map[int]bool{}}
	for _, t := range lexer.Tokenize(source) {
		if t.Type == token.CommentType {
			l.comments[t.Position.Line] = true
		}
	}
	l.block(doc.Body, 0)
	out := []byte(l.draw())
	again, err := read(name, out)
	if err != nil || !reflect.DeepEqual(f, again) || !slices.Equal(remarks(source), remarks(string(out))) {
		line, column := place(doc.Body)
		return nil, Problems{{File: name, Line: line, Column: column, Text: "its layout cannot be changed without changing what it says", Hint: "it is valid as it is"}}
	}
	return out, nil
}

// remarks are the comments of a file.
func remarks(source string) []string {
	var out []string
	for _, t := range lexer.Tokenize(source) {
		if t.Type == token.CommentType {
			out = append(out, strings.TrimSpace(t.Value))
		}
	}
	return out
}

// layout moves the lines of a file. Lines are numbered from 1, and columns in indent from 0.
type layout struct {
	lines    []string
	indent   map[int]int  // of the lines that begin with a key or a dash
	comments map[int]bool // the lines with a comment in them
}

// block finds out where the lines of a list or a mapping belong that stand one below another.
func (l *layout) block(n ast.Node, column int) {
	if a, ok := n.(*ast.AnchorNode); ok {
		n = a.Value
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		if n.IsFlowStyle {
			return
		}
		// From the last to the first, since taking out spaces moves what stands behind on the line.
		for _, v := range slices.Backward(n.Values) {
			l.block(v.Value, column+2)
			l.gap(v.Start.Position)
			l.begins(v.Key.GetToken().Position, column)
		}
	case *ast.SequenceNode:
		if n.IsFlowStyle {
			return
		}
		for _, e := range slices.Backward(n.Entries) {
			l.block(e.Value, column+2)
			l.gap(e.Start.Position)
			l.begins(e.Start.Position, column)
		}
	}
}

// begins notes the column of a line when what stands at p is the first on it.
func (l *layout) begins(p *token.Position, column int) {
	if p.Line > len(l.lines) {
		return
	}
	line := []rune(l.lines[p.Line-1])
	if before := min(p.Column-1, len(line)); before >= 0 && strings.TrimSpace(string(line[:before])) == "" {
		l.indent[p.Line] = column
	}
}

// gap leaves one space behind the dash or the colon at p.
func (l *layout) gap(p *token.Position) {
	if p.Line > len(l.lines) {
		return
	}
	line := []rune(l.lines[p.Line-1])
	if p.Column < 1 || p.Column > len(line) {
		return
	}
	before, behind := string(line[:p.Column]), string(line[p.Column:])
	rest := strings.TrimLeft(behind, " ")
	if len(behind)-len(rest) > 1 && rest != "" && rest[0] != '#' {
		l.lines[p.Line-1] = before + " " + rest
	}
}

// draw is the file in its new layout.
func (l *layout) draw() string {
	var out []string
	moved := map[int]int{} // where lines that began at a column went last
	shift := 0             // of the line that a value began on
	inside := false        // the last line went on with a value
	for i, line := range l.lines {
		text := strings.TrimLeft(line, " ")
		was := len(line) - len(text)
		now, begins := l.indent[i+1]
		switch {
		case begins:
			out = append(out, strings.Repeat(" ", now)+strings.TrimRight(text, " \t"))
			moved[was], shift, inside = now, now-was, false
		case strings.TrimSpace(line) == "" && !inside:
			if len(out) > 0 && out[len(out)-1] != "" {
				out = append(out, "")
			}
		case strings.HasPrefix(text, "#") && l.comments[i+1]:
			out = append(out, strings.Repeat(" ", l.beside(i+1, was, moved))+strings.TrimRight(text, " \t"))
			inside = false
		case strings.TrimSpace(line) == "":
			out = append(out, line)
		default:
			out = append(out, strings.Repeat(" ", max(0, was+shift))+text)
			inside = true
		}
	}
	for !inside && len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return strings.TrimSuffix(strings.Join(out, "\n"), "\n") + "\n"
}

// beside is the column of a comment: that of the next key or dash, unless it stood under one before.
func (l *layout) beside(number, was int, moved map[int]int) int {
	for next := number + 1; next <= len(l.lines); next++ {
		now, begins := l.indent[next]
		if !begins {
			continue
		}
		line := l.lines[next-1]
		if column, ok := moved[was]; ok && len(line)-len(strings.TrimLeft(line, " ")) != was {
			return column
		}
		return now
	}
	if was == 0 {
		return 0
	}
	return moved[was]
}
