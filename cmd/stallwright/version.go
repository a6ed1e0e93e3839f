package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// build is what the binary knows of its making.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the tree had changes that the revision lacks
	Go       string `json:"go"`
}

func readBuild() build {
	b := build{Version: "devel"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Go = info.GoVersion
	if v := strings.Trim(info.Main.Version, "()"); v != "" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func version() string { return strings.TrimPrefix(readBuild().Version, "v") }

func (c *cli) versionCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := readBuild()
			if asJSON {
				return c.writeJSON(b)
			}
			fmt.Fprintf(c.stdout, "stallwright %s", version())
			if b.Revision != "" && !strings.Contains(b.Version, b.Revision[:min(12, len(b.Revision))]) {
				fmt.Fprintf(c.stdout, " (%.12s)", b.Revision)
			}
			fmt.Fprintf(c.stdout, " %s\n", b.Go)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func (c *cli) writeJSON(v any) error {
	e := json.NewEncoder(c.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return internal(err)
	}
	return nil
}
