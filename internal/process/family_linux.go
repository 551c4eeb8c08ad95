package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endTime bounds the wait for the end of killed processes. Only a process that is
// stuck in the kernel takes long.
const endTime = time.Second

// entry is a process as /proc shows it. Its id may pass to another process;
// id and start time together do not.
type entry struct {
	pid, parent, group, session int

	zombie  bool
	exiting bool   // about to exit; its children lose their parent next
	start   uint64 // ticks since the machine booted
}

// identity distinguishes a process from every other one since the machine
// booted.
type identity struct {
	pid   int
	start uint64
}

func (e entry) identity() identity { return identity{e.pid, e.start} }

// lookUp reads the entry of a process; ok is false if there is none.
func lookUp(pid int) (e entry, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return e, false
	}
	// The name of the program, in parentheses, may hold anything.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return e, false
	}
	e = entry{pid: pid, zombie: f[0] == "Z" || f[0] == "X"}
	for i, at := range []*int{&e.parent, &e.group, &e.session} {
		*at, _ = strconv.Atoi(f[i+1])
	}
	const flagExiting = 0x4 // PF_EXITING
	flags, _ := strconv.ParseUint(f[6], 10, 64)
	e.exiting = e.zombie || flags&flagExiting != 0
	e.start, err = strconv.ParseUint(f[19], 10, 64)
	return e, err == nil
}

// processes lists every process by its parent.
func processes() map[int][]entry {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	children := make(map[int][]entry)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if e, ok := lookUp(pid); ok {
				children[e.parent] = append(children[e.parent], e)
			}
		}
	}
	return children
}

// below appends the descendants of a process.
func below(list []entry, children map[int][]entry, pid int) []entry {
	for _, e := range children[pid] {
		list = below(append(list, e), children, e.pid)
	}
	return list
}

// signal sends a signal to this process and to no other. The handle is for the
// process that has the id now; if that is still this one, it remains this one.
func (e entry) signal(sig syscall.Signal) {
	fd, err := unix.PidfdOpen(e.pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	now, ok := lookUp(e.pid)
	switch {
	case !ok || now.start != e.start:
	case err == nil:
		unix.PidfdSendSignal(fd, sig, nil, 0)
	default: // the kernel has no handles
		syscall.Kill(e.pid, sig)
	}
}

// killAll kills the processes that find returns until there are none, for at most
// endTime, because processes may start others before they end.
func killAll(find func(children map[int][]entry) []entry) {
	pause := time.Millisecond
	for began := time.Now(); time.Since(began) < endTime; pause = min(2*pause, 20*time.Millisecond) {
		left := false
		for _, e := range find(processes()) {
			if !e.zombie {
				left = true
				e.signal(syscall.SIGKILL)
			}
		}
		if !left {
			return
		}
		time.Sleep(pause)
	}
}

// ticks is the time that the start of a process would be now.
func ticks() uint64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_BOOTTIME, &t)
	return uint64(t.Nano()) / uint64(time.Second/userHZ)
}

// userHZ is the unit of times in /proc, on all machines that Go runs on.
const userHZ = 100

// Look notes which descendants the program has, so that the end reaches those in
// other groups as well. If there is a keeper, the keeper does this.
func (g *Group) Look() {
	if g.keeper != nil {
		g.keeper.look()
		return
	}
	list := below(nil, processes(), g.leader)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range list {
		if g.seen == nil {
			g.seen = make(map[identity]bool)
		}
		g.seen[e.identity()] = true
	}
}

// Programs returns the names of the programs that run below the leader, and its own: of
// each what the kernel calls it and the first two words of its command line, because the
// name of a script is the second one. Elsewhere than on Linux there are none.
func (g *Group) Programs() []string {
	var names []string
	for _, e := range below([]entry{{pid: g.leader}}, processes(), g.leader) {
		dir := "/proc/" + strconv.Itoa(e.pid)
		name, _ := os.ReadFile(dir + "/comm")
		line, _ := os.ReadFile(dir + "/cmdline")
		words := strings.SplitN(string(line), "\x00", 3)
		names = append(append(names, strings.TrimSuffix(string(name), "\n")), words[:min(2, len(words))]...)
	}
	return names
}

// killSeen ends the processes that Look has seen, and their descendants.
func (g *Group) killSeen() {
	g.mu.Lock()
	seen := g.seen
	g.seen = nil
	g.mu.Unlock()
	if len(seen) == 0 {
		return
	}
	killAll(func(children map[int][]entry) []entry {
		var list []entry
		for _, siblings := range children {
			for _, e := range siblings {
				if seen[e.identity()] {
					list = below(append(list, e), children, e.pid)
				}
			}
		}
		return list
	})
}
