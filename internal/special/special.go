// Package special says which files are special, by their names: those that hold secrets, those
// that other programs run or trust, our own settings, and what version control systems keep.
// Whoever asks about a file, hides it or leaves it out asks here, so that all of them agree.
package special

import (
	"path"
	"slices"
	"strings"
)

// File is what is special about a file. The zero value is an ordinary one.
type File struct {
	// Use is what the file is for, such as "build", if a change of it reaches further than
	// the project: other programs execute it, trust it, or let it steer them.
	Use string
	// Secret says that it holds keys, tokens or passwords.
	Secret bool
	// Internal says that it belongs to a version control system, which changes it itself.
	Internal bool
}

// Of says what is special about the file at a path. The first above names lead to the root of
// a project; the others are in it.
func Of(names []string, above int) File {
	folded := fold(names)
	for i, name := range folded {
		if slices.Contains(vcs, name) && (i >= above || !everyday(name)) || strings.HasPrefix(name, "git~") {
			return File{Use: "version control internals", Internal: true}
		}
	}
	folded, above = checkout(folded, above)
	f := File{Secret: isSecret(folded, above)}
	if f.Use = use(folded, above); f.Use == "" && f.Secret {
		f.Use = "secrets"
	}
	return f
}

// use returns the File.Use of what steers other programs.
func use(names []string, above int) string {
	last := len(names) - 1
	for _, group := range steering {
		for _, pattern := range group.names {
			if matches(pattern, names, above) {
				return group.what
			}
		}
		if last >= above && slices.Contains(group.files, names[last]) {
			return group.what
		}
	}
	if last > above && (strings.HasSuffix(names[last], ".vim") || strings.HasSuffix(names[last], ".lua")) {
		for _, dir := range names[above:last] {
			if slices.Contains(sourced, dir) {
				return "editor start-up"
			}
		}
	}
	return ""
}

// Secret is File.Secret of Of, at less cost.
func Secret(names []string, above int) bool { return isSecret(checkout(fold(names), above)) }

func fold(names []string) []string {
	folded := make([]string, len(names))
	for i, name := range names {
		folded[i] = Fold(name)
	}
	return folded
}

func isSecret(names []string, above int) bool {
	if len(names) > 0 && slices.ContainsFunc(examples, func(end string) bool { return strings.HasSuffix(names[len(names)-1], end) }) {
		names = names[:len(names)-1]
	}
	return slices.ContainsFunc(secret, func(pattern string) bool { return matches(pattern, names, min(above, len(names))) })
}

// matches reports whether some names in a row match a pattern. Above a root, that may be the
// name of any project, such as "configure".
func matches(pattern string, names []string, above int) bool {
	if everyday(pattern) {
		names = names[above:]
	}
	n := strings.Count(pattern, "/") + 1
	for i := 0; i+n <= len(names); i++ {
		if ok, _ := path.Match(pattern, strings.Join(names[i:i+n], "/")); ok {
			return true
		}
	}
	return false
}

// everyday reports whether what matches a pattern may be the name of any project.
func everyday(pattern string) bool {
	return !strings.HasPrefix(pattern, ".") && !strings.HasPrefix(pattern, "_") && !strings.Contains(pattern, "/")
}

// checkout drops the names that lead to a working copy above the root. Agents keep theirs in
// their own folders, such as .claude/worktrees/NAME.
func checkout(names []string, above int) ([]string, int) {
	for i := above - 2; i >= 0; i-- {
		if names[i] == "worktrees" {
			return names[i+1:], above - i - 1
		}
	}
	return names, above
}
