//go:build amd64 || arm64

package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/process"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// The first argument of Child.
const (
	childSupervisor = "supervisor"
	childProgram    = "program"
)

// Child is the main function of the processes that Run starts. It returns the exit
// status for the program.
func Child(args []string) int {
	if len(args) < 4 {
		return 2
	}
	control, err := strconv.Atoi(args[1])
	if err != nil {
		return 2
	}
	unix.CloseOnExec(control)
	switch args[0] {
	case childSupervisor:
		return supervise(os.NewFile(uintptr(control), "control"), args[2], args[3:])
	case childProgram:
		if len(args) < 6 {
			return 2
		}
		become := execute(control, args[2], args[3], args[4], args[5:])
		if become == errNotReleased {
			fmt.Fprintln(os.Stderr, "hermes shim:", become)
			return notStarted
		}
		unix.Sendto(control, []byte(become.Error()), 0, nil)
		return 1
	}
	return 2
}

// inGate is the mode of a program in a gate.
const inGate = "gate"

// errNotReleased says that nobody supervises the program, which has not started.
var errNotReleased = errors.New("the supervisor ended before the program started")

// notStarted is the exit status of a shim whose program has not started.
const notStarted = 125

// execute sends the listener of a filter to the supervisor and turns this process
// into the program. It returns only if it fails.
func execute(control int, path, mode, sandbox string, argv []string) error {
	runtime.LockOSThread() // the filter binds the thread, and execve keeps only this one
	if sandbox != "" {
		var rules confine.Rules
		if err := json.Unmarshal([]byte(sandbox), &rules); err != nil {
			return err
		}
		if err := confine.Bind(rules); err != nil {
			return err
		}
	}
	gate := mode == inGate
	if gate {
		// The kernel would write the memory of a program that crashes into the project.
		unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	}
	fd, err := listen(filter(gate))
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(control, []byte("l"), unix.UnixRights(fd), nil, 0); err != nil {
		return os.NewSyscallError("sendmsg", err)
	}
	unix.Close(fd)
	// Until the supervisor listens, the first call would wait for nobody.
	if n, _ := unix.Read(control, make([]byte, 1)); n != 1 {
		return errNotReleased
	}
	if gate {
		// What the filter refuses says whether it holds.
		if _, _, errno := unix.Syscall(landlock, 0, 0, 0); errno != unix.ENOSYS {
			return fmt.Errorf("%w: the gate does not hold: the filter of system calls refuses nothing", ErrUnavailable)
		}
	}
	return os.NewSyscallError("execve "+path, unix.Exec(path, argv, environ(gate)))
}

// tick returns the time that files get whose status changes now.
func tick() time.Time {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t)
	return time.Unix(t.Unix())
}

// supervise is the supervisor's main function.
func supervise(control *os.File, path string, argv []string) int {
	inherited := descriptors(int(control.Fd()))
	// The terminal's signals are for the program, and for the front.
	process.Notify(make(chan os.Signal, 1), caught...)
	in, out := json.NewDecoder(control), json.NewEncoder(control)
	var telling sync.Mutex
	tell := func(w word) {
		telling.Lock()
		defer telling.Unlock()
		out.Encode(w)
	}
	var first word
	if err := in.Decode(&first); err != nil || first.Config == nil {
		return 1
	}
	p, err := begin(*first.Config, path, argv, tell)
	if err != nil {
		tell(word{Failed: err.Error(), Unavailable: errors.Is(err, ErrUnavailable)})
		return 1
	}
	defer p.end()
	leave(inherited)
	// Before it runs: if this process is killed, the front must know that it may.
	tell(word{PID: p.pid})
	if err := p.start(); err != nil {
		tell(word{Failed: err.Error()})
		return 1
	}
	go p.obey(in)
	p.reap(tell)
	return 0
}

// doors are variables that tell how to reach programs outside, such as the editor and
// the terminal. These programs run commands and change files for anyone who asks.
var doors = []string{
	"NVIM", "NVIM_LISTEN_ADDRESS", "TMUX", "TMUX_PANE", "STY", "ZELLIJ", "ZELLIJ_SESSION_NAME", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "ALACRITTY_SOCKET",
	"VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE", "EMACS_SOCKET_NAME", "SWAYSOCK", "I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "CONTAINER_HOST",
}

// environ is the environment of the program. In a gate it does not name the doors.
func environ(gate bool) []string {
	env := append(os.Environ(), process.Supervised+"=1")
	if gate {
		env = slices.DeleteFunc(env, func(v string) bool { return slices.Contains(doors, process.Name(v)) })
	}
	return env
}

// descriptors lists those that were open from the start, besides the standard ones
// and one more.
func descriptors(but int) (list []int) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < 3 || fd == but {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			list = append(list, fd)
		}
	}
	return list
}

// leave leaves the session of the terminal and lets go of everything that was
// inherited: whoever reads what the program writes waits until nobody can write.
func leave(inherited []int) {
	unix.Setsid()
	for _, fd := range inherited {
		unix.Close(fd)
	}
	if null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
		for fd := range 3 {
			unix.Dup3(null, fd, 0)
		}
		unix.Close(null)
	}
}

// program is a supervised program.
type program struct {
	began      time.Time // when nothing of it ran yet
	pid        int
	control    *os.File
	recorder   *recorder
	journal    *journal.Writer
	supervisor *supervisor
	delivered  chan struct{}
	stop       context.CancelFunc
	askNoMore  context.CancelFunc // ends the questions that no call waits for
	ended      chan struct{}      // is closed when the program has ended
	served     chan struct{}      // is closed when run has returned; the supervisor belongs to reap then
	last       chan struct{}      // is closed when all is in the journal
}

// begin starts a process that becomes the program, and waits for its filter.
func begin(c Config, path string, argv []string, tell func(word)) (p *program, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("shim: %w", err)
	}
	p = &program{began: tick(), ended: make(chan struct{}), last: make(chan struct{}), served: make(chan struct{}), delivered: make(chan struct{})}
	j, err := journal.Create(c.Journal, c.Root, c.Agent, c.Session)
	if err != nil {
		return nil, fmt.Errorf("shim: %w", err)
	}
	defer func() {
		if err != nil {
			j.Discard()
		}
	}()
	p.journal = j
	p.recorder = startRecorder(p.journal, c.Settle, func(fault string) { tell(word{Lost: fault}) })
	mode, sandbox := "observe", ""
	if c.Gate != nil {
		mode = inGate
		if sandbox, err = c.sandbox(); err != nil {
			return nil, err
		}
	}
	env := os.Environ()
	var n *names
	if c.Gate != nil && c.Gate.Effects && !c.Sandbox.Net.All {
		if n, err = newNames(); err != nil {
			return nil, fmt.Errorf("shim: %w", err)
		}
		env = n.environ(env)
		defer func() {
			if err != nil {
				n.close()
			}
		}()
	}
	control, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("shim: %w", err)
	}
	p.control = control
	args := append([]string{os.Args[0]}, ownArgs()...)
	args = append(args, childProgram, strconv.Itoa(theirs), path, mode, sandbox)
	x, err := os.StartProcess("/proc/self/exe", append(args, argv...), &os.ProcAttr{Env: env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	unix.Close(theirs)
	if err != nil {
		return nil, fmt.Errorf("shim: start the program: %w", err)
	}
	p.pid = x.Pid
	fd, err := p.listener()
	if err != nil {
		unix.Wait4(p.pid, nil, 0, nil)
		return nil, err
	}
	// Nobody else may look into this process, and so decide or report in its place.
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if c.Gate != nil {
		unix.Umask(0) // the umask of the program applies
	}
	if p.supervisor, err = newSupervisor(c, listener(fd), p.recorder, p.began); err != nil {
		return nil, fmt.Errorf("shim: %w", err)
	}
	if p.supervisor.names = n; n != nil {
		p.supervisor.serveNames()
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.supervisor.asking, p.askNoMore = context.WithCancel(ctx)
	go func() {
		defer close(p.delivered)
		if c.Socket != "" {
			p.journal.Deliver(ctx, c.Socket, p.last)
		}
	}()
	return p, nil
}

// sandbox returns the rules for a program in a gate, or "" if there are none. What the
// system lacks cannot be accepted: the supervisor leaves the rest to the kernel.
func (c Config) sandbox() (string, error) {
	if c.Sandbox == nil {
		return "", nil
	}
	r := *c.Sandbox
	r.Supervised, r.BestEffort = true, false
	if lacks := r.Missing(); len(lacks) > 0 {
		return "", fmt.Errorf("shim: sandbox: %w: %s", confine.ErrUnsupported, strings.Join(lacks, "; "))
	}
	text, err := json.Marshal(r)
	return string(text), err
}

// ownArgs returns the arguments of this process before those for Child.
func ownArgs() []string {
	for i, a := range os.Args {
		if a == childSupervisor {
			return os.Args[1:i]
		}
	}
	return nil
}

// listener receives the listener of the filter, or the reason why there is none.
func (p *program) listener() (int, error) {
	buf, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	n, rn, _, _, err := unix.Recvmsg(int(p.control.Fd()), buf, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return -1, fmt.Errorf("shim: the program ended before it began: %w", err)
	}
	if rn == 0 {
		text := string(buf[:n])
		if rest, ok := cutUnavailable(text); ok {
			return -1, fmt.Errorf("%w: %s", ErrUnavailable, rest)
		}
		return -1, errors.New("shim: " + text)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:rn])
	if err == nil && len(messages) > 0 {
		fds, err := unix.ParseUnixRights(&messages[0])
		if err == nil && len(fds) > 0 {
			return fds[0], nil
		}
	}
	return -1, errors.New("shim: the program sent no listener")
}

func cutUnavailable(text string) (string, bool) {
	prefix := ErrUnavailable.Error() + ": "
	if len(text) > len(prefix) && text[:len(prefix)] == prefix {
		return text[len(prefix):], true
	}
	return text, false
}

// start serves the program and lets it run.
func (p *program) start() error {
	go func() {
		runtime.LockOSThread()
		p.supervisor.run()
		close(p.served)
	}()
	for !tick().After(p.began) {
		time.Sleep(time.Millisecond) // so that what it changes has a later time
	}
	if _, err := p.control.Write([]byte{1}); err != nil {
		return fmt.Errorf("shim: %w", err)
	}
	// execve closes the socket; before, there is a reason why it failed.
	buf := make([]byte, 4096)
	if n, _ := p.control.Read(buf); n > 0 {
		unix.Wait4(p.pid, nil, 0, nil)
		<-p.served
		return errors.New("shim: " + string(buf[:n]))
	}
	return nil
}

// obey passes signals on, and ends the program if the front has been killed.
func (p *program) obey(in *json.Decoder) {
	for {
		var w word
		if err := in.Decode(&w); err != nil {
			w.Signal = unix.SIGKILL
		}
		select {
		case <-p.ended:
			p.askNoMore()
			return // its number may be another process's
		default:
			unix.Kill(p.pid, w.Signal)
		}
		if w.Signal == unix.SIGKILL {
			return
		}
	}
}

// reap reports to the front what becomes of the program, and returns when no
// process is left.
func (p *program) reap(tell func(word)) {
	for {
		var w unix.WaitStatus
		pid, err := unix.Wait4(-1, &w, unix.WUNTRACED, nil)
		switch {
		case err == unix.EINTR, err == nil && pid != p.pid:
		case err != nil: // what is left are not children
			<-p.served
			p.supervisor.end()
			return
		case w.Stopped():
			tell(word{Signal: w.StopSignal()})
		default:
			close(p.ended)
			done := make(chan struct{})
			p.supervisor.do(func() {
				p.supervisor.catchUp()
				p.supervisor.endDrafts(w.Signaled(), func() { close(done) })
			})
			select {
			case <-done:
			case <-p.served:
				p.supervisor.end()
			}
			p.recorder.sync()
			tell(word{Ended: &w})
		}
	}
}

// end writes and reports what is left.
func (p *program) end() {
	close(p.recorder.in)
	<-p.recorder.done
	close(p.last)
	select {
	case <-p.delivered:
	case <-time.After(lastReports):
	}
	p.stop()
	if n := p.supervisor.names; n != nil {
		n.close()
	}
	p.supervisor.closeObjects()
	<-p.delivered
	p.journal.Close()
}
