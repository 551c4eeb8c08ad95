package tree

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/gitdir"
	"github.com/hermes-nvim/hermes/internal/review/store"
)

// Options are settings of a Scanner. The zero value is the default.
type Options struct {
	Limits Limits
	// Skip are directories below the root, with slashes, that are left out like what
	// git ignores, for example because the store is there.
	Skip []string
	// Getenv finds the configuration of git: os.Getenv.
	Getenv func(name string) string

	between     func(step, path string) // tests change files here
	granularity time.Duration           // of the times of files
}

// Scanner takes snapshots of a project. It is safe for concurrent use.
type Scanner struct {
	root   string
	store  *store.Store
	opts   Options
	limits Limits

	mu       sync.Mutex // is held during a scan
	index    index
	policies map[string]policy // of the directories of the last scan
}

// New returns a Scanner for the files below root, which puts contents and its
// index into a store.
func New(root string, st *store.Store, opts Options) *Scanner {
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	if opts.granularity == 0 {
		opts.granularity = coarsestClock
	}
	return &Scanner{root: root, store: st, opts: opts, limits: opts.Limits.withDefaults()}
}

// scan is one scan under way.
type scan struct {
	*Scanner
	handle *os.Root
	user   settings
	held   map[string]policy // what decides instead of the files in the directories; nil if they do
	met    map[string]policy // of the directories that were read

	found []found
	dirs  []string
	left  []Left
	total int // of both, and of directories
}

// found is an entry before its content is known.
type found struct {
	Entry
	info fs.FileInfo
	dir  *dir // that it is in
}

// dir is a directory that will be read.
type dir struct {
	path  string
	info  fs.FileInfo
	above *dir
	depth int
	policy
}

// listing is what was found in a directory.
type listing struct {
	found []found
	dirs  []*dir
	left  []Left
	more  bool // it is above the limit

	policy policy // for what is in the directory
}

func (l *listing) size() int { return len(l.found) + len(l.dirs) + len(l.left) }

// Scan takes a snapshot. It fails if the root cannot be read or ctx ends.
func (s *Scanner) Scan(ctx context.Context) (*Snapshot, error) { return s.take(ctx, false) }

// Rescan is a Scan by what was ignored at the last Scan: patterns that were written
// since then, and repositories that were made, leave nothing out. It is for changes by
// programs that must not decide which of their changes are seen.
func (s *Scanner) Rescan(ctx context.Context) (*Snapshot, error) { return s.take(ctx, true) }

func (s *Scanner) take(ctx context.Context, again bool) (*Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snapshot, err := s.scan(ctx, again)
	if err != nil {
		return nil, &Error{Op: "scan", Path: s.root, Err: atomicfile.Reason(err)}
	}
	return snapshot, nil
}

func (s *Scanner) scan(ctx context.Context, again bool) (*Snapshot, error) {
	c, top, err := s.begin()
	if err != nil {
		return nil, err
	}
	defer c.handle.Close()
	if again && s.policies != nil {
		c.held = s.policies
	} else {
		c.user = userSettings(s.opts.Getenv, 0)
		top.policy = policyOf(c.handle.Name(), c.user)
	}
	c.met = make(map[string]policy)
	if err := c.walk(ctx, top); err != nil {
		return nil, err
	}
	slices.SortFunc(c.found, func(a, b found) int { return cmp.Compare(a.Path, b.Path) })
	snapshot, index, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(snapshot.Left, compareLeft)
	slices.Sort(c.dirs)
	snapshot.Dirs = c.dirs
	if !s.index.equal(index) {
		if err := index.save(s.store, c.handle.Name()); err != nil && snapshot.Unkept == nil {
			snapshot.Unkept = err
		}
	}
	s.index, s.policies = index, c.met
	return snapshot, nil
}

func compareLeft(a, b Left) int { return cmp.Compare(a.Path, b.Path) }

// begin opens the root. The caller closes the handle.
func (s *Scanner) begin() (*scan, *dir, error) {
	real, err := filepath.EvalSymlinks(s.root)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, nil, err
	}
	handle, err := os.OpenRoot(real)
	if err != nil {
		return nil, nil, err
	}
	info, err := handle.Stat(".")
	if err == nil && !info.IsDir() {
		err = errNotDir
	}
	if err != nil {
		handle.Close()
		return nil, nil, err
	}
	if s.index == nil {
		s.index = loadIndex(s.store, real)
	}
	return &scan{Scanner: s, handle: handle}, &dir{path: ".", info: info}, nil
}

// walk reads one level of directories after the other, so that it is always the
// same files, the highest ones, that are above the limit.
func (c *scan) walk(ctx context.Context, root *dir) error {
	for level := []*dir{root}; len(level) > 0; {
		room := c.limits.Files - c.total
		listings := make([]listing, len(level))
		err := each(ctx, len(level), func(i int) { listings[i] = c.list(ctx, level[i], room) })
		if err != nil {
			return err
		}
		if level[0] == root && slices.ContainsFunc(listings[0].left, func(l Left) bool { return l.Path == root.path && l.Reason == Unreadable }) {
			return errUnreadable
		}
		var next []*dir
		for i, l := range listings {
			if l.more || c.total+l.size() > c.limits.Files {
				l = listing{left: []Left{{Path: level[i].path, Reason: TooMany}}}
			}
			c.total += l.size()
			c.found = append(c.found, l.found...)
			c.left = append(c.left, l.left...)
			next = append(next, l.dirs...)
			c.met[level[i].path] = l.policy
			for _, d := range l.dirs {
				c.dirs = append(c.dirs, d.path)
			}
		}
		if c.total >= c.limits.Files {
			for _, d := range next {
				c.left = append(c.left, Left{Path: d.path, Reason: TooMany})
			}
			return nil
		}
		level = next
	}
	return nil
}

var errUnreadable = errors.New("it cannot be listed")

// each calls do for 0 to n-1, in several goroutines.
func each(ctx context.Context, n int, do func(i int)) error {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, 2*runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

func (c *scan) step(step, path string) {
	if c.opts.between != nil {
		c.opts.between(step, path)
	}
}

// open opens a directory, which must be the one that was found: its name, or one
// above it, may be a link by now.
func (c *scan) open(d *dir) (*os.Root, error) {
	h, err := c.handle.OpenRoot(filepath.FromSlash(d.path))
	if err != nil {
		return nil, err
	}
	info, err := h.Stat(".")
	if err == nil && !os.SameFile(info, d.info) {
		err = errChanged
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// list reads a directory of at most room entries.
func (c *scan) list(ctx context.Context, d *dir, room int) (l listing) {
	c.step("list", d.path)
	unreadable := listing{left: []Left{{d.path, Unreadable, identify(d.info)}}}
	h, err := c.open(d)
	if errors.Is(err, fs.ErrNotExist) && d.path != "." {
		return listing{}
	}
	if err != nil {
		return unreadable
	}
	defer h.Close()
	f, err := h.Open(".")
	if err != nil {
		return unreadable
	}
	names, err := f.Readdirnames(room + 1)
	f.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return unreadable
	}
	if len(names) > room {
		return listing{more: true}
	}
	slices.Sort(names)
	l.policy = c.enter(h, d, names)
	for _, name := range names {
		if isGit(name) || atomicfile.IsTemp(name) { // which is about to get its name
			continue
		}
		if ctx.Err() != nil { // many patterns take long
			return l
		}
		path := join(d.path, name)
		info, err := h.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		mode := fs.ModeIrregular
		if err == nil {
			mode = info.Mode()
		}
		left := func(why Reason) { l.left = append(l.left, Left{Path: path, Reason: why}) }
		ignored, apart := l.policy.ignores(path, mode.IsDir())
		switch {
		case slices.Contains(c.opts.Skip, path), ignored:
			left(Ignored)
		case err != nil:
			left(Unreadable)
		case mode.IsDir():
			sub := &dir{path: path, info: info, above: d, depth: d.depth + 1, policy: l.policy}
			sub.ignored = apart
			switch {
			case sub.depth > c.limits.Depth:
				left(TooDeep)
			case sub.isLoop():
				left(Loop)
			default:
				l.dirs = append(l.dirs, sub)
			}
		case mode&fs.ModeSymlink != 0:
			to, err := h.Readlink(name)
			if err != nil {
				left(Unreadable)
				continue
			}
			l.found = append(l.found, found{Entry: Entry{Path: path, Mode: fs.ModeSymlink, Link: to}})
		case mode.IsRegular():
			l.found = append(l.found, found{Entry: Entry{Path: path}, info: info, dir: d})
		default:
			left(Special)
		}
	}
	return l
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// isLoop reports whether the directory is one that it is in.
func (d *dir) isLoop() bool {
	for above := d.above; above != nil; above = above.above {
		if os.SameFile(above.info, d.info) {
			return true
		}
	}
	return false
}

// enter returns the policy for what is in a directory.
func (c *scan) enter(h *os.Root, d *dir, names []string) policy {
	p := d.policy
	if c.held != nil {
		if known, ok := c.held[d.path]; ok {
			return known
		}
		return p
	}
	// A repository in another one, such as a submodule, has its own rules.
	if d.path != "." && slices.ContainsFunc(names, isGit) {
		if here := filepath.Join(c.handle.Name(), filepath.FromSlash(d.path)); gitdir.IsIn(here) {
			p = ownPolicy(here, d.path, c.user)
		}
	}
	if slices.Contains(names, ".gitignore") && !p.ignored {
		// Git does not follow a link either.
		if info, err := h.Lstat(".gitignore"); err == nil && info.Mode().IsRegular() {
			f, err := h.OpenFile(".gitignore", os.O_RDONLY|atomicfile.OpenFlags, 0)
			p.rules = p.rules.below(d.path, c.user.readOpen(f, err, maxIgnoreFile), p.fold)
		}
	}
	return p
}
