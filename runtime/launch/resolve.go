package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/internal/process"
)

// StartError reports an agent that could not be started. Err is the reason; it
// matches exec.ErrNotFound, fs.ErrNotExist or fs.ErrPermission if it is one of
// these.
type StartError struct {
	Command string
	Err     error
}

func (e *StartError) Error() string { return "cannot start " + e.Command + ": " + e.Err.Error() }

func (e *StartError) Unwrap() error { return e.Err }

// Permanent says that retrying is pointless: a missing program stays missing.
func (e *StartError) Permanent() bool { return true }

// resolve finds the program as a shell in dir would with the PATH of env.
func resolve(path, dir string, env []string) (string, error) {
	if path == "" {
		return "", errors.New("no program given")
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home := process.Lookup(env, "HOME"); home != "" {
			path = filepath.Join(home, rest)
		}
	}
	if strings.ContainsRune(path, '/') || strings.ContainsRune(path, filepath.Separator) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		return program(abs)
	}
	search := process.Lookup(env, "PATH")
	var found error
	for _, d := range filepath.SplitList(search) {
		if !filepath.IsAbs(d) {
			continue // the agent's directory must not decide what runs
		}
		p, err := program(filepath.Join(d, path))
		if err == nil {
			return p, nil
		}
		if found == nil && !errors.Is(err, fs.ErrNotExist) {
			found = err
		}
	}
	if found != nil {
		return "", found
	}
	if search == "" {
		return "", fmt.Errorf("%s: %w: PATH is empty", path, exec.ErrNotFound)
	}
	return "", fmt.Errorf("%s: %w (searched %s); install it or give its full path", path, exec.ErrNotFound, search)
}

// program checks that p can be run.
func program(p string) (string, error) {
	p, info, err := stat(p)
	var pathErr *fs.PathError
	switch {
	case errors.As(err, &pathErr):
		return "", fmt.Errorf("%s: %w", p, pathErr.Err)
	case err != nil:
		return "", err
	case info.IsDir():
		return "", fmt.Errorf("%s: is a directory: %w", p, fs.ErrPermission)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s: is not a regular file: %w", p, fs.ErrPermission)
	case !runnable(info):
		return "", fmt.Errorf("%s: is not executable (chmod +x makes it so): %w", p, fs.ErrPermission)
	}
	return p, nil
}

// checkDir reports why dir cannot be the working directory.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return fmt.Errorf("working directory %s: %w", dir, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("working directory %s: is not a directory", dir)
	}
	return nil
}
