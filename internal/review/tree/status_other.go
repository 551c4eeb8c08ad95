//go:build !linux && !darwin

package tree

import "io/fs"

func statusOf(fs.FileInfo) (inode uint64, changed int64) { return 0, 0 }
