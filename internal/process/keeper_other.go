//go:build !linux

package process

import (
	"fmt"
	"os"
	"os/exec"
)

const usesKeeper = false

type (
	keeper   struct{}
	identity struct{}
)

func (*keeper) signal(os.Signal) bool { return false }

func startKept(*exec.Cmd, Kind, func(*Group, Exit)) (*Group, error) { panic("unreachable") }

// Busy does nothing.
func (g *Group) Busy(bool) {}

// Keep is for Linux.
func Keep([]string) int {
	fmt.Fprintln(os.Stderr, "keepers are for Linux")
	return 2
}
