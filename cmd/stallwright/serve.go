package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/harness/reference"
	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/server"
)

// serveFlags are the flags of serve that stand for a variable of the environment.
func serveFlags() map[string]string {
	return map[string]string{
		"config": "CONFIG_PATH", "host": "HOST", "port": "PORT", "max-connections": "MAX_CONNECTIONS", "log-level": "LOG_LEVEL", "log-format": "LOG_FORMAT",
	}
}

func (c *cli) serveCommand() *cobra.Command {
	var hooks, tellVersion bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "run the reference agent server",
		Long: "Runs the reference agent server until SIGTERM or SIGINT; a second signal skips the grace. It is configured by a TOML\n" +
			"file and the environment; the flags go before both. It logs to stderr, and tells of itself under /health and\n" +
			"/metrics. agent.example.toml, beside the README, shows every key of the file and every variable.",
		Example: "  stallwright serve --config agent.toml --port 8080",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tellVersion {
				fmt.Fprintln(c.stdout, version())
				return nil
			}
			given := map[string]string{} // by variable
			for flag, variable := range serveFlags() {
				if f := cmd.Flags().Lookup(flag); f.Changed {
					given[variable] = f.Value.String()
				}
			}
			return c.serve(given, hooks)
		},
	}
	cmd.Flags().String("config", "", "the configuration file (CONFIG_PATH, default config.toml)")
	cmd.Flags().String("host", "", "the address to listen on (HOST, default 127.0.0.1)")
	cmd.Flags().String("port", "", "the port to listen on, 0 for any that is free (PORT, default 8080)")
	cmd.Flags().String("max-connections", "", "how many connections are served at once, 0 for no limit; more are answered with 503 (MAX_CONNECTIONS, default 4096)")
	cmd.Flags().String("log-level", "", "debug, info, warn or error (LOG_LEVEL, default info)")
	cmd.Flags().String("log-format", "", "json or text (LOG_FORMAT, default json)")
	cmd.Flags().BoolVar(&tellVersion, "version", false, "print the version and exit")
	cmd.Flags().BoolVar(&hooks, "fault-hooks", false, "do wrong when a prompt asks for it")
	cmd.Flags().MarkHidden("fault-hooks")
	return cmd
}

func (c *cli) serve(given map[string]string, hooks bool) error {
	settings, file, err := c.configure(given)
	if err != nil {
		return err
	}
	log := newLog(c.stderr, settings)
	conf := server.Config{Settings: settings, File: file, Log: log, Version: version()}
	if hooks {
		conf.Hooks = reference.Hooks()
	}
	srv, err := server.New(conf)
	if err != nil {
		return &trouble{code: exitUsage, err: err}
	}
	// Before it listens: a signal that comes between must not kill it.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	forwarded, quit := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(forwarded)
		for {
			select {
			case sig := <-signals:
				srv.Signal(signalName(sig))
			case <-quit:
				return
			}
		}
	}()
	defer func() {
		signal.Stop(signals)
		close(quit)
		<-forwarded
	}()
	l, err := listen(settings.Host, settings.Port)
	if err != nil {
		return err
	}
	for _, w := range file.Warnings(settings) {
		log.Warn(w)
	}
	// Whoever starts a server waits for this line.
	log.LogAttrs(context.Background(), max(slog.LevelInfo, settings.LogLevel), "listening",
		slog.String("addr", l.Addr().String()), slog.String("version", version()))
	return ended(reference.Code(srv.Serve(l)))
}

// newLog writes lines of the format and from the level that the settings say.
func newLog(w io.Writer, s config.Settings) *slog.Logger {
	options := &slog.HandlerOptions{Level: s.LogLevel}
	if s.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// configure reads the settings and the file: flags before the environment before the defaults.
func (c *cli) configure(given map[string]string) (config.Settings, config.File, error) {
	lookup := func(name string) (string, bool) {
		if v, ok := given[name]; ok {
			return v, true
		}
		return c.lookup(name)
	}
	settings, err := config.FromEnv(lookup)
	if err != nil {
		return config.Settings{}, config.File{}, &trouble{code: exitUsage, err: inWordsOfFlags(err, given)}
	}
	file, err := config.Load(settings.ConfigPath, lookup)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return config.Settings{}, config.File{}, misuse(
			"name it with --config or CONFIG_PATH; agent.example.toml, beside the README, is one with everything; at the least it holds\n"+
				"  [agent]\n  name = \"demo\"\n  [agent.llm]\n  provider = \"openai\"\n  model = \"gpt-x\"",
			"%s: there is no such file", settings.ConfigPath)
	case err != nil:
		return config.Settings{}, config.File{}, &trouble{code: exitUsage, err: err}
	}
	return settings, file, nil
}

// inWordsOfFlags lets an error about a variable name the flag by which its value came.
func inWordsOfFlags(err error, given map[string]string) error {
	message := err.Error()
	for flag, variable := range serveFlags() {
		if _, ok := given[variable]; ok {
			message = strings.ReplaceAll("\n"+message, "\n"+variable+"=", "\n--"+flag+"=")[1:]
		}
	}
	return errors.New(message)
}

func listen(host string, port int) (net.Listener, error) {
	addr := net.JoinHostPort(host, strconv.Itoa(port))
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, misuse("stop what listens there, or choose another port; 0 takes any that is free", "%s is in use", addr)
	case err != nil:
		return nil, misuse("", "%s cannot be listened on: %v", addr, reason(err))
	}
	return l, nil
}
