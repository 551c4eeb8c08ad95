// Package pathname compares paths of this system by their names alone, and says how far
// a path exists. Comparing follows no links: who guards something by a name resolves it
// before.
package pathname

import (
	"os"
	"path/filepath"
	"runtime"
	"sort"
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

// clean returns an absolute path that does not end in a separator: the path of the root
// becomes empty. Watches compare thousands of paths at a time, nearly all of them clean
// already.
func clean(path string) string {
	if separator != "/" || strings.Contains(path, "//") || strings.Contains(path, "/.") {
		path = filepath.Clean(path)
	}
	return strings.TrimSuffix(path, separator)
}

// Existing returns the longest beginning of an absolute path that exists, with all links
// resolved, and the rest, "" if all of it does. A link that leads nowhere does not exist.
// real is "" if not even the root does. An agent chooses how long a path is, so the work
// is proportional to its length.
func Existing(path string) (real, rest string) {
	path = filepath.Clean(path)
	ends := []int{min(len(filepath.VolumeName(path))+1, len(path))} // of its beginnings, the root first
	for i := ends[0]; i < len(path); i++ {
		if os.IsPathSeparator(path[i]) {
			ends = append(ends, i)
		}
	}
	if ends[len(ends)-1] < len(path) {
		ends = append(ends, len(path))
	}
	deepest := -1
	sort.Search(len(ends), func(i int) bool {
		to, err := filepath.EvalSymlinks(path[:ends[i]])
		if err == nil && i > deepest {
			deepest, real = i, to
		}
		return err != nil
	})
	if deepest < 0 {
		return "", path
	}
	return real, strings.TrimPrefix(path[ends[deepest]:], separator)
}
