//go:build amd64 || arm64

package shim

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/runtime/review/tree"
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

	pending map[uint32]*planned    // by thread
	writing map[string]*writing    // files that are open for writing, by path
	files   map[string]*content    // what files that changed are now
	inodes  map[[2]uint64]*content // those whose bytes may not have been read yet
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

func newSupervisor(c Config, l listener, r *recorder) (s *supervisor, err error) {
	s = &supervisor{
		config: c, listener: l, recorder: r, ignored: tree.NewMatcher(c.Root, nil),
		pending: make(map[uint32]*planned), writing: make(map[string]*writing), files: make(map[string]*content), inodes: make(map[[2]uint64]*content),
	}
	l.stayOnProcessor()
	if s.resolver, err = newResolver(c.Root); err != nil {
		return nil, err
	}
	if s.closes, err = newCloses(); err != nil {
		return nil, err
	}
	if s.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, err
	}
	if c.Gate != nil {
		s.gate = newGate(c, r.journal.name)
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

// run serves the program until its last process has ended.
func (s *supervisor) run() {
	// The listener comes first: whatever was closed before a call is then seen
	// before the call.
	fds := []unix.PollFd{{Fd: int32(s.listener), Events: unix.POLLIN}, {Fd: int32(s.closes.fd), Events: unix.POLLIN}, {Fd: int32(s.wake), Events: unix.POLLIN}}
	var n notice
	var due time.Time
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
			s.end()
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
	}
}

// end settles everything when no process is left.
func (s *supervisor) end() {
	s.drain()
	for _, p := range s.waiting() {
		s.settle(p, p.happened())
	}
	if s.deaf {
		s.sweep()
	}
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
	s.record(&change{Event: Event{Time: time.Now(), Op: Note, Text: text}})
}

// handle decides about a call.
func (s *supervisor) handle(n *notice) {
	s.settleHappened()
	s.settleThread(n.tid) // what has not happened has failed
	o, err := s.decode(n)
	if _, unreadable := err.(errUnreadable); unreadable && s.listener.valid(n.id) {
		s.record(&change{Event: Event{Time: time.Now(), Phase: Pre, Op: Unresolved, PID: int(n.tid), Text: err.Error()}})
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
	p := s.prepare(o)
	if p == nil || !s.listener.valid(n.id) {
		s.listener.resume(n.id)
		o.close()
		return
	}
	s.announce(p)
	if p.opens() {
		s.listener.resume(n.id)
		o.close()
		return
	}
	s.pend(p)
	s.listener.resume(n.id)
}

// announce reports that an operation is about to happen.
func (s *supervisor) announce(p *planned) {
	s.record(p.event(Pre))
	if !p.opens() {
		return
	}
	path := p.target.path
	if err := s.closes.watch(filepath.Dir(path)); err != nil && !s.deaf {
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
	after := lookAt(path)
	s.record(&change{Event: Event{Time: time.Now(), Phase: Post, Op: Write, Path: path, PID: w.pid, Inferred: !known}, before: w.before, after: after})
	w.before, s.files[path] = after, after
	s.inodes[after.id.inode()] = after
	if w.opens--; known && w.opens <= 0 {
		delete(s.writing, path)
	}
	switch filepath.Base(path) {
	case ".gitignore", "exclude", "config":
		s.ignored.Forget()
	}
}

// inside reports whether changes of a path are reported.
func (s *supervisor) inside(path string) bool {
	return path != "" && path != s.config.Root && below(path, s.config.Root) && !below(path, s.config.Journal) && !s.leftOut(path)
}

// leftOut reports whether a path of the project is none of its files: what git
// ignores and what git keeps, except what git runs.
func (s *supervisor) leftOut(path string) bool {
	name := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, s.config.Root), "/"))
	words := strings.Split(name, "/")
	if i := slices.Index(words, ".git"); i >= 0 {
		return i+1 == len(words) || words[i+1] != "hooks" && words[i+1] != "config"
	}
	return s.ignored.Ignores(name)
}
