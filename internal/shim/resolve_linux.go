//go:build amd64 || arm64

package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/pathname"
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
	rootPath  string // where the project was at the start; what is in it has paths below
	project   int    // its folder, wherever it is now
	moved     bool   // it was seen elsewhere
	rootMount mount
	text      [unix.PathMax]byte
}

// fileID identifies a file and the mount through which it is reached.
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
		r.project, err = unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	if err == nil {
		r.root, err = identify(r.project, "")
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

// errHidden says that this process may not look at what a thread has.
var errHidden = errors.New("its working folder, root or descriptors cannot be seen")

// hidden returns the error for a path of /proc.
func hidden(err error) error {
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return fmt.Errorf("%w: %w", errHidden, err)
	}
	return err
}

// place finds a path that a thread means, relative to one of its descriptors or to
// AT_FDCWD. follow says whether a link at the end is followed, and inRoot, that the
// descriptor is taken for the root.
func (r *resolver) place(tid uint32, dirfd int32, path string, follow, inRoot bool) (p place, err error) {
	if path == "" {
		return p, unix.ENOENT
	}
	l := lookup{resolver: r, tid: tid, root: -1}
	defer l.close()
	base := -1
	switch {
	case path[0] == '/' && !inRoot:
		if base, err = l.top(); err == nil {
			base, err = unix.FcntlInt(uintptr(base), unix.F_DUPFD_CLOEXEC, 0)
		}
	case dirfd == unix.AT_FDCWD:
		base, err = unix.Open(procPath(tid, "cwd"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	default:
		base, err = unix.Open(procPath(tid, "fd/"+strconv.Itoa(int(dirfd))), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return p, hidden(err)
	}
	if inRoot {
		if l.root, err = unix.FcntlInt(uintptr(base), unix.F_DUPFD_CLOEXEC, 0); err != nil {
			unix.Close(base)
			return p, err
		}
	}
	if p, err = l.walk(base, split(path), follow); err != nil {
		return p, err
	}
	if p.file < 0 {
		if dir := l.canonical(&p); dir != "" {
			p.path = filepath.Join(dir, p.name)
		}
	}
	p.path = r.asAtStart(p.path)
	return p, nil
}

// asAtStart returns the path that a file of the project had at the start, if the
// project has been renamed since, or a folder above it. The folder itself decides what
// belongs to the project, not its name.
func (r *resolver) asAtStart(path string) string {
	if path == "" || pathname.Within(r.rootPath, path) {
		return path
	}
	now, err := r.nameOf(r.project)
	if err != nil || now == r.rootPath || !pathname.Within(now, path) {
		return path
	}
	r.moved = true
	return r.rootPath + strings.TrimPrefix(path, now)
}

// reach returns a path of this process that leads to a file of the project, which may
// have been renamed.
func (r *resolver) reach(path string) string {
	if !r.moved || !pathname.Within(r.rootPath, path) {
		return path
	}
	now, err := r.nameOf(r.project)
	if r.moved = now != r.rootPath; !r.moved || err != nil || strings.HasSuffix(now, " (deleted)") {
		return path
	}
	return "/proc/self/fd/" + strconv.Itoa(r.project) + strings.TrimPrefix(path, r.rootPath)
}

// above reports whether a folder is the project's, or one that the project is
// in.
func (r *resolver) above(id identity) bool {
	at, err := reopen(-1, r.project)
	for err == nil {
		here, failed := stat(at, "", 0)
		if failed != nil || here.isFile(id) {
			unix.Close(at)
			return true // to be sure
		}
		if here.fileID() == r.slashInfo {
			break
		}
		at, err = step(at, "..", unix.O_DIRECTORY)
	}
	unix.Close(at)
	return err != nil
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
	if err != nil || s.kind() != unix.S_IFREG && s.kind() != unix.S_IFDIR {
		return p, nil // a terminal, a pipe
	}
	// Its path is the path of its folder and its own name.
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

// deleted returns the path that a file had which has no name any more but is open, or "".
func (r *resolver) deleted(p *place) string {
	if p.file < 0 {
		return ""
	}
	st, err := stat(p.file, "", 0)
	if err != nil || st.kind() != unix.S_IFREG || st.links > 0 {
		return ""
	}
	path, err := r.nameOf(p.file)
	if path, cut := strings.CutSuffix(path, " (deleted)"); err == nil && cut {
		return path
	}
	return ""
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
// another mount. Another file may have the same path here.
func (l *lookup) alias(id fileID, path string) string {
	if id.dev == l.resolver.root.dev && l.rootMount.device != "" {
		m, err := mountOf(procPath(l.tid, "mountinfo"), id.mount)
		if err == nil && m.device == l.rootMount.device {
			// A folder above the one that is mounted may have been renamed.
			if now, err := mountOf("/proc/self/mountinfo", l.resolver.root.mount); err == nil {
				l.rootMount = now
			}
			// The mounts of a thread are listed as it sees them.
			if root, err := os.Readlink(procPath(l.tid, "root")); err == nil && root != "/" {
				if rest, ok := strings.CutPrefix(path, root); ok {
					path = rest
				}
			}
			if pathname.Within(m.at, path) {
				inside := filepath.Join(m.from, strings.TrimPrefix(path, strings.TrimSuffix(m.at, "/")))
				if pathname.Within(l.rootMount.from, inside) {
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
