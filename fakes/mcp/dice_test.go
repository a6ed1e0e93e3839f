package mcp

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
)

// dice makes valid files by chance.
type dice struct {
	*rand.Rand
	check checker
}

func (d dice) file() File {
	for {
		var f File
		f.Name, f.About, f.Seed = d.text(), d.text(), d.Uint64()
		d.fill(reflect.ValueOf(&f.Script.Manners).Elem(), "MANNERS")
		for range d.IntN(3) {
			t := Tool{Name: d.text()}
			d.fill(reflect.ValueOf(&t).Elem(), "TOOL")
			f.Script.Tools = append(f.Script.Tools, t)
		}
		for range d.IntN(4) {
			p := Program{Times: d.IntN(4) - 1, Steps: d.steps(0)}
			d.fill(reflect.ValueOf(&p.When).Elem(), "WHEN")
			d.fill(reflect.ValueOf(&p.OnCancel).Elem(), "CANCEL")
			f.Script.Programs = append(f.Script.Programs, p)
		}
		if f.Validate() == nil {
			return f
		}
	}
}

func (d dice) steps(depth int) []script.Step {
	var out []script.Step
	for all := Steps(); len(out) == 0 || d.IntN(3) > 0; {
		v := reflect.New(reflect.TypeOf(all[d.IntN(len(all))])).Elem()
		step := v.Interface().(script.Step)
		if r, ok := step.(script.Repeat); ok {
			if depth > 2 {
				continue
			}
			r.Times, r.Steps = 1+d.IntN(3), d.steps(depth+1)
			step = r
		} else {
			d.fill(v, step.Kind())
			step = v.Interface().(script.Step)
		}
		if d.check.step(step) == nil {
			out = append(out, step)
		}
	}
	return out
}

func (d dice) text() string {
	return []string{"x", "two words", "null", "1.0", "-", `"quoted"`, "line\nbreak", "any", "forever", "{}", "[1]", "é", "#"}[d.IntN(13)]
}

// fill sets some of a value's fields.
func (d dice) fill(v reflect.Value, entry string) {
	known := d.check.words[entry].Keys
	for i := range v.NumField() {
		name, field := key(v.Type().Field(i)), v.Field(i)
		if name == "-" || d.IntN(3) == 0 {
			continue
		}
		k := known[name]
		switch p := field.Addr().Interface().(type) {
		case *time.Duration:
			*p = time.Duration(d.IntN(5)) * 300 * time.Millisecond
		case *int:
			*p = d.IntN(400)
		case *bool:
			*p = d.IntN(2) > 0
		case *[]int:
			*p = []int{1 + d.IntN(3), 5}
		case *map[string]string:
			*p = map[string]string{"X-A": d.text()}
		case *OnCancel:
			d.fill(field, "CANCEL")
		case *Lives:
			d.fill(field, "SESSIONS")
		case *List:
			d.fill(field, "LIST")
		case *Process:
			d.fill(field, "PROCESS")
		case *Exit:
			d.fill(field, "exit")
		case *Progress:
			d.fill(field, "progress")
		case *Result:
			d.fill(field, "result")
		default:
			switch {
			case field.Kind() != reflect.String:
			case k.Words != nil:
				field.SetString(k.Words[d.IntN(len(k.Words))])
			default:
				field.SetString(d.text())
			}
		}
	}
}

// key is the name of a field in files.
func key(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}
