//go:build amd64 || arm64

package shim

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// operation is a call that changes files, as far as it can be known before.
type operation struct {
	*call
	id     uint64 // of the notice
	tid    uint32
	number int32
	target place  // what changes; of a rename, the new name
	other  *place // of a rename the old name, of a link the file
	flags  uint64
	mode   uint32
	device uint64
	length int64
	text   string // where a symbolic link leads
}

func (o *operation) close() {
	o.target.close()
	if o.other != nil {
		o.other.close()
	}
}

// places are where the operation changes something, or gives something a name.
func (o *operation) places() []*place {
	if o.other != nil {
		return []*place{&o.target, o.other}
	}
	return []*place{&o.target}
}

// errUnreadable says that the memory of a thread cannot be read.
type errUnreadable struct{ error }

func (e errUnreadable) Unwrap() error { return e.error }

// decode finds out what a notice is about. It returns nil for a call that changes
// nothing. An error is the error of the call itself, or errUnreadable.
func (s *supervisor) decode(n *notice) (*operation, error) {
	c := callOf(n)
	if c == nil {
		return nil, nil
	}
	o := &operation{call: c, id: n.id, tid: n.tid, number: n.nr}
	path, err, resolve := "", error(nil), uint64(0)
	if c.path != none {
		path, err = readPath(n.tid, n.args[c.path])
	}
	if err == nil && c.flags != none {
		o.flags = n.args[c.flags] & 0xffffffff
	}
	if c.mode != none {
		o.mode = uint32(n.args[c.mode])
	}
	if err == nil {
		switch c.verb {
		case openHow:
			var how unix.OpenHow
			how, err = readHow(n.tid, n.args[c.flags])
			o.flags, o.mode, resolve = how.Flags, uint32(how.Mode), how.Resolve
			if err == nil && o.flags&opens == 0 {
				return nil, nil
			}
		case create:
			o.flags = unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC
		case truncate:
			o.length = int64(n.args[c.flags])
			o.flags = 0
		case mknod:
			o.device = n.args[c.mode+1]
		}
	}
	if err != nil {
		return nil, errUnreadable{err}
	}
	second := ""
	if c.path2 != none {
		if second, err = readPath(n.tid, n.args[c.path2]); err != nil {
			return nil, errUnreadable{err}
		}
	}
	find := func(dir int, path string, follow bool) (place, error) {
		dirfd := int32(unix.AT_FDCWD)
		if dir != none {
			dirfd = int32(n.args[dir])
		}
		return s.resolver.place(n.tid, dirfd, path, follow, resolve&unix.RESOLVE_IN_ROOT != 0)
	}
	switch c.verb {
	case open, openHow, create:
		exclusive := o.flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL
		o.target, err = find(c.dir, path, o.flags&unix.O_NOFOLLOW == 0 && !exclusive)
	case truncate:
		o.target, err = find(c.dir, path, true)
	case rename:
		var old place
		if old, err = find(c.dir, path, false); err != nil {
			return nil, err
		}
		if o.target, err = find(c.dir2, second, false); err != nil {
			old.close()
			return nil, err
		}
		o.other = &old
	case link:
		if second == "" && o.flags&unix.AT_EMPTY_PATH != 0 {
			second = descriptorPath(n.args[c.dir2])
			o.flags |= unix.AT_SYMLINK_FOLLOW
		}
		var file place
		if file, err = find(c.dir2, second, o.flags&unix.AT_SYMLINK_FOLLOW != 0); err != nil {
			return nil, err
		}
		if o.target, err = find(c.dir, path, false); err != nil {
			file.close()
			return nil, err
		}
		o.other = &file
	case symlink:
		o.text = second
		o.target, err = find(c.dir, path, false)
	case chmod:
		follow := o.flags&unix.AT_SYMLINK_NOFOLLOW == 0
		if c.path == none || path == "" && o.flags&unix.AT_EMPTY_PATH != 0 {
			path, follow = descriptorPath(n.args[c.dir]), true
		}
		o.target, err = find(c.dir, path, follow)
	case unlink:
		if o.flags&unix.AT_REMOVEDIR != 0 {
			remove := *c
			remove.verb = rmdir
			o.call = &remove
		}
		o.target, err = find(c.dir, path, false)
	default:
		o.target, err = find(c.dir, path, false)
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// descriptorPath is a path of a thread to what it has open.
func descriptorPath(fd uint64) string { return "/proc/self/fd/" + strconv.Itoa(int(int32(fd))) }

// opens reports whether the operation opens a file.
func (o *operation) opens() bool {
	return o.verb == open || o.verb == openHow || o.verb == create
}

// writes reports whether the operation opens a file to write it. The close is then
// what changes the file.
func (o *operation) writes() bool { return o.opens() && o.flags&unix.O_ACCMODE != unix.O_RDONLY }

// names reports whether the operation is about names in a folder, not about a file.
func (o *operation) names() bool { return !o.opens() && o.verb != truncate && o.verb != chmod }

// nameless reports whether the operation opens a file that has no name yet.
func (o *operation) nameless() bool {
	return o.opens() && o.flags&unix.O_TMPFILE == unix.O_TMPFILE
}
