package casefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// MostFiles bounds the case files of one folder.
const MostFiles = 1000

// Files lists the case files that a path stands for: the file itself, or the *.yaml and *.yml of a folder, sorted by
// name; those of folders inside it are not among them (see [Inner]). A folder without any is an error, since a wrong path would else prove nothing,
// and so is one with more than [MostFiles]. The files are not read.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	var out []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		out = append(out, filepath.Join(path, e.Name()))
	}
	switch {
	case len(out) == 0:
		return nil, fmt.Errorf("%s has no case file: want *.yaml or *.yml in it", path)
	case len(out) > MostFiles:
		return nil, fmt.Errorf("%s has %d case files: want at most %d", path, len(out), MostFiles)
	}
	return out, nil
}

// Inner lists the folders inside a folder, which [Files] does not look into, hidden ones aside.
func Inner(path string) []string {
	entries, err := os.ReadDir(path) // a file has none, and whoever wants its files is told of an error
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && e.Name()[0] != '.' {
			out = append(out, filepath.Join(path, e.Name()))
		}
	}
	return out
}

// cause is an error of a file without its name, which the message around it has.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
