package mutants

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Variable is the environment variable that chooses the mutant; when it is empty or unset the server is whole.
const Variable = "STALLWRIGHT_MUTANT"

// Overlay writes into dir the sources of the module at root with all of ms in them, and the file for the -overlay flag
// of go build, whose path it returns. The tree at root is left untouched. Each mutated function gets a copy beside it,
// called name__ID, and hands over to it when [Variable] was ID as the process started. The error joins those of all
// mutants that do not fit the source.
func Overlay(root string, ms []Mutant, dir string) (overlayJSON string, err error) {
	return overlay(root, ms, dir, func(file string, _ Mutant) string { return file })
}

// overlay is Overlay with a choice of the file name that the compiler is told for a copy.
func overlay(root string, ms []Mutant, dir string, lineName func(file string, m Mutant) string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	byFile := map[string][]Mutant{}
	var names []string
	for _, m := range ms {
		if byFile[m.File] == nil {
			names = append(names, m.File)
		}
		byFile[m.File] = append(byFile[m.File], m)
	}
	slices.Sort(names)

	sources := map[string]string{} // by path relative to root
	var errs []error
	for _, name := range names {
		text, pkg, err := mutate(root, name, byFile[name], lineName)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		sources[name] = text
		sources[path.Join(path.Dir(name), "mutant__.go")] = fmt.Sprintf(
			"package %s\n\nimport os__ \"os\"\n\nvar mutant__ = os__.Getenv(%q)\n", pkg, Variable)
	}
	if err := errors.Join(errs...); err != nil {
		return "", err
	}

	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// The go tool does not take a folder that begins with _ for packages, so dir may lie inside a module.
	copies := filepath.Join(dir, "_overlay")
	replace := map[string]string{}
	for name, text := range sources {
		to := filepath.Join(copies, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = to
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, "overlay.json")
	return to, os.WriteFile(to, b, 0o644)
}

// source is a parsed file.
type source struct {
	name string // relative to the module root
	path string // absolute
	text string
	fset *token.FileSet
	file *ast.File
}

func (s source) offset(p token.Pos) int { return s.fset.PositionFor(p, false).Offset }
func (s source) line(p token.Pos) int   { return s.fset.PositionFor(p, false).Line }

// edit replaces the text between two offsets of a file.
type edit struct {
	from, to int
	text     string
}

// apply returns text[from:to] with the edits, which do not overlap, made in it.
func apply(text string, from, to int, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var b strings.Builder
	for _, e := range edits {
		b.WriteString(text[from:e.from])
		b.WriteString(e.text)
		from = e.to
	}
	b.WriteString(text[from:to])
	return b.String()
}

// mutate returns the text of the named file with the mutants ms in it, and the name of its package.
func mutate(root, name string, ms []Mutant, lineName func(string, Mutant) string) (text, pkg string, err error) {
	s := source{name: name, path: filepath.Join(root, filepath.FromSlash(name)), fset: token.NewFileSet()}
	b, err := os.ReadFile(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return "", "", each(ms, fmt.Errorf("there is no file %s", name))
	} else if err != nil {
		return "", "", each(ms, err)
	}
	s.text = string(b)
	if s.file, err = parser.ParseFile(s.fset, name, b, parser.SkipObjectResolution); err != nil {
		return "", "", each(ms, err)
	}
	funcs := map[string]*ast.FuncDecl{}
	var names []string
	for _, d := range s.file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			n := funcName(fn)
			funcs[n] = fn
			names = append(names, n)
		}
	}

	var edits []edit
	var copies strings.Builder
	var errs []error
	bodies := map[*ast.FuncDecl]function{}
	for _, m := range ms {
		fn := funcs[plainName(m.Func)]
		if fn == nil {
			errs = append(errs, fmt.Errorf("%s: %s has no function %s%s", m.path(), name, m.Func, nearestHint(m.Func, names)))
			continue
		}
		f, known := bodies[fn]
		if !known {
			if f, err = s.function(fn); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", m.path(), err))
				continue
			}
			bodies[fn] = f
			edits = append(edits, f.naming...)
		}
		text, err := s.copyOf(f, m, lineName(s.path, m), names, funcs)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.path(), err))
			continue
		}
		copies.WriteString(text)
		start := s.offset(fn.Body.Lbrace) + 1
		// On the line of the brace, so that no line of the original moves.
		edits = append(edits, edit{start, start, fmt.Sprintf(" if mutant__ == %q { %s };", m.ID, f.call(m))})
	}
	if err := errors.Join(errs...); err != nil {
		return "", "", err
	}
	return apply(s.text, 0, len(s.text), edits) + "\n" + copies.String(), s.file.Name.Name, nil
}

// each says err of every one of ms.
func each(ms []Mutant, err error) error {
	errs := make([]error, len(ms))
	for i, m := range ms {
		errs[i] = fmt.Errorf("%s: %w", m.path(), err)
	}
	return errors.Join(errs...)
}

// funcName is Name, or Type.Name for a method.
func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

// function is a function that can be handed over to a copy.
type function struct {
	decl     *ast.FuncDecl
	naming   []edit // gives names to the receiver and parameters that have none
	receiver string
	args     string
}

// copyName is what the copy for m is called.
func (f function) copyName(m Mutant) string {
	return f.decl.Name.Name + "__" + strings.ReplaceAll(m.ID, "-", "_")
}

// call is the statement that hands over to the copy for m.
func (f function) call(m Mutant) string {
	call := f.copyName(m) + "(" + f.args + ")"
	if f.receiver != "" {
		call = f.receiver + "." + call
	}
	if f.decl.Type.Results.NumFields() == 0 {
		return call + "; return"
	}
	return "return " + call
}

// function finds out how fn can be called again with its own arguments.
func (s source) function(fn *ast.FuncDecl) (function, error) {
	f := function{decl: fn}
	what := fmt.Sprintf("%s: func %s", s.name, funcName(fn))
	if fn.Body == nil {
		return f, fmt.Errorf("%s has no body", what)
	}
	generic := fn.Type.TypeParams != nil
	if fn.Recv != nil {
		ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.IndexExpr, *ast.IndexListExpr:
				generic = true
			}
			return true
		})
	}
	if generic {
		return f, fmt.Errorf("%s is generic; a mutant needs a function without type parameters", what)
	}

	named := func(field *ast.Field, name string) []string {
		if len(field.Names) == 0 {
			at := s.offset(field.Type.Pos())
			f.naming = append(f.naming, edit{at, at, name + " "})
			return []string{name}
		}
		var names []string
		for i, n := range field.Names {
			if n.Name == "_" {
				fresh := name + strings.Repeat("_", i)
				f.naming = append(f.naming, edit{s.offset(n.Pos()), s.offset(n.End()), fresh})
				names = append(names, fresh)
				continue
			}
			names = append(names, n.Name)
		}
		return names
	}
	if fn.Recv != nil {
		f.receiver = named(fn.Recv.List[0], "recv__")[0]
	}
	var args []string
	for i, field := range fn.Type.Params.List {
		names := named(field, "p"+strconv.Itoa(i)+"__")
		if _, ok := field.Type.(*ast.Ellipsis); ok {
			names[len(names)-1] += "..."
		}
		args = append(args, names...)
	}
	f.args = strings.Join(args, ", ")
	return f, nil
}

// copyOf returns the declaration of the copy of f for m, with directives that give its lines as those of lineName.
func (s source) copyOf(f function, m Mutant, lineName string, names []string, funcs map[string]*ast.FuncDecl) (string, error) {
	fn := f.decl
	from, to := s.offset(fn.Pos()), s.offset(fn.End())
	body := s.offset(fn.Body.Lbrace) + 1
	found := occurrences(s.text[body:s.offset(fn.Body.Rbrace)], m.Find)
	if len(found) != 1 {
		return "", s.miscounted(fn, m, body, found, names, funcs)
	}
	at := body + found[0]
	edits := slices.Concat(f.naming, []edit{
		{s.offset(fn.Name.Pos()), s.offset(fn.Name.End()), f.copyName(m)},
		{at, at + len(m.Find), m.Replace},
	})
	text := apply(s.text, from, to, edits)
	if err := s.parses(fn, m, text); err != nil {
		return "", err
	}
	if strings.Count(m.Find, "\n") != strings.Count(m.Replace, "\n") {
		rest := len(s.text[at+len(m.Find) : to]) // what follows the replacement, which no edit touches
		if next := nextLine(text, len(text)-rest); next > 0 {
			line := s.line(fn.End()) - strings.Count(text[next:], "\n")
			text = fmt.Sprintf("%s//line %s:%d\n%s", text[:next], lineName, line, text[next:])
		}
	}
	return fmt.Sprintf("\n//line %s:%d\n%s\n", lineName, s.line(fn.Pos()), text), nil
}

// parses tells whether text, the mutated copy of fn, is still one function that can be handed over to.
func (s source) parses(fn *ast.FuncDecl, m Mutant, text string) error {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "", fmt.Sprintf("package p\n//line %s:%d\n%s\n", s.name, s.line(fn.Pos()), text),
		parser.SkipObjectResolution)
	what := "func " + funcName(fn)
	if list, ok := errors.AsType[scanner.ErrorList](err); ok {
		return fmt.Errorf("%s with its replacement does not parse: %w", what, list[0])
	} else if err != nil {
		return fmt.Errorf("%s: %s with its replacement does not parse: %w", s.name, what, err)
	}
	if len(parsed.Decls) != 1 {
		return fmt.Errorf("%s: the replacement makes %d declarations of %s, want 1", s.name, len(parsed.Decls), what)
	}
	// recover works only in the deferred function itself, and the copy is called by it.
	recovers := false
	ast.Inspect(parsed.Decls[0], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "recover" {
				recovers = true
			}
		}
		return true
	})
	if recovers {
		return fmt.Errorf("%s: %s calls recover itself, which does nothing in a copy; take it out, or mutate what the function calls", s.name, what)
	}
	return nil
}

// miscounted says that find does not occur exactly once, and where it does occur.
func (s source) miscounted(fn *ast.FuncDecl, m Mutant, body int, found []int, names []string, funcs map[string]*ast.FuncDecl) error {
	own := funcName(fn)
	err := fmt.Sprintf("%s: find occurs %d times in func %s, want 1", s.name, len(found), own)
	if len(found) > 0 {
		lines := make([]string, len(found))
		for i, at := range found {
			lines[i] = strconv.Itoa(1 + strings.Count(s.text[:body+at], "\n"))
		}
		return errors.New(err + "; it is in lines " + strings.Join(lines, ", "))
	}
	for _, name := range names {
		if other := funcs[name]; other.Body != nil && strings.Contains(s.text[s.offset(other.Pos()):s.offset(other.End())], m.Find) {
			return errors.New(err + "; it is in func " + name)
		}
	}
	others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == own })
	return errors.New(err + nearestHint(own, others))
}

// occurrences returns where find begins in text, overlapping ones too: those would be as ambiguous.
func occurrences(text, find string) []int {
	var at []int
	for i := 0; ; {
		j := strings.Index(text[i:], find)
		if j < 0 || find == "" {
			return at
		}
		at = append(at, i+j)
		i += j + 1
	}
}

// nextLine returns where the first line after offset begins that is not inside a raw string or a comment, or 0.
func nextLine(text string, offset int) int {
	fset := token.NewFileSet()
	var sc scanner.Scanner
	sc.Init(fset.AddFile("", -1, len(text)), []byte(text), nil, scanner.ScanComments)
	type span struct{ from, to int }
	var spans []span
	for {
		pos, tok, lit := sc.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.STRING || tok == token.COMMENT {
			from := fset.PositionFor(pos, false).Offset
			spans = append(spans, span{from, from + len(lit)})
		}
	}
	for i := offset; i < len(text); i++ {
		inside := func(s span) bool { return s.from <= i && i < s.to }
		if text[i] == '\n' && !slices.ContainsFunc(spans, inside) {
			return i + 1
		}
	}
	return 0
}
