package tool

import (
	"cmp"
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
			text, err := c.show(ctx, path)
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

// replace puts fresh where old is in text. A line break of old stands for one of any kind;
// each line keeps its own, and new lines get the kind of their neighbours.
//
// Models often get white space wrong, so if old is nowhere, lines count as equal that differ
// only in white space at their ends, then in the typography of quotes, dashes and spaces, and
// then blank lines do not count, as long as only one place fits; new lines are then indented as the file is. The numbers of
// lines may stand before old.
func replace(text, old, fresh string, all bool) (changed string, places int, err error) {
	old, fresh = unixBreaks(old), unixBreaks(fresh)
	switch old {
	case "":
		return "", 0, errors.New("old is empty")
	case fresh:
		return "", 0, errors.New("old and new are the same")
	}
	flat := unixBreaks(text)
	n := strings.Count(flat, old)
	switch {
	case n == 1, n > 1 && all:
		return exchange(text, flat, old, fresh), n, nil
	case n > 1:
		return "", 0, fmt.Errorf("old occurs %d times, at lines %s; include more lines around it, or set all", n, linesOf(flat, old))
	}
	lines, wanted := strings.Split(flat, "\n"), strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	withEnd := strings.HasSuffix(old, "\n")
	at := matches(lines, wanted)
	var apart [][2]int // by blank lines
	if len(at) == 0 {
		apart = spread(lines, wanted)
	}
	switch fit := len(at) + len(apart); {
	case len(at) == 1:
		changed, err := exchangeLines(text, at[0], wanted, fresh, withEnd)
		return changed, 1, err
	case len(apart) == 1:
		changed, err := exchangeSpread(text, lines, apart[0], wanted, fresh, withEnd)
		return changed, 1, err
	case fit > 1:
		return "", 0, fmt.Errorf("old is nowhere exactly, and in %d places when white space is ignored; repeat the lines as they are in the file", fit)
	}
	if bare, ok := unnumbered(old); ok {
		without, ok := unnumbered(fresh)
		if !ok {
			without = fresh
		}
		if spaced := unspaced(bare); !strings.Contains(flat, bare) && strings.Contains(flat, spaced) {
			bare, without = spaced, unspaced(without)
		}
		return replace(text, bare, without, all)
	}
	return "", 0, fmt.Errorf("old is not in the file; %s", nearest(lines, wanted))
}

// unixBreaks replaces the line breaks of Windows.
func unixBreaks(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// breaks lists the line breaks of a text, and an empty one for its last line.
func breaks(text string) []string {
	var list []string
	for line := range strings.SplitAfterSeq(text, "\n") {
		switch {
		case strings.HasSuffix(line, "\r\n"):
			list = append(list, "\r\n")
		case strings.HasSuffix(line, "\n"):
			list = append(list, "\n")
		default:
			list = append(list, "")
		}
	}
	return list
}

// exchange replaces a text wherever it is. flat is the whole with breaks of one kind.
func exchange(text, flat, old, fresh string) string {
	var b strings.Builder
	all := breaks(text)
	line := 0
	put := func(part, instead string) {
		lines := strings.Split(part, "\n")
		from := line
		line += len(lines) - 1
		b.WriteString(broken(strings.Split(instead, "\n"), lines, append(slices.Clip(all[from:line]), ""), around(all, from)))
	}
	for {
		before, after, found := strings.Cut(flat, old)
		put(before, before)
		if !found {
			return b.String()
		}
		put(old, fresh)
		flat = after
	}
}

// broken puts line breaks behind the lines that take the place of others, whose breaks are
// ends. A line that stays keeps its own. The last one ends as the last one did.
func broken(lines, old, ends []string, otherwise string) string {
	var b strings.Builder
	before, after := common(lines, old)
	for i, line := range lines {
		b.WriteString(line)
		end := ""
		switch left := len(lines) - 1 - i; {
		case left == 0:
			b.WriteString(ends[len(ends)-1])
			continue
		case i < before:
			end = ends[i]
		case left < after:
			end = ends[len(ends)-1-left]
		case i < len(ends)-after:
			end = ends[i] // of a line that is replaced
		}
		if end == "" {
			end = otherwise
		}
		otherwise = end
		b.WriteString(end)
	}
	return b.String()
}

// around is the line break of a line, or of the one before it if it is the last one.
func around(ends []string, line int) string {
	return cmp.Or(ends[line], ends[max(line-1, 0)], "\n")
}

var numbered = regexp.MustCompile(`^\s*(\d+)(?:[:|]\t?| *\t|→)(.*)$`)

// unnumbered takes the numbers off lines that are numbered one after the other, as models
// copy them from what shows lines with their numbers.
func unnumbered(text string) (bare string, ok bool) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	next := -1
	for i, line := range lines {
		m := numbered.FindStringSubmatch(line)
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

// unspaced takes off the blank that some tools write behind the numbers of lines.
func unspaced(text string) string {
	return strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\n ", "\n"), "\n")
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

// exchangeLines replaces whole lines. Lines that the model repeats stay as they are in the
// file. New ones are indented as the file is, or refused if nothing says how that is.
func exchangeLines(text string, at int, wanted []string, fresh string, withEnd bool) (string, error) {
	all := strings.SplitAfter(text, "\n")
	place := all[at : at+len(wanted)]
	have := strings.Split(unixBreaks(strings.Join(place, "")), "\n")[:len(wanted)]
	if withEnd {
		fresh = strings.TrimSuffix(fresh, "\n")
	}
	written := strings.Split(fresh, "\n")
	if fresh == "" && withEnd {
		written = nil
	}
	before, after := common(written, wanted)
	lines := slices.Clone(written)
	for i, line := range written {
		behind := len(written) - i // lines, with this one
		switch {
		case i < before:
			lines[i] = have[i]
		case behind <= after:
			lines[i] = have[len(wanted)-behind]
		case strings.TrimSpace(line) != "":
			mine := indent(line)
			theirs, ok := indentLike(wanted, have, mine)
			if len(written) == len(wanted) && indent(wanted[i]) == mine {
				theirs, ok = indent(have[i]), true // one line for one line
			}
			if !ok {
				return "", fmt.Errorf("old is there only with other white space, which does not say how the file indents %q; repeat the lines of old as they are in the file", strings.TrimSpace(line))
			}
			lines[i] = theirs + line[len(mine):]
		}
	}
	ends := breaks(text)
	middle := broken(lines, have, ends[at:at+len(wanted)], around(ends, at))
	return strings.Join(all[:at], "") + middle + strings.Join(all[at+len(wanted):], ""), nil
}

// indentLike returns what a line is indented with in the file that the model indents with
// mine. It is known if the model has indented another line so, or else if all of its lines
// follow one rule: more or less in front of each, or spaces for tabs and the other way round.
func indentLike(wanted, have []string, mine string) (theirs string, ok bool) {
	var pairs [][2]string // of the model, of the file
	var like []string
	for i, w := range wanted {
		if strings.TrimSpace(w) == "" {
			continue
		}
		pair := [2]string{indent(w), indent(have[i])}
		pairs = append(pairs, pair)
		if pair[0] == mine && !slices.Contains(like, pair[1]) {
			like = append(like, pair[1])
		}
	}
	if len(like) > 0 {
		return like[0], len(like) == 1
	}
	if more, ok := strings.CutSuffix(pairs[0][1], pairs[0][0]); ok && follow(pairs, func(w string) (string, bool) { return more + w, true }) {
		return more + mine, true
	}
	if less, ok := strings.CutSuffix(pairs[0][0], pairs[0][1]); ok {
		without := func(w string) (string, bool) { return strings.CutPrefix(w, less) }
		if follow(pairs, without) {
			return without(mine)
		}
	}
	var answers []string
	for _, width := range []int{2, 3, 4, 8} { // of a tab in spaces
		for _, other := range []func(string, int) (string, bool){tabbed, spaced} {
			first, whole := other(pairs[0][0], width)
			more, longer := strings.CutSuffix(pairs[0][1], first)
			rule := func(w string) (string, bool) { w, ok := other(w, width); return more + w, ok }
			if !whole || !longer || !follow(pairs, rule) {
				continue
			}
			theirs, whole := rule(mine)
			if !whole {
				return "", false
			}
			if !slices.Contains(answers, theirs) {
				answers = append(answers, theirs)
			}
		}
	}
	if len(answers) != 1 {
		return "", false
	}
	return answers[0], true
}

// follow reports whether the file is indented by a rule.
func follow(pairs [][2]string, rule func(string) (string, bool)) bool {
	return !slices.ContainsFunc(pairs, func(pair [2]string) bool {
		theirs, ok := rule(pair[0])
		return !ok || theirs != pair[1]
	})
}

// tabbed writes spaces as tabs, if that leaves no rest.
func tabbed(spaces string, width int) (tabs string, whole bool) {
	n := len(spaces)
	return strings.Repeat("\t", n/width), n%width == 0 && strings.Trim(spaces, " ") == ""
}

// spaced writes tabs as spaces.
func spaced(tabs string, width int) (spaces string, whole bool) {
	return strings.Repeat(" ", len(tabs)*width), strings.Trim(tabs, "\t") == ""
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
	return fmt.Sprintf("the nearest text is at line %d:\n%s", place+1, strings.Join(lines[place:end], "\n")+"\n")
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
