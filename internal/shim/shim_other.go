//go:build !linux || (!amd64 && !arm64)

package shim

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// Run fails: only Linux has what it takes, on amd64 and arm64.
func Run(Config, []string, string, []string) (status int, err error) {
	return 0, fmt.Errorf("%w: only Linux does, on amd64 and arm64, not %s on %s", ErrUnavailable, runtime.GOOS, runtime.GOARCH)
}

// Child is never called, since Run starts nothing.
func Child([]string) int { return 2 }

// Die ends this process with the status that shells use for a signal.
func Die(s syscall.Signal) { os.Exit(128 + int(s)) }
