package main

import (
	"context"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/fakes/admin"
)

// What every `stallwright fake` shares: scripts by name, and a fake that stands by itself until it is told to go.

// named is a script that comes with the command.
type named[F any] struct {
	name, about string
	file        F
}

// shelf has the scripts of one fake: those that come with the command, and a way to read others.
type shelf[F any] struct {
	fake  string // as its verb is called
	ready []named[F]
	parse func(name string, data []byte) (F, error)
}

// rows lists the scripts that come with the command.
func (s shelf[F]) rows() (rows [][]string) {
	for _, n := range s.ready {
		rows = append(rows, []string{n.name, n.about})
	}
	return rows
}

// complete has a shell know their names.
func (s shelf[F]) complete(cmd *cobra.Command) {
	cmd.RegisterFlagCompletionFunc("script", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, n := range s.ready {
			names = append(names, n.name+"\t"+n.about)
		}
		return names, cobra.ShellCompDirectiveDefault
	})
}

// find is a script that comes with the command, or that of a file: a name with a dot or a slash is a path.
func (s shelf[F]) find(c *cli, name string) (none F, err error) {
	if name == stdinName || strings.ContainsAny(name, `./\`) {
		data, err := c.readScript(name)
		if err != nil {
			return none, misuse("", "%w", err)
		}
		f, err := s.parse(name, data)
		if err != nil {
			return none, misuse("", "%w", err)
		}
		return f, nil
	}
	var names []string
	for _, n := range s.ready {
		if n.name == name {
			return n.file, nil
		}
		names = append(names, n.name)
	}
	hint := didYouMean(name, names, "")
	if hint == "" {
		hint = "`stallwright fake " + s.fake + " --list` shows them; a file is named with its ending or folder"
	}
	return none, misuse(hint, "there is no script %q", name)
}

// standalone is a fake that can stand by itself.
type standalone interface {
	Serve(net.Listener) error
	Close() error
}

// stand has a fake serve the listener, steered by a handler that begins with a script, until it fails or is told to go. It prints the
// greeting once the fake can be reached.
func (c *cli) stand(ctx context.Context, l net.Listener, fake standalone, handler *admin.Handler, begin admin.Script, greeting string) error {
	ctx, stopped := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stopped()
	shown := c.newShow()
	handler.Opened = shown.watch
	if err := handler.Begin(begin); err != nil {
		l.Close()
		shown.end()
		return internal(err)
	}
	served := make(chan error, 1)
	go func() { served <- fake.Serve(l) }()
	c.stdout.Write([]byte(greeting))
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	stopped() // a second Ctrl-C does not wait
	handler.Close()
	fake.Close()
	shown.end()
	if err != nil {
		return internal(err)
	}
	return nil
}

// listenFor is the listener at the address that --listen says.
func listenFor(addr string, remote bool) (net.Listener, error) {
	host, port, err := listenAddress(addr, remote)
	if err != nil {
		return nil, err
	}
	return listen(host, port)
}
