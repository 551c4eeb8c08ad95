package special

import "strings"

// GitKeeps reports whether the names below a ".git" lead to something that git only
// keeps: objects, references, logs, its index, locks, and where it stands, which it
// writes to files with names in capitals. All the rest can make git run a program or
// use the files of another folder.
func GitKeeps(names []string) bool {
	if len(names) == 0 {
		return false
	}
	last := names[len(names)-1]
	switch first := names[0]; first {
	case "objects", "logs", "refs":
		return true
	case "packed-refs", "shallow", "description", "gc.pid", "gc.log":
		return len(names) == 1
	case "info":
		return len(names) == 2 && strings.HasPrefix(last, "refs") // for servers, and its new version
	case "modules", "worktrees":
		// Those of a submodule, whose name may have slashes, and of a work tree.
		for i := 2; i < len(names); i++ {
			if GitKeeps(names[i:]) {
				return !steers(names[1:])
			}
		}
		return false
	default:
		if len(names) > 1 {
			return false
		}
		if steers(names) {
			return false // such as "CONFIG"
		}
		return strings.HasSuffix(first, ".lock") || strings.HasPrefix(first, "index") || strings.HasPrefix(first, "sharedindex.") ||
			strings.HasPrefix(first, "packed-refs.") || strings.Trim(first, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
	}
}

// steers reports whether one of the names could be a setting of git, also where upper and
// lower case are equal.
func steers(names []string) bool {
	for _, name := range names {
		switch strings.ToLower(name) {
		case "hooks", "config", "config.worktree", "commondir", "gitdir", "info", "modules", "worktrees":
			return true
		}
	}
	return false
}
