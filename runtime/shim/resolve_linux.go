//go:build amd64 || arm64

package shim

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// place is where a path of a program leads: a name in a folder, which need not
// exist and is not a symbolic link that the call would follow.
type place struct {
	dir  int    // the folder, opened with O_PATH
	name string // in it
	file int    // for a path of /proc that stands for an open file: that file; otherwise -1
	// path is absolute, as this process would write it. It is "" if this process
	// cannot reach the file.
	path string

	found status // what was there when the place was found; its mode is 0 if nothing was
	fresh bool   // found was not used yet
}

func (p *place) close() {
	unix.Close(p.dir)
	if p.file >= 0 {
		unix.Close(p.file)
	}
}

// resolver finds the files that threads mean: each has a working folder, a root,
// descriptors and mounts of its own.
type resolver struct {
	slash     int // our root
	fds       int // /proc/self/fd, which takes longer to find than to read
	slashInfo fileID
	root      fileID // of the project
	rootPath  string
	rootMount mount
	text      [unix.PathMax]byte
}

// fileID tells files apart, and the mounts through which they are reached.
type fileID struct {
	dev   uint64
	ino   uint64
	mount uint64
}

const maxLinks = 40 // that are followed, as the kernel does

func newResolver(root string) (*resolver, error) {
	slash, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	r := &resolver{slash: slash, rootPath: root}
	if r.slashInfo, err = identify(slash, ""); err == nil {
		r.root, err = identify(unix.AT_FDCWD, root)
	}
	if err == nil {
		r.fds, err = unix.Open("/proc/self/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		unix.Close(slash)
		return nil, err
	}
	r.rootMount, _ = mountOf("/proc/self/mountinfo", r.root.mount)
	return r, nil
}

// identify returns the identity of a file, or of a folder if name is "".
func identify(dir int, name string) (fileID, error) {
	s, err := stat(dir, name, unix.AT_STATX_DONT_SYNC)
	return s.fileID(), err
}

// nameOf returns the path of a descriptor of ours.
func (r *resolver) nameOf(fd int) (string, error) {
	n, err := unix.Readlinkat(r.fds, strconv.Itoa(fd), r.text[:])
	return string(r.text[:max(n, 0)]), err
}

func procPath(tid uint32, name string) string {
	return "/proc/" + strconv.FormatUint(uint64(tid), 10) + "/" + name
}

// lookup is one resolution.
type lookup struct {
	*resolver
	tid   uint32
	root  int // of the thread; -1 until it is needed
	links int
}

// top returns the root of the thread, which lookup.close closes.
func (l *lookup) top() (int, error) {
	if l.root >= 0 {
		return l.root, nil
	}
	theirs := procPath(l.tid, "root")
	id, err := identify(unix.AT_FDCWD, theirs)
	if err == nil && id == l.slashInfo {
		l.root = l.slash
	} else if err == nil {
		l.root, err = unix.Open(theirs, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	return l.root, err
}

func (l *lookup) close() {
	if l.root >= 0 && l.root != l.slash {
		unix.Close(l.root)
	}
}

// place finds a path that a thread means, relative to one of its descriptors or to
// AT_FDCWD. follow says whether a link at the end is followed.
func (r *resolver) place(tid uint32, dirfd int32, path string, follow bool) (p place, err error) {
	if path == "" {
		return p, unix.ENOENT
	}
	l := lookup{resolver: r, tid: tid, root: -1}
	defer l.close()
	base := -1
	switch {
	case path[0] == '/':
		if base, err = l.top(); err == nil {
			base, err = unix.FcntlInt(uintptr(base), unix.F_DUPFD_CLOEXEC, 0)
		}
	case dirfd == unix.AT_FDCWD:
		base, err = unix.Open(procPath(tid, "cwd"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	default:
		base, err = unix.Open(procPath(tid, "fd/"+strconv.Itoa(int(dirfd))), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return p, err
	}
	if p, err = l.walk(base, split(path), follow); err != nil {
		return p, err
	}
	if p.file >= 0 {
		return p, nil
	}
	if dir := l.canonical(&p); dir != "" {
		p.path = filepath.Join(dir, p.name)
	}
	return p, nil
}

func split(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" || s == "." })
}

// walk goes from a folder, which it closes, along names.
func (l *lookup) walk(at int, names []string, follow bool) (p place, err error) {
	defer func() {
		if err != nil {
			unix.Close(at)
		}
	}()
	// Mostly there are no links on the way, and one call does it.
	if n := len(names) - 1; n > 0 && !slices.Contains(names, "..") {
		how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
		fd, err := unix.Openat2(at, strings.Join(names[:n], "/"), &how)
		if err == nil {
			unix.Close(at)
			at, names = fd, names[n:]
		} else if err != unix.ELOOP && err != unix.ENOSYS {
			return p, err
		}
	}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		last := len(names) == 0
		if name == ".." {
			top, err := l.top()
			if err != nil {
				return p, err
			}
			if here, err := identify(at, ""); err == nil {
				if root, err := identify(top, ""); err == nil && here == root {
					continue // nothing is above the root
				}
			}
			if at, err = step(at, "..", unix.O_NOFOLLOW); err != nil {
				return p, err
			}
			continue
		}
		s, err := stat(at, name, unix.AT_SYMLINK_NOFOLLOW)
		isLink := err == nil && s.kind() == unix.S_IFLNK
		switch {
		case last && (err == unix.ENOENT || err == nil && !(isLink && follow)):
			return place{dir: at, name: name, file: -1, found: s, fresh: true}, nil
		case err != nil:
			return p, err
		case !isLink:
			if at, err = step(at, name, unix.O_NOFOLLOW|unix.O_DIRECTORY); err != nil {
				return p, err
			}
			continue
		}
		if l.links++; l.links > maxLinks {
			return p, unix.ELOOP
		}
		if isProc(at) {
			text, self := l.self(at, name)
			if self {
				names = append(text, names...)
				if at, err = reopen(at, l.resolver.slash); err != nil {
					return p, err
				}
				continue
			}
			// Such a link stands for a file, whatever its text says.
			if last {
				return l.open(at, name)
			}
			if at, err = step(at, name, unix.O_DIRECTORY); err != nil {
				return p, err
			}
			continue
		}
		buf := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(at, name, buf)
		if err != nil {
			return p, err
		}
		text := string(buf[:n])
		names = append(split(text), names...)
		if strings.HasPrefix(text, "/") {
			top, err := l.top()
			if err != nil {
				return p, err
			}
			if at, err = reopen(at, top); err != nil {
				return p, err
			}
		}
	}
	// It ends in "..", or is the root: a folder.
	return place{dir: at, name: ".", file: -1}, nil
}

// step opens a name in a folder and closes the folder.
func step(at int, name string, flags int) (int, error) {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_CLOEXEC|flags, 0)
	if err == nil {
		unix.Close(at)
		return fd, nil
	}
	return at, err
}

// reopen closes a folder and goes on at another one.
func reopen(at, other int) (int, error) {
	fd, err := unix.FcntlInt(uintptr(other), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		unix.Close(at)
		return fd, nil
	}
	return at, err
}

func isProc(dir int) bool {
	var s unix.Statfs_t
	return unix.Fstatfs(dir, &s) == nil && s.Type == unix.PROC_SUPER_MAGIC
}

// self returns where /proc/self and /proc/thread-self lead for the thread, not for
// this process.
func (l *lookup) self(at int, name string) (names []string, ok bool) {
	if name != "self" && name != "thread-self" {
		return nil, false
	}
	tid := strconv.FormatUint(uint64(l.tid), 10)
	tgid := statusField(l.tid, "Tgid:")
	if tgid == "" {
		tgid = tid
	}
	if name == "self" {
		return []string{"proc", tgid}, true
	}
	return []string{"proc", tgid, "task", tid}, true
}

// statusField returns a field of /proc/TID/status.
func statusField(tid uint32, name string) string {
	data, err := os.ReadFile(procPath(tid, "status"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// open returns the file that a link of /proc stands for.
func (l *lookup) open(at int, name string) (place, error) {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return place{}, err
	}
	p := place{dir: at, name: name, file: fd}
	s, err := stat(fd, "", 0)
	if err != nil || s.kind() != unix.S_IFREG {
		return p, nil // a terminal, a pipe
	}
	// Its name is that of the folder it is in and its own.
	path, err := l.nameOf(fd)
	if err != nil || strings.HasSuffix(path, " (deleted)") {
		return p, nil
	}
	if s.mount == l.resolver.root.mount {
		p.path = path
	} else {
		p.path = l.alias(s.fileID(), path)
	}
	return p, nil
}

// canonical returns the path of the folder of a place, or "" if it is known only to
// others.
func (l *lookup) canonical(p *place) string {
	path, err := l.nameOf(p.dir)
	if err != nil {
		return ""
	}
	if p.found.kind() == unix.S_IFREG && p.found.mount == l.resolver.root.mount {
		return path // a file is reached through the mount of its folder, or one of its own
	}
	id, err := identify(p.dir, "")
	if err != nil || id.mount == l.resolver.root.mount {
		return path
	}
	return l.alias(id, path)
}

// alias returns the path below the project of a file that is reached through
// another mount. The text of its path may be that of another file here.
func (l *lookup) alias(id fileID, path string) string {
	if id.dev == l.resolver.root.dev && l.rootMount.device != "" {
		m, err := mountOf(procPath(l.tid, "mountinfo"), id.mount)
		if err == nil && m.device == l.rootMount.device {
			// The mounts of a thread are listed as it sees them.
			if root, err := os.Readlink(procPath(l.tid, "root")); err == nil && root != "/" {
				if rest, ok := strings.CutPrefix(path, root); ok {
					path = rest
				}
			}
			if below(path, m.at) {
				inside := filepath.Join(m.from, strings.TrimPrefix(path, strings.TrimSuffix(m.at, "/")))
				if below(inside, l.rootMount.from) {
					return filepath.Join(l.rootMount.at, strings.TrimPrefix(inside, strings.TrimSuffix(l.rootMount.from, "/")))
				}
				return ""
			}
		}
	}
	if here, err := identify(unix.AT_FDCWD, path); err == nil && here.dev == id.dev && here.ino == id.ino {
		return path
	}
	return ""
}

// mount is a line of mountinfo.
type mount struct {
	device string // the file system
	from   string // the folder of it that is mounted
	at     string // where it is
}

func mountOf(file string, id uint64) (mount, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return mount{}, err
	}
	number := strconv.FormatUint(id, 10)
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) > 4 && f[0] == number {
			return mount{f[2], unescape(f[3]), unescape(f[4])}, nil
		}
	}
	return mount{}, unix.ENOENT
}

// unescape turns the octal numbers of mountinfo into the bytes they stand for.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
