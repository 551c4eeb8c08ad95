//go:build unix

package terminal

import (
	"io/fs"
	"os/exec"
)

var suffixes = []string{""}

const batchFiles = false

func mayRun(mode fs.FileMode) bool { return mode.Perm()&0o111 != 0 }

func shellArgv(line string) []string { return []string{"/bin/sh", "-c", line} }

func toShell(*exec.Cmd, []string) {}
