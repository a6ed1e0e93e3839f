package approver

import (
	"reflect"
	"strings"

	"github.com/stallwright/stallwright/fakes/script"
)

// File is a script as it stands in a YAML file.
type File struct {
	About  string
	Script Script
}

type fileForm struct {
	About    string        `yaml:"about,omitempty"`
	Programs []programForm `yaml:"programs,omitempty"`
}

type programForm struct {
	When  When          `yaml:"when,omitempty"`
	Times script.Times  `yaml:"times,omitempty"`
	Steps []script.Step `yaml:"steps"`
}

type keys = map[string]script.Key

func says(about string) script.Key { return script.Key{About: about} }

// language is what script files say.
func language() script.Language {
	var wrong []string
	for _, s := range Signatures() {
		wrong = append(wrong, string(s))
	}
	return script.Language{
		Steps: Steps(), Check: check,
		Forms: map[string]reflect.Type{"FILE": reflect.TypeFor[fileForm](), "PROGRAM": reflect.TypeFor[programForm](), "WHEN": reflect.TypeFor[When]()},
		Words: map[string]script.Word{
			"FILE": {About: "A script of a fake approval webhook.", Keys: keys{
				"about":    says("what the script is for, in a sentence"),
				"programs": says("the programs: a request takes the first that fits and is not used up; without programs all are answered yes"),
			}},
			"PROGRAM": {About: "The answer to one request, or to several.", Keys: keys{
				"when":  says("the requests that it is for; all when left out"),
				"times": says("how many requests it answers: a number, or any; once when left out"),
				"steps": says("what is done, in this order"),
			}},
			"WHEN": {About: "Chooses requests. What is left out fits every request.", Keys: keys{
				"tool":     says("the tool that is asked about"),
				"contains": says("the request's body has this text"),
				"request":  says("the so-many-th request of the session, from 1"),
			}},
			"decide": {About: "Answers with a decision.", Short: []string{"approved"}, Keys: keys{
				"approved":  says("yes or no"),
				"reason":    says("why"),
				"signature": {About: "what is wrong with its signature; nothing when left out", Words: wrong},
				"pad":       says("so many blanks behind it"),
			}},
		},
	}
}

// Parse reads a script file, which it calls name in errors. Its error is [script.Problems]: all that is wrong, with line and column. The
// bounds are those of [script.Parse].
func Parse(name string, data []byte) (File, error) {
	doc, err := script.Read(name, data)
	if err != nil {
		return File{}, err
	}
	var form fileForm
	before := doc.Problems()
	doc.DecodeIn(language(), doc.Body, &form, "the approver's script", "FILE")
	f := File{About: form.About}
	for _, p := range form.Programs {
		f.Script = append(f.Script, Program{When: p.When, Times: int(p.Times), Steps: p.Steps})
	}
	if doc.Problems() == before {
		if err := f.Script.Validate(); err != nil {
			doc.Fail(doc.Body, "", "%s", strings.TrimPrefix(err.Error(), "approver: "))
		}
	}
	if err := doc.Err(); err != nil {
		return File{}, err
	}
	return f, nil
}

// YAML is the file as [Parse] reads it. It is an error when the file is invalid.
func (f File) YAML() ([]byte, error) {
	if err := f.Script.Validate(); err != nil {
		return nil, err
	}
	form := fileForm{About: f.About}
	for _, p := range f.Script {
		form.Programs = append(form.Programs, programForm{p.When, script.Times(p.Times), p.Steps})
	}
	return language().Write(form)
}

// Schema is the JSON Schema of script files (draft 2020-12), for editors.
func Schema() []byte { return language().Schema("stallwright approver script") }

// Format gives a script file its usual layout, as [script.Format] does.
func Format(name string, data []byte) ([]byte, error) { return script.FormatAs(name, data, Parse) }
