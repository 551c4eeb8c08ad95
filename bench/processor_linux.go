package bench

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// onOneProcessor runs cmd and its children on one processor.
func onOneProcessor(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	defer unix.SchedSetaffinity(0, &all)
	for i := range 1024 {
		if all.IsSet(i) {
			one.Set(i)
			break
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	return cmd.Run()
}
