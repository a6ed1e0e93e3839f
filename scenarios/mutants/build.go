package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// ErrSource is what [Build] returns when the source does not compile and no mutant is to blame.
var ErrSource = errors.New("the source does not build")

// Build compiles the command pkg (./cmd/name) of the module at root with all of ms in it, into dir, and returns the
// path of the binary. flags are further flags of go build. What a mutant breaks in the compilation is reported with
// its file and the line of the source, all mutants together; other trouble is [ErrSource].
func Build(ctx context.Context, root, pkg string, ms []Mutant, dir string, flags ...string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	overlayJSON, err := Overlay(root, ms, dir)
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, path.Base(pkg))
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	args := slices.Concat([]string{"build", "-overlay", overlayJSON, "-o", bin}, flags)
	out, err := goTool(ctx, root, append(args, pkg)...)
	if err == nil {
		return bin, nil
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if blamed := blame(ctx, root, pkg, ms, dir, flags); blamed != nil {
		return "", blamed
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	out = strings.ReplaceAll(strings.TrimSpace(out), "\n", "\n  ")
	return "", fmt.Errorf("%w: go build %s: %w\n  %s", ErrSource, pkg, err, out)
}

// marked is a line of the compiler about a copy whose file name carries the ID of its mutant.
var marked = regexp.MustCompile(`^.*\.go#([a-z0-9-]+):(\d+(?::\d+)?): (.*)$`)

// blame builds once more with the mutants' IDs in the file names that the compiler prints: a line of the source alone
// does not say which of several copies of a function it is in.
func blame(ctx context.Context, root, pkg string, ms []Mutant, dir string, flags []string) error {
	byID := map[string]Mutant{}
	args := slices.Concat([]string{"build", "-o", filepath.Join(dir, "blame")}, flags)
	for _, m := range ms {
		byID[m.ID] = m
		args = append(args, "-gcflags=./"+path.Dir(m.File)+"=-e") // all errors, not the first ten
	}
	overlayJSON, err := overlay(root, ms, filepath.Join(dir, "blame"), func(file string, m Mutant) string { return file + "#" + m.ID })
	if err != nil {
		return err
	}
	out, _ := goTool(ctx, root, append(args, "-overlay", overlayJSON, pkg)...)
	var errs []error
	for line := range strings.Lines(out) {
		if sub := marked.FindStringSubmatch(strings.TrimSpace(line)); sub != nil {
			m := byID[sub[1]]
			errs = append(errs, fmt.Errorf("%s: %s:%s: func %s with its replacement does not compile: %s",
				m.path(), m.File, sub[2], m.Func, sub[3]))
		}
	}
	return errors.Join(errs...)
}

// goTool runs the go command in root and returns what it printed, at most 64 kB.
func goTool(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return string(out.Bytes()[:min(out.Len(), 64<<10)]), err
}
