//go:build amd64 || arm64

package shim

import (
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/lazyregexp"
	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Many programs save a file by writing a new one beside it and renaming that over the
// file. In a gate, that would be two questions, and the first, about a name that means
// nothing to anybody, could not show what is written. So a new file with such a name is a
// draft: it has no name in the project until the program renames it, and the question is
// then about the file that is saved, with its old and new text. A draft that is not renamed
// soon is asked about under its own name.

// draft is a file that a program believes to have made.
type draft struct {
	path string
	dir  int // the folder
	file int // without a name in it
	pid  int
	due  time.Time // when it is asked about under its own name
	busy bool      // a question about it is open
}

func (d *draft) close() {
	unix.Close(d.dir)
	unix.Close(d.file)
}

const (
	draftDue  = 2 * time.Second
	maxDrafts = 64
)

// draftNames match what programs call such a file that do not look at it before they rename
// it, because it cannot be found by its name. So commands of a shell, such as mv, are not among
// them. What is in parentheses is the name of the file that is saved, which exists.
var draftNames = []func() *regexp.Regexp{
	lazyregexp.New(`^(.+)\.tmp\.[0-9]+\.[0-9a-z]+$`), // Claude Code
	lazyregexp.New(`^(.+)\.[0-9]{8,}$`),              // packages of npm, gofmt
	lazyregexp.New(`^\.(.+?)[.-]?[0-9]{8,}$`),        // packages of Go
	lazyregexp.New(`^sed[0-9A-Za-z]{6}$`),            // sed -i
}

// dates are numbers that people put behind the name of a copy.
var dates = lazyregexp.New(`\.(?:19|20)[0-9]{6}(?:[0-9]{4}|[0-9]{6})?$`)

// isDraft reports whether a new file in a folder has the name of a draft.
func isDraft(dir int, name string) bool {
	return !dates().MatchString(name) && slices.ContainsFunc(draftNames, func(r func() *regexp.Regexp) bool {
		m := r().FindStringSubmatch(name)
		if len(m) < 2 {
			return m != nil
		}
		st, err := stat(dir, m[1], unix.AT_SYMLINK_NOFOLLOW)
		return err == nil && st.kind() == unix.S_IFREG
	})
}

// drafted handles an operation on a draft, or one that begins one. It returns false for
// every other one.
func (s *supervisor) drafted(o *operation) bool {
	if s.begins(o) {
		return true
	}
	if len(s.drafts) == 0 {
		return false
	}
	for _, d := range s.drafts {
		if o.holding(d.path) {
			s.nameDraft(d, o)
			return true
		}
	}
	if d := s.drafts[o.target.path]; d != nil {
		s.onDraft(d, o)
		return true
	}
	if o.other == nil {
		return false
	}
	d := s.drafts[o.other.path]
	switch {
	case d == nil:
		return false
	case d.busy:
		s.refuse(o, unix.EBUSY)
	case o.verb != rename || o.flags&^unix.RENAME_NOREPLACE != 0:
		s.nameDraft(d, o)
	default:
		s.save(d, o)
	}
	return true
}

// holding reports whether an operation is about the name of a folder that a path is below.
func (o *operation) holding(path string) bool {
	return (o.verb == rename || o.verb == rmdir) && slices.ContainsFunc(o.places(), func(p *place) bool {
		_, below := pathname.Below(p.path, path)
		return p.path != "" && below
	})
}

func (s *supervisor) refuse(o *operation, err error) {
	s.listener.finish(o.id, err)
	o.close()
}

// begins makes a draft of the file that an operation would create, if it would be one.
func (s *supervisor) begins(o *operation) bool {
	t := &o.target
	if !o.writes() || o.flags&unix.O_CREAT == 0 || o.nameless() || t.file >= 0 || t.found.mode != 0 || s.drafts[t.path] != nil || len(s.drafts) >= maxDrafts ||
		!s.inside(t.path) || s.gate.listed(t.path) != unknown || !isDraft(t.dir, t.name) {
		return false
	}
	d := &draft{path: t.path, pid: int(o.tid), due: time.Now().Add(draftDue)}
	var err error
	if d.dir, err = unix.FcntlInt(uintptr(t.dir), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return false
	}
	err = as(o.tid, func() (err error) {
		d.file, err = unix.Openat(d.dir, ".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err != nil {
		unix.Close(d.dir) // the file system has no files without names, or there is another reason
		return false
	}
	s.drafts[d.path] = d
	s.openDraft(d, o)
	unix.Fchmod(d.file, o.mode&^umaskOf(o.tid)) // not before: its first open has all rights
	return true
}

// openDraft gives a thread a descriptor of a draft.
func (s *supervisor) openDraft(d *draft, o *operation) {
	const of = unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	fd, err := -1, error(nil)
	err = as(o.tid, func() (err error) {
		fd, err = unix.Open("/proc/self/fd/"+strconv.Itoa(d.file), int(o.flags)&^of|unix.O_CLOEXEC, 0)
		return err
	})
	if err == nil {
		err = s.listener.give(o.id, fd, o.flags&unix.O_CLOEXEC != 0)
		unix.Close(fd)
	}
	if err != nil {
		s.listener.finish(o.id, err)
	}
	o.close()
}

// onDraft carries out an operation whose target is a draft.
func (s *supervisor) onDraft(d *draft, o *operation) {
	switch {
	case d.busy && !o.opens():
		s.refuse(o, unix.EBUSY)
	case o.opens() && o.flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL:
		s.refuse(o, unix.EEXIST)
	case o.opens():
		s.openDraft(d, o)
	case o.verb == truncate:
		s.refuse(o, unix.Ftruncate(d.file, o.length))
	case o.verb == chmod:
		s.refuse(o, as(o.tid, func() error { return unix.Fchmod(d.file, o.mode&permissions) }))
	case o.verb == unlink:
		s.drop(d)
		s.refuse(o, nil)
	case o.verb == rename && o.flags == 0:
		s.drop(d) // its name is another file's from now on
		s.handleGated(o)
	case o.verb == rename:
		s.nameDraft(d, o)
	case o.verb == rmdir:
		s.refuse(o, unix.ENOTDIR)
	default:
		s.refuse(o, unix.EEXIST)
	}
}

func (s *supervisor) drop(d *draft) {
	delete(s.drafts, d.path)
	d.close()
	s.saySettled()
}

// save asks about the file over which a draft is renamed, and puts a copy there, which the
// program cannot change after the answer.
func (s *supervisor) save(d *draft, o *operation) {
	copied, err := d.copy(o.target.dir)
	if err != nil {
		s.refuse(o, err)
		return
	}
	done := func(err error) {
		defer unix.Close(copied)
		if err == nil && s.listener.valid(o.id) {
			s.put(d, o, copied)
			return
		}
		why := ""
		if err != nil {
			why = err.Error()
		}
		s.deny(o, &planned{operation: o, op: journal.Write, before: o.target.look()}, why)
	}
	switch listed := s.gate.listed(o.target.path); {
	case o.target.path == "" || listed == denied:
		done(errors.New("it is denied"))
		return
	case s.recorder.broken.Load():
		done(errors.New("the journal cannot be written"))
		return
	case listed == allowed || !s.inside(o.target.path):
		done(nil)
		return
	}
	r := s.report(d.pid, o.target.path)
	r.Before, r.After = o.target.look().version(), (&draft{path: d.path, dir: d.dir, file: copied}).look().version()
	s.askAbout(d, o, r, done)
}

// put gives the copy of a draft the name that the draft gets.
func (s *supervisor) put(d *draft, o *operation, copied int) {
	t, inside := &o.target, s.inside(o.target.path)
	before := t.look()
	event := func(phase journal.Phase) *change {
		return &change{Event: journal.Event{Time: time.Now(), Phase: phase, Op: journal.Write, Path: t.path, PID: d.pid}, before: before}
	}
	if inside {
		if err := s.recorder.keep(event(journal.Pre)); err != nil {
			s.deny(o, &planned{operation: o, op: journal.Write, before: before}, "its old content cannot be kept: "+err.Error())
			return
		}
	}
	link := func(name string) error {
		return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(copied), t.dir, name, unix.AT_SYMLINK_FOLLOW)
	}
	err := as(o.tid, func() error {
		if err := link(t.name); err != unix.EEXIST || o.flags&unix.RENAME_NOREPLACE != 0 {
			return err
		}
		// A name can be replaced only by another name.
		name := ".hermes-" + strconv.FormatUint(rand.Uint64(), 36)
		if err := link(name); err != nil {
			return err
		}
		err := unix.Renameat(t.dir, name, t.dir, t.name)
		if err != nil {
			unix.Unlinkat(t.dir, name, 0)
		}
		return err
	})
	s.listener.finish(o.id, err)
	if c := event(journal.Failed); inside {
		if err == nil {
			c = event(journal.Post)
			c.after = t.look()
			s.moved(d.path, t.path)
			s.files[t.path] = c.after
		}
		s.record(c)
	}
	if err == nil {
		s.drop(d)
	}
	o.close()
}

// nameDraft asks about a draft under its own name, and then goes on with an operation, if
// there is one.
func (s *supervisor) nameDraft(d *draft, o *operation) {
	if d.busy {
		if o != nil {
			s.refuse(o, unix.EBUSY)
		}
		return
	}
	s.askAbout(d, o, s.ownReport(d), func(err error) {
		s.settleDraft(d, err)
		switch {
		case o == nil:
		case err != nil:
			s.refuse(o, unix.EACCES)
		default:
			for _, p := range o.places() {
				p.again()
			}
			s.handleGated(o)
		}
	})
}

// ownReport is the question about a draft under its own name.
func (s *supervisor) ownReport(d *draft) feed.Report {
	r := s.report(d.pid, d.path)
	r.Before, r.After = &feed.Version{Absent: true}, d.look().version()
	return r
}

func (d *draft) look() *content {
	p := place{dir: d.dir, name: filepath.Base(d.path), file: d.file}
	return p.look()
}

// settleDraft gives a draft its name, or drops it.
func (s *supervisor) settleDraft(d *draft, err error) {
	if err == nil {
		err = s.name(d)
	}
	if err != nil {
		s.record(&change{Event: journal.Event{Time: time.Now(), Phase: journal.Denied, Op: journal.Write, Path: d.path, PID: d.pid, Text: err.Error()}, before: &content{absent: true}})
	} else {
		// The program may have it open, and nobody hears when it is closed.
		s.writing[d.path] = &writing{before: s.files[d.path], opens: 1, pid: d.pid}
		s.deaf = true
	}
	s.drop(d)
}

// name gives a draft its name.
func (s *supervisor) name(d *draft) error {
	name := filepath.Base(d.path)
	c := &change{Event: journal.Event{Time: time.Now(), Phase: journal.Pre, Op: journal.Write, Path: d.path, PID: d.pid}, before: &content{absent: true}}
	if err := s.recorder.keep(c); err != nil {
		return err
	}
	if err := unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(d.file), d.dir, name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return err
	}
	made := place{dir: d.dir, name: name, file: -1}
	c = &change{Event: journal.Event{Time: time.Now(), Phase: journal.Post, Op: journal.Write, Path: d.path, PID: d.pid}, before: &content{absent: true}, after: made.look()}
	s.files[d.path] = c.after
	s.record(c)
	return nil
}

// copy returns a copy of a draft in a folder, without a name either.
func (d *draft) copy(dir int) (int, error) {
	st, err := stat(d.file, "", 0)
	if err != nil {
		return -1, err
	}
	to, err := unix.Openat(dir, ".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return -1, err
	}
	var owner unix.Stat_t
	if err = unix.Fstat(d.file, &owner); err == nil {
		err = unix.Fchown(to, int(owner.Uid), int(owner.Gid))
	}
	if err == nil {
		err = unix.Fchmod(to, st.mode&permissions)
	}
	for in, out, n := int64(0), int64(0), 1; err == nil && n > 0; {
		n, err = unix.CopyFileRange(d.file, &in, to, &out, 1<<30, 0)
	}
	if err != nil {
		unix.Close(to)
		return -1, err
	}
	return to, nil
}

// report begins a question of the gate about a file.
func (s *supervisor) report(pid int, path string) feed.Report {
	return feed.Report{Kind: feed.Write, Path: path, Phase: feed.Ask, Agent: s.gate.agent, PID: pid, Author: review.Author{Session: s.gate.session, Source: "shim"}}
}

// askAbout asks about a draft, and has the goroutine of run call done.
func (s *supervisor) askAbout(d *draft, o *operation, r feed.Report, done func(error)) {
	d.busy = true
	go func() {
		ctx := s.asking
		if o != nil {
			waiting, stop := s.whileWaiting(o.id)
			defer stop()
			ctx = waiting
		}
		err := s.gate.ask(ctx, r)
		s.do(func() {
			d.busy = false
			done(err)
		})
	}()
}

// draftsDue asks about the drafts whose time has come, and returns when the next one does.
func (s *supervisor) draftsDue(now time.Time) (next time.Time) {
	for _, d := range s.drafts {
		switch {
		case d.busy:
		case !now.Before(d.due):
			s.nameDraft(d, nil)
		case next.IsZero() || d.due.Before(next):
			next = d.due
		}
	}
	return next
}

// errUnnamed says that nobody was asked about a draft.
var errUnnamed = errors.New("the program was ended before it gave the file its name")

// endDrafts asks about the drafts of a program that has ended, unless it was killed, and
// then has the goroutine of run call then.
func (s *supervisor) endDrafts(killed bool, then func()) {
	s.settled = then
	for _, path := range slices.Sorted(maps.Keys(s.drafts)) {
		if killed {
			s.settleDraft(s.drafts[path], errUnnamed)
		} else {
			s.nameDraft(s.drafts[path], nil)
		}
	}
	s.saySettled()
}

func (s *supervisor) saySettled() {
	if then := s.settled; then != nil && len(s.drafts) == 0 {
		s.settled = nil
		then()
	}
}

// version says in a question what a file is.
func (c *content) version() *feed.Version {
	switch {
	case c.absent:
		return &feed.Version{Absent: true}
	case !c.regular:
		return nil
	}
	c.read()
	v := &feed.Version{Size: c.size, Hash: c.hash}
	if data := c.data; data != nil && utf8.Valid(data) {
		text := string(data)
		v.Text = &text
	}
	return v
}
