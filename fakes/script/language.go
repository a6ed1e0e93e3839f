package script

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Language is what the files of a fake say that is no provider. They are read, written and described as script files
// are: keys and their types are those of Go types, by their yaml tags.
type Language struct {
	Steps []Step                  // every kind that there is; those of this package keep their words
	Words map[string]Word         // of the other kinds, and of the mappings: their names are in capitals, FILE is the file
	Forms map[string]reflect.Type // of the mappings
	Check func(Step) error        // says what is wrong with a step by itself; its first word may name the key
}

// Word is what there is to say of one kind of step, or of a mapping.
type Word struct {
	About string
	Short []string // the keys that a value other than a mapping sets: the first that it fits
	Keys  map[string]Key
}

// Key is one key of a mapping.
type Key struct {
	About   string
	Words   []string // the only values
	Forever bool     // 0 is without end, which is written forever
	Least   int      // of a number
}

// Times is a number of times, or [Any], which is written any.
type Times = times

// Check says what is wrong with a step of this package, or a fault, by itself.
func Check(s Step) error { return validate(s) }

// language is a Language as it is used.
type language struct {
	words   map[string]word
	forms   map[string]reflect.Type
	kinds   []string
	check   func(Step) error
	ordered bool // the order of steps is judged
}

// ours is the language of providers.
func ours() language { return language{words(), forms(), kinds(), validate, true} }

func (l Language) language() language {
	out := language{words: map[string]word{}, forms: map[string]reflect.Type{}, check: l.Check}
	known, types := words(), forms()
	for _, s := range l.Steps {
		kind := s.Kind()
		out.kinds = append(out.kinds, kind)
		out.forms[kind] = reflect.TypeOf(s)
		if types[kind] == out.forms[kind] {
			out.words[kind] = known[kind]
		}
	}
	for entry, t := range l.Forms {
		out.forms[entry] = t
		if types[entry] == t {
			out.words[entry] = known[entry]
		}
	}
	for entry, w := range l.Words {
		keys := map[string]key{}
		for name, k := range w.Keys {
			keys[name] = key{about: k.About, words: k.Words, forever: k.Forever, least: k.Least}
		}
		out.words[entry] = word{about: w.About, short: w.Short, keys: keys}
	}
	return out
}

// entry is the name of a mapping's type, or that of a step's, or "".
func (l language) entry(t reflect.Type) string {
	for _, entry := range sorted(l.forms) {
		if l.forms[entry] == t {
			return entry
		}
	}
	return ""
}

// Parse reads a file, which it calls name in errors, into a struct of the type of FILE. Its error is [Problems]; the
// bounds are those of the function of this name.
func (l Language) Parse(name string, data []byte, to any) error {
	doc, err := Read(name, data)
	if err != nil {
		return err
	}
	doc.DecodeIn(l, doc.Body, to, "the file", "FILE")
	return doc.Err()
}

// DecodeIn reads a mapping in another language: into a struct of the type that the language has for the entry.
func (doc *Document) DecodeIn(l Language, n ast.Node, to any, subject, entry string) {
	before := doc.d.language
	doc.d.language = l.language()
	defer func() { doc.d.language = before }()
	doc.d.record(n, reflect.ValueOf(to).Elem(), subject, entry)
}

// more reads what no type of this package is.
func (d *decoder) more(n ast.Node, to reflect.Value, subject string, k key) {
	switch to.Kind() {
	case reflect.Struct:
		d.record(n, to, subject, d.entry(to.Type()))
	case reflect.Slice:
		d.list(n, subject, "a list", func(e ast.Node) {
			item := reflect.New(to.Type().Elem()).Elem()
			d.record(e, item, "one of "+subject, d.entry(item.Type()))
			to.Set(reflect.Append(to, item))
		})
	default:
		d.word(n, to, subject, k)
	}
}

// Write is a struct of the type of FILE as Parse reads it. It is an error when it has what YAML cannot say.
func (l Language) Write(from any) ([]byte, error) {
	w := &writer{language: l.language()}
	w.block(reflect.ValueOf(from), "", "FILE")
	if w.err != nil {
		return nil, w.err
	}
	if w.Len() == 0 {
		return []byte("{}\n"), nil
	}
	return []byte(w.String()), nil
}

// records writes a list of mappings of a language, each on lines of its own, and says whether it is one.
func (w *writer) records(name string, v reflect.Value, indent string) bool {
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Struct || v.Type() == reflect.TypeFor[[]ToolPart]() {
		return false
	}
	entry := w.entry(v.Type().Elem())
	w.WriteString(name + ":\n")
	for i := range v.Len() {
		w.WriteString(indent + "  - ")
		before := w.Len()
		w.block(v.Index(i), indent+"    ", entry)
		if w.Len() == before {
			w.WriteString("{}\n")
		}
	}
	return true
}

// Schema is the JSON Schema of the files (draft 2020-12), for editors.
func (l Language) Schema(title string) []byte {
	s := schema{language: l.language()}
	defs := shared(s)
	for entry := range l.Forms {
		if entry != "FILE" {
			defs[name(entry)] = s.object(entry)
		}
	}
	for _, kind := range s.kinds {
		if slices.Contains(s.inside(), kind) {
			defs[name(kind)] = s.object(kind)
		}
	}
	root := s.object("FILE")
	root["$schema"], root["title"], root["description"], root["$defs"] = "https://json-schema.org/draft/2020-12/schema", title, s.words["FILE"].about, defs
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // strings, numbers, maps and lists
	}
	return append(b, '\n')
}

// inside lists the kinds of steps that are values of mappings too.
func (l language) inside() []string {
	var out []string
	for _, t := range l.forms {
		for i := range t.NumField() {
			if entry := l.entry(t.Field(i).Type); entry != "" {
				out = append(out, entry)
			}
		}
	}
	return out
}

// name is that of an entry in a schema.
func name(entry string) string {
	if entry == "" {
		panic("script: a type that the language has no entry for") // a mistake of the language's
	}
	return strings.ToLower(entry)
}
