package tree

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/gitdir"
)

const (
	maxPatterns   = 10_000  // of a file
	maxIgnoreFile = 1 << 20 // bytes that are read of a file
)

// rules are the patterns of an ignore file, and of those that count less.
type rules struct {
	above    *rules
	patterns []pattern
	skip     int    // bytes at the start of a path that name the directory of the file
	prepend  string // or the way from it to the root of the scan, with a slash
}

// ignore reports whether a path, relative to the root of the scan, is ignored.
// Its parents are not. The last pattern that matches decides.
func (r *rules) ignore(at string, dir bool) bool {
	name := path.Base(at)
	for ; r != nil; r = r.above {
		relative := r.prepend + at[min(r.skip, len(at)):]
		for i := len(r.patterns) - 1; i >= 0; i-- {
			if p := &r.patterns[i]; p.matches(relative, name, dir) {
				return !p.negated
			}
		}
	}
	return false
}

// below returns rules that have a file of patterns in a directory of the scan.
func (r *rules) below(dir, text string, fold bool) *rules {
	patterns := parsePatterns(text, fold)
	if len(patterns) == 0 {
		return r
	}
	skip := len(dir) + 1
	if dir == "." {
		skip = 0
	}
	return &rules{above: r, patterns: patterns, skip: skip}
}

// policy is what decides in a directory what git ignores.
type policy struct {
	rules   *rules
	fold    bool     // upper and lower case are equal
	tracked *tracked // by the repository
	ignored bool     // the directory itself, with everything that is not tracked
}

// ignores reports whether a path is ignored, and whether it is a tracked one that the
// patterns are about: then what is in it and not tracked is ignored.
func (p *policy) ignores(at string, dir bool) (ignored, apart bool) {
	if !p.ignored && !p.rules.ignore(at, dir) {
		return false, false
	}
	apart = p.tracked.has(at)
	return !apart, apart
}

// readUpTo returns what is at the start of a regular file.
func readUpTo(name string, most int64) string {
	f, err := os.OpenFile(name, os.O_RDONLY|atomicfile.OpenFlags, 0)
	return settings{}.readOpen(f, err, most)
}

// readOpen returns what is at the start of a regular file, unless the file is too new,
// and closes it.
func (s settings) readOpen(f *os.File, err error, most int64) string {
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if _, changed := statusOf(info); s.asOf != 0 && changed > s.asOf {
		return ""
	}
	data, _ := io.ReadAll(io.LimitReader(f, most))
	return string(data)
}

func (s settings) readFile(name string) string {
	f, err := os.OpenFile(name, os.O_RDONLY|atomicfile.OpenFlags, 0)
	return s.readOpen(f, err, maxIgnoreFile)
}

// isGit reports whether a name in a directory is the one git keeps its own files
// below.
func isGit(name string) bool { return strings.EqualFold(name, ".git") }

// rules returns the rules with the lowest priority: the excludes of the user,
// then the excludes of the repository.
func (r repository) rules() *rules {
	fold := r.config.ignoreCase
	var all *rules
	if r.config.excludesFile != "" {
		all = all.below(".", r.config.readFile(r.config.excludesFile), fold)
	}
	return all.below(".", r.exclude, fold)
}

// ownPolicy returns the policy of a repository at a path of the scan.
func ownPolicy(dir, path string, user settings) policy {
	repo := readRepository(dir, user)
	p := policy{rules: repo.rules(), fold: repo.config.ignoreCase, tracked: repo.tracked}
	for each := p.rules; each != nil; each = each.above {
		each.skip = len(path) + 1
	}
	p.tracked.skip = len(path) + 1
	return p
}

// policyOf returns the policy for the root of a scan, from the repository that it is
// in, if any.
//
// If that repository ignores the root itself, as the repository of a home
// folder may, its rules do not apply inside.
func policyOf(root string, user settings) policy {
	top, up, ok := gitdir.Above(root)
	if !ok {
		return policy{rules: repository{config: user}.rules(), fold: user.ignoreCase}
	}
	repo := readRepository(top, user)
	p := policy{rules: repo.rules(), fold: repo.config.ignoreCase, tracked: repo.tracked}
	for each := p.rules; each != nil; each = each.above {
		each.prepend = up
	}
	p.tracked.prepend = up
	// The root's own file is read by the scan.
	dir, rest := top, up
	for rest != "" {
		name, left, _ := strings.Cut(rest, "/")
		if patterns := parsePatterns(user.readFile(filepath.Join(dir, ".gitignore")), p.fold); len(patterns) > 0 {
			p.rules = &rules{above: p.rules, patterns: patterns, prepend: rest}
		}
		if p.rules.ignoreRoot(strings.TrimSuffix(up[:len(up)-len(left)], "/"), up) {
			p.rules = repository{config: user}.rules()
			return p
		}
		dir, rest = filepath.Join(dir, name), left
	}
	return p
}

// ignoreRoot is ignore for a directory on the way to the root of the scan, from
// the top of its repository.
func (r *rules) ignoreRoot(dir, up string) bool {
	for ; r != nil; r = r.above {
		relative := dir[len(up)-len(r.prepend):]
		for i := len(r.patterns) - 1; i >= 0; i-- {
			if p := &r.patterns[i]; p.matches(relative, path.Base(dir), true) {
				return !p.negated
			}
		}
	}
	return false
}
