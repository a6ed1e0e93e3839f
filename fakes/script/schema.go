package script

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"
)

// node is a part of a JSON Schema.
type node = map[string]any

// Schema is the JSON Schema of script files (draft 2020-12), for editors. It knows words, keys and types; what
// follows from the order of steps only [Parse] knows.
func Schema() []byte {
	s := schema{language: ours()}
	defs := shared(s)
	for name, entry := range map[string]string{"program": "PROGRAM", "when": "WHEN", "connections": "CONNECTIONS", "part": "PART"} {
		defs[name] = s.object(entry)
	}
	file := s.object("FILE")
	file["oneOf"] = []any{node{"required": []any{"programs"}}, node{"required": []any{"steps"}}}
	root := node{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "stallwright script", "description": s.words["FILE"].about,
		"anyOf": []any{file, ref("steps")},
		"$defs": defs,
	}
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // strings, numbers, maps and lists
	}
	return append(b, '\n')
}

// shared are the definitions that every schema has.
func shared(s schema) node {
	return node{
		"step":     s.step(),
		"steps":    node{"type": "array", "items": ref("step"), "minItems": 1},
		"duration": node{"description": "a duration such as 200ms, 1.5s or 2m", "anyOf": []any{node{"type": "string", "pattern": durations}, node{"const": 0}}},
		"text":     node{"type": "string"},
		"texts":    node{"anyOf": []any{ref("text"), node{"type": "array", "items": ref("text")}}},
		"headers":  node{"type": "object", "additionalProperties": node{"type": []any{"string", "integer"}}},
	}
}

// durations are those that time.ParseDuration reads, without those below 0.
const durations = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

func ref(name string) node { return node{"$ref": "#/$defs/" + name} }

type schema struct{ language }

// object is the long form of an entry of words.
func (s schema) object(entry string) node {
	properties := node{}
	var required []any
	for _, f := range fields(s.forms[entry]) {
		k := s.words[entry].keys[f.name]
		p := s.value(s.forms[entry].Field(f.index).Type, k)
		p["description"] = k.about
		properties[f.name] = p
		if f.required {
			required = append(required, f.name)
		}
	}
	o := node{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		o["required"] = required
	}
	return o
}

// step is any step: the bare word of a kind that needs nothing, or a mapping from its kind. All kinds are properties
// of one object, so that editors can offer them and show what each does.
func (s schema) step() node {
	properties := node{}
	var bare []any
	for _, kind := range s.kinds {
		w, t := s.words[kind], s.forms[kind]
		fs := fields(t)
		needs := slices.ContainsFunc(fs, func(f field) bool { return f.required })
		forms := []any{}
		if !needs {
			bare = append(bare, kind)
			forms = append(forms, node{"type": "null"})
		}
		if w.stop {
			forms = append(forms, node{"const": "stop"})
		}
		for _, short := range w.short {
			for _, f := range fs {
				if f.name == short {
					forms = append(forms, s.value(t.Field(f.index).Type, w.keys[short]))
				}
			}
		}
		properties[kind] = node{"description": w.about, "anyOf": append(forms, s.object(kind))}
	}
	return node{"anyOf": []any{
		node{"enum": bare},
		node{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1, "maxProperties": 1},
	}}
}

// value is what a field of a Go type may hold.
func (s schema) value(t reflect.Type, k key) node {
	switch t {
	case reflect.TypeFor[time.Duration]():
		if k.forever {
			return node{"anyOf": []any{ref("duration"), node{"const": "forever"}}}
		}
		return ref("duration")
	case reflect.TypeFor[times]():
		return node{"anyOf": []any{node{"type": "integer", "minimum": 1}, node{"const": "any"}}}
	case reflect.TypeFor[[]string]():
		return ref("texts")
	case reflect.TypeFor[[]int]():
		return node{"type": "array", "items": node{"type": "integer", "minimum": 1}}
	case reflect.TypeFor[map[string]string]():
		return ref("headers")
	case reflect.TypeFor[Value]():
		return node{"type": []any{"string", "integer", "null"}}
	case reflect.TypeFor[When]():
		return ref("when")
	case reflect.TypeFor[Connections]():
		return ref("connections")
	case reflect.TypeFor[[]ToolPart]():
		return node{"type": "array", "items": ref("part"), "minItems": 1}
	case reflect.TypeFor[[]programForm]():
		return node{"type": "array", "items": ref("program")}
	case reflect.TypeFor[[]Step]():
		return ref("steps")
	case reflect.TypeFor[*bool](), reflect.TypeFor[bool]():
		return node{"type": "boolean"}
	}
	switch {
	case t.Kind() == reflect.Uint64:
		return node{"type": "integer", "minimum": 0}
	case t.Kind() == reflect.Int && k.forever:
		return node{"anyOf": []any{node{"type": "integer", "minimum": k.least}, node{"const": "forever"}}}
	case t.Kind() == reflect.Int:
		return node{"type": "integer", "minimum": k.least}
	case t.Kind() == reflect.Struct:
		return ref(name(s.entry(t)))
	case t.Kind() == reflect.Slice:
		return node{"type": "array", "items": ref(name(s.entry(t.Elem())))}
	case k.words != nil:
		return node{"enum": append([]string{""}, k.words...)}
	}
	return ref("text")
}
