//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package atomicfile

import (
	"errors"
	"os"
)

// TryLock fails: there are no locks here.
func TryLock(*os.File) error { return errors.ErrUnsupported }

// Unlock fails: there are no locks here.
func Unlock(*os.File) error { return errors.ErrUnsupported }
