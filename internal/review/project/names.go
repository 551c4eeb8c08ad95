package project

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/internal/pathname"
)

// contains reports whether home is the folder or below it.
func contains(folder, home string) bool {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if home == "" {
		return filepath.Dir(folder) == folder
	}
	return pathname.Within(folder, home)
}

// Name returns the name that the file at a path has in the review: below the
// folder, with slashes, or an absolute path. Links are resolved, because the
// review knows a text by one name.
func (p *Project) Name(path string) string {
	path = p.abs(path)
	return p.below(filepath.Join(pathname.Existing(path)))
}

// linkName is Name without resolving the last name of the path, which may be a
// link under review itself.
func (p *Project) linkName(path string) string {
	path = p.abs(path)
	real, rest := pathname.Existing(filepath.Dir(path))
	return p.below(filepath.Join(real, rest, filepath.Base(path)))
}

func (p *Project) abs(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.root, filepath.FromSlash(path))
	}
	return filepath.Clean(path)
}

func (p *Project) below(path string) string {
	if name, below := pathname.Below(p.root, path); below {
		return filepath.ToSlash(name)
	}
	return path
}

// Path returns the path of a name in the review.
func (p *Project) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.root, filepath.FromSlash(name))
}

// Scans reports whether snapshots of a folder are taken.
func Scans(folder string) bool {
	home, _ := os.UserHomeDir()
	return !contains(folder, home)
}

// Covers reports whether the snapshots of this folder have the files of another
// one, which is below it. Before the first snapshot that is assumed.
func (p *Project) Covers(folder string) bool {
	name, below := pathname.Below(p.root, folder)
	name = filepath.ToSlash(name)
	if !below || !p.scans || p.isApart(name) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last == nil || p.coveredLocked(name)
}

// isApart reports whether a name is git's own, of the state of reviews, or of
// another review.
func (p *Project) isApart(name string) bool {
	for _, skip := range p.skip {
		if name == skip || strings.HasPrefix(name, skip+"/") {
			return true
		}
	}
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}

// names returns the names under which a path that an agent has named is under
// review: its own and, if that is a link inside of the folder, the name of the
// file.
func (p *Project) names(path string) []string {
	name, target := p.linkName(path), p.Name(path)
	if p.isApart(name) || p.isApart(target) {
		return nil
	}
	if target == name || isAbs(target) {
		return []string{name}
	}
	return []string{name, target}
}
