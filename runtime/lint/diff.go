package lint

import (
	"bytes"

	"github.com/hermes-nvim/hermes/internal/lazyregexp"
)

func diffRules() []Rule {
	return []Rule{
		{
			ID: "DIF01", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Must,
			Summary: "Each change of a diff has a known operation and an absolute path; a move or copy has an absolute oldPath, too.",
			Why:     "The client cannot tell the user which files change.",
			Check: func(c *Checker) {
				eachDiff(c, func(m *Message, diff Value) {
					for _, change := range diff.Get("changes").Items() {
						if !change.IsObject() {
							continue
						}
						c.Exercised()
						checkChange(c, m, change)
					}
				})
			},
		},
		{
			ID: "DIF02", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Must,
			Summary: "The text of a git patch names the files of the diff by their absolute paths, and has no header of a commit.",
			Why:     "The client cannot match the text with the changes, and may show it below another file.",
			Check: func(c *Checker) {
				eachDiff(c, func(m *Message, diff Value) {
					text := diff.Get("patch", "text")
					if !text.IsString() || !diff.Get("patch", "format").Is("git_patch") {
						return
					}
					c.Exercised()
					paths, commit := readPatch(text.Bytes())
					if commit != nil {
						c.Fail(m, text, "the patch begins with the header of a commit: %q", quote(string(commit)))
					}
					known := map[string]bool{"/dev/null": true}
					for _, change := range diff.Get("changes").Items() {
						known[change.Get("path").Str()], known[change.Get("oldPath").Str()] = true, true
					}
					for _, path := range paths {
						switch name := string(path); {
						case !isAbsolute(path):
							c.Fail(m, text, "the patch has the relative path %q", quote(name))
							return
						case !known[name]:
							c.Fail(m, text, "the patch is about %q, which is not among the changes", quote(name))
							return
						}
					}
				})
			},
		},
		{
			ID: "DIF03", Severity: Info, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Should,
			Summary: "A diff that changes text has a patch.",
			Why:     "Otherwise the user sees that a file changes, but not how.",
			Check: func(c *Checker) {
				eachDiff(c, func(m *Message, diff Value) {
					if !changesText(diff) {
						return
					}
					c.Exercised()
					if !diff.Get("patch").Set() {
						c.Fail(m, diff, "the diff has no patch")
					}
				})
			},
		},
	}
}

// eachDiff calls f with every diff of a tool call.
func eachDiff(c *Checker, f func(*Message, Value)) {
	eachToolContent(c, func(m *Message, item Value) {
		if item.Get("type").Is("diff") {
			f(m, item)
		}
	})
}

// changesText reports whether a diff surely has a textual change: a file that it
// modifies and calls text.
func changesText(diff Value) bool {
	for _, change := range diff.Get("changes").Items() {
		if change.Get("operation").Is("modify") && change.Get("fileType").Is("text") {
			return true
		}
	}
	return false
}

func checkChange(c *Checker, m *Message, change Value) {
	operation := change.Get("operation")
	names := []string{"path"}
	switch {
	case operation.OneOf("add", "delete", "modify"):
	case operation.OneOf("move", "copy"):
		names = append(names, "oldPath")
	case operation.IsString() && !isCustom(operation):
		return // it may have other members
	default:
		c.Unknown(m, orElse(operation, change), "the specification does not have this operation")
		return
	}
	for _, name := range names {
		if path := change.Get(name); !path.IsString() {
			c.Fail(m, orElse(path, change), "%s is missing", name)
		} else if !isAbsolute(path.Bytes()) {
			c.Fail(m, path, "%s is not absolute", name)
		}
	}
}

var (
	commitHeader = lazyregexp.New(`^(From [0-9a-f]{7,64} |commit [0-9a-f]{7,64}$|From: |Author: |Date: |Subject: )`)
	hunkHeader   = lazyregexp.New(`^@@ -[0-9]+(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@`)
	fileHeader   = lazyregexp.New(`^(?:--- |\+\+\+ |rename from |rename to |copy from |copy to )(.+)$`)
)

// readPatch returns the paths in the headers of a patch, and the first line of a commit
// header before them. Paths in quotation marks are left out.
func readPatch(text []byte) (paths [][]byte, commit []byte) {
	old, now := 0, 0 // lines that are left of the hunk
	began := false
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if old > 0 || now > 0 {
			switch {
			case len(line) == 0 || line[0] == ' ':
				old, now = old-1, now-1
			case line[0] == '-':
				old--
			case line[0] == '+':
				now--
			}
			continue
		}
		if n := hunkHeader().FindSubmatch(line); n != nil {
			old, now = count(n[1]), count(n[2])
			continue
		}
		if bytes.HasPrefix(line, []byte("diff --git ")) {
			began = true
			if names := bytes.Fields(line[len("diff --git "):]); len(names) == 2 && names[0][0] != '"' {
				paths = append(paths, names...)
			}
			continue
		}
		if n := fileHeader().FindSubmatch(line); n != nil && n[1][0] != '"' {
			began = true
			path, _, _ := bytes.Cut(n[1], []byte("\t")) // before a time
			paths = append(paths, path)
		} else if !began && commit == nil && commitHeader().Match(line) {
			commit = line
		}
	}
	return paths, commit
}

// count reads how many lines a hunk has; one if it does not say so.
func count(digits []byte) int {
	if len(digits) == 0 {
		return 1
	}
	n := 0
	for _, d := range digits {
		n = min(n*10+int(d-'0'), 1<<30)
	}
	return n
}
