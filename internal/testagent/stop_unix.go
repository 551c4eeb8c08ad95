//go:build unix

package testagent

import "syscall"

const stop = syscall.SIGSTOP
