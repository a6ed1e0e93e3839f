package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

func (c *cli) scriptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "script",
		Short: "check and tidy the scripts that fakes play",
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.scriptCheckCommand(), c.scriptFmtCommand(), c.scriptSchemaCommand())
	return cmd
}

func (c *cli) scriptCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "say what is wrong with scripts, and where",
		Long: "Reads each script, - for stdin, and says all that is wrong with it: file, line, column, and what was perhaps meant.\n" +
			"Whether it is for a fake provider, MCP server, approver or collector is seen by what it says.",
		Example: "  stallwright script check stall.yaml tools.yaml",
		Args:    someFiles,
		RunE: func(_ *cobra.Command, files []string) error {
			return c.each(files, func(name string, data []byte) error {
				return checkScript(name, data)
			})
		},
	}
}

// checkScript says what is wrong with a script of any fake.
func checkScript(name string, data []byte) error {
	if err := noCase(name, data); err != nil {
		return err
	}
	if isApprover(name, data) {
		_, err := approver.Parse(name, data)
		return err
	}
	_, asProvider := script.Parse(name, data)
	if asProvider == nil {
		return nil
	}
	if _, err := mcp.Parse(name, data); err == nil || isMCP(name, data) {
		return err
	}
	if _, err := collector.Parse(name, data); err == nil || isCollector(name, data) {
		return err
	}
	return asProvider
}

// isMCP says whether a file, sound or not, has what is said to fake MCP servers alone: a key, or a step, whichever comes
// first of those that only one of the fakes knows.
func isMCP(name string, data []byte) bool {
	doc, err := script.Read(name, data)
	if err != nil {
		return false
	}
	var programs ast.Node
	for _, p := range doc.Pairs(doc.Body) {
		switch p.Name {
		case "name", "revisions", "manners", "ready", "tools":
			return true
		case "programs":
			programs = p.Value
		}
	}
	providers, servers := kindsOf(script.Steps()), kindsOf(mcp.Steps())
	for _, program := range entries(programs) {
		for _, p := range doc.Pairs(program) {
			switch p.Name {
			case "on-cancel":
				return true
			case "when":
				for _, w := range doc.Pairs(p.Value) {
					if w.Name == "method" || w.Name == "tool" {
						return true
					}
				}
			case "steps":
				for _, step := range entries(p.Value) {
					kind := stepWord(doc, step)
					if providers[kind] != servers[kind] {
						return servers[kind]
					}
				}
			}
		}
	}
	return false
}

// isApprover says whether a file, sound or not, has the one step that only fake approval webhooks know.
func isApprover(name string, data []byte) bool {
	doc, err := script.Read(name, data)
	return err == nil && hasStep(doc, approver.Decide{})
}

// isCollector says whether a file, sound or not, has what is said to fake collectors alone: a key, or their one step.
func isCollector(name string, data []byte) bool {
	doc, err := script.Read(name, data)
	if err != nil {
		return false
	}
	return hasStep(doc, collector.Accept{}) || slices.ContainsFunc(doc.Pairs(doc.Body), func(p script.Pair) bool { return p.Name == "max-body" })
}

// hasStep says whether a program has a step of this kind.
func hasStep(doc *script.Document, one script.Step) bool {
	for _, top := range doc.Pairs(doc.Body) {
		if top.Name != "programs" {
			continue
		}
		for _, program := range entries(top.Value) {
			for _, p := range doc.Pairs(program) {
				if p.Name == "steps" && slices.ContainsFunc(entries(p.Value), func(n ast.Node) bool { return stepWord(doc, n) == one.Kind() }) {
					return true
				}
			}
		}
	}
	return false
}

// stepWord is the word of a step in either of its forms, "" when it is none.
func stepWord(doc *script.Document, step ast.Node) string {
	if word, ok := step.(*ast.StringNode); ok {
		return word.Value
	}
	if pairs := doc.Pairs(step); len(pairs) > 0 {
		return pairs[0].Name
	}
	return ""
}

func kindsOf(steps []script.Step) map[string]bool {
	kinds := map[string]bool{}
	for _, s := range steps {
		kinds[s.Kind()] = true
	}
	return kinds
}

// entries are those of a list, or the one thing that stands in place of it.
func entries(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case nil:
		return nil
	case *ast.SequenceNode:
		return n.Values
	}
	return []ast.Node{n}
}

func (c *cli) scriptFmtCommand() *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "give scripts their usual layout",
		Long: "Prints each script, - for stdin, in its usual layout: indentation, blank lines, spaces. Comments, the order of keys,\n" +
			"and the choice of short or long forms stay as they are.",
		Example: "  stallwright script fmt -w *.yaml",
		Args:    someFiles,
		RunE: func(_ *cobra.Command, files []string) error {
			return c.each(files, func(name string, data []byte) error {
				if err := noCase(name, data); err != nil {
					return err
				}
				format := script.Format
				switch {
				case isApprover(name, data):
					format = approver.Format
				case isMCP(name, data):
					format = mcp.Format
				case isCollector(name, data):
					format = collector.Format
				}
				out, err := format(name, data)
				switch {
				case err != nil:
					return err
				case !write || name == stdinName:
					_, err = c.stdout.Write(out)
					return err
				case bytes.Equal(out, data):
					return nil
				}
				return replaceFile(name, out)
			})
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write to the files, in place of printing")
	return cmd
}

func (c *cli) scriptSchemaCommand() *cobra.Command {
	var forMCP, forApprover, forCollector bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of scripts, for editors",
		Example: "  stallwright script schema > script.schema.json\n" +
			"  # and in a script: # yaml-language-server: $schema=script.schema.json\n" +
			"  stallwright script schema --mcp > mcp.schema.json",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			schema := script.Schema()
			switch {
			case forMCP:
				schema = mcp.Schema()
			case forApprover:
				schema = approver.Schema()
			case forCollector:
				schema = collector.Schema()
			}
			_, err := c.stdout.Write(schema)
			return err
		},
	}
	cmd.Flags().BoolVar(&forMCP, "mcp", false, "that of scripts for fake MCP servers")
	cmd.Flags().BoolVar(&forApprover, "approver", false, "that of scripts for fake approval webhooks")
	cmd.Flags().BoolVar(&forCollector, "collector", false, "that of scripts for fake collectors")
	cmd.MarkFlagsMutuallyExclusive("mcp", "approver", "collector")
	return cmd
}

// parseScript reads a script, and knows a case file when it is given one.
func parseScript(name string, data []byte) (script.File, error) {
	if err := noCase(name, data); err != nil {
		return script.File{}, err
	}
	return script.Parse(name, data)
}

// noCase says so when a file is a case, and no script: it begins what it says with other keys.
func noCase(name string, data []byte) error {
	doc, err := script.Read(name, data)
	if err != nil {
		return nil // which the reader of scripts tells
	}
	keys := map[string]bool{}
	for _, p := range doc.Pairs(doc.Body) {
		keys[p.Name] = true
	}
	if !keys["case"] || keys["steps"] || keys["programs"] {
		return nil
	}
	line, column := script.Place(doc.Body)
	return script.Problems{{File: name, Line: line, Column: column, Text: "this is a case file", Hint: "play it with `stallwright repro " + name + "`"}}
}

// someFiles wants at least one file.
func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return misuse(orHelp("", cmd), "%s wants a file", cmd.CommandPath())
	}
	return nil
}

// each reads the files and does do with each, whatever became of those before. What went wrong is one error.
func (c *cli) each(files []string, do func(name string, data []byte) error) error {
	var errs []error
	for _, name := range files {
		data, err := c.readScript(name)
		if err == nil {
			err = do(name, data)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return &trouble{code: exitUsage, err: err}
	}
	return nil
}

// stdinName stands for stdin in place of a file.
const stdinName = "-"

// readScript reads a file that is perhaps a script, or so much of it that [script.Parse] finds it too long.
func (c *cli) readScript(name string) ([]byte, error) {
	in := c.stdin
	if name != stdinName {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", name, reason(err))
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, script.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, reason(err))
	}
	return data, nil
}

// replaceFile writes a file that was there, by way of another: it is never half written. A link is followed.
func replaceFile(name string, data []byte) error {
	wrong := func(err error) error { return fmt.Errorf("%s was not written: %w", name, reason(err)) }
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return wrong(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return wrong(err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return wrong(err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
		return wrong(err)
	}
	return nil
}
