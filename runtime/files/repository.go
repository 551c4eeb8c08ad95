package files

import (
	"os"
	"slices"

	"github.com/hermes-nvim/hermes/internal/special"
)

// makesRepository reports whether a file, together with those that are already
// in the directory, makes it a bare repository. The configuration of one names
// programs that git runs.
func makesRepository(dir *os.Root, name string) bool {
	beside := []string{"HEAD"}
	switch special.Fold(name) {
	case "head":
		beside = []string{"config", "config.worktree", "commondir"}
	case "config", "config.worktree", "commondir":
	default:
		return false
	}
	return slices.ContainsFunc(beside, func(name string) bool {
		_, err := dir.Lstat(name)
		return err == nil
	})
}
