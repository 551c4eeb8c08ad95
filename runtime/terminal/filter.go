package terminal

import "strings"

// Filter removes from terminal output what a terminal would act upon: clipboard,
// title and hyperlink sequences, cursor movement, and all other escape sequences
// and controls. Tab, line feed, carriage return and backspace stay, and with
// Colors the sequences that only set colours and type style (SGR).
//
// It keeps its place between calls, so it works on the chunks of OnData. It is
// not safe for concurrent use. The zero value is ready.
type Filter struct {
	Colors bool

	state filterState
	seq   []byte // of a CSI sequence that may turn out to be SGR
}

type filterState uint8

const (
	inText    filterState = iota
	inEscape              // after ESC
	inCSI                 // after ESC [
	inString              // after ESC ], P, X, ^ or _: up to BEL or ST
	inCharset             // after ESC and an intermediate byte
)

const maxSGR = 64 // bytes

// Apply returns what is left of text.
func (f *Filter) Apply(text string) string {
	var out strings.Builder
	for _, r := range text {
		f.next(&out, r)
	}
	return out.String()
}

func (f *Filter) next(out *strings.Builder, r rune) {
	switch {
	case r == 0x18 || r == 0x1a: // CAN and SUB abort a sequence
		f.state = inText
		return
	case r == 0x1b:
		f.begin()
		return
	case r == '\n' && f.state != inText:
		f.state = inText // no sequence spans lines, and none may swallow the rest
	}
	switch f.state {
	case inText:
		f.text(out, r)
	case inEscape:
		f.escape(out, r)
	case inCSI:
		f.csi(out, r)
	case inString:
		if r == 7 || r == 0x9c {
			f.state = inText
		}
	case inCharset:
		if r >= 0x30 {
			f.state = inText
		}
	}
}

func (f *Filter) begin() { f.state, f.seq = inEscape, f.seq[:0] }

func (f *Filter) text(out *strings.Builder, r rune) {
	switch {
	case r >= 0x80 && r < 0xa0: // the same as ESC and the character 0x40 below
		f.begin()
		f.escape(out, r-0x40)
	case r >= ' ' && r != 0x7f, r == '\n', r == '\t', r == '\r', r == '\b':
		out.WriteRune(r)
	}
}

func (f *Filter) escape(out *strings.Builder, r rune) {
	switch {
	case r == '[':
		f.state = inCSI
	case strings.ContainsRune("]PX^_", r):
		f.state = inString
	case r >= 0x20 && r < 0x30:
		f.state = inCharset
	default: // a sequence of two characters, or ST after a string
		f.state = inText
	}
}

func (f *Filter) csi(out *strings.Builder, r rune) {
	switch {
	case r >= 0x20 && r < 0x40:
		if len(f.seq) < maxSGR {
			f.seq = append(f.seq, byte(r))
		}
	case r >= 0x40 && r < 0x7f:
		f.state = inText
		if f.Colors && r == 'm' && len(f.seq) < maxSGR && strings.Trim(string(f.seq), "0123456789;:") == "" {
			out.WriteString("\x1b[" + string(f.seq) + "m")
		}
	case r >= 0xa0: // not a sequence after all
		f.state = inText
		f.text(out, r)
	}
}
