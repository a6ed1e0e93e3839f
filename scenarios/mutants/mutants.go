// Package mutants holds the broken servers that the scenarios must catch: small edits of the reference server, one
// TOML file each, and the overlay with which all of them are built into one binary.
package mutants

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// The pattern matches *.toml and README.md: one of *.toml alone would not compile in a tree without mutants.
//
//go:embed *.[tm][od]*
var files embed.FS

// folder is where the files lie in the module, for messages.
const folder = "scenarios/mutants/"

// Mutant is one way of breaking the reference server, and what must notice it.
type Mutant struct {
	ID        string   `json:"id"`
	File      string   `json:"file"`               // relative to the module root, under lifecycle/, with slashes
	Func      string   `json:"func"`               // Name or Type.Name, without star or parentheses
	Find      string   `json:"find"`               // Go text that occurs once in the body of Func
	Replace   string   `json:"replace"`            // what stands there in the mutant
	Breaks    []string `json:"breaks"`             // the one to three guarantees that must be found violated
	Signature string   `json:"signature"`          // of at least one of the failing findings
	Why       string   `json:"why"`                // one sentence
	Scenario  string   `json:"scenario,omitempty"` // what to play, when that is less than the scenarios of Breaks
	Time      string   `json:"time,omitempty"`     // Real when only real time shows it
}

// Real is the Time of a mutant that is played in real time: virtual time has no processes.
const Real = "real"

// Patterns returns what is played on m: its scenario if it names one, else the guarantees it breaks.
func (m Mutant) Patterns() []string {
	if m.Scenario != "" {
		return []string{m.Scenario}
	}
	return slices.Clone(m.Breaks)
}

// path names the file of m in messages.
func (m Mutant) path() string { return folder + m.ID + ".toml" }

// All returns the mutants of this build sorted by ID, or every error of every file, joined.
func All() ([]Mutant, error) { return Load(files) }

// Load reads every *.toml file at the root of fsys, sorted by ID. The error joins those of all files; each begins with
// the file and, where it has one, the line and column.
func Load(fsys fs.FS) ([]Mutant, error) {
	names, err := fs.Glob(fsys, "*.toml")
	if err != nil {
		return nil, err
	}
	var ms []Mutant
	var errs []error
	edits := map[[4]string]string{}
	for _, name := range names {
		m, err := read(fsys, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		edit := [4]string{m.File, m.Func, m.Find, m.Replace}
		if other, ok := edits[edit]; ok {
			errs = append(errs, fmt.Errorf("%s: makes the same edit as %s.toml", m.path(), other))
			continue
		}
		edits[edit] = m.ID
		ms = append(ms, m)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortFunc(ms, func(a, b Mutant) int { return cmp.Compare(a.ID, b.ID) })
	return ms, nil
}

// Breaking returns the IDs of the mutants that break each guarantee, sorted.
func Breaking(ms []Mutant) map[string][]string {
	by := map[string][]string{}
	for _, m := range ms {
		for _, g := range m.Breaks {
			by[g] = append(by[g], m.ID)
		}
	}
	for _, ids := range by {
		slices.Sort(ids)
	}
	return by
}

// Check reports every guarantee that a mutant breaks and that is not among known, with the nearest that is.
func Check(ms []Mutant, known []string) error {
	var errs []error
	for _, m := range ms {
		for _, g := range m.Breaks {
			if !slices.Contains(known, g) {
				errs = append(errs, fmt.Errorf("%s: breaks: there is no guarantee %s%s", m.path(), g, nearestHint(g, known)))
			}
		}
	}
	return errors.Join(errs...)
}

// Select returns the mutants with the given IDs, in the order of ms, or an error for each ID that is not there.
func Select(ms []Mutant, ids []string) ([]Mutant, error) {
	known := make([]string, len(ms))
	for i, m := range ms {
		known[i] = m.ID
	}
	var errs []error
	for _, id := range ids {
		if !slices.Contains(known, id) {
			errs = append(errs, fmt.Errorf("there is no mutant %s%s", id, nearestHint(id, known)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var selected []Mutant
	for _, m := range ms {
		if slices.Contains(ids, m.ID) {
			selected = append(selected, m)
		}
	}
	return selected, nil
}

// entry is a file as it is written. Pointers tell an empty text from a missing key.
type entry struct {
	ID        *string   `toml:"id"`
	File      *string   `toml:"file"`
	Func      *string   `toml:"func"`
	Find      *string   `toml:"find"`
	Replace   *string   `toml:"replace"`
	Breaks    *[]string `toml:"breaks"`
	Signature *string   `toml:"signature"`
	Why       *string   `toml:"why"`
	Scenario  *string   `toml:"scenario"`
	Time      *string   `toml:"time"`
}

// read reads one file and returns all that is wrong with it.
func read(fsys fs.FS, name string) (Mutant, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return Mutant{}, err
	}
	defer f.Close()
	var e entry
	if err := toml.NewDecoder(f).DisallowUnknownFields().Decode(&e); err != nil {
		return Mutant{}, decodeError(name, err)
	}

	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s%s: %w", folder, name, fmt.Errorf(format, args...)))
	}
	required := func(key string, v *string) string {
		switch {
		case v == nil:
			wrong("%s is missing", key)
			return ""
		case *v == "" && key != "replace": // an empty replacement deletes
			wrong("%s is empty", key)
		}
		return *v
	}
	m := Mutant{
		ID:        required("id", e.ID),
		File:      required("file", e.File),
		Func:      plainName(required("func", e.Func)),
		Find:      required("find", e.Find),
		Replace:   required("replace", e.Replace),
		Signature: required("signature", e.Signature),
		Why:       required("why", e.Why),
	}
	if e.Scenario != nil {
		m.Scenario = required("scenario", e.Scenario)
	}
	if e.Time != nil {
		if m.Time = *e.Time; m.Time != Real {
			wrong("time is %q, want %s or nothing, which is virtual", m.Time, Real)
		}
	}
	if e.Breaks == nil {
		wrong("breaks is missing")
	} else {
		m.Breaks = *e.Breaks
		if n := len(m.Breaks); n < 1 || n > 3 {
			wrong("breaks names %d guarantees, want 1 to 3", n)
		}
	}

	if stem := strings.TrimSuffix(name, ".toml"); m.ID != "" && m.ID != stem {
		wrong("id is %q, want the file's name %q", m.ID, stem)
	}
	shaped := func(key, text string, shape *regexp.Regexp, like string) {
		if text != "" && !shape.MatchString(text) {
			wrong("%s is %q, want the form %s", key, text, like)
		}
	}
	shaped("id", m.ID, idShape, "drops-last-frame")
	shaped("func", m.Func, funcShape, "Name, Type.Name or (*Type).Name")
	shaped("signature", m.Signature, signatureShape, "deadline/terminal-frame")
	for i, g := range m.Breaks {
		shaped("breaks", g, guaranteeShape, "area.name")
		if slices.Contains(m.Breaks[:i], g) {
			wrong("breaks names %s twice", g)
		}
	}
	if m.File != "" && (!strings.HasPrefix(m.File, "lifecycle/") || path.Clean(m.File) != m.File ||
		!strings.HasSuffix(m.File, ".go") || strings.HasSuffix(m.File, "_test.go")) {
		wrong("file is %q, want a Go file under lifecycle/ that is not a test", m.File)
	}
	if m.Find != "" && m.Find == m.Replace {
		wrong("replace equals find, so nothing is broken")
	}
	if strings.ContainsAny(m.Why, "\r\n") {
		wrong("why has several lines, want one sentence")
	}
	return m, errors.Join(errs...)
}

var (
	idShape        = regexp.MustCompile(`^[a-z0-9-]+$`)
	funcShape      = regexp.MustCompile(`^([\pL_][\pL\pN_]*\.)?[\pL_][\pL\pN_]*$`)
	signatureShape = regexp.MustCompile(`^[a-z]+/[a-z0-9-]+$`)
	guaranteeShape = regexp.MustCompile(`^[a-z0-9-]+\.[a-z0-9-]+$`)
)

// plainName turns (*Type).Name, (Type).Name and *Type.Name into Type.Name.
func plainName(name string) string {
	if typ, method, ok := strings.Cut(name, "."); ok {
		typ = strings.TrimSuffix(strings.TrimPrefix(typ, "("), ")")
		return strings.TrimPrefix(typ, "*") + "." + method
	}
	return name
}

// decodeError gives each error of the TOML reader its file, line and column.
func decodeError(name string, err error) error {
	at := func(d *toml.DecodeError, text string) error {
		row, column := d.Position()
		return fmt.Errorf("%s%s:%d:%d: %s", folder, name, row, column, text)
	}
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		errs := make([]error, len(strict.Errors))
		for i := range strict.Errors {
			d := &strict.Errors[i]
			key := strings.Join(d.Key(), ".")
			errs[i] = at(d, fmt.Sprintf("unknown key %s%s", key, nearestHint(key, keys)))
		}
		return errors.Join(errs...)
	}
	if d, ok := errors.AsType[*toml.DecodeError](err); ok {
		return at(d, strings.TrimPrefix(d.Error(), "toml: "))
	}
	return fmt.Errorf("%s%s: %w", folder, name, err)
}

var keys = []string{"id", "file", "func", "find", "replace", "breaks", "signature", "why", "scenario", "time"}

// nearestHint says which name was perhaps meant.
func nearestHint(name string, names []string) string {
	best, least := "", 0
	for _, n := range names {
		if d := distance(name, n); best == "" || d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return "; the nearest is " + best
}

// distance is the number of bytes to insert, delete or change to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
