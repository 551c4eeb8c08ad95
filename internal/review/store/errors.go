package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

// The reasons why a store refuses something. Match them with errors.Is; a blob
// that is not there is fs.ErrNotExist.
var (
	ErrLocked   = errors.New("another program uses it")
	ErrReadOnly = errors.New("the store is open for reading only")
	ErrClosed   = errors.New("the store is closed")
	ErrTooLarge = errors.New("larger than the limit")
	ErrFull     = errors.New("the store has reached its limit")
	ErrDamaged  = errors.New("damaged")
	ErrRemoved  = errors.New("the state directory was removed while it was in use")
	ErrNewer    = errors.New("written by a newer version of Hermes")
)

// Error is the error of every method of a Store: what failed, at which file, and
// why. Its text ends with what the user can do about it, if there is anything.
type Error struct {
	Op   string
	Path string
	Err  error
}

func (e *Error) Error() string {
	text := e.Op + " " + e.Path + ": " + e.Err.Error()
	if advice := e.Advice(); advice != "" {
		text += "; " + advice
	}
	return text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Advice says what the user can do, or nothing.
func (e *Error) Advice() string {
	switch {
	case isAny(e.Err, diskFull):
		return "free space on that disk"
	case errors.Is(e.Err, syscall.EIO):
		return "the disk itself reports a failure: check it, or set another state directory"
	case errors.Is(e.Err, syscall.EROFS), errors.Is(e.Err, fs.ErrPermission):
		return "make it writable for you, or set another state directory"
	case errors.Is(e.Err, errNoLocks):
		return "set a state directory on a local disk"
	case errors.Is(e.Err, ErrFull):
		return "drop old checkpoints or accept what is pending, or raise the limits"
	case errors.Is(e.Err, ErrRemoved):
		return "restart the program"
	case errors.Is(e.Err, ErrNewer):
		return "update Hermes"
	}
	return ""
}

func isAny(err error, of []error) bool {
	for _, e := range of {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

var errNoLocks = errors.New("the file system has no locks")

// LockedError refuses to open a store that another program has open. It matches
// ErrLocked.
type LockedError struct {
	PID     int    // 0 if it is not known
	Host    string // where the program runs
	Program string
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return ErrLocked.Error()
	}
	return fmt.Sprintf("%v: %s, process %d on %s", ErrLocked, e.Program, e.PID, e.Host)
}

// Is makes errors.Is(err, ErrLocked) work.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// failed makes an Error, unless err is nil or already one.
func failed(op, path string, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &Error{Op: op, Path: path, Err: atomicfile.Reason(err)}
}
