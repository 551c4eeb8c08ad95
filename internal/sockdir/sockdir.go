// Package sockdir makes folders for the sockets of tests. The path of a socket may have
// about 100 bytes, and the temporary folder of a test is often longer. Tests that look at
// paths in a line of text, which is cut somewhere, use them, too, and tests that need a
// folder that is in no repository.
package sockdir

import (
	"os"
	"testing"
)

// room is what a socket may need below the folder, in bytes.
const room = 64

// New makes a folder that is removed after the test. Its path is short.
func New(t testing.TB) string {
	t.Helper()
	parent := os.TempDir()
	if len(parent) > 100-room {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
