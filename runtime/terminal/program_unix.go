//go:build unix

package terminal

import "io/fs"

var suffixes = []string{""}

func mayRun(mode fs.FileMode) bool { return mode.Perm()&0o111 != 0 }

func shellArgv(line string) []string { return []string{"/bin/sh", "-c", line} }
