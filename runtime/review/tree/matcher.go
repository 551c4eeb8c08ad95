package tree

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Matcher tells what git ignores in a project, one path at a time. It reads the
// files with patterns once. It is safe for concurrent use.
type Matcher struct {
	root string
	user settings

	mu   sync.Mutex
	dirs map[string]known
}

// known is what is known of a directory.
type known struct {
	rules   *rules
	fold    bool
	ignored bool
}

// NewMatcher returns what git ignores below root. getenv finds the configuration of
// git; nil means os.Getenv.
func NewMatcher(root string, getenv func(string) string) *Matcher {
	if getenv == nil {
		getenv = os.Getenv
	}
	return &Matcher{root: root, user: userSettings(getenv), dirs: make(map[string]known)}
}

// Forget makes it read the files again, after they have changed.
func (g *Matcher) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.dirs)
}

// Ignores reports whether git ignores a path below the root, with slashes. What git
// itself keeps is ignored, too. The path need not exist; it is taken to be a file
// unless it ends with a slash.
func (g *Matcher) Ignores(path string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	dir := strings.HasSuffix(path, "/")
	if path = strings.TrimSuffix(path, "/"); path == "" || path == "." {
		return false
	}
	return g.ignores(g.dir(parent(path)), path, dir)
}

func (g *Matcher) ignores(in known, path string, dir bool) bool {
	return in.ignored || isGit(filepath.Base(path)) || in.rules.ignore(path, dir)
}

// dir returns what is known of a directory, "." for the root.
func (g *Matcher) dir(path string) known {
	if k, ok := g.dirs[path]; ok {
		return k
	}
	var k known
	if path == "." {
		k.rules, k.fold = rulesOf(g.root, g.user)
	} else {
		k = g.dir(parent(path))
		k.ignored = g.ignores(k, path, true)
	}
	if !k.ignored {
		here := filepath.Join(g.root, filepath.FromSlash(path))
		if _, err := os.Lstat(filepath.Join(here, ".git")); err == nil && path != "." {
			k.rules, k.fold = ownRules(here, path, g.user)
		}
		if info, err := os.Lstat(filepath.Join(here, ".gitignore")); err == nil && info.Mode().IsRegular() {
			k.rules = k.rules.below(path, readFile(filepath.Join(here, ".gitignore")), k.fold)
		}
	}
	g.dirs[path] = k
	return k
}
