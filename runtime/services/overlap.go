package services

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// ErrOverlap is what every *OverlapError matches.
var ErrOverlap = errors.New("the file has changed since you last read or wrote it")

// OverlapError refuses a write of lines that somebody else has changed since the
// agent last read or wrote the file. Its text tells a model what to do.
type OverlapError struct {
	Conflicts []review.Conflict // none if the texts are too large to compare
}

// Is makes errors.Is(err, ErrOverlap) work.
func (e *OverlapError) Is(target error) bool { return target == ErrOverlap }

// How much of the lines an OverlapError shows.
const (
	maxOverlaps     = 5
	maxOverlapLines = 10  // of each
	maxOverlapLine  = 200 // bytes
)

func (e *OverlapError) Error() string {
	var b strings.Builder
	b.WriteString("nothing was written: " + ErrOverlap.Error())
	if len(e.Conflicts) == 0 {
		b.WriteString(". It is too large to merge. Read the whole file again, then repeat your change on what it says now.")
		return b.String()
	}
	b.WriteString(", and your text changes the same lines. Read the file again, then repeat your change on what it says now.")
	for i, c := range e.Conflicts {
		if i == maxOverlaps {
			fmt.Fprintf(&b, "\nThere are %d more such places.", len(e.Conflicts)-i)
			break
		}
		switch n := len(c.Ours); n {
		case 0:
			fmt.Fprintf(&b, "\nDeleted after line %d:", c.At)
			excerpt(&b, c.Base)
		case 1:
			fmt.Fprintf(&b, "\nLine %d is now:", c.At+1)
			excerpt(&b, c.Ours)
		default:
			fmt.Fprintf(&b, "\nLines %d to %d are now:", c.At+1, c.At+n)
			excerpt(&b, c.Ours)
		}
	}
	return b.String()
}

func excerpt(b *strings.Builder, lines []string) {
	for i, l := range lines {
		if i == maxOverlapLines {
			fmt.Fprintf(b, "\n    and %d more lines", len(lines)-i)
			return
		}
		l = strings.TrimRight(l, "\r\n")
		if len(l) > maxOverlapLine {
			cut := maxOverlapLine
			for !utf8.RuneStart(l[cut]) {
				cut--
			}
			l = l[:cut] + "…"
		}
		b.WriteString("\n    " + strings.ToValidUTF8(strings.ReplaceAll(l, "\x00", "�"), "�"))
	}
}
