// Package pathname compares paths of this system by their names alone. It follows no
// links: who guards something by a name resolves it before.
package pathname

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Below returns the name of a path relative to a folder that it is in, with the
// system's separators. ok is false for the folder itself. Both are cleaned first, so
// "a/../.." is not in a. Windows ignores case. A path that is empty or relative is in
// no folder and has nothing in it: nobody knows where it is.
func Below(folder, path string) (name string, ok bool) {
	name, ok = relative(folder, path)
	if !ok || name == "." {
		return "", false
	}
	return name, true
}

// Within reports whether a path is a folder, or in it as Below says.
func Within(folder, path string) bool {
	_, ok := relative(folder, path)
	return ok
}

func relative(folder, path string) (name string, ok bool) {
	if !filepath.IsAbs(folder) || !filepath.IsAbs(path) {
		return "", false
	}
	folder, path = clean(folder), clean(path)
	n := min(len(folder), len(path))
	switch above, rest := path[:n], path[n:]; {
	case above != folder && !(runtime.GOOS == "windows" && strings.EqualFold(above, folder)):
		return "", false
	case rest == "":
		return ".", true
	default:
		return strings.CutPrefix(rest, separator)
	}
}

const separator = string(os.PathSeparator)

// clean returns an absolute path that does not end in a separator: that of the root is
// empty. Watches compare thousands of paths at a time, nearly all of them clean already.
func clean(path string) string {
	if separator != "/" || strings.Contains(path, "//") || strings.Contains(path, "/.") {
		path = filepath.Clean(path)
	}
	return strings.TrimSuffix(path, separator)
}
