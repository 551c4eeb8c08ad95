//go:build unix && !linux

package terminal

import "syscall"

func pipeAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func ptyAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true, Setctty: true} }
