package tree

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/gitdir"
)

// Matcher reports whether git ignored a path of a project when the Matcher was made.
// It is safe for concurrent use.
//
// It reads the files with patterns of a directory when the first path in the directory
// is asked about, and never again. Files whose status has changed by then count as
// empty, because nobody knows what was in them. See Made for directories that come
// later. The list of tracked files is read again when it changes, and files that were
// tracked before are not ignored either.
type Matcher struct {
	root string
	user settings

	mu   sync.Mutex
	dirs map[string]policy
	made map[string]bool // directories that came later
}

// NewMatcher returns what git ignores below root. getenv finds the configuration of
// git; nil means os.Getenv. Files with patterns that changed after asOf count as
// empty; zero means that none do.
func NewMatcher(root string, getenv func(string) string, asOf time.Time) *Matcher {
	if getenv == nil {
		getenv = os.Getenv
	}
	since := int64(0)
	if !asOf.IsZero() {
		since = asOf.UnixNano()
	}
	g := &Matcher{root: root, user: userSettings(getenv, since), dirs: make(map[string]policy), made: make(map[string]bool)}
	g.dir(".")
	return g
}

// Read reads what decides in a directory, before something may change it.
func (g *Matcher) Read(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dir(dir)
}

// Made says that a directory, with all that is in it, is about to come to a path. No
// file in it decides what is ignored.
func (g *Matcher) Made(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dir(parent(path))
	g.made[path] = true
	for known := range g.dirs {
		if strings.HasPrefix(known+"/", path+"/") {
			delete(g.dirs, known)
		}
	}
}

// Ignores reports whether git ignores a path below the root, with slashes. The files of
// git itself are ignored, too, but nothing that git tracks. The path need not exist; it
// is taken to be a file unless it ends with a slash.
func (g *Matcher) Ignores(path string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	dir := strings.HasSuffix(path, "/")
	if path = strings.TrimSuffix(path, "/"); path == "" || path == "." {
		return false
	}
	in := g.dir(parent(path))
	if isGit(filepath.Base(path)) {
		return true
	}
	ignored, _ := in.ignores(path, dir)
	if ignored && in.tracked.update() {
		ignored, _ = in.ignores(path, dir)
	}
	return ignored
}

// dir returns the policy for what is in a directory, "." for the root.
func (g *Matcher) dir(path string) policy {
	if p, ok := g.dirs[path]; ok {
		return p
	}
	var p policy
	made := false
	if path == "." {
		p = policyOf(g.root, g.user)
	} else {
		p = g.dir(parent(path))
		ignored, apart := p.ignores(path, true)
		p.ignored = ignored || apart || isGit(filepath.Base(path))
		made = g.isMade(path)
	}
	if !made {
		here := filepath.Join(g.root, filepath.FromSlash(path))
		if path != "." && (!p.ignored || p.tracked.has(path)) && gitdir.IsIn(here) {
			p = ownPolicy(here, path, g.user)
		}
		if info, err := os.Lstat(filepath.Join(here, ".gitignore")); err == nil && info.Mode().IsRegular() && !p.ignored {
			p.rules = p.rules.below(path, g.user.readFile(filepath.Join(here, ".gitignore")), p.fold)
		}
	}
	g.dirs[path] = p
	return p
}

func (g *Matcher) isMade(path string) bool {
	for ; path != "."; path = parent(path) {
		if g.made[path] {
			return true
		}
	}
	return false
}
