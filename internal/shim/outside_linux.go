//go:build amd64 || arm64

package shim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// A program may have its work done by another one that nobody supervises: a daemon of
// its own, an editor, a container. It talks to it by a Unix socket, so that connections
// to sockets of other programs are named, and refused in a gate.

// maxAddress is how long an address of a socket may be, in bytes.
const maxAddress = 128

// lookAgain is how long a socket is taken for one of a supervised program.
const lookAgain = time.Second

// maxInside is how many sockets of supervised programs are remembered.
const maxInside = 1000

// answering are sockets of programs that only answer: names, users, keys, and the log.
// No file is changed through them.
var answering = []string{
	"/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve", "/run/systemd/userdb",
	"/dev/log", "/run/systemd/journal/dev-log", "/run/systemd/journal/socket", "/run/systemd/journal/stdout",
}

// naming are sockets of programs that look up names. In a gate that does so itself, they are not
// there: they would tell a name to somebody outside, and the program only an address.
var naming = []string{"/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve"}

// outside is what is known of programs outside.
type outside struct {
	answering []string

	mu     sync.Mutex
	named  map[string]bool // by what leads to them
	inside map[string]time.Time
}

func (o *outside) init() {
	o.named, o.inside = make(map[string]bool), make(map[string]time.Time)
	for _, path := range append(slices.Clone(answering), os.Getenv("SSH_AUTH_SOCK")) {
		if real, err := filepath.EvalSymlinks(path); path != "" && err == nil {
			o.answering = append(o.answering, real)
		}
	}
}

// isKnown reports whether nobody needs to look who is behind a door.
func (o *outside) isKnown(d *door) bool {
	if slices.ContainsFunc(o.answering, func(path string) bool { return d.path != "" && pathname.Within(path, d.path) }) {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.named[d.key()] || time.Since(o.inside[d.key()]) < lookAgain
}

// door is where a Unix socket leads.
type door struct {
	name     string // for people
	path     string // "" for an abstract name, and for what cannot be reached
	abstract []byte
	id       identity
	file     int // the socket, opened with O_PATH; -1 for an abstract name
}

// key identifies a door.
func (d *door) key() string {
	if d.file < 0 {
		return d.name
	}
	return fmt.Sprint(d.id.inode())
}

func (d *door) close() {
	if d != nil && d.file >= 0 {
		unix.Close(d.file)
	}
}

// doorOf returns where an address leads. It returns nil if it is none of a Unix socket,
// or if nothing is there.
func (s *supervisor) doorOf(tid uint32, address []byte) (*door, error) {
	if len(address) <= 2 || binary.NativeEndian.Uint16(address) != unix.AF_UNIX {
		return nil, nil
	}
	if name := address[2:]; name[0] == 0 {
		return &door{name: "@" + strings.ToValidUTF8(string(name[1:]), "?"), abstract: name, file: -1}, nil
	}
	path, _, _ := strings.Cut(string(address[2:]), "\x00")
	p, err := s.resolver.place(tid, unix.AT_FDCWD, path, true, false)
	if err != nil {
		return nil, err
	}
	defer p.close()
	d := &door{name: path, path: p.path}
	if p.file >= 0 {
		d.file, err = unix.FcntlInt(uintptr(p.file), unix.F_DUPFD_CLOEXEC, 0)
	} else {
		d.file, err = unix.Openat(p.dir, p.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, err
	}
	st, err := stat(d.file, "", 0)
	d.id = st.identity
	if err == nil && st.kind() != unix.S_IFSOCK {
		err = unix.ECONNREFUSED
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// addressOf returns the socket of a connect or a bind, and its address. An error is the error of the
// call itself, or errUnreadable.
func addressOf(n *notice) (fd int, address []byte, err error) {
	socket, at, size := n.args[0], n.args[1], n.args[2]
	if uint32(n.nr) == othersOf(n).sockets {
		words, err := wordsAt(n, 3)
		if err != nil {
			return -1, nil, err
		}
		socket, at, size = words[0], words[1], words[2]
	}
	address = make([]byte, min(size, maxAddress))
	if len(address) > 0 {
		_, err = readCall(n.tid, at, address)
	}
	return int(int32(socket)), address, err
}

// readCall reads what a call points to. An error is the error of the call itself, or
// errUnreadable.
func readCall(tid uint32, at uint64, buf []byte) (int, error) {
	n, err := readMemory(tid, at, buf)
	if err != nil && err != unix.EFAULT {
		err = errUnreadable{err}
	}
	return n, err
}

// wordsAt are the arguments of a call that was made by socketcall.
func wordsAt(n *notice, count int) (words []uint64, err error) {
	b := make([]byte, 4*count)
	switch n, err := readCall(n.tid, n.args[1], b); {
	case err != nil:
		return nil, err
	case n < len(b):
		return nil, unix.EFAULT
	}
	for ; len(b) > 0; b = b[4:] {
		words = append(words, uint64(binary.NativeEndian.Uint32(b)))
	}
	return words, nil
}

// connects decides about a connection of a socket.
func (s *supervisor) connects(n *notice) {
	fd, address, err := addressOf(n)
	var d *door
	if err == nil {
		d, err = s.doorOf(n.tid, address)
	}
	id, tid := n.id, n.tid
	if s.gate == nil && isOurs(err) && s.listener.valid(id) {
		s.unseen(int(tid), "a connection could not be followed: "+err.Error())
	}
	if s.gate != nil {
		if err != nil {
			s.listener.finish(id, err)
			return
		}
		go s.connectGated(id, tid, fd, address, d)
		return
	}
	if err != nil || d == nil || s.outside.isKnown(d) {
		s.listener.resume(id)
		d.close()
		return
	}
	// The thread waits, so that a program which serves itself does not end meanwhile.
	go func() {
		defer d.close()
		if outside, pid, name := s.behind(d); outside {
			who := programOf(tid)
			s.do(func() {
				s.unseen(int(tid), who+" works in "+nameProcess(pid, name)+", which is not watched, by "+d.name)
			})
		}
		s.listener.resume(id)
	}()
}

// connectGated connects a socket of a thread, unless it leads outside.
func (s *supervisor) connectGated(id uint64, tid uint32, fd int, address []byte, d *door) {
	defer d.close()
	socket, err := socketOf(tid, fd)
	if err != nil {
		s.listener.finish(id, err)
		return
	}
	defer unix.Close(socket)
	domain, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err == nil && !s.mayConnect(socket, domain, address) {
		address, err = s.mayDial(id, tid, domain, address)
	}
	if err == nil && domain == unix.AF_UNIX && d != nil && s.names != nil && slices.Contains(naming, d.path) {
		err = unix.ENOENT
	}
	if err == nil && domain == unix.AF_UNIX && d != nil {
		why, refused := "", false
		switch listed := s.gate.listed(d.path); {
		case d.path != "" && listed == denied:
			why, refused = "it is denied", true
		case d.path != "" && listed == allowed, slices.ContainsFunc(s.outside.answering, func(path string) bool { return d.path != "" && pathname.Within(path, d.path) }):
		default:
			if outside, pid, name := s.behind(d); outside {
				why = nameProcess(pid, name) + " is not watched"
			}
		}
		if why != "" && !refused && s.gate.Effects {
			q := feed.Report{Path: d.path}
			if d.path == "" {
				q.Host = d.name
			}
			if s.mayReach(id, tid, feed.Connect, q) == nil {
				why = ""
			}
		}
		if why != "" {
			who := programOf(tid)
			s.do(func() {
				s.record(&change{Event: journal.Event{Time: time.Now(), Phase: journal.Denied, Op: journal.Connect, Path: d.path, PID: int(tid), Text: who + " may not connect to " + d.name + ": " + why}})
			})
			s.listener.finish(id, unix.EACCES)
			return
		}
		if d.file >= 0 { // this very socket, whatever its path leads to by now
			address = append([]byte(nil), address[:2]...)
			address = append(append(address, "/proc/self/fd/"+strconv.Itoa(d.file)...), 0)
		}
	}
	if err == nil {
		err = as(tid, func() error { return callSocket(unix.SYS_CONNECT, socket, address) })
	}
	s.listener.finish(id, err)
}

// mayReach asks about a connection, in a gate for effects. In others nobody is asked.
func (s *supervisor) mayReach(id uint64, tid uint32, kind feed.Kind, to feed.Report) error {
	q := s.report(int(tid), to.Path)
	q.Kind, q.Host = kind, to.Host
	if !s.gate.Effects || s.allow(id, q) != nil {
		return unix.EACCES
	}
	return nil
}

// callSocket makes a connect or a bind.
func callSocket(number uintptr, socket int, address []byte) error {
	var at unsafe.Pointer
	if len(address) > 0 {
		at = unsafe.Pointer(&address[0])
	}
	for {
		_, _, errno := unix.Syscall(number, uintptr(socket), uintptr(at), uintptr(len(address)))
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return errno
		}
	}
}

// socketOf returns the socket that a thread has as a descriptor.
func socketOf(tid uint32, fd int) (int, error) {
	process, err := strconv.Atoi(statusField(tid, "Tgid:"))
	if err != nil {
		return -1, unix.ESRCH
	}
	pidfd, err := unix.PidfdOpen(process, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(pidfd)
	return unix.PidfdGetfd(pidfd, fd, 0)
}

// behind reports whether a program that is not supervised listens behind a door, and
// which, as far as that can be seen.
func (s *supervisor) behind(d *door) (outside bool, pid int, name string) {
	s.outside.mu.Lock()
	defer s.outside.mu.Unlock()
	if s.gate == nil && (s.outside.named[d.key()] || time.Since(s.outside.inside[d.key()]) < lookAgain) {
		return false, 0, ""
	}
	sockets, err := socketsAt(d)
	if err == nil && len(sockets) == 0 {
		return s.gate != nil, 0, "" // nobody listens, as far as can be seen
	}
	ours, holder := supervised(), 0
	if err == nil && allHeld(sockets, ours) {
		if len(s.outside.inside) > maxInside {
			clear(s.outside.inside)
		}
		s.outside.inside[d.key()] = time.Now()
		return false, 0, ""
	}
	holder = oldest(slices.DeleteFunc(processes(), func(pid int) bool {
		return ours[pid] || !slices.ContainsFunc(sockets, func(socket uint32) bool { return holds(pid, socket) })
	}))
	if holder != 0 {
		name = programOf(uint32(holder))
	} else if s.gate == nil {
		if left, err := socketsAt(d); err == nil && !slices.ContainsFunc(left, func(socket uint32) bool { return slices.Contains(sockets, socket) }) {
			return false, 0, "" // it has ended meanwhile
		}
	}
	s.outside.named[d.key()] = true
	return true, holder, name
}

// allHeld reports whether each of some sockets is open in one of some processes.
func allHeld(sockets []uint32, by map[int]bool) bool {
	return !slices.ContainsFunc(sockets, func(socket uint32) bool {
		for pid := range by {
			if holds(pid, socket) {
				return false
			}
		}
		return true
	})
}

func nameProcess(pid int, name string) string {
	if pid == 0 {
		return "a process outside"
	}
	return "process " + strconv.Itoa(pid) + " (" + name + ")"
}

// programOf is the name of the program of a thread.
func programOf(tid uint32) string {
	data, err := os.ReadFile(procPath(tid, "comm"))
	if err != nil {
		return "a program"
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(data)), "?")
}

func processes() (pids []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// statOf returns what /proc says of a process from its state on, or nothing if it is gone.
func statOf(pid int) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
}

// supervised returns the processes that this one supervises: all below it.
func supervised() map[int]bool {
	parents := make(map[int]int)
	for _, pid := range processes() {
		if words := statOf(pid); len(words) > 1 {
			parents[pid], _ = strconv.Atoi(words[1])
		}
	}
	self, ours := os.Getpid(), make(map[int]bool)
	for pid := range parents {
		for at, steps := parents[pid], 0; at > 1 && steps <= len(parents); at, steps = parents[at], steps+1 {
			if at == self {
				ours[pid] = true
				break
			}
		}
	}
	return ours
}

// oldest returns the process that was started first, or 0 if there is none. A process that has
// just been forked holds the sockets of its parent, too, and may have the smaller number. Both
// may have begun in the same tick of the clock, so a parent is taken to be older than its child.
func oldest(pids []int) (first int) {
	least, parents := ^uint64(0), map[int]int{}
	for _, pid := range pids {
		if words := statOf(pid); len(words) > 19 {
			parents[pid], _ = strconv.Atoi(words[1])
			if start, err := strconv.ParseUint(words[19], 10, 64); err == nil && start < least {
				least, first = start, pid
			}
		}
	}
	for {
		parent := parents[first]
		if _, ok := parents[parent]; !ok {
			return first
		}
		first = parent
	}
}

// holds reports whether a process has a socket open.
func holds(pid int, socket uint32) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	want := "socket:[" + strconv.FormatUint(uint64(socket), 10) + "]"
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		link, err := os.Readlink(dir + "/" + e.Name())
		return err == nil && link == want
	})
}

// Constants of linux/unix_diag.h.
const (
	diagByFamily = 20    // SOCK_DIAG_BY_FAMILY
	diagShow     = 1 | 2 // UDIAG_SHOW_NAME, UDIAG_SHOW_VFS
	diagName     = 0     // UNIX_DIAG_NAME
	diagVFS      = 1     // UNIX_DIAG_VFS
	diagSize     = 16    // of struct unix_diag_msg
)

// socketsAt returns the numbers of the sockets that are bound to what a door leads to.
func socketsAt(d *door) ([]uint32, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	request := make([]byte, unix.SizeofNlMsghdr+24)
	order := binary.NativeEndian
	order.PutUint32(request, uint32(len(request)))
	order.PutUint16(request[4:], diagByFamily)
	order.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	request[16] = unix.AF_UNIX
	order.PutUint32(request[20:], ^uint32(0)) // in any state
	order.PutUint32(request[28:], diagShow)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	device := unix.Major(d.id.dev)<<20 | unix.Minor(d.id.dev)
	var exact, similar []uint32
	buf := make([]byte, 1<<16)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err == unix.EINTR {
			continue
		} else if err != nil {
			return nil, err
		}
		for b := buf[:n]; len(b) >= unix.SizeofNlMsghdr; {
			size := int(order.Uint32(b))
			if size < unix.SizeofNlMsghdr || size > len(b) {
				return nil, unix.EBADMSG
			}
			switch order.Uint16(b[4:]) {
			case unix.NLMSG_DONE:
				if len(exact) > 0 {
					return exact, nil
				}
				return similar, nil // some file systems have devices that files do not say
			case unix.NLMSG_ERROR:
				return nil, unix.EOPNOTSUPP
			}
			if m := b[unix.SizeofNlMsghdr:size]; len(m) >= diagSize {
				socket := order.Uint32(m[4:])
				for a := m[diagSize:]; len(a) >= 4; {
					length := int(order.Uint16(a))
					if length < 4 || length > len(a) {
						break
					}
					switch value := a[4:length]; order.Uint16(a[2:]) {
					case diagName:
						if d.file < 0 && bytes.Equal(value, d.abstract) {
							exact = append(exact, socket)
						}
					case diagVFS:
						if d.file >= 0 && len(value) >= 8 && order.Uint32(value) == uint32(d.id.ino) {
							similar = append(similar, socket)
							if order.Uint32(value[4:]) == device {
								exact = append(exact, socket)
							}
						}
					}
					a = a[min(len(a), (length+3)&^3):]
				}
			}
			b = b[min(len(b), (size+3)&^3):]
		}
	}
}
