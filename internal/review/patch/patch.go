// Package patch writes the pending changes of a review as a patch that git apply
// takes, with the authors in comments.
package patch

import (
	"bufio"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// Write writes the pending changes of files, or of all files if none are named.
// Comments come before each file: who changed it, and how that is known. Numbers
// at the hunks refer to them.
//
// Changes that a patch of git cannot have are comments: of files outside of the
// project, and of permissions other than whether a file can be executed. A file
// that was moved is deleted in one place and created in another. Binary files are
// patches that only git can apply.
func Write(w io.Writer, r *review.Review, paths ...string) error {
	out := bufio.NewWriter(w)
	p := printer{Writer: out}
	for _, f := range r.Files() {
		if len(paths) > 0 && !slices.Contains(paths, f.Path) {
			continue
		}
		hunks := r.Hunks(f.Path)
		base, current, _ := r.Known(f.Path)
		if len(hunks) > 0 {
			p.file(f, base, current, hunks)
		}
	}
	return out.Flush()
}

// Change writes what a plan does to a file, as Write does. A binary file has no
// lines to show.
func Change(w io.Writer, c review.Change) error {
	out := bufio.NewWriter(w)
	if binary(content(c.Before)) || binary(content(c.After)) || c.Before == c.After {
		return nil
	}
	printer{out}.states(c.Path, c.Before, c.After, nil, func(from, to []string) []region {
		var all []region
		shift := 0
		for _, e := range c.Edits {
			start := e.Start + shift
			all = append(all, region{base: review.Range{Start: e.Start, End: e.End}, current: review.Range{Start: start, End: start + len(e.Lines)}})
			shift += len(e.Lines) - (e.End - e.Start)
		}
		return all
	})
	return out.Flush()
}

type printer struct{ *bufio.Writer }

func (p printer) comment(format string, args ...any) {
	fmt.Fprintf(p, "# %s\n", fmt.Sprintf(format, args...))
}

// file writes what became of a file.
func (p printer) file(f review.File, base, current review.State, hunks []review.Hunk) {
	kind := ""
	if binary(content(base)) || binary(content(current)) {
		f.Added, f.Removed, kind = 0, 0, ", binary"
	}
	p.comment("%s: %s%s", Quote(f.Path), Summary(f), kind)
	authors := authorsOf(hunks)
	for i, a := range authors {
		p.comment("[%d] %s", i+1, Describe(a))
	}
	if filepath.IsAbs(f.Path) {
		p.comment("not in this patch: the file is outside of the project")
		return
	}
	old, now := gitMode(base), gitMode(current)
	if base.Kind == review.Regular && current.Kind == review.Regular && base.Mode != current.Mode && old == now {
		p.comment("not in this patch: its permissions, which were %04o and are %04o", base.Mode, current.Mode)
	}
	if base != current && (base.Kind != current.Kind || old != now || content(base) != content(current)) {
		p.states(f.Path, base, current, authors, func(from, to []string) []region { return regions(from, to, hunks, authors) })
	}
}

// states writes what became of a file. regions finds what differs in its lines.
func (p printer) states(path string, base, current review.State, authors []review.Author, regions func(from, to []string) []region) {
	all := func(from, to []string) []region { return whole(from, to, authors) }
	for _, s := range []*review.State{&base, &current} {
		if s.Kind == review.Other {
			p.comment("not in this patch: %s", s.Target)
			*s = review.State{}
		}
	}
	switch {
	case base.Kind != current.Kind && base.Kind != review.Absent && current.Kind != review.Absent: // a link became a file, or a file a link
		p.change(path, base, review.State{}, all)
		p.change(path, review.State{}, current, all)
	case base.Kind == review.Link || current.Kind == review.Link:
		p.change(path, base, current, all)
	default:
		p.change(path, base, current, regions)
	}
}

// content is what git keeps of a file.
func content(s review.State) string {
	if s.Kind == review.Link {
		return s.Target
	}
	return s.Text
}

func gitMode(s review.State) string {
	switch {
	case s.Kind == review.Absent:
		return ""
	case s.Kind == review.Link:
		return "120000"
	case s.Mode&0o100 != 0:
		return "100755"
	}
	return "100644"
}

const null = "0000000000000000000000000000000000000000"

// blob is the name that git gives a content.
func blob(s review.State) string {
	if s.Kind == review.Absent {
		return null
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00%s", len(content(s)), content(s))
	return hex.EncodeToString(h.Sum(nil))
}

// change writes a change between two states, which are of one kind or absent.
func (p printer) change(path string, base, current review.State, regions func(from, to []string) []region) {
	a, b := Quote("a/"+path), Quote("b/"+path)
	old, now := gitMode(base), gitMode(current)
	fmt.Fprintf(p, "diff --git %s %s\n", a, b)
	suffix := ""
	switch {
	case old == "":
		fmt.Fprintf(p, "new file mode %s\n", now)
		a = "/dev/null"
	case now == "":
		fmt.Fprintf(p, "deleted file mode %s\n", old)
		b = "/dev/null"
	case old != now:
		fmt.Fprintf(p, "old mode %s\nnew mode %s\n", old, now)
	default:
		suffix = " " + now
	}
	from, to := content(base), content(current)
	if from == to && old != "" && now != "" {
		return // only the mode
	}
	fmt.Fprintf(p, "index %s..%s%s\n", blob(base), blob(current), suffix)
	switch {
	case from == to: // both empty
	case binary(from) || binary(to):
		p.binary(from, to)
	default:
		fmt.Fprintf(p, "--- %s\n+++ %s\n", a, b)
		from, to := split(from), split(to)
		p.lines(from, to, regions(from, to))
	}
}

func binary(text string) bool { return strings.IndexByte(text, 0) >= 0 }

func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if n := len(lines) - 1; lines[n] == "" {
		return lines[:n]
	}
	return lines
}

// region is lines of the base that became others.
type region struct {
	base, current review.Range
	by            []int // numbers of authors
}

// regions returns what differs, in order. A file that the review does not cut into
// lines has one region.
func regions(from, to []string, hunks []review.Hunk, authors []review.Author) []region {
	var out []region
	at, now := 0, 0
	same := func(base, current int) bool {
		return at <= base && now <= current && base <= len(from) && current <= len(to) && slices.Equal(from[at:base], to[now:current])
	}
	for _, h := range hunks {
		if h.Kind != review.Text {
			continue
		}
		if !same(h.Base.Start, h.Current.Start) {
			return whole(from, to, authors)
		}
		r := region{base: h.Base, current: h.Current}
		for _, a := range h.Authors {
			r.by = append(r.by, number(authors, a))
		}
		out = append(out, r)
		at, now = h.Base.End, h.Current.End
	}
	if !same(len(from), len(to)) {
		return whole(from, to, authors)
	}
	return out
}

// whole is everything between the lines that both begin with and those that both
// end with.
func whole(from, to []string, authors []review.Author) []region {
	n := 0
	for n < min(len(from), len(to)) && from[n] == to[n] {
		n++
	}
	r := region{base: review.Range{Start: n, End: len(from)}, current: review.Range{Start: n, End: len(to)}}
	for r.base.End > n && r.current.End > n && from[r.base.End-1] == to[r.current.End-1] {
		r.base.End--
		r.current.End--
	}
	for i := range authors {
		r.by = append(r.by, i+1)
	}
	return []region{r}
}

const context = 3 // lines around a change

// lines writes the hunks of a unified diff. Regions that are near share one.
func (p printer) lines(from, to []string, all []region) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].base.Start-all[n-1].base.End <= 2*context {
			n++
		}
		p.hunk(from, to, all[:n])
		all = all[n:]
	}
}

func (p printer) hunk(from, to []string, group []region) {
	first, last := group[0], group[len(group)-1]
	before := min(context, first.base.Start)
	after := min(context, len(from)-last.base.End)
	var by []int
	for _, r := range group {
		by = append(by, r.by...)
	}
	slices.Sort(by)
	note := ""
	for _, n := range slices.Compact(by) {
		note += fmt.Sprintf(" [%d]", n)
	}
	fmt.Fprintf(p, "@@ -%s +%s @@%s\n",
		span(first.base.Start-before, last.base.End+after), span(first.current.Start-before, last.current.End+after), note)
	at := first.base.Start - before
	for _, r := range group {
		p.mark(' ', from[at:r.base.Start])
		p.mark('-', from[r.base.Start:r.base.End])
		p.mark('+', to[r.current.Start:r.current.End])
		at = r.base.End
	}
	p.mark(' ', from[at:at+after])
}

// span is a range as a unified diff has it: an empty one begins after a line.
func span(start, end int) string {
	if start == end {
		return fmt.Sprintf("%d,0", start)
	}
	return fmt.Sprintf("%d,%d", start+1, end-start)
}

// mark writes lines with a sign before each.
func (p printer) mark(sign byte, lines []string) {
	for _, l := range lines {
		p.WriteByte(sign)
		p.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			p.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// authorsOf returns the authors of hunks, oldest first. Authors that differ only
// in time are one.
func authorsOf(hunks []review.Hunk) (out []review.Author) {
	for _, h := range hunks {
		for _, a := range h.Authors {
			if number(out, a) == 0 {
				out = append(out, a)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b review.Author) int { return a.At.Compare(b.At) })
	return out
}

// number returns the number of an author in a list, from 1, and 0 if it is not there.
func number(list []review.Author, a review.Author) int {
	a.At = time.Time{}
	return 1 + slices.IndexFunc(list, func(b review.Author) bool { b.At = time.Time{}; return a == b })
}
