package terminal

import (
	"bytes"
	"unicode/utf8"
)

// decoder turns a stream of bytes into valid UTF-8. Characters that are cut by
// the end of a chunk wait for the next one.
type decoder struct{ rest []byte }

func (d *decoder) decode(raw []byte, end bool) []byte {
	buf := append(d.rest, raw...)
	whole := len(buf)
	if !end {
		for i := 1; i < utf8.UTFMax && i <= len(buf); i++ {
			if last := buf[len(buf)-i:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					whole -= i
				}
				break
			}
		}
	}
	text := bytes.ToValidUTF8(buf[:whole], []byte("\ufffd"))
	d.rest = append([]byte(nil), buf[whole:]...)
	return text
}

// ring keeps the newest bytes of a text, which is valid UTF-8, up to limit. It
// uses about twice the limit, so that it rarely has to move what it keeps.
type ring struct {
	limit   int
	buf     []byte
	dropped bool
}

func (r *ring) write(text []byte) {
	if len(r.buf)+len(text) > r.limit {
		r.dropped = true
		text = text[runeStart(text, max(len(text)-r.limit, 0)):]
	}
	if len(r.buf)+len(text) > 2*r.limit {
		r.buf = append(r.buf[:0], r.buf[r.cut():]...)
	}
	r.buf = append(r.buf, text...)
}

// cut returns where the newest limit bytes begin, at a character.
func (r *ring) cut() int { return runeStart(r.buf, max(len(r.buf)-r.limit, 0)) }

func (r *ring) tail() (text string, truncated bool) {
	return string(r.buf[r.cut():]), r.dropped
}

// runeStart returns the first index from i on at which a character begins.
func runeStart(b []byte, i int) int {
	for i < len(b) && !utf8.RuneStart(b[i]) {
		i++
	}
	return i
}
