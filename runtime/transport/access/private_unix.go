//go:build unix

package access

import (
	"fmt"
	"io/fs"
)

func private(info fs.FileInfo) error {
	if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others have access to it (mode %04o)", info.Mode().Perm())
	}
	return nil
}
