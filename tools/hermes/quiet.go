package main

import (
	"bytes"
	"strings"
)

// maxQuiet bounds a message that is printed only if it is the last, in bytes.
const maxQuiet = 16 << 20

// lastMessage keeps the last message that is not blank.
type lastMessage struct {
	current, before draft
}

type draft struct {
	text    []byte
	missing int // bytes beyond the limit
	inked   bool
}

// add appends to the current message.
func (m *lastMessage) add(text string) {
	d := &m.current
	keep := min(len(text), maxQuiet-len(d.text))
	if d.missing > 0 {
		keep = 0 // only the beginning is kept, without a gap
	}
	d.text = append(d.text, text[:keep]...)
	d.missing += len(text) - keep
	d.inked = d.inked || strings.TrimSpace(text) != ""
}

// next begins another message.
func (m *lastMessage) next() {
	if m.current.inked {
		m.before = m.current
	}
	m.current = draft{}
}

// text returns the message without its final line ends, and how many bytes of it
// are missing.
func (m *lastMessage) text() (string, int) {
	d := &m.current
	if !d.inked {
		d = &m.before
	}
	return string(bytes.TrimRight(d.text, "\n")), d.missing
}
