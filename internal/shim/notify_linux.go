//go:build amd64 || arm64

package shim

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/seccomp"
)

// Requests of ioctl that golang.org/x/sys/unix does not have.
const (
	notifyValid = 0x40082102 // SECCOMP_IOCTL_NOTIF_ID_VALID
	notifyAddFD = 0x40182103 // SECCOMP_IOCTL_NOTIF_ADDFD
	notifyFlags = 0x40082104 // SECCOMP_IOCTL_NOTIF_SET_FLAGS
	syncWakeUp  = 1          // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
)

// notice is struct seccomp_notif: a thread waits in a system call.
type notice struct {
	id    uint64
	tid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// answer is struct seccomp_notif_resp.
type answer struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

// addFD is struct seccomp_notif_addfd.
type addFD struct {
	id         uint64
	flags      uint32
	src        uint32
	new        uint32
	newFDFlags uint32
}

// listener is where the kernel asks about system calls.
type listener int

func (l listener) ioctl(request uint, p unsafe.Pointer) (int, error) {
	for {
		result, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(l), uintptr(request), uintptr(p))
		switch errno {
		case 0:
			return int(result), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

// stayOnProcessor lets a thread that waits and the supervisor take turns on one
// processor, which is faster than to wake another one. Kernels before 6.6 cannot.
func (l listener) stayOnProcessor() {
	unix.Syscall(unix.SYS_IOCTL, uintptr(l), notifyFlags, syncWakeUp)
}

// receive returns the next notice. It fails with ENOENT if the thread has been
// killed meanwhile.
func (l listener) receive(n *notice) error {
	*n = notice{}
	_, err := l.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(n))
	return err
}

// valid reports whether the thread still waits, so that what was read of its memory
// and in /proc was its own.
func (l listener) valid(id uint64) bool {
	_, err := l.ioctl(notifyValid, unsafe.Pointer(&id))
	return err == nil
}

// resume lets the call go on. The memory that its pointers lead to may have changed
// meanwhile, so this must never carry out a decision.
func (l listener) resume(id uint64) {
	a := answer{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	l.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a))
}

// finish ends the call with an error, or with 0.
func (l listener) finish(id uint64, err error) {
	a := answer{id: id, err: -int32(errnoOf(err))}
	l.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a))
}

// give ends the call with a new descriptor of the program for a file of ours. The kernel could do
// both at once (SECCOMP_ADDFD_FLAG_SEND), but if a signal interrupts it, the call ends with 0 and no
// file is there: the program would take its standard input for the file.
func (l listener) give(id uint64, fd int, cloexec bool) error {
	a := addFD{id: id, src: uint32(fd)}
	if cloexec {
		a.newFDFlags = unix.O_CLOEXEC
	}
	number, err := l.ioctl(notifyAddFD, unsafe.Pointer(&a))
	if err == nil {
		_, err = l.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&answer{id: id, val: int64(number)}))
	}
	return err
}

func errnoOf(err error) unix.Errno {
	var errno unix.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &errno):
		return errno
	}
	return unix.EACCES
}

// listen binds the calling thread to a filter and returns its listener. A signal
// does not make a call start again that has been received already, on kernels that
// know how (Linux 5.19).
func listen(filter []seccomp.Step) (int, error) {
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	fd, err := seccomp.Install(filter, flags|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if err == unix.EINVAL {
		fd, err = seccomp.Install(filter, flags)
	}
	switch err {
	case nil:
		return fd, nil
	case unix.EBUSY:
		return -1, fmt.Errorf("%w: another program supervises this one already, such as a shim around this one", ErrUnavailable)
	case unix.ENOSYS, unix.EINVAL:
		return -1, fmt.Errorf("%w: the kernel lacks seccomp with notifications (Linux 5.5)", ErrUnavailable)
	}
	return -1, fmt.Errorf("%w: seccomp: %w", ErrUnavailable, err)
}
