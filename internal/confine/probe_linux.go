package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Each program that is confined has first tried what its rules forbid, since the kernel may be
// told the right thing and not do it: a module of it can be off, replaced or broken. What this
// process could do before, and can still do when the rules hold, is a hole.

// try is something that rules forbid.
type try struct {
	what string // it can still
	do   func() error
}

// tries are what rules forbid and what this process can do without them. end gives back what
// they need.
func tries(r Rules) (list []try, end func()) {
	var files []int
	end = func() {
		for _, fd := range files {
			unix.Close(fd)
		}
	}
	add := func(what string, do func() error) bool {
		if do() != nil {
			return false
		}
		list = append(list, try{what, do})
		return true
	}
	opens := func(path string, flags int) func() error {
		return func() error {
			fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0o600)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}
	}
	for _, dir := range outside(r) { // the file has no name, so nothing is left
		if add("change files in "+dir, opens(dir, unix.O_TMPFILE|unix.O_WRONLY)) {
			break
		}
	}
	for _, path := range hidden(r) {
		if add("read "+path, opens(path, unix.O_RDONLY)) {
			break
		}
	}
	if address, fd := listening(r); fd >= 0 {
		files = append(files, fd)
		add("connect to networks", func() error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				err = unix.Connect(fd, address)
				unix.Close(fd)
			}
			return err
		})
	}
	if !r.Sockets {
		add("make Unix sockets", func() error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		})
	}
	above := os.Getppid()
	add("signal process "+strconv.Itoa(above), func() error { return unix.Kill(above, 0) })
	add("read the environment of process "+strconv.Itoa(above), opens("/proc/"+strconv.Itoa(above)+"/environ", unix.O_RDONLY))
	add("gain privileges", func() error {
		if set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || set != 0 {
			return unix.EPERM
		}
		return nil
	})
	return list, end
}

// outside are folders that may not be changed, the nearest first.
func outside(r Rules) (list []string) {
	for _, dir := range append(slices.Clone(r.Write), os.Getenv("HOME"), "/var/tmp", "/tmp", "/dev/shm") {
		for dir = filepath.Clean(dir); filepath.IsAbs(dir); dir = filepath.Dir(dir) {
			if !r.MayWrite(dir) && !slices.Contains(list, dir) {
				list = append(list, dir)
			}
			if dir == "/" {
				break
			}
		}
	}
	return list
}

// maxHidden is how many files that are hidden are tried.
const maxHidden = 20

// hidden are files that may not be read.
func hidden(r Rules) (list []string) {
	if r.Read != nil {
		return nil // what a list leaves out is more than can be looked for
	}
	for _, path := range r.Hide {
		if r.MayWrite(path) || len(list) >= maxHidden {
			continue
		}
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			entries, _ := os.ReadDir(path)
			i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return e.Type().IsRegular() })
			if i < 0 {
				continue
			}
			path = filepath.Join(path, entries[i].Name())
			info, err = os.Stat(path)
		}
		if err == nil && info.Mode().IsRegular() {
			list = append(list, path)
		}
	}
	return list
}

// listening is a port of this machine to which the rules allow no connection, with the socket
// that waits there; -1 if there is none.
func listening(r Rules) (*unix.SockaddrInet4, int) {
	if r.Net.All {
		return nil, -1
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1
	}
	here := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	err = errors.Join(unix.Bind(fd, here), unix.Listen(fd, 8))
	if err == nil {
		var at unix.Sockaddr
		if at, err = unix.Getsockname(fd); err == nil {
			here.Port = at.(*unix.SockaddrInet4).Port
		}
	}
	if err != nil || slices.Contains(r.Net.Ports, uint16(here.Port)) {
		unix.Close(fd)
		return nil, -1
	}
	return here, fd
}

// hold returns an error that wraps ErrUnsupported if something works that rules forbid.
func hold(list []try) error {
	var holes []string
	for _, t := range list {
		if t.do() == nil {
			holes = append(holes, t.what)
		}
	}
	if holes == nil {
		return nil
	}
	return fmt.Errorf("%w: the sandbox does not hold: a program in it could still %s", ErrUnsupported, strings.Join(holes, ", and "))
}
