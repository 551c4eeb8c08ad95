//go:build amd64 || arm64

package shim

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// A call that was let go cannot report its result. Whether it worked is seen in
// the files: when any thread makes its next call, or when the thread has left the
// call.

// planned is an operation whose outcome is not known yet.
type planned struct {
	*operation
	op            journal.Op
	before        *content // at the target
	moved         *content // of a rename: at the old name
	inside        bool     // the target is part of the project
	fromInside    bool
	started, next time.Time
	delay         time.Duration
}

const (
	firstDelay = time.Millisecond
	lastDelay  = 50 * time.Millisecond
	// A thread that computes looks as if it were in the call. After this time it
	// is taken to have left.
	longest = time.Second
)

// prepare looks at the files that an operation is about to change. It returns nil
// if there is nothing to report: the operation is about other files, or it is known
// to fail.
func (s *supervisor) prepare(o *operation) *planned {
	p := &planned{operation: o}
	p.inside, p.fromInside = s.placed(o)
	if o.nameless() {
		return nil
	}
	if o.target.path == "" || !p.inside && !p.fromInside {
		s.noticeOtherName(o)
	}
	if !p.inside && !p.fromInside {
		return nil
	}
	p.before = o.target.first()
	if o.opens() || o.verb == truncate {
		// It is about to be changed in place, perhaps by another name.
		s.inodes[p.before.id.inode()].read()
		delete(s.inodes, p.before.id.inode())
	}
	exists := !p.before.absent
	switch o.verb {
	case open, openHow, create, truncate:
		p.op = journal.Write
		creates := o.flags&unix.O_CREAT != 0
		if exists && (!p.before.regular || creates && o.flags&unix.O_EXCL != 0) || !exists && !creates {
			return nil
		}
		if exists && o.opens() && !o.writes() && o.flags&unix.O_TRUNC == 0 {
			return nil // it would have been created
		}
	case chmod:
		p.op = journal.Chmod
		if !p.before.regular && !p.before.dir || p.before.mode == o.mode&permissions {
			return nil
		}
	case unlink:
		p.op = journal.Remove
		if !exists || p.before.dir {
			return nil
		}
	case rmdir:
		p.op = journal.Rmdir
		if !p.before.dir {
			return nil
		}
	case rename:
		p.op = journal.Rename
		p.moved = o.other.first()
		if p.moved.absent || p.moved.id.isFile(p.before.id) && exists {
			return nil
		}
		known := s.files[o.other.path]
		p.moved = o.other.hold(p.moved, known, known != nil && known.id.isFile(p.moved.id) && known.id.mtime == p.moved.id.mtime && known.size == p.moved.size && known.mode == p.moved.mode)
	default:
		p.op = map[verb]journal.Op{link: journal.Link, symlink: journal.Symlink, mkdir: journal.Mkdir, mknod: journal.Write}[o.verb]
		if exists || o.verb == mknod && o.mode&unix.S_IFMT != unix.S_IFREG && o.mode&unix.S_IFMT != 0 {
			return nil
		}
	}
	known := s.files[o.target.path]
	p.before = o.target.hold(p.before, known, known != nil && known.id == p.before.id)
	if p.op == journal.Write {
		p.before.read()
	}
	return p
}

// placed reports whether what an operation is about is part of the project, and for a rename
// whether its old name is. It notes what has to be known before the operation happens: what is
// in a folder that gets a place in the project decides nothing there.
func (s *supervisor) placed(o *operation) (inside, fromInside bool) {
	// Some patterns of git are about folders only.
	folder := o.verb == mkdir || o.target.found.kind() == unix.S_IFDIR
	if o.verb != rename {
		inside = s.insideAs(o.target.path, folder)
	} else {
		moved := o.other.found.kind() == unix.S_IFDIR
		inside, fromInside = s.insideAs(o.target.path, moved), s.insideAs(o.other.path, moved)
		if moved && inside {
			s.ignored.Made(s.inProject(o.target.path))
		}
		if folder && fromInside {
			s.ignored.Made(s.inProject(o.other.path)) // if they are exchanged
		}
	}
	if o.verb == link || inside != fromInside && o.verb == rename {
		s.linked = nil // it may bring a file with several names into the project
	}
	return inside, fromInside
}

// event is what is known of an operation now.
func (p *planned) event(phase journal.Phase) *change {
	c := &change{Event: journal.Event{Time: time.Now(), Phase: phase, Op: p.op, Path: p.target.path, PID: int(p.tid)}, before: p.before}
	if p.other != nil {
		c.From = p.other.path
	}
	return c
}

// happened reports whether the files are as they must be after the operation.
func (p *planned) happened() bool {
	now, exists := p.target.stat()
	switch p.verb {
	case unlink, rmdir:
		return !exists || !now.isFile(p.before.id)
	case rename:
		return exists && now.isFile(p.moved.id)
	case truncate:
		return exists && now.size == p.length
	case open, openHow, create:
		return exists && (p.flags&unix.O_TRUNC == 0 || now.size == 0)
	case chmod:
		return exists && now.mode&permissions != p.before.mode
	}
	return exists
}

// left reports whether the thread has left the call.
func (p *planned) left() bool {
	data, err := os.ReadFile(procPath(p.tid, "syscall"))
	if err != nil {
		return true // it has ended
	}
	number, _, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	if number == "running" {
		return time.Since(p.started) > longest
	}
	return number != strconv.Itoa(int(p.number))
}

// pend waits for the outcome of an operation.
func (s *supervisor) pend(p *planned) {
	p.started, p.delay = time.Now(), firstDelay
	p.next = p.started.Add(p.delay)
	s.pending[p.tid] = p
}

// settleThread settles what a thread has done that makes another call.
func (s *supervisor) settleThread(tid uint32) {
	if p := s.pending[tid]; p != nil {
		s.settle(p, p.happened())
	}
}

// waiting lists the operations without an outcome, in the order in which they began.
func (s *supervisor) waiting() []*planned {
	if len(s.pending) == 0 {
		return nil // as mostly
	}
	return slices.SortedFunc(maps.Values(s.pending), func(p, q *planned) int { return p.started.Compare(q.started) })
}

// settleHappened settles everything that has happened, in order.
func (s *supervisor) settleHappened() {
	for _, p := range s.waiting() {
		if p.happened() {
			s.settle(p, true)
		}
	}
}

// settleDue looks at the operations whose time has come, and returns when the next
// one does, zero if there is none.
func (s *supervisor) settleDue(now time.Time) (next time.Time) {
	for _, p := range s.waiting() {
		if !now.Before(p.next) {
			left := p.left() // before looking: it may happen in between
			if happened := p.happened(); happened || left {
				s.settle(p, happened)
				continue
			}
			p.delay = min(2*p.delay, lastDelay)
			p.next = now.Add(p.delay)
		}
		if next.IsZero() || p.next.Before(next) {
			next = p.next
		}
	}
	return next
}

func (s *supervisor) settle(p *planned, happened bool) {
	delete(s.pending, p.tid)
	if happened {
		s.succeeded(p)
	} else {
		s.record(p.event(journal.Failed))
	}
	p.close()
}

// succeeded reports what an operation has done.
func (s *supervisor) succeeded(p *planned) {
	e := p.event(journal.Post)
	switch p.verb {
	case unlink, rmdir:
		delete(s.files, p.target.path)
	case rename:
		s.renamed(p, e)
		return
	case chmod:
		if s.writing[p.target.path] != nil {
			return // part of what is reported when the file is closed
		}
		e.before, e.after = p.before.sameBytes(p.target.look())
		s.files[p.target.path] = e.after
	default:
		e.after = p.target.look()
		if p.verb == symlink || p.verb == mkdir || p.verb == link {
			break
		}
		s.files[p.target.path] = e.after
	}
	s.record(e)
}

// renamed reports a rename, file by file if a folder has been renamed.
func (s *supervisor) renamed(p *planned, e *change) {
	from, to := p.other.path, p.target.path
	if p.flags&unix.RENAME_EXCHANGE != 0 {
		if p.moved.dir || p.before.dir {
			s.unseen(e.PID, "the folders "+from+" and "+to+" were exchanged, and what is in them is not listed")
			return
		}
		s.writing[from], s.writing[to] = s.writing[to], s.writing[from]
		maps.DeleteFunc(s.writing, func(_ string, w *writing) bool { return w == nil })
		for _, w := range []struct {
			path          string
			inside        bool
			before, after *content
		}{{from, p.fromInside, p.moved, p.before}, {to, p.inside, p.before, p.moved}} {
			if s.files[w.path] = w.after; w.inside {
				s.record(&change{Event: journal.Event{Time: e.Time, Phase: journal.Post, Op: journal.Write, Path: w.path, PID: e.PID}, before: w.before, after: w.after})
			}
		}
		return
	}
	s.moved(from, to)
	if !p.moved.dir {
		s.renamedFile(p, e, from, to, p.before, p.moved)
		return
	}
	s.closes.moved(from, to)
	n := 0
	filepath.WalkDir(s.reach(p), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if n++; n > maxMoved {
			s.unseen(e.PID, "the folder "+from+" was renamed to "+to+", and only "+strconv.Itoa(maxMoved)+" of its files are listed")
			return fs.SkipAll
		}
		rest := strings.TrimPrefix(path, s.reach(p))
		if d.IsDir() {
			if p.inside && !s.leftOut(to+rest, true) {
				s.record(&change{Event: journal.Event{Time: e.Time, Phase: journal.Post, Op: journal.Mkdir, Path: to + rest, PID: e.PID}, before: &content{absent: true}, after: &content{dir: true}})
			}
			return nil
		}
		var after *content
		if !p.fromInside || !p.inside || s.files[to+rest] == nil {
			after = lookAt(path)
		} else {
			after = s.files[to+rest]
		}
		s.renamedFile(p, e, from+rest, to+rest, nil, after)
		return nil
	})
}

// maxMoved is how many files of a renamed folder are reported.
const maxMoved = 20_000

// reach is a path of this process to the target, also if that is elsewhere.
func (s *supervisor) reach(p *planned) string {
	if p.target.path != "" {
		return s.resolver.reach(p.target.path)
	}
	return "/proc/self/fd/" + strconv.Itoa(p.target.dir) + "/" + p.target.name
}

// renamedFile reports the rename of a file. For the project, a file that comes from
// outside is written, and one that goes there removed.
func (s *supervisor) renamedFile(p *planned, e *change, from, to string, before, moved *content) {
	r := *e
	r.Path, r.From, r.before, r.after = to, from, before, moved
	in, out := p.fromInside && !s.leftOut(from, false), p.inside && !s.leftOut(to, false)
	switch {
	case in && out:
		s.record(&r)
	case out:
		if r.Op, r.From = journal.Write, ""; r.before == nil {
			r.before = &content{absent: true}
		}
		s.record(&r)
	case in:
		r.Op, r.Path, r.From, r.before, r.after = journal.Remove, from, "", moved, nil
		s.record(&r)
	}
}

// moved follows what is known of files to their new names.
func (s *supervisor) moved(from, to string) {
	delete(s.files, to)
	delete(s.writing, to)
	for path, c := range s.files {
		if pathname.Within(from, path) {
			delete(s.files, path)
			s.files[to+strings.TrimPrefix(path, from)] = c
		}
	}
	for path, w := range s.writing {
		if pathname.Within(from, path) {
			delete(s.writing, path)
			s.writing[to+strings.TrimPrefix(path, from)] = w
		}
	}
}
