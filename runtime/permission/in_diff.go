package permission

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
)

// inDiff reports whether an argument is a text of one of the diffs, or the same change as
// a patch, or an object that says this of one of them. Then who sees the diff has seen the
// argument.
func inDiff(diffs []*acp.Diff, r role, value any) bool {
	return slices.ContainsFunc(diffs, func(d *acp.Diff) bool {
		members, ok := value.(map[string]any)
		if !ok {
			return isIn(d, r, value)
		}
		for name, v := range members {
			switch v := v.(type) {
			case nil, bool, float64: // numbers only say how much
			default:
				if r := roleOf(name); !isIn(d, r, v) && (r != pathName || v != d.Path) {
					return false
				}
			}
		}
		return len(members) > 0
	})
}

func isIn(d *acp.Diff, r role, value any) bool {
	text, ok := value.(string)
	switch {
	case !ok || r != plainText && r != unknown:
		return false
	case r == plainText && (text == d.NewText || d.OldText.OK && text == d.OldText.V):
		return true
	}
	return isPatchIn(text, d)
}

var (
	hunkHead  = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?: (.*))?$`)
	patchHead = regexp.MustCompile(`^(?:Index: |--- |\+\+\+ )([^\t]+)\t?$`)
)

const (
	patchRule = "===================================================================" // below "Index:"
	noNewline = `\ No newline at end of file`
)

// isPatchIn reports whether a text is a unified patch, of which every line is in a diff: the
// path, and the lines where the patch says that they stand.
func isPatchIn(text string, d *acp.Diff) bool {
	old, now := linesOf(d.OldText.V), linesOf(d.NewText)
	lines, hunks := linesOf(text), 0
	for len(lines) > 0 {
		line := lines[0]
		lines = lines[1:]
		if head := hunkHead.FindStringSubmatch(line); head != nil {
			from, fromOK := stretch(old, head[1], head[2])
			to, toOK := stretch(now, head[3], head[4])
			if !fromOK || !toOK || !strings.Contains(d.OldText.V, head[5]) {
				return false
			}
			if lines, fromOK = hunkIn(lines, from, to); !fromOK {
				return false
			}
			hunks++
			continue
		}
		head := patchHead.FindStringSubmatch(line)
		if hunks > 0 || line != patchRule && (head == nil || head[1] != d.Path && head[1] != "/dev/null") {
			return false
		}
	}
	return hunks > 0
}

// hunkIn returns the lines behind a hunk, if it leads from the one lines to the others.
func hunkIn(lines, from, to []string) (rest []string, ok bool) {
	for len(from) > 0 || len(to) > 0 || len(lines) > 0 && lines[0] == noNewline {
		if len(lines) == 0 {
			return nil, false
		}
		line := lines[0]
		lines = lines[1:]
		if line == noNewline {
			continue
		}
		if line == "" {
			line = " " // some leave out the space
		}
		if sign := line[0]; sign == ' ' || sign == '-' {
			if len(from) == 0 || from[0] != line[1:] {
				return nil, false
			}
			from = from[1:]
		}
		switch line[0] {
		case ' ', '+':
			if len(to) == 0 || to[0] != line[1:] {
				return nil, false
			}
			to = to[1:]
		case '-':
		default:
			return nil, false
		}
	}
	return lines, true
}

// stretch returns the lines that a hunk's head names.
func stretch(lines []string, start, count string) ([]string, bool) {
	from, err := strconv.Atoi(start)
	many := 1
	if count != "" && err == nil {
		many, err = strconv.Atoi(count)
	}
	if many > 0 {
		from-- // without lines, it names the one above
	}
	if err != nil || from < 0 || many > len(lines) || from > len(lines)-many {
		return nil, false
	}
	return lines[from : from+many], true
}

// linesOf splits a text at its ends of lines.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
