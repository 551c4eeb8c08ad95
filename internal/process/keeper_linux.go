package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A keeper is a small process between this one and a program. It adopts every
// descendant of the program that loses its parent, so all of them stay below
// it, whatever group or session they move to. It ends them on request, and when
// this process is gone, however that happened.

const usesKeeper = true

// lookTime bounds the wait for a keeper to look around.
const lookTime = 500 * time.Millisecond

// lastGrace is how long a program has after TERM when the process that ran it
// is gone.
const lastGrace = time.Second

// A message between a process and its keeper is a letter and a number.
type message struct {
	letter byte
	number uint64
}

const messageSize = 9

// The messages to a keeper. The number is the time in ticks.
const (
	orderBegin = 'b' // a turn begins
	orderEnd   = 'e' // no turn runs any more
	orderLook  = 'l' // the end is near
	orderTerm  = 't' // TERM to the group
	orderKill  = 'k' // KILL to all
)

// The reports of a keeper.
const (
	reportStarted = 'p' // number: process id of the program
	reportFailed  = 'f' // number: errno
	reportExited  = 'x' // number: wait status
	reportLooked  = 'l' // after orderLook
)

func (m message) writeTo(w io.Writer) error {
	_, err := w.Write(binary.LittleEndian.AppendUint64([]byte{m.letter}, m.number))
	return err
}

func readMessage(r io.Reader) (message, error) {
	var b [messageSize]byte
	_, err := io.ReadFull(r, b[:])
	return message{b[0], binary.LittleEndian.Uint64(b[1:])}, err
}

// keeper is this side of one.
type keeper struct {
	process *os.Process
	control *os.File
	looked  chan struct{}
	gone    chan struct{}
}

// The first arguments of Keep.
const (
	keepAgent    = "agent"    // Kind.Whole; processes that it set up outside of turns are spared
	keepCommand  = "command"  // all of its processes are ended
	keepTerminal = "terminal" // the same, with a controlling terminal
)

// startKept is Start with a keeper.
func startKept(x *exec.Cmd, kind Kind, exited func(*Group, Exit)) (*Group, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	how := keepCommand
	switch {
	case kind.Whole:
		how = keepAgent
	case kind.Terminal:
		how = keepTerminal
	}
	x.Args = append(append(append([]string(nil), kind.Keeper...), how, x.Path), x.Args...)
	x.Path = kind.Keeper[0]
	x.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	x.ExtraFiles = []*os.File{theirs}
	err = x.Start()
	theirs.Close()
	if err != nil {
		ours.Close()
		return nil, fmt.Errorf("keeper %s: %w", x.Path, err)
	}
	m, err := readMessage(ours)
	switch {
	case err != nil:
		err = errors.New("keeper " + x.Path + ": it ended before it had started the program")
	case m.letter == reportFailed:
		err = &os.PathError{Op: "fork/exec", Path: x.Args[len(kind.Keeper)+1], Err: syscall.Errno(m.number)}
	}
	if err != nil {
		ours.Close()
		x.Process.Kill()
		x.Wait()
		return nil, err
	}
	k := &keeper{process: x.Process, control: ours, looked: make(chan struct{}, 8), gone: make(chan struct{})}
	g := &Group{leader: int(m.number), keeper: k}
	go k.serve(x, g, kind, exited)
	return g, nil
}

// serve waits for the program, and for the keeper.
func (k *keeper) serve(x *exec.Cmd, g *Group, kind Kind, exited func(*Group, Exit)) {
	status := make(chan syscall.WaitStatus, 1)
	go func() {
		defer close(status)
		for {
			m, err := readMessage(k.control)
			switch {
			case err != nil:
				return
			case m.letter == reportExited:
				status <- syscall.WaitStatus(m.number)
			case m.letter == reportLooked:
				select {
				case k.looked <- struct{}{}:
				default:
				}
			}
		}
	}()
	wait := func() {
		for range status {
		}
		x.Wait()
		k.control.Close()
		close(k.gone)
	}
	s, ok := <-status
	if !ok {
		s = syscall.WaitStatus(syscall.SIGKILL) // of the keeper, and so of the program
	}
	if kind.Whole {
		wait()
		exited(g, exitStatus(s))
	} else {
		exited(g, exitStatus(s))
		wait()
	}
}

// look returns when the keeper has looked around, so that the keeper cannot mistake
// what happens next for something the program did itself.
func (k *keeper) look() {
	k.send(orderLook)
	t := time.NewTimer(lookTime)
	defer t.Stop()
	select {
	case <-k.looked:
	case <-k.gone:
	case <-t.C:
	}
}

func (k *keeper) send(letter byte) { message{letter, ticks()}.writeTo(k.control) }

// signal passes a signal on and reports whether the keeper exists. It exists as
// long as any process of the program does.
func (k *keeper) signal(sig os.Signal) bool {
	select {
	case <-k.gone:
		return false
	default:
	}
	switch sig {
	case syscall.SIGTERM:
		k.send(orderTerm)
	case syscall.SIGKILL:
		k.process.Signal(syscall.SIGCONT) // it may have been stopped
		k.send(orderKill)
	}
	return true
}

// Busy says whether the program, an agent, is at work for the user. Processes that
// it starts meanwhile are ended with it.
func (g *Group) Busy(busy bool) {
	switch {
	case g.keeper == nil:
	case busy:
		g.keeper.send(orderBegin)
	default:
		g.keeper.send(orderEnd)
	}
}

func socketPair() (a, b *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	return os.NewFile(uintptr(fds[0]), "keeper"), os.NewFile(uintptr(fds[1]), "keeper"), nil
}

// Keep is the main function of a keeper. It must be called by the goroutine
// that runs main. The arguments are those that Start appends.
func Keep(args []string) int {
	if len(args) < 3 {
		fmt.Fprintln(os.Stderr, "a keeper is started by another process, not by hand")
		return 2
	}
	how, path, argv := args[0], args[1], args[2:]
	const fd = 3
	unix.CloseOnExec(fd)
	unix.SetNonblock(fd, true)
	control := os.NewFile(fd, "control")
	if control == nil {
		fmt.Fprintln(os.Stderr, "a keeper is started by another process, not by hand")
		return 2
	}
	defer control.Close()
	Seclude() // it has the environment of the program, which may hold keys
	// A keeper ends only with its work. It catches signals instead of ignoring
	// them, because the program would inherit ignored ones.
	Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM,
		syscall.SIGPIPE, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	runtime.LockOSThread() // the parent-death signal is tied to it
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
		Sys: attr(Kind{Terminal: how == keepTerminal, Death: Killed}, nil),
	})
	if err != nil {
		var errno syscall.Errno
		errors.As(err, &errno)
		message{reportFailed, uint64(errno)}.writeTo(control)
		return 1
	}
	letGo()
	if err := (message{reportStarted, uint64(pid)}).writeTo(control); err != nil {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	f := &family{leader: pid, spares: how == keepAgent}
	f.self, _ = lookUp(os.Getpid())
	f.run(control)
	return 0
}

// letGo closes the standard streams, which belong to the program.
func letGo() {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		unix.Dup3(null, fd, unix.O_CLOEXEC)
	}
	unix.Close(null)
}

// family is a program and its descendants, as its keeper sees them.
type family struct {
	self   entry
	leader int
	spares bool

	turns []turn // times when the program was at work; they need little memory
	kept  map[identity]bool
}

// turn is a time when the program was at work, in ticks; end is 0 while it is.
type turn struct{ begin, end uint64 }

// run serves the other side until no process of the program is left, or only
// spared ones are.
func (f *family) run(control *os.File) {
	orders := make(chan message)
	go func() {
		defer close(orders)
		for {
			m, err := readMessage(control)
			if err != nil {
				return
			}
			orders <- m
		}
	}()
	exited, empty := make(chan syscall.WaitStatus, 1), make(chan struct{})
	go f.reap(exited, empty)
	var late <-chan time.Time
	for {
		select {
		case m, open := <-orders:
			if !open { // the other side is gone
				orders = nil
				f.look()
				f.terminate()
				late = time.After(lastGrace)
				continue
			}
			f.obey(m)
			if m.letter == orderLook {
				message{letter: reportLooked}.writeTo(control)
			}
		case <-late:
			f.kill()
			return
		case status := <-exited:
			gone := orders == nil
			if f.spares || gone {
				f.kill()
			}
			message{reportExited, uint64(status)}.writeTo(control)
			if f.spares || gone {
				return
			}
		case <-empty:
			select {
			case status := <-exited:
				message{reportExited, uint64(status)}.writeTo(control)
			default:
			}
			return
		}
	}
}

func (f *family) obey(m message) {
	switch m.letter {
	case orderBegin:
		f.look()
		f.turns = append(f.turns, turn{begin: m.number})
	case orderEnd:
		if n := len(f.turns); n > 0 {
			f.turns[n-1].end = m.number
		}
		f.look()
	case orderLook:
		f.look()
	case orderTerm:
		f.terminate()
	case orderKill:
		f.kill()
	}
}

// reap waits for every child, its own and the adopted.
func (f *family) reap(exited chan<- syscall.WaitStatus, empty chan<- struct{}) {
	waiting := true // for the program; its id may pass to another process later
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			close(empty)
			return
		case pid == f.leader && waiting:
			waiting = false
			exited <- status
		}
	}
}

// look notes which adopted processes are to be spared: those that were started, and
// moved to a session of their own, when the program was not at work. They are not
// part of what the user asked for, and outlive the program by its own design.
func (f *family) look() {
	if !f.spares {
		return
	}
	kept := make(map[identity]bool)
	adopted := processes()[f.self.pid]
	if leader, ok := lookUp(f.leader); !ok || leader.exiting {
		return // all its children have lost their parent
	}
	for _, e := range adopted {
		if e.pid != f.leader && !e.zombie && e.session != f.self.session && f.idleAt(e.start) {
			kept[e.identity()] = true
		}
	}
	f.kept = kept
}

// idleAt reports whether the program was not at work at a time.
func (f *family) idleAt(start uint64) bool {
	for _, t := range f.turns {
		if start >= t.begin && (t.end == 0 || start <= t.end) {
			return false
		}
	}
	return true
}

// terminate sends TERM to the group of the program.
func (f *family) terminate() {
	for _, e := range below(nil, processes(), f.self.pid) {
		if e.group == f.leader {
			e.signal(syscall.SIGTERM)
		}
	}
}

// kill ends all processes that are not spared.
func (f *family) kill() {
	killAll(func(children map[int][]entry) []entry { return f.doomed(nil, children, f.self.pid, false) })
}

func (f *family) doomed(list []entry, children map[int][]entry, pid int, spared bool) []entry {
	for _, e := range children[pid] {
		spare := (spared || f.kept[e.identity()]) && f.idleAt(e.start)
		if !spare {
			list = append(list, e)
		}
		list = f.doomed(list, children, e.pid, spare)
	}
	return list
}
