package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/stallwright/stallwright/fakes/script"
)

// File is a script with all that belongs to it, as it stands in a YAML file.
type File struct {
	About       string
	Name        string // of the server
	Seed        uint64 // of all jitter; 0 is a random one, which is recorded
	Connections script.Connections
	Ready       []string // tools of ReadyTools; all is all of them
	Script      Script
}

// allReady is the name that stands for all ready tools.
const allReady = "all"

// fileForm is a file as it is written.
type fileForm struct {
	About       string             `yaml:"about,omitempty"`
	Name        string             `yaml:"name,omitempty"`
	Seed        uint64             `yaml:"seed,omitempty"`
	Connections script.Connections `yaml:"connections,omitempty"`
	Revisions   []string           `yaml:"revisions,omitempty"`
	Manners     Manners            `yaml:"manners,omitempty"`
	Ready       []string           `yaml:"ready,omitempty"`
	Tools       []Tool             `yaml:"tools,omitempty"`
	Programs    []programForm      `yaml:"programs,omitempty"`
}

type programForm struct {
	When     When          `yaml:"when,omitempty"`
	Times    script.Times  `yaml:"times,omitempty"`
	OnCancel OnCancel      `yaml:"on-cancel,omitempty"`
	Steps    []script.Step `yaml:"steps"`
}

// Parse reads a script file, which it calls name in errors. Its error is [script.Problems]: all that is wrong, with line
// and column. The bounds are those of [script.Parse].
func Parse(name string, data []byte) (File, error) {
	doc, err := script.Read(name, data)
	if err != nil {
		return File{}, err
	}
	f := Decode(doc, doc.Body)
	if err := doc.Err(); err != nil {
		return File{}, err
	}
	return f, nil
}

// Format gives a script file its usual layout, as [script.Format] does.
func Format(name string, data []byte) ([]byte, error) { return script.FormatAs(name, data, Parse) }

// Decode reads what stands at a node of a document, such as a case file's mcp, as Parse does; what is wrong is the
// document's.
func Decode(doc *script.Document, n ast.Node) File {
	var form fileForm
	before := doc.Problems()
	doc.DecodeIn(language(), n, &form, "the MCP script", "FILE")
	f := File{
		About: form.About, Name: form.Name, Seed: form.Seed, Connections: form.Connections, Ready: form.Ready,
		Script: Script{Revisions: form.Revisions, Manners: form.Manners, Tools: form.Tools},
	}
	for _, p := range form.Programs {
		f.Script.Programs = append(f.Script.Programs, Program{When: p.When, Times: int(p.Times), OnCancel: p.OnCancel, Steps: p.Steps})
	}
	if doc.Problems() == before {
		if err := f.Validate(); err != nil {
			if i := second(f.Script.Tools); i >= 0 {
				n = toolAt(n, i)
			}
			doc.Fail(n, f.hint(), "%s", strings.TrimPrefix(err.Error(), "mcp: "))
		}
	}
	return f
}

// toolAt is the node of the i-th of a file's tools, from 0, or the file's when it is not written out there.
func toolAt(file ast.Node, i int) ast.Node {
	m, ok := file.(*ast.MappingNode)
	if !ok {
		return file
	}
	for _, v := range m.Values {
		if tools, ok := v.Value.(*ast.SequenceNode); ok && v.Key.String() == "tools" && i < len(tools.Values) {
			return tools.Values[i]
		}
	}
	return file
}

// YAML is the file as [Parse] reads it. It is an error when the file is invalid, or has what YAML cannot say: a tool
// that runs a function.
func (f File) YAML() ([]byte, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	form := fileForm{
		About: f.About, Name: f.Name, Seed: f.Seed, Connections: f.Connections, Ready: f.Ready,
		Revisions: f.Script.Revisions, Manners: f.Script.Manners, Tools: f.Script.Tools,
	}
	for _, t := range form.Tools {
		if t.Run != nil {
			return nil, fmt.Errorf("mcp: tool %q runs a function, which files do not know", t.Name)
		}
	}
	for _, p := range f.Script.Programs {
		form.Programs = append(form.Programs, programForm{p.When, script.Times(p.Times), p.OnCancel, p.Steps})
	}
	return language().Write(form)
}

// Schema is the JSON Schema of script files (draft 2020-12), for editors.
func Schema() []byte { return language().Schema("stallwright MCP script") }

// Play is the script with the ready tools behind its own, but for those whose names its own have.
func (f File) Play() Script {
	s := f.Script
	s.Tools = slices.Clone(s.Tools)
	for _, t := range ReadyTools() {
		own := slices.ContainsFunc(f.Script.Tools, func(o Tool) bool { return o.Name == t.Name })
		if !own && (slices.Contains(f.Ready, t.Name) || slices.Contains(f.Ready, allReady)) {
			s.Tools = append(s.Tools, t)
		}
	}
	return s
}

// Validate says what is wrong with the file, its script included.
func (f File) Validate() error {
	if err := (script.File{Connections: f.Connections}).Validate(); err != nil {
		return fmt.Errorf("mcp: %s", strings.TrimPrefix(err.Error(), "script: "))
	}
	if unknown := f.unknown(); unknown != "" {
		return fmt.Errorf("mcp: no ready tool is called %.80q", unknown)
	}
	return f.Script.Validate()
}

// unknown is the first name of a ready tool that is none, or "".
func (f File) unknown() string {
	for _, name := range f.Ready {
		if !slices.Contains(readyNames(), name) {
			return name
		}
	}
	return ""
}

// hint says which ready tool was perhaps meant.
func (f File) hint() string {
	if unknown := f.unknown(); unknown != "" {
		return script.Meant(unknown, readyNames())
	}
	return ""
}

func readyNames() []string {
	names := []string{allReady}
	for _, t := range ReadyTools() {
		names = append(names, t.Name)
	}
	return names
}
