package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

// Project is a store below a state directory.
type Project struct {
	Dir  string    // of the store
	Root string    // Options.Root of who opened it last; may be empty
	Used time.Time // when it was last opened or closed for writing
}

// expired begins the names of stores that are being removed.
const expired = ".expired-"

func projectsDir(state string) string { return filepath.Join(state, "review") }

// Projects lists the stores below a state directory. Stores that cannot be read
// are left out.
func Projects(state string) ([]Project, error) {
	dir := projectsDir(state)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("list reviews", dir, err)
	}
	var all []Project
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), expired) {
			continue
		}
		p := Project{Dir: filepath.Join(dir, e.Name())}
		info, err := os.Stat(filepath.Join(p.Dir, "lock"))
		if err != nil {
			continue
		}
		p.Used = info.ModTime()
		root, _ := os.ReadFile(filepath.Join(p.Dir, "project"))
		p.Root = string(root)
		all = append(all, p)
	}
	return all, nil
}

// Expire removes the stores that nobody has used since a time, unless a program
// has them open. It returns those it removed.
func Expire(state string, since time.Time) ([]Project, error) {
	all, err := Projects(state)
	if err != nil {
		return nil, err
	}
	// Removals that an earlier call could not finish.
	leftovers, _ := filepath.Glob(filepath.Join(projectsDir(state), expired+"*"))
	for _, dir := range leftovers {
		os.RemoveAll(dir)
	}
	var removed []Project
	var errs []error
	for _, p := range all {
		if !p.Used.Before(since) {
			continue
		}
		switch err := expire(p.Dir); {
		case errors.Is(err, ErrLocked):
		case err != nil:
			errs = append(errs, failed("remove review state", p.Dir, err))
		default:
			removed = append(removed, p)
		}
	}
	return removed, errors.Join(errs...)
}

// expire removes a store. It takes the name away first, so that others see all
// of the store or nothing.
func expire(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|atomicfile.OpenFlags, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := atomicfile.TryLock(f); errors.Is(err, atomicfile.ErrLocked) {
		return ErrLocked
	} else if err != nil {
		return err
	}
	defer atomicfile.Unlock(f)
	away := filepath.Join(filepath.Dir(dir), expired+filepath.Base(dir))
	if renameHoldsFiles {
		f.Close()
	}
	if err := os.Rename(dir, away); err != nil {
		return err
	}
	return os.RemoveAll(away)
}
