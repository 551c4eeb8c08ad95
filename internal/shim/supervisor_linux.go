//go:build amd64 || arm64

package shim

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/gitdir"
	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/internal/special"
)

// supervisor decides about system calls, one after the other. All its state belongs
// to the goroutine of run.
type supervisor struct {
	config   Config
	listener listener
	resolver *resolver
	ignored  *tree.Matcher
	recorder *recorder
	closes   *closes
	gate     *gate // nil: every call goes on
	outside  outside
	names    *names // nil: programs look up names by themselves
	began    time.Time
	objects  map[string]*gitdir.Objects // of the repositories of the project, by their folders
	drafts   map[string]*draft          // by path
	asking   context.Context            // of questions that no call waits for
	settled  func()                     // is called when there are no drafts any more, unless it is nil

	pending map[uint32]*planned    // by thread
	writing map[string]*writing    // files that are open for writing, by path
	files   map[string]*content    // what files that changed are now
	inodes  map[[2]uint64]*content // those whose bytes may not have been read yet
	linked  map[[2]uint64]string   // files with several names, by one in the project; nil before they are listed
	many    bool                   // the project has more files than are looked at for that
	deaf    bool                   // some folders are not watched
	swept   time.Time

	wake   int // an eventfd
	mu     sync.Mutex
	queued []func()
}

// writing is a file that is open for writing, as far as that is known.
type writing struct {
	opens  int
	before *content
	pid    int
}

const sweepEvery = time.Second

// newSupervisor makes the supervisor of a program that starts after asOf.
func newSupervisor(c Config, l listener, r *recorder, asOf time.Time) (s *supervisor, err error) {
	s = &supervisor{
		config: c, listener: l, recorder: r, began: asOf, objects: make(map[string]*gitdir.Objects), ignored: tree.NewMatcher(c.Root, nil, asOf),
		drafts: make(map[string]*draft), pending: make(map[uint32]*planned), writing: make(map[string]*writing), files: make(map[string]*content), inodes: make(map[[2]uint64]*content),
	}
	l.stayOnProcessor()
	if s.resolver, err = newResolver(c.Root); err != nil {
		return nil, err
	}
	s.outside.init()
	if s.closes, err = newCloses(); err != nil {
		return nil, err
	}
	if s.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, err
	}
	if c.Gate != nil {
		s.gate = newGate(c, r.journal.Name)
	}
	return s, nil
}

// do has the goroutine of run call f.
func (s *supervisor) do(f func()) {
	s.mu.Lock()
	s.queued = append(s.queued, f)
	s.mu.Unlock()
	unix.Write(s.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

func (s *supervisor) doQueued() {
	var b [8]byte
	unix.Read(s.wake, b[:])
	s.mu.Lock()
	list := s.queued
	s.queued = nil
	s.mu.Unlock()
	for _, f := range list {
		f()
	}
}

// run serves the program until its last process makes no calls any more. The files of that
// process may be closed a little later, so end is called after run.
func (s *supervisor) run() {
	// The listener comes first: whatever was closed before a call is then seen
	// before the call.
	fds := []unix.PollFd{{Fd: int32(s.listener), Events: unix.POLLIN}, {Fd: int32(s.closes.fd), Events: unix.POLLIN}, {Fd: int32(s.wake), Events: unix.POLLIN}}
	var n notice
	var due time.Time
	gone := false // the last process, but somebody may be asked about what it has left
	for {
		timeout := -1
		if !due.IsZero() {
			timeout = max(0, int(time.Until(due)/time.Millisecond)+1)
		}
		if s.deaf && (timeout < 0 || timeout > int(sweepEvery/time.Millisecond)) {
			timeout = int(sweepEvery / time.Millisecond)
		}
		if _, err := unix.Poll(fds, timeout); err != nil && err != unix.EINTR {
			return
		}
		if fds[1].Revents != 0 {
			s.drain()
		}
		if fds[2].Revents != 0 {
			s.doQueued()
		}
		switch {
		case fds[0].Revents&unix.POLLIN != 0:
			if s.listener.receive(&n) == nil {
				s.handle(&n)
			}
		case fds[0].Revents != 0:
			gone = true
			fds[0].Fd = -1
		}
		if gone && len(s.drafts) == 0 {
			return
		}
		now := time.Now()
		if s.deaf && now.Sub(s.swept) > sweepEvery {
			s.swept = now
			s.sweep()
		}
		due = time.Time{}
		if len(s.pending) > 0 {
			due = s.settleDue(now)
		}
		if len(s.drafts) > 0 {
			if next := s.draftsDue(now); !next.IsZero() && (due.IsZero() || next.Before(due)) {
				due = next
			}
		}
	}
}

// end settles everything when no process is left. It may be called again.
func (s *supervisor) end() {
	s.drain()
	for _, p := range s.waiting() {
		s.settle(p, p.happened())
	}
	if s.deaf {
		s.sweep()
	}
	s.doQueued()
}

// catchUp settles what has happened until now. The program itself has ended, but
// not all that it started.
func (s *supervisor) catchUp() {
	s.drain()
	for _, p := range s.waiting() {
		if left := p.left(); p.happened() || left {
			s.settle(p, p.happened())
		}
	}
	if s.deaf {
		s.sweep()
	}
}

func (s *supervisor) record(c *change) { s.recorder.in <- c }

func (s *supervisor) note(text string) {
	s.record(&change{Event: journal.Event{Time: time.Now(), Op: journal.Note, Text: text}})
}

// handle decides about a call.
func (s *supervisor) handle(n *notice) {
	switch number := uint32(n.nr); number {
	case othersOf(n).limit:
		s.limit(n)
		return
	case othersOf(n).bind:
		s.binds(n)
		return
	case othersOf(n).listen:
		s.listens(n)
		return
	case othersOf(n).connect:
		s.connects(n)
		return
	case othersOf(n).sockets:
		map[uint64]func(*notice){sysBind: s.binds, sysListen: s.listens, sysConnect: s.connects}[n.args[0]](n)
		return
	}
	s.settleHappened()
	s.settleThread(n.tid) // what has not happened has failed
	o, err := s.decode(n)
	if s.gate == nil && isOurs(err) && s.listener.valid(n.id) {
		s.unseen(int(n.tid), "a call could not be followed: "+err.Error())
	}
	switch {
	case err != nil && s.gate != nil:
		s.listener.finish(n.id, err)
		return
	case err != nil || o == nil:
		s.listener.resume(n.id)
		return
	case s.gate != nil:
		s.handleGated(o)
		return
	}
	if o.verb == rename && s.movesProject(o) {
		s.note("renames " + o.other.path + " to " + o.target.path + ", with the project in it; its files are reported under their old names")
	}
	p := s.prepare(o)
	if p == nil || !s.listener.valid(n.id) {
		s.listener.resume(n.id)
		o.close()
		return
	}
	s.record(p.event(journal.Pre))
	s.watch(p)
	if p.writes() {
		s.listener.resume(n.id)
		o.close()
		return
	}
	s.pend(p)
	s.listener.resume(n.id)
}

// unseen records that something may change, or has, without a record.
func (s *supervisor) unseen(pid int, why string) {
	s.record(&change{Event: journal.Event{Time: time.Now(), Phase: journal.Post, Op: journal.Unseen, PID: pid, Text: why}})
}

// isOurs reports whether an error comes from the supervisor, so that the call itself
// might not have it.
func isOurs(err error) bool {
	if _, unreadable := err.(errUnreadable); unreadable {
		return true
	}
	return errors.Is(err, errHidden) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM)
}

// othersOf returns the numbers of the mode that a call was made in.
func othersOf(n *notice) *numbers {
	if n.arch == arch {
		return &others
	}
	return &othersOther
}

// limit decides about a new limit for another process. With too few files, or too little
// time, the supervisor could record nothing.
func (s *supervisor) limit(n *notice) {
	pid := strconv.Itoa(int(int32(n.args[0])))
	for _, ours := range []string{"self", strconv.Itoa(os.Getppid())} {
		if _, err := os.Lstat("/proc/" + ours + "/task/" + pid); err == nil {
			s.note("process " + strconv.Itoa(int(n.tid)) + " may not change the limits of the shim")
			s.listener.finish(n.id, unix.EPERM)
			return
		}
	}
	s.listener.resume(n.id)
}

// watch notices when the file of an operation is closed, if it will be written.
func (s *supervisor) watch(p *planned) {
	if !p.writes() {
		return
	}
	path := p.target.path
	if err := s.closes.watch(filepath.Dir(path), s.resolver.reach(filepath.Dir(path))); err != nil && !s.deaf {
		s.deaf = true
		s.note("cannot watch " + filepath.Dir(path) + ": " + err.Error() + "; its files are looked at every second")
	}
	w := s.writing[path]
	if w == nil {
		w = &writing{before: p.before}
		s.writing[path] = w
	}
	w.opens++
	w.pid = int(p.tid)
}

// drain reports the files that were closed.
func (s *supervisor) drain() {
	settled := false
	lost := s.closes.drain(func(path string) {
		if !settled {
			s.settleHappened() // what came before
			settled = true
		}
		s.closed(path, true)
	})
	if lost {
		s.sweep()
	}
}

// sweep looks at all files that may have been closed unseen.
func (s *supervisor) sweep() {
	for path := range s.writing {
		s.closed(path, false)
	}
}

func (s *supervisor) closed(path string, known bool) {
	w := s.writing[path]
	if w == nil {
		return // somebody else's
	}
	after := lookAt(s.resolver.reach(path))
	s.record(&change{Event: journal.Event{Time: time.Now(), Phase: journal.Post, Op: journal.Write, Path: path, PID: w.pid, Inferred: !known}, before: w.before, after: after})
	w.before, s.files[path] = after, after
	s.inodes[after.id.inode()] = after
	if w.opens--; known && w.opens <= 0 {
		delete(s.writing, path)
	}
}

// inside reports whether changes of a file are reported.
func (s *supervisor) inside(path string) bool { return s.insideAs(path, false) }

// insideAs reports whether changes of a path are reported, which is one of a folder or a file.
func (s *supervisor) insideAs(path string, folder bool) bool {
	_, inside := pathname.Below(s.config.Root, path)
	return inside && !pathname.Within(s.config.Journal, path) && !s.leftOut(path, folder)
}

// leftOut reports whether a path of the project is none of its files: what git
// ignored at the start, and what git only keeps. It is called before anything
// changes, so that what decides in a folder is read before.
func (s *supervisor) leftOut(path string, folder bool) bool {
	name := s.inProject(path)
	words := strings.Split(name, "/")
	if i := slices.Index(words, ".git"); i >= 0 {
		s.ignored.Read(cmp.Or(strings.Join(words[:i], "/"), "."))
		return special.GitKeeps(words[i+1:])
	}
	if folder {
		name, words = name+"/", append(words, "")
	}
	return s.ignored.Ignores(name) && !s.ignoredAlone(words)
}

// ignoredAlone reports whether git ignores nothing above a path but a special file or folder,
// such as .env or .vscode: it is nothing that a build makes, and holds secrets or what other
// programs run.
func (s *supervisor) ignoredAlone(words []string) bool {
	for i := range words {
		names := slices.Clone(words[:i+1])
		if i < len(words)-1 {
			names = append(names, "") // a folder
		}
		if s.ignored.Ignores(strings.Join(names, "/")) {
			return special.Of(names, 0).Use != ""
		}
	}
	return false
}

// inProject returns the name in the project of a path that is below its root.
func (s *supervisor) inProject(path string) string {
	return filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, s.config.Root), "/"))
}
