//go:build amd64 || arm64

package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/process"
)

// word is a message between the front and the supervisor.
type word struct {
	Config *Config        `json:"config,omitempty"` // to the supervisor, first
	Signal syscall.Signal `json:"signal,omitempty"` // to the supervisor: pass it on; to the front: the program stopped
	Failed string         `json:"failed,omitempty"` // to the front: the program did not start
	// Unavailable says that it failed for want of support.
	Unavailable bool             `json:"unavailable,omitempty"`
	PID         int              `json:"pid,omitempty"` // to the front: the program has started
	Ended       *unix.WaitStatus `json:"ended,omitempty"`
	Lost        string           `json:"lost,omitempty"` // to the front: why something is not in the journal
}

// minControl is the lowest descriptor for messages between the processes. Lower
// ones are left to the program, which may have been given some.
const minControl = 64

// minFiles is how many files a process of the shim may have to open at once.
const minFiles = 256

// socketPair returns two ends; the second stays open in programs that are started.
func socketPair() (ours *os.File, theirs int, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, err
	}
	defer unix.Close(fds[1])
	if theirs, err = unix.FcntlInt(uintptr(fds[1]), unix.F_DUPFD, minControl); err != nil {
		unix.Close(fds[0])
		return nil, -1, err
	}
	return os.NewFile(uintptr(fds[0]), "control"), theirs, nil
}

// Run runs a program with a supervisor and returns how it ended: its exit status,
// or minus the signal that ended it. An error means that it did not start; one that
// wraps ErrUnavailable says that Portable is what remains.
//
// self is the command line of a program that calls Child with the arguments that
// follow. path is not looked up; argv[0] is the program's name. Meanwhile, the
// calling process belongs to the program: it stops and continues with it, and
// passes the signals on that it gets.
func Run(c Config, self []string, path string, argv []string) (status int, err error) {
	if c, err = c.resolved(); err != nil {
		return 0, err
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil && files.Cur < minFiles {
		return 0, fmt.Errorf("shim: the limit on open files is %d (ulimit -n), and at least %d are needed", files.Cur, minFiles)
	}
	control, theirs, err := socketPair()
	if err != nil {
		return 0, fmt.Errorf("shim: %w", err)
	}
	defer control.Close()
	// If the supervisor is killed, the program becomes a child of this process.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("shim: %w", err)
	}
	signals := make(chan os.Signal, 16)
	process.Notify(signals, caught...)
	defer signal.Stop(signals)

	args := append(append([]string{}, self[1:]...), childSupervisor, strconv.Itoa(theirs), path)
	cmd := exec.Command(self[0], append(args, argv...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Start()
	unix.Close(theirs)
	if err != nil {
		return 0, fmt.Errorf("shim: start the supervisor: %w", err)
	}
	f := &front{signals: signals, words: make(chan word), out: json.NewEncoder(control)}
	go f.read(json.NewDecoder(control))
	if err := f.out.Encode(word{Config: &c}); err != nil {
		return 0, fmt.Errorf("shim: %w", err)
	}
	return f.wait()
}

// caught are the signals that the front passes on, or that stop it only when the
// program has stopped.
var caught = []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGCONT}

// front is the process that the caller started.
type front struct {
	signals chan os.Signal
	words   chan word
	out     *json.Encoder
	pid     int // of the program, once it runs

	stopSignal syscall.Signal // that stopped this process, or 0
	handler    action         // what the runtime does with it
}

func (f *front) read(in *json.Decoder) {
	defer close(f.words)
	for {
		var w word
		if in.Decode(&w) != nil {
			return
		}
		f.words <- w
	}
}

func (f *front) wait() (int, error) {
	for {
		select {
		case s := <-f.signals:
			f.pass(s.(syscall.Signal))
		case w, ok := <-f.words:
			switch {
			case !ok:
				return f.orphaned()
			case w.Failed != "" && w.Unavailable:
				return 0, fmt.Errorf("%w: %s", ErrUnavailable, strings.TrimPrefix(w.Failed, ErrUnavailable.Error()+": "))
			case w.Failed != "":
				return 0, errors.New(w.Failed)
			case w.Lost != "":
				fmt.Fprintf(os.Stderr, "\r\nhermes shim: the journal cannot be written, so what changes now may not be known: %s\r\n", w.Lost)
			case w.PID != 0:
				f.pid = w.PID
			case w.Ended != nil:
				return statusOf(*w.Ended), nil
			case w.Signal != 0:
				f.stop(w.Signal)
			}
		}
	}
}

func statusOf(w unix.WaitStatus) int {
	if w.Signaled() {
		return -int(w.Signal())
	}
	return w.ExitStatus()
}

// pass passes a signal on, unless the terminal has sent it to the program as well.
func (f *front) pass(s syscall.Signal) {
	switch s {
	case unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return
	case unix.SIGCONT:
		if f.stopSignal != 0 {
			setAction(f.stopSignal, f.handler)
			f.stopSignal = 0
		}
	case unix.SIGINT, unix.SIGQUIT:
		if foreground() {
			return
		}
	}
	f.out.Encode(word{Signal: s})
}

// foreground reports whether the terminal sends keys to this process.
func foreground() bool {
	tty, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(tty)
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// stop stops this process, because the program has stopped, until somebody
// continues it.
func (f *front) stop(s syscall.Signal) {
	if !stopped(f.pid) {
		return // it has been continued meanwhile
	}
	f.handler, f.stopSignal = setAction(s, action{}), s // until it is continued
	unix.Kill(os.Getpid(), s)
}

func stopped(pid int) bool {
	return strings.HasPrefix(statusField(uint32(pid), "State:"), "T")
}

// orphaned is what remains when the supervisor is gone: the program runs on, but
// can change no file any more.
func (f *front) orphaned() (int, error) {
	if f.pid == 0 {
		return 0, errors.New("shim: the supervisor ended before the program started")
	}
	fmt.Fprint(os.Stderr, "\r\nhermes shim: the supervisor has been killed, so the program cannot change files any more\r\n")
	ended := make(chan unix.WaitStatus)
	go func() {
		for {
			var w unix.WaitStatus
			pid, err := unix.Wait4(-1, &w, 0, nil)
			switch {
			case err == unix.EINTR:
			case err != nil:
				ended <- unix.WaitStatus(1 << 8) // nobody knows
				return
			case pid == f.pid:
				ended <- w
				return
			}
		}
	}()
	for {
		select {
		case w := <-ended:
			return statusOf(w), nil
		case s := <-f.signals:
			switch s := s.(syscall.Signal); s {
			case unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGCONT:
			default:
				if (s != unix.SIGINT && s != unix.SIGQUIT) || !foreground() {
					unix.Kill(f.pid, s)
				}
			}
		}
	}
}

// Die ends this process as a signal would, for a caller whose program ended so.
func Die(s syscall.Signal) {
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // the program has dumped what there is
	setAction(s, action{})
	unix.Kill(os.Getpid(), s)
	time.Sleep(time.Second)
	os.Exit(128 + int(s))
}

// action is struct sigaction. Zero is what a signal does by default.
type action [4]uint64

// setAction says what a signal does. The runtime has handlers of its own and no way
// to remove them.
func setAction(s syscall.Signal, new action) (old action) {
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&new)), uintptr(unsafe.Pointer(&old)), 8, 0, 0)
	return old
}
