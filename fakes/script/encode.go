package script

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// YAML is the file as [Parse] reads it, in the short forms where they say all. It is an error when the file is
// invalid, or has what YAML cannot say: a header's name that is no UTF-8, or a step of another package.
func (f File) YAML() ([]byte, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	form := fileForm{About: f.About, Seed: f.Seed, Connections: f.Connections}
	w := &writer{language: ours()}
	if len(f.Programs) == 1 && f.Programs[0].Times == Any && reflect.ValueOf(f.Programs[0].When).IsZero() {
		form.Steps = f.Programs[0].Steps
	} else {
		for _, p := range f.Programs {
			form.Programs = append(form.Programs, programForm{p.When, times(p.Times), p.Steps})
		}
	}
	w.block(reflect.ValueOf(form), "", "FILE")
	if len(f.Programs) == 0 {
		w.WriteString("programs: []\n")
	}
	if w.err != nil {
		return nil, w.err
	}
	return []byte(w.String()), nil
}

// writer writes YAML. Programs and steps stand on lines of their own, all else on one line.
type writer struct {
	strings.Builder
	language
	err error
}

func (w *writer) fail(format string, args ...any) string {
	if w.err == nil {
		w.err = fmt.Errorf("script: "+format, args...)
	}
	return ""
}

// block writes the keys of a struct, each on a line. The first one stands where the writer is, the others behind
// the indentation.
func (w *writer) block(v reflect.Value, indent, entry string) {
	keys := w.words[entry].keys
	first := true
	for _, f := range fields(v.Type()) {
		value := v.Field(f.index)
		if !f.required && empty(value) {
			continue
		}
		if !first {
			w.WriteString(indent)
		}
		first = false
		switch p := value.Interface().(type) {
		case []Step:
			w.WriteString(f.name + ":\n")
			w.steps(p, indent+"  ")
		case []programForm:
			w.WriteString(f.name + ":\n")
			for _, program := range p {
				w.WriteString(indent + "  - ")
				w.block(reflect.ValueOf(program), indent+"    ", "PROGRAM")
			}
		default:
			if w.records(f.name, value, indent) {
				continue
			}
			w.WriteString(f.name + ": " + w.flow(value, keys[f.name]) + "\n")
		}
	}
}

func (w *writer) steps(steps []Step, indent string) {
	for _, s := range steps {
		kind := s.Kind()
		if w.forms[kind] != reflect.TypeOf(s) {
			w.fail("a step of the type %T, which files do not know", s)
			return
		}
		w.WriteString(indent + "- " + kind)
		v := reflect.ValueOf(s)
		if _, ok := s.(Repeat); ok {
			w.WriteString(":\n" + indent + "    ")
			w.block(v, indent+"    ", kind)
			continue
		}
		if value := w.step(v, kind); value != "" {
			w.WriteString(": " + value)
		}
		w.WriteString("\n")
	}
}

// step is what stands behind the kind of a step.
func (w *writer) step(v reflect.Value, kind string) string {
	word := w.words[kind]
	fs := fields(v.Type())
	var set []field // what the long form would have
	bare := true
	for _, f := range fs {
		zero := empty(v.Field(f.index))
		bare = bare && zero
		if f.required || !zero {
			set = append(set, f)
		}
	}
	if bare && word.stop {
		return "stop"
	}
	for _, short := range word.short {
		if len(set) == 1 && set[0].name == short {
			field := v.Field(set[0].index)
			if chunks, ok := field.Interface().([]string); ok && len(chunks) == 1 {
				return w.text(chunks[0])
			}
			return w.flow(field, word.keys[short])
		}
	}
	if len(set) > 0 {
		return w.mapping(v, kind)
	}
	for _, short := range word.short {
		if word.keys[short].forever {
			return "forever"
		}
	}
	return ""
}

// mapping is a struct on one line.
func (w *writer) mapping(v reflect.Value, entry string) string {
	keys := w.words[entry].keys
	var parts []string
	for _, f := range fields(v.Type()) {
		if value := v.Field(f.index); f.required || !empty(value) {
			parts = append(parts, f.name+": "+w.flow(value, keys[f.name]))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// flow is a value on one line.
func (w *writer) flow(v reflect.Value, k key) string {
	switch p := v.Interface().(type) {
	case time.Duration:
		return p.String()
	case times:
		if p == Any {
			return "any"
		}
	case []string:
		return list(p, w.text)
	case []int:
		return list(p, strconv.Itoa)
	case []ToolPart:
		return list(p, func(part ToolPart) string { return w.mapping(reflect.ValueOf(part), "PART") })
	case map[string]string:
		return "{" + strings.Join(w.headers(p), ", ") + "}"
	case *bool:
		return strconv.FormatBool(*p)
	case Value:
		if p.Null {
			return "null"
		}
		if decimal.MatchString(p.Text) {
			return p.Text
		}
		return w.text(p.Text)
	case When:
		return w.mapping(v, "WHEN")
	case Connections:
		return w.mapping(v, "CONNECTIONS")
	}
	switch v.Kind() {
	case reflect.String:
		return w.text(v.String())
	case reflect.Bool, reflect.Int, reflect.Uint64:
		return fmt.Sprint(v.Interface())
	case reflect.Struct:
		if entry := w.entry(v.Type()); entry != "" {
			return w.mapping(v, entry)
		}
	}
	return w.fail("a value of the type %s, which files do not know", v.Type())
}

func (w *writer) headers(m map[string]string) []string {
	var parts []string
	for _, name := range sorted(m) {
		if !utf8.ValidString(name) {
			w.fail("the header %q, which is no UTF-8", name)
		}
		parts = append(parts, w.text(name)+": "+w.text(m[name]))
	}
	return parts
}

func list[T any](values []T, write func(T) string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = write(v)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// empty says that a value need not be written. An empty list or mapping means no more than none.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

var (
	// plain are texts that need no quotes. A minus inside is fine; whatever else YAML gives a meaning to is left out.
	plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	// decimal are numbers that stay as they are when they are read as numbers.
	decimal = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,17})$`)
)

// text is a text as it stands in a file: bare, in double quotes, or as base64 when it is no UTF-8.
func (w *writer) text(s string) string {
	switch {
	case !utf8.ValidString(s):
		return `!!binary "` + base64.StdEncoding.EncodeToString([]byte(s)) + `"`
	case plain.MatchString(s) && !reserved(s):
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// reserved says that some reader of YAML takes the word for more than a text.
func reserved(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return true
	}
	return false
}
