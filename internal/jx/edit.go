package jx

// Edit replaces parts of a text, from front to back.
type Edit struct {
	Source []byte
	out    []byte
	copied int // Source[:copied] is in out
}

// Replace replaces Source[from:to] with text.
func (e *Edit) Replace(from, to int, text []byte) {
	e.out = append(append(e.out, e.Source[e.copied:from]...), text...)
	e.copied = to
}

// Changed reports whether a part has been replaced.
func (e *Edit) Changed() bool { return e.copied > 0 || e.out != nil }

// Result returns the text with its replacements: Source itself if there are none.
func (e *Edit) Result() []byte {
	if !e.Changed() {
		return e.Source
	}
	return append(e.out, e.Source[e.copied:]...)
}
