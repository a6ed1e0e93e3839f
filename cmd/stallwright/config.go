package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness/casefile"
)

// configName is the file that is read when it lies in the current folder and no other is named.
const configName = "stallwright.yaml"

// The bounds and the version of a configuration.
const (
	configVersion = 1
	mostFolders   = 100 // entries of cases
)

// configuration is what a stallwright.yaml says.
type configuration struct {
	cases []casePath
}

// casePath is the path of a case file or of a folder of them, relative to where stallwright runs.
type casePath struct {
	path  string
	place string // where it is written, NAME:LINE:COLUMN; empty for one of the command line
}

// readConfig reads the configuration of that name. Without a name it is that of the current folder, if there is one.
func (c *cli) readConfig(name string, named bool) (configuration, error) {
	switch {
	case named && strings.TrimSpace(name) == "":
		return configuration{}, misuse("", "--config is empty")
	case named && name == stdinName:
		return configuration{}, misuse("", "a configuration is read from a file, since what it names is relative to it")
	case !named:
		name = configName
		if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
			return configuration{}, nil
		}
	}
	data, err := c.readScript(name)
	if err != nil {
		return configuration{}, misuse("", "%w", err)
	}
	parsed, err := parseConfig(name, data)
	if err != nil {
		return configuration{}, misuse("", "%w", err)
	}
	return parsed, nil
}

// parseConfig reads a configuration, which it calls name in errors, and to whose folder its paths are relative. Its error
// is [script.Problems].
func parseConfig(name string, data []byte) (configuration, error) {
	doc, err := script.Read(name, data, configKeys()...)
	if err != nil {
		return configuration{}, err
	}
	var out configuration
	body := doc.Follow(doc.Body)
	if _, ok := body.(*ast.MappingNode); !ok {
		doc.Fail(doc.Body, "", "the configuration is %s: want the keys %s", script.Source(body), strings.Join(configKeys(), ", "))
		return configuration{}, doc.Err()
	}
	versioned := false
	for _, p := range doc.Pairs(body) {
		switch p.Name {
		case "version":
			versioned = true
			version := configVersion
			doc.Decode(p.Value, &version, p.Name)
			if version != configVersion {
				doc.Fail(p.Value, "", "version is %d: this stallwright reads version %d", version, configVersion)
			}
		case "cases":
			out.cases = configPaths(doc, p, name)
		default:
			hint := script.Meant(p.Name, configKeys())
			if hint == "" {
				hint = "its keys are " + strings.Join(configKeys(), ", ")
			}
			doc.Fail(p.Key, hint, "a configuration has no key %s", script.Shown(p.Name))
		}
	}
	if !versioned {
		doc.Fail(body, "begin it with version: 1", "the configuration lacks version")
	}
	return out, doc.Err()
}

func configKeys() []string { return []string{"version", "cases"} }

// configPaths reads a path, or a list of them, in the configuration of that name.
func configPaths(doc *script.Document, p script.Pair, name string) []casePath {
	value := doc.Follow(p.Value)
	if value == nil {
		return nil
	}
	entries := []ast.Node{value}
	if list, ok := value.(*ast.SequenceNode); ok {
		entries = list.Values
	}
	if len(entries) == 0 || len(entries) > mostFolders {
		doc.Fail(p.Value, "", "%s has %d entries: want 1 to %d", p.Name, len(entries), mostFolders)
		return nil
	}
	var out []casePath
	for _, e := range entries {
		v := doc.Follow(e)
		text, ok := v.(*ast.StringNode)
		switch {
		case v == nil:
		case !ok || strings.TrimSpace(text.Value) == "":
			doc.Fail(e, "", "%s holds %s: want the path of a folder or a case file", p.Name, script.Source(v))
		default:
			path := filepath.FromSlash(text.Value)
			if !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(name), path)
			}
			if slices.ContainsFunc(out, func(o casePath) bool { return o.path == path }) {
				doc.Fail(e, "", "%s names %s twice", p.Name, script.Shown(text.Value))
			}
			line, column := script.Place(e)
			out = append(out, casePath{path, fmt.Sprintf("%s:%d:%d", name, line, column)})
		}
	}
	return out
}

// caseFlags say which case files are played, or listed, beside the scenarios.
type caseFlags struct {
	paths  []string // files and folders
	config string
}

func (f *caseFlags) register(cmd *cobra.Command) {
	cmd.Flags().Var(list{values: &f.paths}, "cases", "play the case files in this folder, or this one, beside the scenarios; may be repeated")
	f.registerConfig(cmd)
}

func (f *caseFlags) registerConfig(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "", "the configuration (default "+configName+" in the current folder, if there is one)")
}

// The variables of these flags. They may stand in the environment of every verb: repro has its files from the command line.
const (
	casesVariable  = "STALLWRIGHT_CASES"
	configVariable = "STALLWRIGHT_CONFIG"
)

func caseVariables() []string { return []string{casesVariable, configVariable} }

// caseFiles lists the case files that the configuration and the flags name, each once.
func (c *cli) caseFiles(f caseFlags, configNamed bool) ([]string, error) {
	conf, err := c.readConfig(f.config, configNamed)
	if err != nil {
		return nil, err
	}
	var out []string
	var errs []error
	seen := map[string]bool{} // by whole path: a folder may be named by the configuration and once more by a flag
	paths := conf.cases
	for _, path := range f.paths {
		paths = append(paths, casePath{path: path})
	}
	for _, p := range paths {
		files, err := casefile.Files(p.path)
		if err != nil && p.place != "" {
			err = fmt.Errorf("%s: %w", p.place, err)
		}
		errs = append(errs, err)
		for _, inner := range casefile.Inner(p.path) {
			if !slices.ContainsFunc(paths, func(o casePath) bool { return filepath.Clean(o.path) == inner }) {
				c.say("stallwright: note: ", inner+" is not looked into: name it too, if it has case files")
			}
		}
		for _, name := range files {
			whole, err := filepath.Abs(name)
			if err == nil && !seen[whole] {
				seen[whole] = true
				out = append(out, filepath.Clean(name))
			}
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &trouble{code: exitUsage, err: err}
	}
	if len(out) > casefile.MostFiles {
		return nil, misuse("", "%d case files: want at most %d", len(out), casefile.MostFiles)
	}
	return out, nil
}
