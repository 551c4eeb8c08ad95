package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
)

// Edit replaces a text in a file.
func Edit() *Tool {
	return &Tool{
		Name: "edit", Toolset: "core", Kind: acp.ToolKindEdit, Asks: true,
		Description: "Replace a text in a file. old must occur exactly once, so include enough lines around it, unless all is true.",
		Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},` +
			`"old":{"type":"string","minLength":1},"new":{"type":"string"},"all":{"type":"boolean"}},` +
			`"required":["path","old","new"],"additionalProperties":false}`),
		Title: pathTitle("Edit"),
		Run: func(ctx context.Context, c *Call) (string, error) {
			var args struct {
				Path, Old, New string
				All            bool
			}
			if err := c.Decode(&args); err != nil {
				return "", err
			}
			path := c.path(args.Path)
			text, err := c.read(ctx, path)
			if err != nil {
				return "", err
			}
			changed, places, err := replace(text, args.Old, args.New, args.All)
			if err != nil {
				return "", fmt.Errorf("edit %s: %w", path, err)
			}
			if err := c.write(ctx, path, text, changed, false); err != nil {
				return "", err
			}
			return fmt.Sprintf("replaced %s in %s", count(places, "place"), path), nil
		},
	}
}

// replace puts fresh where old is in text. Models often get white space wrong, so if old
// is nowhere, lines count as equal that differ only in white space at their ends, and then
// in the typography of quotes, dashes and spaces, as long as only one place fits; fresh is
// then indented like that place. The numbers of lines may stand before old.
func replace(text, old, fresh string, all bool) (changed string, places int, err error) {
	if old == fresh {
		return "", 0, errors.New("old and new are the same")
	}
	if isCRLF(text) {
		old, fresh = withCRLF(old), withCRLF(fresh)
	}
	n := strings.Count(text, old)
	switch {
	case n == 1, n > 1 && all:
		return strings.ReplaceAll(text, old, fresh), n, nil
	case n > 1:
		return "", 0, fmt.Errorf("old occurs %d times, at lines %s; include more lines around it, or set all", n, linesOf(text, old))
	}
	lines, wanted := strings.SplitAfter(text, "\n"), strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	at := matches(lines, wanted)
	switch {
	case len(at) == 1:
		return reindent(lines, at[0], wanted, fresh, strings.HasSuffix(old, "\n")), 1, nil
	case len(at) > 1:
		return "", 0, fmt.Errorf("old is nowhere exactly, and in %d places when white space is ignored; repeat the lines as they are in the file", len(at))
	}
	if bare, ok := unnumbered(old); ok {
		if without, ok := unnumbered(fresh); ok {
			fresh = without
		}
		return replace(text, bare, fresh, all)
	}
	return "", 0, fmt.Errorf("old is not in the file; %s", nearest(lines, wanted))
}

var numbered = regexp.MustCompile(`^\s*(\d+)(?:[:|]\t?| *\t|→)(.*)$`)

// unnumbered takes the numbers off lines that are numbered one after the other, as models
// copy them from what shows lines with their numbers.
func unnumbered(text string) (bare string, ok bool) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	next := -1
	for i, line := range lines {
		m := numbered.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
		if m == nil {
			return text, false
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || next >= 0 && n != next {
			return text, false
		}
		next, lines[i] = n+1, m[2]
	}
	bare = strings.Join(lines, "\n")
	if strings.HasSuffix(text, "\n") {
		bare += "\n"
	}
	return bare, strings.TrimSpace(bare) != ""
}

// isCRLF reports whether all lines end as in files from Windows.
func isCRLF(text string) bool {
	n := strings.Count(text, "\n")
	return n > 0 && n == strings.Count(text, "\r\n")
}

// withCRLF ends lines as files from Windows do, and models do not.
func withCRLF(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// plain replaces typography by what keyboards have.
var plain = strings.NewReplacer(
	"\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u201f", `"`,
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2212", "-",
	"\u00a0", " ", "\u2002", " ", "\u2003", " ", "\u2007", " ", "\u2009", " ", "\u202f", " ", "\u3000", " ",
)

// matches lists the lines where wanted begins when white space at the ends of lines is
// ignored, or else typography, too.
func matches(lines, wanted []string) []int {
	if at := placesOf(lines, wanted, strings.TrimSpace); len(at) > 0 {
		return at
	}
	return placesOf(lines, wanted, func(line string) string { return strings.TrimSpace(plain.Replace(line)) })
}

// placesOf lists the lines where wanted begins, as far as same makes lines equal.
func placesOf(lines, wanted []string, same func(string) string) []int {
	seek := make([]string, len(wanted))
	for k, w := range wanted {
		seek[k] = same(w)
	}
	if strings.Join(seek, "") == "" {
		return nil
	}
	have := make([]string, len(lines))
	for i, line := range lines {
		have[i] = same(line)
	}
	var at []int
	for i := 0; i+len(wanted) <= len(lines); i++ {
		if slices.Equal(have[i:i+len(wanted)], seek) {
			at = append(at, i)
		}
	}
	return at
}

// reindent replaces whole lines. Lines that the model repeats stay as they are in the file.
// A new line gets the indentation of the replaced line that the model indented alike. If
// there is none, its indentation is corrected like that of the first replaced line.
func reindent(lines []string, at int, wanted []string, fresh string, withEnd bool) string {
	place, end := lines[at:at+len(wanted)], "\n"
	if strings.HasSuffix(lines[0], "\r\n") {
		end = "\r\n"
	}
	if withEnd {
		fresh = strings.TrimSuffix(fresh, "\n")
	}
	written := strings.Split(fresh, "\n")
	if fresh == "" && withEnd {
		written = nil
	}
	before, after := common(written, wanted)
	has := func(i int) string { return strings.TrimRight(place[i], "\r\n") }
	guide := firstText(wanted, before)
	var b strings.Builder
	b.WriteString(strings.Join(lines[:at], ""))
	for i, line := range written {
		if i > 0 {
			b.WriteString(end)
		}
		line = strings.TrimSuffix(line, "\r")
		behind := len(written) - i // lines, with this one
		switch {
		case i < before:
			line = has(i)
		case behind <= after:
			line = has(len(wanted) - behind)
		case strings.TrimSpace(line) != "":
			like := slices.IndexFunc(wanted[before:len(wanted)-after], func(w string) bool {
				return strings.TrimSpace(w) != "" && indent(w) == indent(line)
			})
			if like >= 0 {
				line = indent(has(before+like)) + strings.TrimLeft(line, " \t")
			} else if rest, ok := strings.CutPrefix(line, indent(wanted[guide])); ok {
				line = indent(has(guide)) + rest
			}
		}
		b.WriteString(line)
	}
	if strings.HasSuffix(place[len(place)-1], "\n") && len(written) > 0 {
		b.WriteString(end)
	}
	b.WriteString(strings.Join(lines[at+len(wanted):], ""))
	return b.String()
}

// common counts the lines at the beginning and at the end that are the same.
func common(a, b []string) (before, after int) {
	for before < min(len(a), len(b)) && a[before] == b[before] {
		before++
	}
	for after < min(len(a), len(b))-before && a[len(a)-1-after] == b[len(b)-1-after] {
		after++
	}
	return before, after
}

// firstText is the place of the first line from a place on that has text, else of the last
// one before it. One of the lines has some.
func firstText(lines []string, from int) int {
	hasText := func(line string) bool { return strings.TrimSpace(line) != "" }
	if i := slices.IndexFunc(lines[from:], hasText); i >= 0 {
		return from + i
	}
	for from--; !hasText(lines[from]); from-- {
	}
	return from
}

func indent(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// linesOf lists where a text begins, as line numbers.
func linesOf(text, old string) string {
	var list []string
	for from := 0; len(list) < 10; {
		at := strings.Index(text[from:], old)
		if at < 0 {
			break
		}
		list = append(list, fmt.Sprint(strings.Count(text[:from+at], "\n")+1))
		from += at + len(old)
	}
	return strings.Join(list, ", ")
}

// nearest shows the part of the file that is most like what a model looked for.
func nearest(lines, wanted []string) string {
	const most = 20 // lines to show
	words := map[string]bool{}
	for _, w := range wanted {
		words[strings.TrimSpace(w)] = true
	}
	delete(words, "")
	best, place := 0, 0
	for i := range lines {
		score := 0
		for k := 0; k < len(wanted) && i+k < len(lines); k++ {
			score += likeness(lines[i+k], wanted[k], words)
		}
		if score > best {
			best, place = score, i
		}
	}
	if best == 0 {
		return "nothing there is like it; read the file again"
	}
	end := min(place+min(len(wanted), most), len(lines))
	return fmt.Sprintf("the nearest text is at line %d:\n%s", place+1, strings.Join(lines[place:end], ""))
}

// likeness compares a line with the one that should be there: most for the same line,
// some for a line that is wanted elsewhere, a little for each word in common.
func likeness(line, wanted string, all map[string]bool) int {
	line, wanted = strings.TrimSpace(line), strings.TrimSpace(wanted)
	switch {
	case line == "":
		return 0
	case line == wanted:
		return 100
	case all[line]:
		return 30
	}
	score := 0
	for _, word := range strings.Fields(wanted) {
		if len(word) > 2 && strings.Contains(line, word) {
			score += 5
		}
	}
	return min(score, 90)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
