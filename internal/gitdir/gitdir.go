// Package gitdir finds the folders in which git keeps what belongs to a work tree.
package gitdir

import (
	"os"
	"path/filepath"
	"strings"
)

// Of returns the folder of the work tree's own state, where HEAD is, and the one that
// all work trees of the repository share. read returns the text of a file, empty if it
// cannot be read. In a work tree that was added, and in a submodule, ".git" is a file
// that names the first folder; "commondir" there names the second.
//
// See gitrepository-layout(5).
func Of(folder string, read func(path string) string) (own, common string) {
	own = filepath.Join(folder, ".git")
	if to, ok := strings.CutPrefix(read(own), "gitdir: "); ok {
		own = from(folder, to)
	}
	if to := read(filepath.Join(own, "commondir")); to != "" {
		return own, from(own, to)
	}
	return own, own
}

// IsIn reports whether a folder is the top of a work tree. A ".git" without HEAD is nothing to
// git: some sandboxes of agents put an empty one in the folders that a command may write to.
func IsIn(folder string) bool {
	path := filepath.Join(folder, ".git")
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() {
		return err == nil && info.Size() > 0
	}
	_, err = os.Lstat(filepath.Join(path, "HEAD"))
	return err == nil
}

// Above finds the repository that a folder is in: the folder that has ".git", and the way
// from there, which ends with a slash unless it is empty.
func Above(folder string) (top, way string, ok bool) {
	for top = folder; ; {
		if IsIn(top) {
			return top, way, true
		}
		parent := filepath.Dir(top)
		if parent == top {
			return "", "", false
		}
		top, way = parent, filepath.Base(top)+"/"+way
	}
}

// from returns the path that a file in dir names. Only line ends are not part of it.
func from(dir, text string) string {
	path := strings.TrimRight(text, "\r\n")
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
