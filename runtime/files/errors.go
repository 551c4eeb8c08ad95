package files

import (
	"errors"
	"strconv"
	"strings"
	"unicode"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

// The reasons a path or a file is refused. Match them with errors.Is; a
// missing file is fs.ErrNotExist as usual.
var (
	ErrPath       = errors.New("not an acceptable path")
	ErrOutside    = errors.New("outside the session roots")
	ErrLink       = errors.New("symbolic link leads nowhere")
	ErrNotRegular = atomicfile.ErrNotRegular
	ErrNotDir     = errors.New("not a directory")
	ErrHardLink   = errors.New("file has other hard links")
	ErrTooLarge   = errors.New("file is too large")
	ErrNotText    = errors.New("not UTF-8 text")
	ErrProtected  = errors.New("protected file")
	ErrChanged    = errors.New("changed while it was being opened")
)

// Error is the error of every method of a Workspace: the operation as the
// protocol names it, the path as the agent wrote it, and the reason.
type Error struct {
	Op   string
	Path string
	Err  error
}

// Error escapes control and direction-changing characters of the path, because
// the text is shown to the user.
func (e *Error) Error() string { return e.Op + " " + printable(e.Path) + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// ProtectedError refuses a write to a name that other programs run or trust.
// It matches ErrProtected.
type ProtectedError struct {
	Name   string // relative to the session root
	Reason string // the kind of file, for the question to the user
	Denied bool   // true: never written; false: written once the user has approved
}

func (e *ProtectedError) Error() string {
	if e.Denied {
		return ErrProtected.Error() + " (" + e.Reason + "): never written on behalf of an agent"
	}
	return ErrProtected.Error() + " (" + e.Reason + "): needs the explicit approval of the user"
}

// Is makes errors.Is(err, ErrProtected) work.
func (e *ProtectedError) Is(target error) bool { return target == ErrProtected }

const maxShownPath = 512

func printable(path string) string {
	if len(path) > maxShownPath {
		path = strings.ToValidUTF8(path[:maxShownPath], "") + "…"
	}
	for _, r := range path {
		if !unicode.IsPrint(r) {
			return strconv.Quote(path)
		}
	}
	return path
}
