//go:build !linux

package bench

import "os/exec"

// onOneProcessor runs cmd as it is: only Linux lets a process be held to a
// processor that simply.
func onOneProcessor(cmd *exec.Cmd) error { return cmd.Run() }
