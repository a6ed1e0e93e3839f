package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/reports"
	"github.com/stallwright/stallwright/reports/junit"
)

// reportFile is a report that was asked for. It is opened before the run: after an hour of testing is too late to
// learn that a path is wrong.
type reportFile struct {
	format, path string
	file         *os.File
	made         bool // by us, so far empty
	written      bool
}

type reportFiles []*reportFile

// openReports opens the files of FORMAT[=PATH]. What a file holds stays until it is written.
func openReports(values []string) (_ reportFiles, err error) {
	defaults := map[string]string{"junit": "stallwright-junit.xml", "json": "stallwright-results.json"}
	var out reportFiles
	defer func() {
		if err != nil {
			out.close()
		}
	}()
	for _, v := range values {
		format, path, given := strings.Cut(v, "=")
		usual, ok := defaults[format]
		if !ok {
			return nil, misuse("the formats are junit and json", "there is no report format %q", format)
		}
		if !given {
			path = usual
		}
		if slices.ContainsFunc(out, func(f *reportFile) bool { return filepath.Clean(f.path) == filepath.Clean(path) }) {
			return nil, misuse("give each report a path of its own", "two reports go to %s", path)
		}
		info, missing := os.Stat(path)
		if path == "-" || missing == nil && info.Mode()&os.ModeNamedPipe != 0 {
			return nil, misuse("--format json writes the results to standard output", "the report %s is not a file", path)
		}
		for _, o := range out {
			if other, err := o.file.Stat(); err == nil && missing == nil && os.SameFile(info, other) {
				return nil, misuse("give each report a path of its own", "two reports go to %s", path)
			}
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return nil, misuse("make its folder first, or choose another path with --report "+format+"=PATH", "the report %s cannot be written: %v", path, reason(err))
		}
		out = append(out, &reportFile{format: format, path: path, file: f, made: errors.Is(missing, os.ErrNotExist)})
	}
	return out, nil
}

// reason is an error of a file or an address without its name, which the message around it has.
func reason(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	if o, ok := errors.AsType[*net.OpError](err); ok {
		return o.Err
	}
	return err
}

// path is where the report of a format goes, or "".
func (fs reportFiles) path(format string) string {
	for _, f := range fs {
		if f.format == format {
			return f.path
		}
	}
	return ""
}

// write writes all reports. It returns the paths of those that were, and what kept the others from it.
func (fs reportFiles) write(r reports.Report) (written []string, err error) {
	var errs []error
	for _, f := range fs {
		if err := f.write(r); err != nil {
			errs = append(errs, fmt.Errorf("the report %s was not written: %w", f.path, reason(err)))
			continue
		}
		f.written = true
		written = append(written, f.path)
	}
	return written, errors.Join(errs...)
}

func (f *reportFile) write(r reports.Report) error {
	draw := map[string]func(io.Writer, reports.Report) error{"junit": junit.Write, "json": reports.Write}[f.format]
	var b bytes.Buffer
	if err := draw(&b, r); err != nil {
		return err
	}
	// What is not a regular file, such as a pipe, has no length.
	if info, err := f.file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := f.file.Truncate(0); err != nil {
			return err
		}
	}
	if _, err := f.file.Write(b.Bytes()); err != nil {
		return err
	}
	f.written = true
	return f.file.Close()
}

// close closes the files, and removes those that it made and nobody wrote.
func (fs reportFiles) close() {
	for _, f := range fs {
		f.file.Close()
		if f.made && !f.written {
			os.Remove(f.path)
		}
	}
}
