//go:build !linux

package bench

import "os/exec"

// onOneProcessor runs cmd as it is, because only Linux has a simple way to bind a
// process to a processor.
func onOneProcessor(cmd *exec.Cmd) error { return cmd.Run() }
