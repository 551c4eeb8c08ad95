package tree

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

var errPath = errors.New("not a path below the root")

// Look is a Scan of some files, also of those that git ignores: it returns the
// last snapshot with these paths as they are now. For a directory it only finds
// out whether it is still one, and if not, that nothing is below it.
func (s *Scanner) Look(ctx context.Context, last *Snapshot, paths ...string) (*Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snapshot, err := s.look(ctx, last, paths)
	if err != nil {
		return nil, &Error{Op: "look at files below", Path: s.root, Err: atomicfile.Reason(err)}
	}
	return snapshot, nil
}

// sight is what there is at a path.
type sight struct {
	dir   bool   // then nothing else is known
	found *found // nil if there is no file
	left  Reason // why it is not known, 0 if it is
}

func (s *Scanner) look(ctx context.Context, last *Snapshot, paths []string) (*Snapshot, error) {
	c, top, err := s.begin()
	if err != nil {
		return nil, err
	}
	defer c.handle.Close()
	seen := make(map[string]sight)
	for _, path := range paths {
		names := strings.Split(path, "/")
		if slices.ContainsFunc(names, func(name string) bool { return name == "" || name == "." || name == ".." }) {
			return nil, errPath
		}
		if slices.ContainsFunc(names, isGit) {
			continue // as in a scan
		}
		c.lookAt(top, names, seen)
	}
	for _, path := range slices.Sorted(maps.Keys(seen)) {
		switch at := seen[path]; {
		case at.found != nil:
			c.found = append(c.found, *at.found)
		case at.left != 0:
			c.left = append(c.left, Left{Path: path, Reason: at.left})
		}
	}
	now, index, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	maps.Copy(s.index, index)
	// The entries of these paths are replaced, and so are entries below paths that
	// are not directories.
	known := func(path string) bool {
		if _, ok := seen[path]; ok {
			return false
		}
		for above := parent(path); above != "."; above = parent(above) {
			if at, ok := seen[above]; ok {
				return at.dir
			}
		}
		return true
	}
	for _, e := range last.Entries {
		if known(e.Path) {
			now.Entries = append(now.Entries, e)
		}
	}
	for _, l := range last.Left {
		if at := seen[l.Path]; known(l.Path) || at.dir {
			now.Left = append(now.Left, l)
		}
	}
	slices.SortFunc(now.Entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(now.Left, compareLeft)
	return now, nil
}

// lookAt notes what there is at a path, or at the first directory above it that
// is not one.
func (c *scan) lookAt(d *dir, names []string, seen map[string]sight) {
	h, err := c.open(d)
	if err != nil {
		seen[join(d.path, names[0])] = sight{left: Unreadable}
		return
	}
	path := join(d.path, names[0])
	info, err := h.Lstat(names[0])
	var link string
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		link, err = h.Readlink(names[0])
	}
	h.Close()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		seen[path] = sight{}
	case err != nil:
		seen[path] = sight{left: Unreadable}
	case info.IsDir() && len(names) > 1:
		c.lookAt(&dir{path: path, info: info, above: d}, names[1:], seen)
	case info.IsDir():
		seen[path] = sight{dir: true}
	case info.Mode()&fs.ModeSymlink != 0:
		seen[path] = sight{found: &found{Entry: Entry{Path: path, Mode: fs.ModeSymlink, Link: link}}}
	case info.Mode().IsRegular():
		seen[path] = sight{found: &found{Entry: Entry{Path: path}, info: info, dir: d}}
	default:
		seen[path] = sight{left: Special}
	}
}
