//go:build amd64 || arm64

package shim

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// In gate mode the supervisor makes every call itself, with the rights of the
// thread, and gives it the result. Nothing that the program does between the
// decision and the call has an effect, because neither its memory nor the path is
// looked at again: the file is reached through the folder that the decision was
// about.

// lookEvery is how often it is checked whether a thread still waits.
const lookEvery = 250 * time.Millisecond

// gate decides about changes.
type gate struct {
	Gate
	socket, agent, session string

	mu     sync.Mutex   // held while a question is open
	client *feed.Client // nil until the first question, and after a failure
}

// newGate makes the gate of one run, which is a session even if nobody has named it.
func newGate(c Config, run string) *gate {
	return &gate{Gate: *c.Gate, socket: c.Socket, agent: c.Agent, session: cmp.Or(c.Session, run)}
}

// verdict is what the lists say.
type verdict uint8

const (
	unknown verdict = iota
	allowed
	denied
)

func (g *gate) listed(path string) verdict {
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(dir string) bool { return pathname.Within(dir, path) })
	}
	switch {
	case in(g.Deny):
		return denied
	case in(g.Allow):
		return allowed
	}
	return unknown
}

// holds reports whether a folder has something in it that is denied, so that it
// must not be moved.
func (g *gate) holds(dir string) bool {
	return slices.ContainsFunc(g.Deny, func(path string) bool { return pathname.Within(dir, path) })
}

// ask asks the editor about a change. Only a clear yes allows it.
func (g *gate) ask(ctx context.Context, r feed.Report) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, g.Timeout)
	defer cancel()
	if g.socket == "" {
		return fmt.Errorf("nobody is there to allow it")
	}
	if g.client == nil {
		c, err := feed.Dial(ctx, g.socket)
		if err != nil {
			return err
		}
		g.client = c
	}
	err := g.client.Tell(ctx, r)
	if _, answered := err.(*feed.Error); err != nil && !answered {
		g.client.Close()
		g.client = nil
	}
	return err
}

// judge returns what the lists say about an operation. If they do not name a
// place inside the project, the editor has to be asked.
func (s *supervisor) judge(o *operation, p *planned) verdict {
	if o.nameless() {
		return allowed // it changes nothing until it gets a name
	}
	v := allowed
	for _, at := range o.places() {
		if at.path == "" {
			// It may be a file of the project all the same: by another mount, or by a
			// descriptor whose name is gone, while the file has another one.
			dir := at.dir
			if at.file >= 0 {
				dir = at.file
			}
			st, ok := at.stat()
			if id, failed := identify(dir, ""); failed != nil || id.dev == s.resolver.root.dev && (at.file < 0 || !ok || st.links > 0) {
				return denied
			}
			continue
		}
		switch listed := s.gate.listed(at.path); {
		case listed == denied || o.verb == rename && s.gate.holds(at.path):
			return denied
		case listed == unknown && (p != nil || o.verb == link && s.inside(at.path)):
			v = unknown
		}
	}
	return v
}

// movesProject reports whether an operation renames the project or a folder that it is
// in, or removes the project. Another folder could take its place then.
func (s *supervisor) movesProject(o *operation) bool {
	places := []*place{&o.target}
	switch o.verb {
	case rename:
		places = append(places, o.other)
	case rmdir:
	default:
		return false
	}
	return slices.ContainsFunc(places, func(p *place) bool {
		return p.found.kind() == unix.S_IFDIR && s.resolver.above(p.found.identity)
	})
}

// beyond reports whether an operation is about a place that the sandbox does not let the
// program change. The kernel refuses it then, so that the call may go on: no path leads to
// anything that the kernel would not refuse.
func (s *supervisor) beyond(o *operation) bool {
	if s.config.Sandbox == nil {
		return false
	}
	return slices.ContainsFunc(o.places(), func(p *place) bool { return s.isBeyond(o, p) })
}

// isBeyond is beyond, for one of the places.
func (s *supervisor) isBeyond(o *operation, p *place) bool {
	path := s.pathOf(p)
	if o.names() || p.found.kind() == 0 && p.file < 0 && p.name != "." {
		path = filepath.Dir(path)
	}
	return !s.config.Sandbox.MayWrite(path)
}

// pathOf is the path of a place, also of one that has none any more.
func (s *supervisor) pathOf(p *place) string {
	if p.path == "" {
		return s.resolver.deleted(p)
	}
	return p.path
}

// showsNot reports whether a path is in the project and was not allowed. Nobody could be
// asked about something there that is neither a file nor a folder nor a link.
func (s *supervisor) showsNot(path string) bool {
	return s.inside(path) && s.gate.listed(path) != allowed
}

// leave leaves an operation that is beyond the sandbox to the kernel, which refuses it.
func (s *supervisor) leave(o *operation) {
	if o.verb == chmod { // no rule of the kernel is about modes
		s.listener.finish(o.id, unix.EACCES)
	} else {
		s.listener.resume(o.id)
	}
	o.close()
}

func (s *supervisor) handleGated(o *operation) {
	if s.gate.Effects {
		s.handleEffect(o)
		return
	}
	if s.beyond(o) {
		s.leave(o)
		return
	}
	if s.drafted(o) {
		return
	}
	if err := s.byItsName(o); err != nil {
		s.deny(o, nil, err.Error())
		return
	}
	if kind := o.mode & unix.S_IFMT; o.verb == mknod && kind != unix.S_IFREG && kind != 0 && s.showsNot(o.target.path) {
		s.deny(o, nil, "no review would show a pipe, a socket or a device")
		return
	}
	p := s.prepare(o)
	if p != nil && s.recorder.broken.Load() {
		s.deny(o, p, "the journal cannot be written")
		return
	}
	if s.movesProject(o) {
		// Questions name files by where the project is.
		p = &planned{operation: o, op: journal.Rename}
		if o.verb == rmdir {
			p.op = journal.Rmdir
		}
		s.deny(o, p, "it would rename or remove the project, or a folder that the project is in")
		return
	}
	switch s.judge(o, p) {
	case denied:
		s.deny(o, p, "")
	case allowed:
		s.perform(o, p)
	default:
		questions := s.questions(o, p)
		go func() {
			err := s.allow(o.id, questions...)
			s.do(func() {
				if err != nil {
					s.deny(o, p, err.Error())
				} else {
					s.perform(o, s.prepare(o)) // it may be another file by now
				}
			})
		}()
	}
}

// allow asks about a call, and returns why it is not allowed.
func (s *supervisor) allow(id uint64, questions ...feed.Report) error {
	ctx, stop := s.whileWaiting(id)
	defer stop()
	for _, q := range questions {
		if err := s.gate.ask(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// whileWaiting returns a context that ends when the thread of a call does not wait any
// more, because it was killed.
func (s *supervisor) whileWaiting(id uint64) (ctx context.Context, stop func()) {
	ctx, stop = context.WithCancel(context.Background())
	go func() {
		defer stop()
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for s.listener.valid(id) {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, stop
}

func (s *supervisor) deny(o *operation, p *planned, reason string) {
	s.listener.finish(o.id, unix.EACCES)
	if p == nil {
		p = &planned{operation: o, op: journal.Write}
	}
	c := p.event(journal.Denied)
	c.Text = reason
	s.record(c)
	o.close()
}

// questions returns the questions for the editor.
func (s *supervisor) questions(o *operation, p *planned) (list []feed.Report) {
	r := s.report(int(o.tid), o.target.path)
	if o.verb == link && s.inside(o.other.path) && s.gate.listed(o.other.path) == unknown {
		// A program that may change the new name may change the file.
		file := r
		file.Path = o.other.path
		list = append(list, file)
	}
	if p == nil || s.gate.listed(o.target.path) != unknown && o.verb != rename {
		return list
	}
	switch p.op {
	case journal.Remove, journal.Rmdir:
		r.Kind = feed.Remove
	case journal.Rename:
		r.Kind, r.From = feed.Rename, o.other.path
		if p.before.regular {
			r.After = p.other.look().version() // the text of a file is replaced
		}
	}
	r.Before = p.target.look().version()
	if p.op == journal.Chmod {
		mode := fs.FileMode(o.mode).Perm()
		after := feed.Version{Size: -1, Mode: &mode}
		r.After = &after
	}
	return append(list, r)
}

// perform makes the call of a thread.
func (s *supervisor) perform(o *operation, p *planned) {
	if !s.listener.valid(o.id) {
		o.close()
		return
	}
	if p != nil {
		// Nothing may change whose old content is not kept, and named in the journal.
		if err := s.recorder.keep(p.event(journal.Pre)); err != nil {
			s.deny(o, p, "its old content cannot be kept: "+err.Error())
			return
		}
		s.watch(p)
	}
	if !o.opens() {
		err := as(o.tid, o.make)
		s.listener.finish(o.id, err)
		if p != nil && err == nil {
			s.succeeded(p)
		} else if p != nil {
			s.record(p.event(journal.Failed))
		}
		o.close()
		return
	}
	give := func() {
		defer o.close()
		fd := -1
		err := as(o.tid, func() (err error) {
			fd, err = o.open()
			return err
		})
		if err == nil {
			err = s.listener.give(o.id, fd, o.flags&unix.O_CLOEXEC != 0)
			unix.Close(fd)
			if p != nil && !o.writes() {
				s.succeeded(p)
			}
		}
		if err != nil {
			s.listener.finish(o.id, err)
		}
	}
	if st, ok := o.target.stat(); ok && st.kind() != unix.S_IFREG {
		go give() // it may wait for the other end
		return
	}
	give()
}

// open opens the file of an operation.
func (o *operation) open() (int, error) {
	flags := int(o.flags) | unix.O_CLOEXEC | unix.O_NOCTTY
	mode := o.mode &^ umaskOf(o.tid)
	switch {
	case o.target.file >= 0:
		return unix.Open("/proc/self/fd/"+strconv.Itoa(o.target.file), flags&^unix.O_NOFOLLOW, mode)
	case o.target.path == "/dev/tty":
		name, err := terminalOf(o.tid)
		if err != nil {
			return -1, err
		}
		return unix.Open(name, flags, mode)
	}
	return unix.Openat(o.target.dir, o.target.name, flags|unix.O_NOFOLLOW, mode)
}

// make makes every call but those that open files.
func (o *operation) make() error {
	dir, name := o.target.dir, o.target.name
	switch o.verb {
	case truncate:
		fd, err := (&operation{call: o.call, tid: o.tid, target: o.target, flags: unix.O_WRONLY | unix.O_NONBLOCK}).open()
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Ftruncate(fd, o.length)
	case unlink:
		return unix.Unlinkat(dir, name, 0)
	case rmdir:
		return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
	case rename:
		return unix.Renameat2(o.other.dir, o.other.name, dir, name, uint(o.flags))
	case link:
		if o.other.file >= 0 {
			return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(o.other.file), dir, name, unix.AT_SYMLINK_FOLLOW)
		}
		return unix.Linkat(o.other.dir, o.other.name, dir, name, 0)
	case symlink:
		return unix.Symlinkat(o.text, dir, name)
	case mkdir:
		return unix.Mkdirat(dir, name, o.mode&^umaskOf(o.tid))
	case chmod:
		return o.chmod()
	case mknod:
		return unix.Mknodat(dir, name, o.mode&^umaskOf(o.tid), int(o.device))
	}
	return unix.ENOSYS
}

// chmod changes the permissions of the file that was found, not of what a link leads
// to that has taken its place.
func (o *operation) chmod() error {
	fd := o.target.file
	if fd < 0 {
		var err error
		if fd, err = unix.Openat(o.target.dir, o.target.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != nil {
			return err
		}
		defer unix.Close(fd)
	}
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), o.mode&permissions)
}

// as calls f with the rights of a thread, on a thread of its own.
func as(tid uint32, f func() error) error {
	runtime.LockOSThread()
	restore, err := assume(tid)
	if err != nil {
		runtime.UnlockOSThread()
		return unix.EACCES
	}
	result := f()
	if err := restore(); err != nil {
		panic(err) // without a supervisor, nothing is let through
	}
	runtime.UnlockOSThread()
	return result
}
