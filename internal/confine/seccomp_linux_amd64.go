package confine

import "golang.org/x/sys/unix"

const (
	arch = unix.AUDIT_ARCH_X86_64
	// maxNumber is where the numbers of another mode begin, x32.
	maxNumber = 0x40000000
)

// refusedHere are calls that other processors do not have.
var refusedHere = []uint32{unix.SYS_KEXEC_FILE_LOAD, unix.SYS_IOPL, unix.SYS_IOPERM}
