package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/pathname"
)

const (
	maxLinks = 40
	maxTries = 20
)

// place is where a path leads once every link is resolved: an open directory
// inside a root and a name in it.
type place struct {
	root    *root
	names   []string // from the root to the target
	dir     *os.Root // the deepest directory on the way that exists
	missing []string // directories below dir that do not exist yet
	base    string   // name of the target; empty when the target is dir itself
	info    fs.FileInfo
}

func (p *place) close() {
	if p.dir != p.root.handle {
		p.dir.Close()
	}
}

func (p *place) location() Location {
	name := filepath.Join(p.names...)
	if name == "" {
		name = "."
	}
	return Location{
		Root: p.root.dir, Name: name, Exists: p.info != nil,
		Path: filepath.Join(p.root.dir, name), Real: filepath.Join(p.root.real, name),
		repository: len(p.missing) == 0 && makesRepository(p.dir, p.base),
	}
}

// at calls do with the place that a path leads to. If that place changes
// meanwhile, because of a concurrent write for example, it looks again.
func (w *Workspace) at(op, path string, do func(*place) error) error {
	var err error
	for range maxTries {
		var p *place
		if p, err = w.find(path); err == nil {
			err = do(p)
			p.close()
		}
		if !errors.Is(err, ErrChanged) {
			break
		}
	}
	if err != nil {
		return &Error{Op: op, Path: path, Err: atomicfile.Reason(err)}
	}
	return nil
}

func (w *Workspace) find(path string) (*place, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	r, names, ok := w.locate(path)
	if !ok {
		return nil, w.outside()
	}
	p, err := w.walk(r, names)
	if err == nil && spelledAsDir(path) && (p.info == nil || !p.info.IsDir()) {
		p.close()
		return nil, ErrNotDir
	}
	return p, err
}

// spelledAsDir reports whether path ends in a separator or in a dot segment, so
// that only a directory can be meant.
func spelledAsDir(path string) bool {
	path = strings.TrimSuffix(path, ".")
	return path != "" && os.IsPathSeparator(path[len(path)-1])
}

func (w *Workspace) outside() error {
	return fmt.Errorf("%w (%s)", ErrOutside, printable(strings.Join(w.Roots(), ", ")))
}

// locate finds the root that contains a path: by the longest lexical match, or
// otherwise by comparing the directories on the way with the roots themselves,
// for file systems on which one directory has many spellings.
func (w *Workspace) locate(path string) (best *root, names []string, ok bool) {
	path = filepath.Clean(path)
	longest := -1
	for _, r := range w.roots {
		for _, dir := range []string{r.dir, r.real} {
			if pathname.Within(dir, path) && len(dir) > longest {
				rest, _ := pathname.Below(dir, path)
				best, names, longest = r, split(rest), len(dir)
			}
		}
	}
	if best != nil {
		return best, names, true
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			for _, r := range w.roots {
				if os.SameFile(info, r.info) {
					rest, _ := pathname.Below(dir, path)
					return r, split(rest), true
				}
			}
		}
		if dir == filepath.Dir(dir) {
			return nil, nil, false
		}
	}
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// walk follows names from a root one by one, keeping each directory open, and
// resolves links itself: a link may lead anywhere inside any root, also as an
// absolute path, and nowhere else. os.Root confines what a link that is swapped
// in after the check could do to the directory it is in; comparing the opened
// directory with the checked one turns even that into an error.
func (w *Workspace) walk(r *root, names []string) (*place, error) {
	t := trail{root: r, dirs: []*os.Root{r.handle}}
	defer func() { t.closeAll() }()

	pending, linked := names, 0 // the first linked names of pending come from a link
	for links := 0; len(pending) > 0; {
		name := pending[0]
		pending = pending[1:]
		inLink := linked > 0
		if inLink {
			linked--
		}
		switch {
		case name == ".":
			continue
		case name == ".." && len(t.names) > 0:
			t.pop()
			continue
		case name == "..":
			target := filepath.Dir(t.root.real) + "/" + strings.Join(pending[:linked], "/")
			to, err := w.jump(target)
			if err != nil {
				return nil, err
			}
			pending, linked = append(to.names, pending[linked:]...), 0
			t.restart(to.root)
			continue
		}

		info, err := t.dir().Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && inLink:
			return nil, ErrLink
		case errors.Is(err, fs.ErrNotExist):
			rest := append([]string{name}, pending...)
			last := len(rest) - 1
			return t.end(&place{missing: rest[:last], base: rest[last]}, rest...), nil
		case err != nil:
			return nil, err
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return nil, fmt.Errorf("%w: more than %d links", ErrLink, maxLinks)
			}
			target, err := t.dir().Readlink(name)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrChanged, atomicfile.Reason(err))
			}
			if filepath.IsAbs(target) {
				to, err := w.jump(target)
				if err != nil {
					return nil, err
				}
				pending, linked = append(to.names, pending[linked:]...), 0
				t.restart(to.root)
				continue
			}
			parts := split(target)
			pending = append(parts, pending...)
			linked += len(parts)
		case len(pending) == 0:
			return t.end(&place{base: name, info: info}, name), nil
		case !info.IsDir():
			return nil, syscall.ENOTDIR
		default:
			if err := t.push(name, info); err != nil {
				return nil, err
			}
		}
	}
	info, err := t.dir().Stat(".")
	if err != nil {
		return nil, err
	}
	return t.end(&place{info: info}), nil
}

type jumped struct {
	root  *root
	names []string
}

// jump resolves the target of a link that leaves its root: once, by name, only
// to find out which root it leads to. The walk then starts again from there.
func (w *Workspace) jump(target string) (jumped, error) {
	real, err := filepath.EvalSymlinks(target)
	dangling := err != nil
	if dangling {
		real = target // the agent must not learn what exists outside the roots
	}
	r, names, ok := w.locate(real)
	switch {
	case !ok:
		return jumped{}, w.outside()
	case dangling:
		return jumped{}, ErrLink
	}
	return jumped{r, names}, nil
}

// trail is the chain of open directories from a root to the current position of
// the walk.
type trail struct {
	root  *root
	dirs  []*os.Root
	names []string
}

func (t *trail) dir() *os.Root { return t.dirs[len(t.dirs)-1] }

func (t *trail) push(name string, checked fs.FileInfo) error {
	d, err := t.dir().OpenRoot(name)
	if err != nil {
		return err
	}
	info, err := d.Stat(".")
	if err != nil || !os.SameFile(info, checked) {
		d.Close()
		return ErrChanged
	}
	t.dirs, t.names = append(t.dirs, d), append(t.names, name)
	return nil
}

func (t *trail) pop() {
	t.dir().Close()
	t.dirs, t.names = t.dirs[:len(t.dirs)-1], t.names[:len(t.names)-1]
}

func (t *trail) restart(r *root) {
	t.closeAll()
	*t = trail{root: r, dirs: []*os.Root{r.handle}}
}

// closeAll closes every directory but the root's.
func (t *trail) closeAll() {
	for len(t.dirs) > 1 {
		t.dirs[len(t.dirs)-1].Close()
		t.dirs = t.dirs[:len(t.dirs)-1]
	}
}

// end completes p and hands it the last directory.
func (t *trail) end(p *place, rest ...string) *place {
	p.root, p.dir = t.root, t.dir()
	p.names = append(append([]string(nil), t.names...), rest...)
	if len(t.dirs) > 1 {
		t.dirs = t.dirs[:len(t.dirs)-1]
	}
	return p
}
