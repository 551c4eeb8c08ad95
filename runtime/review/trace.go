package review

// Trace is what exact reports say of the text of a file on the disk while an editor
// has another text of it, which may have unsaved edits.
type Trace struct {
	from string
	text weave
}

// NewTrace begins with what the disk had.
func NewTrace(text string) *Trace { return &Trace{text, weaveOf(text)} }

// Reported returns the trace after a change of an agent from before to after.
func (t *Trace) Reported(before, after string) *Trace {
	return (&Trace{t.from, t.text.write(before, writer{})}).Found(after)
}

// Found returns the trace after agents have made the file a text.
func (t *Trace) Found(text string) *Trace {
	all := func(ChangeID) bool { return true }
	return &Trace{t.from, t.text.write(text, writer{by: 1, same: all, turn: all})}
}

// Saved returns the trace after the user has made the file a text.
func (t *Trace) Saved(text string) *Trace { return &Trace{t.from, t.text.write(text, writer{})} }

// Users returns a text of the editor, which knows nothing of the changes yet, with
// those that are the user's.
func (t *Trace) Users(text string) string {
	users, _ := Merge(t.from, text, t.text.base())
	return users
}
