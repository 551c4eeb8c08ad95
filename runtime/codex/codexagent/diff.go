package codexagent

import (
	"os"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/lazyregexp"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// maxDiffed is the size of the largest file that is shown as a whole.
const maxDiffed = 4 << 20

// diff is a change with the whole text of the file, before and after. Where the file is neither,
// because it has changed since, only the changed parts are there.
func diff(c appserver.FileUpdateChange) []acp.ToolCallContent {
	d := acp.NewDiff(c.Path, "")
	switch v := c.Kind.(type) {
	case *appserver.PatchChangeKindAdd:
		d.NewText = c.Diff
	case *appserver.PatchChangeKindDelete:
		d.OldText = acp.Some(c.Diff)
	case *appserver.PatchChangeKindUpdate:
		before, after := updated(c.Path, v.MovePath.V, parseHunks(c.Diff))
		d.OldText, d.NewText = acp.Some(before), after
		if v.MovePath.V != "" {
			return []acp.ToolCallContent{&acp.Diff{Path: c.Path, OldText: acp.Some(before)}, acp.NewDiff(v.MovePath.V, after)}
		}
	default:
		return nil
	}
	return []acp.ToolCallContent{d}
}

// updated is a file before and after its hunks, whichever of both it is now.
func updated(path, moved string, hunks []hunk) (before, after string) {
	for _, name := range []string{path, moved} {
		info, err := os.Stat(name)
		if name == "" || err != nil || !info.Mode().IsRegular() || info.Size() > maxDiffed {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if text, ok := apply(string(b), hunks, false); ok {
			return string(b), text
		}
		if text, ok := apply(string(b), hunks, true); ok {
			return text, string(b)
		}
	}
	for _, h := range hunks {
		before += strings.Join(h.old, "")
		after += strings.Join(h.new, "")
	}
	return before, after
}

// hunk is a part of a file that changes: lines with their ends, from a line on,
// counted from 1.
type hunk struct {
	oldAt, newAt int
	old, new     []string
}

var hunkHead = lazyregexp.New(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// parseHunks reads a unified diff of one file.
func parseHunks(diff string) []hunk {
	var out []hunk
	for line := range strings.Lines(diff) {
		if m := hunkHead().FindStringSubmatch(line); m != nil {
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(m[2])
			out = append(out, hunk{oldAt: from, newAt: to})
			continue
		}
		if len(out) == 0 {
			continue
		}
		h := &out[len(out)-1]
		switch rest := line[1:]; line[0] {
		case ' ':
			h.old, h.new = append(h.old, rest), append(h.new, rest)
		case '\n':
			h.old, h.new = append(h.old, line), append(h.new, line)
		case '-':
			h.old = append(h.old, rest)
		case '+':
			h.new = append(h.new, rest)
		case '\\': // the line before has no end
			trim := func(list []string) {
				if n := len(list); n > 0 {
					list[n-1] = strings.TrimSuffix(list[n-1], "\n")
				}
			}
			trim(h.old)
			trim(h.new)
		}
	}
	return out
}

// apply changes a text by hunks, or changes it back. It fails where the text is not
// what the hunks expect.
func apply(text string, hunks []hunk, back bool) (string, bool) {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var b strings.Builder
	next := 0 // the first line that is not written yet
	for _, h := range hunks {
		at, from, to := h.oldAt, h.old, h.new
		if back {
			at, from, to = h.newAt, h.new, h.old
		}
		if len(from) > 0 {
			at-- // a hunk without old lines names the line before it
		}
		if at < next || at+len(from) > len(lines) {
			return "", false
		}
		b.WriteString(strings.Join(lines[next:at], ""))
		for i, want := range from {
			if strings.TrimSuffix(lines[at+i], "\n") != strings.TrimSuffix(want, "\n") {
				return "", false
			}
		}
		b.WriteString(strings.Join(to, ""))
		next = at + len(from)
	}
	b.WriteString(strings.Join(lines[next:], ""))
	return b.String(), true
}
