package process

import (
	"os/exec"
	"runtime"
	"slices"
)

// Kind says how a program is run and ended.
type Kind struct {
	// Whole ends what the program has started as soon as it exits itself.
	// Otherwise that may last until the group is ended.
	Whole bool
	// Terminal: standard input is a terminal, which becomes the controlling
	// terminal of the program.
	Terminal bool
	// Death is what the program gets when this process dies without ending it
	// and there is no keeper.
	Death Death
	// Wrapper is put before the command line of the program: another program that
	// runs the rest, found by its path, as one that confines it.
	Wrapper []string
	// Keeper is the command line of a program that calls Keep with the
	// arguments that follow. Empty: none. Only Linux uses it.
	Keeper []string
}

// Exit is how a program ended.
type Exit struct {
	Code   int    // exit status; -1 when a signal ended it
	Signal string // name of that signal, such as SIGKILL
	Words  string // the signal in words, such as killed
}

// Start starts x as the leader of a group of its own, waits for it on a
// goroutine, and then calls exited there.
func Start(x *exec.Cmd, kind Kind, exited func(*Group, Exit)) (*Group, error) {
	if w := kind.Wrapper; len(w) > 0 {
		x.Args = slices.Concat(w, []string{x.Path}, x.Args[1:])
		x.Path = w[0]
	}
	if usesKeeper && len(kind.Keeper) > 0 {
		return startKept(x, kind, exited)
	}
	type result struct {
		group *Group
		err   error
	}
	started := make(chan result)
	go func() {
		// The parent-death signal of Linux is tied to the thread that forked.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		x.SysProcAttr = attr(kind, x.SysProcAttr)
		if err := x.Start(); err != nil {
			started <- result{err: err}
			return
		}
		g := newGroup(x)
		started <- result{group: g}
		if kind.Whole {
			waitAll(x, g)
		} else {
			x.Wait()
			g.Alive() // checks, so that the id of an empty group is not used again
		}
		exited(g, exitOf(x.ProcessState))
	}()
	r := <-started
	return r.group, r.err
}
