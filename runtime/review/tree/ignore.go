package tree

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
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

// readSmall returns what is at the start of a regular file.
func readSmall(f *os.File, err error) string {
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	data, _ := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	return string(data)
}

func readFile(name string) string {
	return readSmall(os.OpenFile(name, os.O_RDONLY|atomicfile.OpenFlags, 0))
}

// isGit reports whether a name in a directory is the one git keeps its own files
// below.
func isGit(name string) bool { return strings.EqualFold(name, ".git") }

// rules returns the rules that count least: the excludes of the user, then those
// of the repository.
func (r repository) rules() *rules {
	fold := r.config.ignoreCase
	var all *rules
	if r.config.excludesFile != "" {
		all = all.below(".", readFile(r.config.excludesFile), fold)
	}
	return all.below(".", r.exclude, fold)
}

// ownRules returns the rules of a repository at a path of the scan.
func ownRules(dir, path string, user settings) (r *rules, fold bool) {
	repo := readRepository(dir, user)
	r = repo.rules()
	for each := r; each != nil; each = each.above {
		each.skip = len(path) + 1
	}
	return r, repo.config.ignoreCase
}

// rulesOf returns the rules for the root of a scan: those of the repository that
// it is in, if any, and whether upper and lower case are equal.
//
// If that repository ignores the root itself, as one of somebody's home may, it
// says nothing about what is in it.
func rulesOf(root string, user settings) (r *rules, fold bool) {
	top, up := root, ""
	for {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			break
		}
		parent := filepath.Dir(top)
		if parent == top {
			return repository{config: user}.rules(), user.ignoreCase
		}
		top, up = parent, filepath.Base(top)+"/"+up
	}
	repo := readRepository(top, user)
	fold = repo.config.ignoreCase
	r = repo.rules()
	if r != nil {
		for each := r; each != nil; each = each.above {
			each.prepend = up
		}
	}
	// The root's own file is read by the scan.
	dir, rest := top, up
	for rest != "" {
		name, left, _ := strings.Cut(rest, "/")
		if patterns := parsePatterns(readFile(filepath.Join(dir, ".gitignore")), fold); len(patterns) > 0 {
			r = &rules{above: r, patterns: patterns, prepend: rest}
		}
		if r.ignoreRoot(strings.TrimSuffix(up[:len(up)-len(left)], "/"), up) {
			return repository{config: user}.rules(), fold
		}
		dir, rest = filepath.Join(dir, name), left
	}
	return r, fold
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
