package collector

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// Script is what a collector does. The zero value accepts everything.
type Script struct {
	MaxBody  int       // bytes of an export, as it is sent and unpacked; larger ones get 413. 4 MiB when 0
	Programs []Program // an export takes the first that is not used up, and is accepted when there is none
}

// Program is what is done with one export, or with several. When its steps are over the export is accepted.
type Program struct {
	Times int // how many exports take it; 1 when 0, [script.Any] for all
	Steps []script.Step
}

// Accept answers well, with a partial success when something is rejected or said.
type Accept struct {
	Rejected int    `yaml:"rejected,omitempty"` // spans that are said not to have been taken
	Message  string `yaml:"message,omitempty"`
}

// Kind is the step's word.
func (Accept) Kind() string { return "accept" }

// Steps lists every step that a program may have, with no values in it.
func Steps() []script.Step {
	return []script.Step{Accept{}, script.Pause{}, script.Await{}, script.Open{}, fault.Stall{}, fault.Cut{}, fault.Reset{}, fault.Status{}}
}

const (
	usualBody   = 4 << 20
	largestBody = 64 << 20
)

func (s Script) maxBody() int64 { return int64(cmp.Or(s.MaxBody, usualBody)) }

// Validate says what is wrong with the script before anything plays: the program's and the step's number, from 1, and the value.
func (s Script) Validate() error {
	if s.MaxBody < 0 || s.MaxBody > largestBody {
		return fmt.Errorf("collector: max-body %d: want at most %d bytes", s.MaxBody, largestBody)
	}
	for i, p := range s.Programs {
		if p.Times < script.Any {
			return fmt.Errorf("collector: program %d: want times of %d (any number) or more", i+1, script.Any)
		}
		for n, step := range p.Steps {
			if err := check(step); err != nil {
				return fmt.Errorf("collector: program %d, step %d: %w", i+1, n+1, err)
			}
		}
	}
	return nil
}

// Gates lists the gates that the steps of the script await.
func (s Script) Gates() []string {
	var all script.Script
	for _, p := range s.Programs {
		all = append(all, script.Program{Steps: p.Steps})
	}
	return all.Awaited()
}

// check says what is wrong with a step by itself.
func check(step script.Step) error {
	if !slices.ContainsFunc(Steps(), func(s script.Step) bool { return reflect.TypeOf(s) == reflect.TypeOf(step) }) {
		return fmt.Errorf("a collector has no step %T", step)
	}
	if a, ok := step.(Accept); ok {
		if a.Rejected < 0 {
			return errors.New("rejected: want 0 or more")
		}
		return nil
	}
	return script.Check(step)
}

// File is a script as it stands in a YAML file.
type File struct {
	About  string
	Script Script
}

type fileForm struct {
	About    string        `yaml:"about,omitempty"`
	MaxBody  int           `yaml:"max-body,omitempty"`
	Programs []programForm `yaml:"programs,omitempty"`
}

type programForm struct {
	Times script.Times  `yaml:"times,omitempty"`
	Steps []script.Step `yaml:"steps"`
}

// Parse reads a script file, which it calls name in errors. Its error is [script.Problems]: all that is wrong, with line and column. The bounds
// are those of [script.Parse].
func Parse(name string, data []byte) (File, error) {
	doc, err := script.Read(name, data)
	if err != nil {
		return File{}, err
	}
	f := decode(doc, doc.Body)
	if err := doc.Err(); err != nil {
		return File{}, err
	}
	return f, nil
}

func decode(doc *script.Document, n ast.Node) File {
	var form fileForm
	before := doc.Problems()
	doc.DecodeIn(language(), n, &form, "the collector's script", "FILE")
	f := File{About: form.About, Script: Script{MaxBody: form.MaxBody}}
	for _, p := range form.Programs {
		f.Script.Programs = append(f.Script.Programs, Program{Times: int(p.Times), Steps: p.Steps})
	}
	if doc.Problems() == before {
		if err := f.Script.Validate(); err != nil {
			doc.Fail(n, "", "%s", strings.TrimPrefix(err.Error(), "collector: "))
		}
	}
	return f
}

// YAML is the file as [Parse] reads it. It is an error when the script is invalid.
func (f File) YAML() ([]byte, error) {
	if err := f.Script.Validate(); err != nil {
		return nil, err
	}
	form := fileForm{About: f.About, MaxBody: f.Script.MaxBody}
	for _, p := range f.Script.Programs {
		form.Programs = append(form.Programs, programForm{script.Times(p.Times), p.Steps})
	}
	return language().Write(form)
}

// Format gives a script file its usual layout, as [script.Format] does.
func Format(name string, data []byte) ([]byte, error) { return script.FormatAs(name, data, Parse) }

// Schema is the JSON Schema of script files (draft 2020-12), for editors.
func Schema() []byte { return language().Schema("stallwright collector script") }

// language is what script files say.
func language() script.Language {
	type keys = map[string]script.Key
	return script.Language{
		Steps: Steps(), Check: check,
		Forms: map[string]reflect.Type{"FILE": reflect.TypeFor[fileForm](), "PROGRAM": reflect.TypeFor[programForm]()},
		Words: map[string]script.Word{
			"FILE": {About: "A script of a fake OpenTelemetry collector: what becomes of the exports that come to it.", Keys: keys{
				"about":    {About: "what the script is for, in a sentence"},
				"max-body": {About: "how many bytes an export may have, as it is sent and unpacked; 4 MiB when left out"},
				"programs": {About: "the programs: an export takes the first that is not used up, and is accepted when there is none"},
			}},
			"PROGRAM": {About: "What is done with one export, or with several. When its steps are over the export is accepted.", Keys: keys{
				"times": {About: "how many exports take it: a number, or any; once when left out"},
				"steps": {About: "what is done, in this order"},
			}},
			"accept": {About: "Answers well, with a partial success when something is rejected or said.", Keys: keys{
				"rejected": {About: "how many spans are said not to have been taken"},
				"message":  {About: "what is said about them"},
			}},
		},
	}
}
