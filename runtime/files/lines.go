package files

import (
	"strings"

	"github.com/hermes-nvim/hermes/acp"
)

// Range selects lines of a text, as line and limit of fs/read_text_file do.
// The zero value selects everything.
type Range struct {
	Line  acp.Opt[uint32] // first line, counted from 1; 0 means 1
	Limit acp.Opt[uint32] // how many lines; 0 selects none
}

// Of returns the selected lines of text with their line ends. A range past the
// end is empty. Lines end with LF; a CR before it belongs to the line.
func (r Range) Of(text string) string {
	for n := r.Line.Or(1); n > 1; n-- {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		text = text[i+1:]
	}
	limit, ok := r.Limit.Get()
	if !ok {
		return text
	}
	end := 0
	for ; limit > 0; limit-- {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}
