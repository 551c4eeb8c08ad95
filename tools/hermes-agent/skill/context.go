package skill

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// contextFiles hold instructions for agents. Only the first that a folder has is
// read; the others usually say the same.
var contextFiles = []string{"AGENTS.md", "agents.md", "CLAUDE.md", ".hermes.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md"}

// maxContext bounds the instructions in bytes. Those of the nearest folders stay.
const maxContext = 32 << 10

// Context returns the instructions for agents in a folder and in those above it,
// up to the root of the repository, the nearest last. They are for the system
// prompt. A link that leads out of the repository is not followed.
func Context(dir string) string {
	top := repository(dir)
	root, err := os.OpenRoot(top)
	if err != nil {
		return ""
	}
	defer root.Close()
	var parts []string
	room := maxContext
	for at := dir; ; at = filepath.Dir(at) {
		rel, err := filepath.Rel(top, at)
		if err != nil {
			break
		}
		if part := instructions(root, rel); part != "" && room > 0 {
			part = shorten(part, room)
			room -= len(part)
			parts = append(parts, part)
		}
		if at == top || at == filepath.Dir(at) {
			break
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "\n")
}

// instructions returns the instructions of one folder, under the name of their
// file.
func instructions(root *os.Root, dir string) string {
	for _, name := range contextFiles {
		name = filepath.Join(dir, name)
		info, err := root.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
			continue
		}
		b, err := root.ReadFile(name)
		if text := visible(string(b)); err == nil && text != "" {
			return "Instructions of " + filepath.ToSlash(name) + ":\n" + text + "\n"
		}
	}
	return ""
}

// visible drops what a reader of the file does not see.
func visible(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
		if r == '\n' || r == '\t' || r == zeroWidthNonJoiner || r == zeroWidthJoiner || !unicode.In(r, unicode.Cc, unicode.Cf) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "")))
}

// repository returns the folder with .git above a folder, or the folder itself.
func repository(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
