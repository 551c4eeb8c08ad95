//go:build amd64 || arm64

package shim

import (
	"encoding/binary"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// binds gives a socket of a thread its address, in a gate. A Unix socket with a path is a new
// name in a folder, which nothing else would hold the program from. Like every change it is
// made here, one after the other, so that no folder is another one by then.
func (s *supervisor) binds(n *notice) {
	fd, address, err := addressOf(n)
	socket, domain := -1, 0
	if err == nil {
		socket, err = socketOf(n.tid, fd)
	}
	if err == nil {
		domain, err = unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	}
	id, tid := n.id, n.tid
	switch {
	case err != nil:
		s.listener.finish(id, err)
	case isInet(domain):
		go func() { // it may be a question
			s.listener.finish(id, s.bindInet(id, tid, socket, address))
			unix.Close(socket)
		}()
		return
	default:
		s.listener.finish(id, s.bind(tid, socket, domain, address))
	}
	unix.Close(socket)
}

func (s *supervisor) bind(tid uint32, socket, domain int, address []byte) error {
	sandbox := s.config.Sandbox
	if domain == unix.AF_UNIX && len(address) > 2 && binary.NativeEndian.Uint16(address) == unix.AF_UNIX && address[2] != 0 {
		path, _, _ := strings.Cut(string(address[2:]), "\x00")
		p, err := s.resolver.place(tid, unix.AT_FDCWD, path, false, false)
		if err != nil {
			return err
		}
		defer p.close()
		_, project := pathname.Below(s.config.Root, p.path)
		switch {
		case p.path == "", s.gate.listed(p.path) == denied, !project && sandbox != nil && !sandbox.MayWrite(filepath.Dir(p.path)):
			return unix.EACCES
		case s.showsNot(p.path):
			s.record(&change{Event: journal.Event{Time: time.Now(), Phase: journal.Denied, Op: journal.Write, Path: p.path, PID: int(tid), Text: "no review would show a socket"}})
			return unix.EACCES
		}
		return bindAt(tid, socket, address)
	}
	return as(tid, func() error { return callSocket(unix.SYS_BIND, socket, address) })
}

// bindAt binds a socket where its thread is, so that the socket has the address that was given.
func bindAt(tid uint32, socket int, address []byte) error {
	root, err := identify(unix.AT_FDCWD, procPath(tid, "root"))
	if err != nil {
		return hidden(err)
	}
	if ours, err := identify(unix.AT_FDCWD, "/"); err != nil || ours != root {
		return unix.EACCES // its paths mean something else here
	}
	dir, err := unix.Open(procPath(tid, "cwd"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return hidden(err)
	}
	defer unix.Close(dir)
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends, with its folder and its mask
		result <- func() error {
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				return err
			}
			if err := unix.Fchdir(dir); err != nil {
				return err
			}
			unix.Umask(int(umaskOf(tid)))
			if _, err := assume(tid); err != nil {
				return unix.EACCES
			}
			return callSocket(unix.SYS_BIND, socket, address)
		}()
	}()
	return <-result
}
