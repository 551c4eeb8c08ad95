package jx

// Edit is a text of which some parts are replaced, from the front to the back.
type Edit struct {
	Source []byte
	out    []byte
	copied int // Source[:copied] is in out
}

// Replace puts text in the place of Source[from:to].
func (e *Edit) Replace(from, to int, text []byte) {
	e.out = append(append(e.out, e.Source[e.copied:from]...), text...)
	e.copied = to
}

// Changed reports whether a part has been replaced.
func (e *Edit) Changed() bool { return e.copied > 0 || e.out != nil }

// Result returns the text with its replacements: Source itself when there are
// none.
func (e *Edit) Result() []byte {
	if !e.Changed() {
		return e.Source
	}
	return append(e.out, e.Source[e.copied:]...)
}
