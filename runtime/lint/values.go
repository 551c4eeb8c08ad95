package lint

import "github.com/hermes-nvim/hermes/internal/jtree"

// isAbsolute reports whether a path is absolute on Unix or on Windows.
func isAbsolute(path []byte) bool {
	switch {
	case len(path) > 0 && path[0] == '/':
		return true
	case len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/'):
		return path[0] >= 'a' && path[0] <= 'z' || path[0] >= 'A' && path[0] <= 'Z'
	}
	return len(path) > 1 && path[0] == '\\' && path[1] == '\\'
}

// checkAbsolute reports a path that is not absolute, named what. Other values than strings are
// another rule's.
func (c *Checker) checkAbsolute(m *Message, path Value, what string) {
	if !path.IsString() {
		return
	}
	c.Exercised()
	if !isAbsolute(path.Bytes()) {
		c.Fail(m, path, "%s is not absolute", what)
	}
}

// kindOf says what a value is, in a sentence.
func kindOf(v Value) string {
	switch k := v.Kind(); k {
	case jtree.Array, jtree.Object:
		return "an " + k.String()
	case jtree.Null:
		return k.String()
	default:
		return "a " + k.String()
	}
}
