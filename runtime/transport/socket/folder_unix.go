//go:build unix

package socket

import (
	"fmt"
	"os"
	"syscall"
)

// PrivateFolder checks that nobody else can access the files in dir.
func PrivateFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() {
		return fmt.Errorf("the folder %s belongs to user %d (use a folder of your own)", dir, st.Uid)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("the folder %s is open to others, mode %04o (use a folder of its own, or: chmod 700 %[1]s)", dir, info.Mode().Perm())
	}
	return nil
}
