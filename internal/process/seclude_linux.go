package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// Seclude keeps other processes of the user from reading the memory and the first
// environment of this one, where keys are. It lasts until this process executes a
// program; the processes that it starts are not secluded.
//
// In a shim it does nothing, because the shim reads in the memory which files a
// process changes.
func Seclude() {
	if os.Getenv(Supervised) == "" {
		unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	}
}
