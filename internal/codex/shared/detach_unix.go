//go:build unix

package shared

import (
	"os/exec"
	"syscall"
)

// Detach starts a program that outlives this process and gets no signals of its
// terminal. Call it from a process that ends right after it: then a keeper that
// ends the descendants of this process spares the program.
func Detach(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
