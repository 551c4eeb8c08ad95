package project

import (
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// A file that is gone and one that is new are one that was moved if they have the same text, or
// most of it. Several looks may find the two: what one has found waits for the others until the
// next prompt.

const (
	maxMoved   = 50      // files that are compared by their lines, and that wait
	maxTexts   = 4 << 20 // bytes of all of them, once for those that are gone and once for the new
	alikeParts = 2       // of so many, one must be the same
)

// moved is a file that came or went.
type moved struct{ name, text string }

// moving notes a file that came or went.
func (j *job) moving(name string, before, now review.State) {
	switch {
	case before.Kind == review.Regular && before.Text != "" && now.Kind != review.Regular:
		j.gone = append(j.gone, moved{name, before.Text})
	case before.Kind == review.Absent && now.Kind == review.Regular:
		j.made = append(j.made, moved{name, now.Text})
	}
}

// renamed notes which of the files that are gone are those that were made.
func (p *Project) renamed(j *job) {
	if len(j.gone) == 0 && len(j.made) == 0 {
		return
	}
	p.mu.Lock()
	gone, made := slices.Concat(p.went, j.gone), slices.Concat(p.came, j.made)
	p.mu.Unlock()
	is := func(m moved, there bool) bool {
		_, now, known := p.review.Known(m.name)
		return known && there == (now.Kind == review.Regular)
	}
	gone = slices.DeleteFunc(gone, func(m moved) bool { return !is(m, false) })
	made = slices.DeleteFunc(made, func(m moved) bool { return !is(m, true) })
	same := make(map[string][]string) // the names of the new files, by text
	for _, to := range made {
		same[to.text] = append(same[to.text], to.name)
	}
	taken := make(map[string]bool)
	note := func(from, to string) {
		taken[from], taken[to] = true, true
		p.failed("record a move", from, p.review.Renamed(from, to))
	}
	for _, from := range gone {
		if names := same[from.text]; len(names) > 0 {
			same[from.text] = names[1:]
			note(from.name, names[0])
		}
	}
	left := func(files []moved) []moved {
		return latest(slices.DeleteFunc(files, func(m moved) bool { return taken[m.name] }))
	}
	gone, made = left(gone), left(made)
	news := make([]map[string]int, len(made))
	for i, to := range made {
		news[i] = linesOf(to.text)
	}
	for _, from := range gone {
		best, most, old := "", 0, linesOf(from.text)
		for i, to := range made {
			longer := max(len(from.text), len(to.text))
			if n := shared(old, news[i]); n*alikeParts >= longer && n > most && !taken[to.name] {
				best, most = to.name, n
			}
		}
		if best != "" {
			note(from.name, best)
		}
	}
	p.mu.Lock()
	p.went, p.came = left(gone), left(made)
	p.mu.Unlock()
}

// latest returns the last files of a list that are few and small enough to wait.
func latest(files []moved) (kept []moved) {
	bytes := 0
	for _, m := range slices.Backward(files) {
		if len(kept) < maxMoved && bytes+len(m.text) <= maxTexts {
			kept = append(kept, m)
			bytes += len(m.text)
		}
	}
	slices.Reverse(kept)
	return kept
}

// linesOf counts the lines of a text.
func linesOf(text string) map[string]int {
	lines := make(map[string]int)
	for line := range strings.Lines(text) {
		lines[line]++
	}
	return lines
}

// shared returns how many bytes of lines two texts share.
func shared(a, b map[string]int) (bytes int) {
	if len(b) < len(a) {
		a, b = b, a
	}
	for line, n := range a {
		bytes += min(n, b[line]) * len(line)
	}
	return bytes
}
