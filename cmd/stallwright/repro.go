package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/casefile"
)

func (c *cli) reproCommand() *cobra.Command {
	f := usualFlags()
	cmd := &cobra.Command{
		Use:   "repro FILE...",
		Short: "play case files on a server and judge what it did",
		Long: "Plays the cases that FILEs describe, on the built-in server or on one that already runs (--url), and judges what was\n" +
			"seen, as run does with the cases that come with stallwright. The canary is played before and after them.\n\n" +
			"A case file is YAML: what the provider answers, what the client does, and what is expected. What is wrong with one\n" +
			"is told with line and column, and nothing is played. The checks of a case are named by their place: expect-1 and so\n" +
			"on. `stallwright repro --schema` prints the JSON Schema of case files, for editors.",
		Example: "  stallwright repro stall-after-two.yaml\n" +
			"  stallwright repro cases/*.yaml --time real\n" +
			"  stallwright repro stall-after-two.yaml --url http://127.0.0.1:8080 --window inactivity=2s",
	}
	schema := false
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		if schema {
			if err := noArgs(cmd, files); err != nil {
				return err
			}
			_, err := c.stdout.Write(casefile.Schema())
			return err
		}
		if err := someFiles(cmd, files); err != nil {
			return err
		}
		watch := c.watchSignals(cmd)
		defer watch.finish()
		if err := c.readEnvironment(cmd); err != nil {
			return err
		}
		return c.reproVerb(cmd, watch, f, files)
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of case files, and play nothing")
	return cmd
}

func (c *cli) reproVerb(cmd *cobra.Command, watch *signals, f runFlags, files []string) error {
	p, err := f.plan(cmd.Flags().Changed)
	if err != nil {
		return err
	}
	var windows []harness.Windows
	if p.attached() {
		windows = append(windows, p.windows)
	}
	l, from, err := c.readCases(files, p.dialects, windows...)
	if err != nil {
		return &trouble{code: exitUsage, err: err}
	}
	p.files = files
	if p.dialects != nil {
		l.dialects = p.dialects
	}
	own := *c
	own.library = l
	apart := l.apart(from)
	if len(apart) == len(files) {
		return &trouble{code: ending{empty: true}.code(), err: errors.New("nothing to play: " + strings.Join(apart, ", "))}
	}
	c.leftOut(apart)
	if err := own.playable(p, nil, l.cases()); err != nil {
		return err
	}
	return own.playChosen(cmd, watch, f, p, l.cases(), files, from)
}

// apart says, as sentences and in the order of the library, which of its cases from files are about none of its dialects.
func (l library) apart(from map[string]string) []string {
	var out []string
	for _, s := range l.scenarios {
		if file := from[s.ID]; file != "" && len(l.of(s)) == 0 {
			out = append(out, fmt.Sprintf("%s is about %s only", file, and(s.Dialects)))
		}
	}
	return out
}

// leftOut tells what is not played.
func (c *cli) leftOut(sentences []string) {
	for _, s := range sentences {
		c.say("stallwright: note: ", s+": it is left out")
	}
}

// readCases is the library with the cases of these files in place of its own scenarios, and the file of each case. Its
// error has all that is wrong with all files.
//
// A case that names no dialect is played on those given, or on [harness.OpenAI].
func (c *cli) readCases(files, dialects []string, windows ...harness.Windows) (library, map[string]string, error) {
	l := c.library
	read, from, err := c.parseCases(files, dialects, false, windows)
	l.scenarios, l.elsewhere = read, l.scenarios
	return l, from, err
}

// addCases is the library with the cases of these files behind its own scenarios, and the file of each case. Its error
// has all that is wrong with all files. Dialects are as for readCases.
func (c *cli) addCases(files, dialects []string, windows ...harness.Windows) (library, map[string]string, error) {
	l := c.library
	read, from, err := c.parseCases(files, dialects, true, windows)
	l.scenarios = append(slices.Clone(l.scenarios), read...)
	return l, from, err
}

// parseCases reads case files. Each case has an ID of its own, and when they are played beside the library's scenarios
// none of theirs.
func (c *cli) parseCases(files, dialects []string, beside bool, windows []harness.Windows) ([]harness.Scenario, map[string]string, error) {
	l := c.library
	var guarantees []string
	for _, g := range l.guarantees {
		guarantees = append(guarantees, g.ID)
	}
	if dialects == nil {
		dialects = []string{harness.OpenAI}
	}
	var out []harness.Scenario
	from := map[string]string{}
	var errs []error
	for _, name := range files {
		read, err := c.readCase(name, guarantees, windows)
		id := read.Scenario.ID
		switch first := from[id]; {
		case err != nil:
		case first != "" && filepath.Clean(first) == filepath.Clean(name):
			err = fmt.Errorf("%s is named twice", name)
		case first != "":
			err = fmt.Errorf("%s: the case %s is in %s too", name, id, first)
		case l.isCanary(id):
			err = fmt.Errorf("%s: the case %s comes with stallwright", name, id)
		case beside && l.hasScenario(id):
			err = fmt.Errorf("%s: the case %s has the ID of a scenario, which is in %s", name, id, scenarioFile(id))
		default:
			from[id] = name
			if read.Scenario.Dialects == nil {
				read.Scenario.Dialects = dialects
			}
			out = append(out, read.Scenario)
		}
		errs = append(errs, err)
	}
	return out, from, errors.Join(errs...)
}

// scenarioFile is where the scenario of that ID is written.
func scenarioFile(id string) string {
	return "scenarios/" + strings.NewReplacer("/", "_", "-", "_").Replace(id) + ".go"
}

func (c *cli) readCase(name string, guarantees []string, windows []harness.Windows) (casefile.Case, error) {
	if name == stdinName || strings.TrimSpace(name) == "" {
		return casefile.Case{}, errors.New("a case is read from a file, since each of the processes that play it reads it")
	}
	data, err := c.readScript(name)
	if err != nil {
		return casefile.Case{}, err
	}
	return casefile.Parse(name, data, guarantees, windows...)
}
