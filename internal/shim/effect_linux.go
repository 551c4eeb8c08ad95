//go:build amd64 || arm64

package shim

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/special"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// A gate for effects asks about what reaches further than the project, and about what nothing
// else keeps. Nothing else is asked about or recorded, so that programs which change many files
// are not slowed down by it.

// kernels are folders whose files are none. Programs may change what the sandbox lets them
// change there, and nobody is asked about the rest, such as a disk.
var kernels = []string{"/dev", "/proc", "/sys"}

// handleEffect decides about a change in a gate for effects.
func (s *supervisor) handleEffect(o *operation) {
	if slices.ContainsFunc(o.places(), func(p *place) bool { return s.isBeyond(o, p) && within(kernels, s.pathOf(p)) }) {
		s.leave(o)
		return
	}
	if err := s.byItsName(o); err != nil {
		s.deny(o, nil, err.Error())
		return
	}
	switch {
	case s.movesProject(o):
		s.deny(o, nil, "it would rename or remove the project, or a folder that the project is in")
		return
	case s.judge(o, nil) == denied:
		s.deny(o, nil, "")
		return
	}
	s.placed(o)
	questions := s.effects(o)
	if len(questions) == 0 {
		s.perform(o, nil)
		return
	}
	if err := fails(o); err != nil {
		s.listener.finish(o.id, err)
		o.close()
		return
	}
	go func() {
		err := s.allow(o.id, questions...)
		s.do(func() {
			if err != nil {
				s.deny(o, nil, err.Error())
			} else {
				s.perform(o, nil)
			}
		})
	}()
}

func within(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool { return pathname.Within(dir, path) })
}

// effects are the questions about an operation: none if it is an ordinary one.
func (s *supervisor) effects(o *operation) (list []feed.Report) {
	if o.nameless() || o.opens() && o.target.exists() && !o.writes() && o.flags&unix.O_TRUNC == 0 {
		return nil // nothing changes
	}
	matters := func(p *place) bool { return s.isBeyond(o, p) || s.isSpecial(p.path) }
	for _, p := range o.places() {
		if !matters(p) {
			continue
		}
		q := s.report(int(o.tid), s.pathOf(p))
		if !p.exists() {
			q.Before = &feed.Version{Absent: true}
		}
		switch o.verb {
		case unlink, rmdir:
			q.Kind = feed.Remove
		case rename:
			q.Kind, q.Path, q.From = feed.Rename, s.pathOf(&o.target), s.pathOf(o.other)
			return []feed.Report{q}
		}
		list = append(list, q)
	}
	if len(list) > 0 {
		return list
	}
	if path, why := s.lost(o); why != "" {
		q := s.report(int(o.tid), path)
		q.Reason = why
		if o.verb == unlink || o.verb == rename && path == s.pathOf(o.other) {
			q.Kind = feed.Remove
		}
		list = append(list, q)
	}
	return list
}

// isSpecial reports whether a change of a file of the project reaches further than the project.
func (s *supervisor) isSpecial(path string) bool {
	if !s.inside(path) {
		return false
	}
	words := strings.Split(s.inProject(path), "/")
	return slices.Contains(words, ".git") || special.Of(words, 0).Use != ""
}

// fails returns the error of an operation that fails whatever the answer is, so that nobody
// is asked about it.
func fails(o *operation) error {
	exists, kind := o.target.exists(), o.target.found.kind()
	switch o.verb {
	case open, openHow, create, truncate:
		switch creates := o.opens() && o.flags&unix.O_CREAT != 0; {
		case exists && creates && o.flags&unix.O_EXCL != 0:
			return unix.EEXIST
		case !exists && !creates:
			return unix.ENOENT
		case kind == unix.S_IFDIR:
			return unix.EISDIR
		}
	case mkdir, symlink, link, mknod:
		if exists {
			return unix.EEXIST
		}
	case unlink, rmdir, chmod:
		switch {
		case !exists:
			return unix.ENOENT
		case o.verb == unlink && kind == unix.S_IFDIR:
			return unix.EISDIR
		case o.verb == rmdir && kind != unix.S_IFDIR:
			return unix.ENOTDIR
		}
	}
	for _, p := range o.places() {
		if o.other == p && !p.exists() {
			return unix.ENOENT
		}
		if err := as(o.tid, func() error { return p.permits(o) }); err != nil {
			return err
		}
	}
	return nil
}

// permits returns an error if the rights of the calling thread do not let it change a place.
func (p *place) permits(o *operation) error {
	const flags = unix.AT_EACCESS | unix.AT_SYMLINK_NOFOLLOW
	switch {
	case p.file >= 0:
		return nil // open already; if it is to be written, that is seen when it is opened
	case o.verb == chmod, o.verb == link && p == o.other:
		return nil
	case o.names(), !p.exists():
		return unix.Faccessat2(p.dir, ".", unix.W_OK|unix.X_OK, flags)
	}
	return unix.Faccessat2(p.dir, p.name, unix.W_OK, flags)
}

// exists reports whether something was at a place when it was found.
func (p *place) exists() bool { return p.file >= 0 || p.found.mode != 0 }
