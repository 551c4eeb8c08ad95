package acp

// Violation is a rule of the protocol that a value breaks although it can be
// encoded: a list that must not be empty, a number out of its range, text that
// is no URI, an enum value nobody defined. Every message has a Check method
// that lists them; decoding enforces only what is needed to make sense of a
// message.
type Violation struct {
	Pointer string // JSON pointer of the value
	Rule    string // schema keyword: minItems, minimum, format, enum, ...
	Message string // what was expected
}

// String returns the violation in one line.
func (v Violation) String() string {
	if v.Pointer == "" {
		return v.Message
	}
	return v.Pointer + ": " + v.Message
}
