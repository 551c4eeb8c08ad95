package process

import (
	"os/exec"
	"runtime"
)

// Start starts x, which leads a group of its own (Attr), and then calls serve,
// which has to wait for it. Both happen on one thread that lives until serve
// returns: the parent-death signal of Linux is tied to the thread that forked.
func Start(x *exec.Cmd, serve func(*Group)) (*Group, error) {
	type result struct {
		group *Group
		err   error
	}
	started := make(chan result)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := x.Start(); err != nil {
			started <- result{err: err}
			return
		}
		g := newGroup(x)
		started <- result{group: g}
		serve(g)
	}()
	r := <-started
	return r.group, r.err
}
