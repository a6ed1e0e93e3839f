package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/reports/text"
	"github.com/stallwright/stallwright/scenarios/mutants"
)

// cli is what the verbs work with. Tests give it other players and another library.
type cli struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	lookup         func(string) (string, bool) // the environment
	environ        func() []string             // all of it, as NAME=VALUE
	executable     func() (string, error)      // the path of this binary, for workers and servers
	library        library
	player         func(*cli, plan) (harness.Player, error)
}

// trouble is an error with its exit code. Without err nothing is said any more.
type trouble struct {
	code int
	err  error
	hint string // what to do, a line or more
}

func (t *trouble) Error() string { return fmt.Sprint(t.err) }

func (t *trouble) Unwrap() error { return t.err }

// misuse is trouble that the person at the keyboard can mend.
func misuse(hint, format string, args ...any) error {
	return &trouble{exitUsage, fmt.Errorf(format, args...), hint}
}

func internal(err error) error { return &trouble{code: exitInternal, err: err} }

// ended makes an exit code of a verb that has said all itself.
func ended(code int) error {
	if code == exitOK {
		return nil
	}
	return &trouble{code: code}
}

func (c *cli) getenv(name string) string {
	v, _ := c.lookup(name)
	return v
}

// run runs one command line and returns its exit code.
func (c *cli) run(ctx context.Context, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			c.complain(fmt.Errorf("stallwright broke: %v", p), keepStack(debug.Stack()))
			code = ending{crashed: true}.code()
		}
	}()
	root := c.root()
	err := known(root, args)
	if err == nil {
		root.SetArgs(args)
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		return exitOK
	}
	t, ok := errors.AsType[*trouble](err)
	if !ok {
		t = &trouble{code: exitUsage, err: err} // cobra's own errors are all about the command line
	}
	if t.err != nil {
		c.complain(t.err, t.hint)
	}
	return t.code
}

// keepStack saves the stack of a crash and says where; the terminal never shows one.
func keepStack(stack []byte) string {
	f, err := os.CreateTemp("", "stallwright-crash-*.txt")
	if err != nil {
		return "please report it"
	}
	defer f.Close()
	f.Write(stack)
	return "please report it with " + f.Name()
}

// complain writes an error, and a hint when there is one, to stderr. Each line of the error is one of its own.
func (c *cli) complain(err error, hint string) {
	c.say("stallwright: error: ", err.Error())
	if hint != "" {
		c.say("stallwright: hint: ", hint)
	}
}

func (c *cli) say(prefix, message string) {
	for line := range strings.Lines(message) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			fmt.Fprintln(c.stderr, prefix+text.Escape(line))
		}
	}
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "stallwright",
		Short: "makes agent servers prove that they survive their providers",
		Long: "stallwright makes agent servers prove that they survive their providers: it stands between them as a fake\n" +
			"provider and a client, stalls, cuts and floods, and judges what the server did.",
		Example: "  stallwright run                                              the built-in server, in virtual time\n" +
			"  stallwright run first-chunk --url http://127.0.0.1:8080      a server that already runs",
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(c.stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	root.SetFlagErrorFunc(wrongFlag)
	root.AddCommand(
		c.runCommand(), c.reproCommand(), c.listCommand(), c.explainCommand(), c.serveCommand(), c.fakeCommand(), c.scriptCommand(), c.versionCommand(), c.workerCommand(), c.soakCommand(),
	)
	root.SetHelpCommand(&cobra.Command{
		Use: "help [VERB]", Short: "help about a verb", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := known(root, args); err != nil {
				return err
			}
			about, _, _ := root.Find(args)
			return about.Help()
		},
	})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// known says so when the first word is no verb. Cobra would read the flags first, and complain of them.
func known(root *cobra.Command, args []string) error {
	cmd := root
	for _, word := range args {
		if strings.HasPrefix(word, "-") || strings.HasPrefix(word, "__complete") || !cmd.HasSubCommands() {
			return nil
		}
		var verbs []string
		var next *cobra.Command
		for _, sub := range cmd.Commands() {
			if sub.Name() == word || sub.HasAlias(word) {
				next = sub
			}
			if !sub.Hidden {
				verbs = append(verbs, sub.Name())
			}
		}
		if next == nil {
			return misuse(orHelp(didYouMean(word, verbs, ""), cmd), "unknown verb %q for %q", word, cmd.CommandPath())
		}
		cmd = next
	}
	return nil
}

// wrongFlag gives cobra's complaint the nearest right flags.
func wrongFlag(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if errors.As(err, &missing) && missing.GetSpecifiedShortnames() == "" {
		var flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				flags = append(flags, f.Name)
			}
		})
		return misuse(orHelp(didYouMean(missing.GetSpecifiedName(), flags, "--"), cmd), "%v", err)
	}
	return misuse(orHelp("", cmd), "%v", err)
}

func orHelp(hint string, cmd *cobra.Command) string {
	if hint != "" {
		return hint
	}
	return "see `" + cmd.CommandPath() + " --help`"
}

// noArgs refuses words behind a verb that takes none.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misuse(orHelp("", cmd), "%s takes no arguments: %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// readEnvironment sets the flags that were not given from STALLWRIGHT_UPPER_SNAKE. Flags that may be repeated take
// a list with commas.
func (c *cli) readEnvironment(cmd *cobra.Command) error {
	var errs []error
	var names []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		name := "STALLWRIGHT_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		names = append(names, name)
		value, set := c.lookup(name)
		// An empty variable is as good as none, but for the URL: without one another server is judged.
		if f.Changed || !set || value == "" && f.Name != "url" || f.Name == "help" {
			return
		}
		values := []string{value}
		if f.Value.Type() == listType {
			values = strings.Split(value, ",")
		}
		for _, v := range values {
			if err := cmd.Flags().Set(f.Name, v); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
				return
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		return &trouble{code: exitUsage, err: err}
	}
	return c.unknownVariable(names)
}

// unknownVariable says so when a variable is nearly that of a flag. Others that begin so may be somebody else's.
func (c *cli) unknownVariable(names []string) error {
	for _, v := range c.environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "STALLWRIGHT_") || slices.Contains(append(names, caseVariables()...), name) || name == mutants.Variable {
			continue
		}
		if hint := didYouMean(name, names, ""); hint != "" {
			return misuse(hint, "%s is the variable of no flag", name)
		}
	}
	return nil
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device that nobody looks at
	return err != nil || !os.SameFile(info, null)
}

// style is how text is drawn on a stream.
func (c *cli) style(w io.Writer, color string, ascii bool) text.Style {
	return text.Style{Color: text.ColorFor(color, isTerminal(w), c.getenv), ASCII: text.ASCIIFor(ascii, c.getenv)}
}
