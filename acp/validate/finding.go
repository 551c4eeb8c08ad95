package validate

import (
	"fmt"

	"github.com/hermes-nvim/hermes/internal/shape"
)

// Finding is one mistake in a value.
type Finding struct {
	Pointer  string // JSON pointer to the value, empty for the whole
	Rule     string // keyword that is broken: type, required, enum, minimum, format, duplicate …
	Expected string
	Got      string // what stands there; long values are cut
}

// String returns the finding on one line: "/update/title: type: want string, got number".
func (f Finding) String() string {
	at := f.Pointer
	if at == "" {
		at = "(root)"
	}
	return fmt.Sprintf("%s: %s: want %s, got %s", at, f.Rule, f.Expected, f.Got)
}

// missing is the finding about an absent member of the object at a pointer.
func missing(pointer, member string) Finding { return Finding(shape.Lacks(pointer, member)) }
