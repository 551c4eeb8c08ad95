//go:build amd64 || arm64

package shim_test

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// helper is a program that runs in a shim.
func helper(args []string) int {
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	switch args[0] {
	case "uring":
		var params [120]byte
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 8, uintptr(unsafe.Pointer(&params[0])), 0)
		fmt.Println(errno == unix.ENOSYS)
	case "openat2":
		_, err := unix.Openat2(unix.AT_FDCWD, args[1], &unix.OpenHow{})
		fmt.Println(err == unix.ENOSYS)
	case "handle":
		h, mount, err := unix.NameToHandleAt(unix.AT_FDCWD, args[1], 0)
		check(err)
		_ = mount
		dir, err := unix.Open(".", unix.O_RDONLY, 0)
		check(err)
		_, err = unix.OpenByHandleAt(dir, h, unix.O_WRONLY|unix.O_TRUNC)
		fmt.Println(err == unix.EPERM)
	case "daemon": // outlives its parent, in a session of its own
		p, err := os.StartProcess("/proc/self/exe", []string{"x", "helper", "late"}, &os.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}, Files: []*os.File{}})
		check(err)
		check(p.Release())
	case "late":
		for os.Getppid() != 1 && !exists("go") {
			time.Sleep(time.Millisecond)
		}
		check(os.WriteFile("late", []byte("late\n"), 0o644))
	case "unnamed": // a file that gets its name when it is complete
		fd, err := unix.Open(".", unix.O_TMPFILE|unix.O_RDWR, 0o644)
		check(err)
		_, err = unix.Write(fd, []byte("whole\n"))
		check(err)
		check(unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, "named", unix.AT_SYMLINK_FOLLOW))
	}
	return 0
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
