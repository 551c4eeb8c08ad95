package confine

import "golang.org/x/sys/unix"

const (
	arch      = unix.AUDIT_ARCH_AARCH64
	maxNumber = 0 // there is only one mode
)

// refusedHere are calls that other processors do not have.
var refusedHere = []uint32{unix.SYS_KEXEC_FILE_LOAD}
