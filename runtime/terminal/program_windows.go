package terminal

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

var suffixes = []string{"", ".exe", ".com", ".bat", ".cmd"}

const batchFiles = true

func mayRun(fs.FileMode) bool { return true }

// unread cannot find out without reading from the pipe.
func unread(*os.File) bool { return false }

func shellArgv(line string) []string { return []string{"cmd.exe", "/d", "/s", "/c", line} }

// toShell hands a line to the shell as it is. cmd.exe only removes the outer
// quotes; it does not know the escapes of argument vectors.
func toShell(cmd *exec.Cmd, argv []string) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + argv[len(argv)-1] + `"`}
	cmd.Args = nil
}
