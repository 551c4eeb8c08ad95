//go:build amd64 || arm64

package shim

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Programs test servers of their own: these wait at an address of this machine that no other
// one reaches. A gate for effects lets them, and lets them be connected to. What reaches
// another machine, or a program outside, is a question.

// inet is an address of the internet, as a system call has it. ok reports whether it is one.
func inet(address []byte) (at netip.AddrPort, ok bool) {
	if len(address) < unix.SizeofSockaddrInet4 {
		return at, false
	}
	port := binary.BigEndian.Uint16(address[2:])
	switch family := binary.NativeEndian.Uint16(address); {
	case family == unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(address[4:8])), port), true
	case family == unix.AF_INET6 && len(address) >= unix.SizeofSockaddrInet6-4: // without the scope
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(address[8:24])).Unmap(), port), true
	}
	return at, false
}

// hostOf is an address of the internet for people.
func hostOf(address []byte) string {
	at, ok := inet(address)
	if !ok {
		return "an unknown address"
	}
	return at.String()
}

// mayConnect reports whether the sandbox lets a socket be connected to an address of the
// internet. The kernel would not be asked about a call of the supervisor.
func (s *supervisor) mayConnect(socket, domain int, address []byte) bool {
	if s.netFree() || !isInet(domain) || len(address) < 4 {
		return true
	}
	if binary.NativeEndian.Uint16(address) == unix.AF_UNSPEC {
		return true // it ends a connection
	}
	kind, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_TYPE)
	return err == nil && (kind == unix.SOCK_DGRAM || slices.Contains(s.config.Sandbox.Net.Ports, binary.BigEndian.Uint16(address[2:])))
}

func isInet(domain int) bool { return domain == unix.AF_INET || domain == unix.AF_INET6 }

// netFree reports whether the sandbox puts no bound on networks.
func (s *supervisor) netFree() bool { return s.config.Sandbox == nil || s.config.Sandbox.Net.All }

// mayDial decides about a connection to an address that the sandbox does not allow, and returns
// the one that the socket is to be connected to.
func (s *supervisor) mayDial(id uint64, tid uint32, domain int, address []byte) ([]byte, error) {
	at, ok := inet(address)
	switch {
	case s.names == nil:
		return nil, unix.EACCES
	case !ok:
		return address, s.mayReach(id, tid, feed.Connect, feed.Report{Host: hostOf(address)})
	case at == s.names.proxyAt():
		return address, nil
	case at.Port() == nameServer:
		return sockaddr(domain, s.names.serverAt()), nil
	}
	list, err := s.find(at.Addr().String(), at.Port(), func(host string) error {
		return s.mayReach(id, tid, feed.Connect, feed.Report{Host: host})
	})
	if errno := unix.Errno(0); err != nil && !errors.As(err, &errno) {
		return nil, unix.EHOSTUNREACH // the name is unknown
	} else if err != nil {
		return nil, errno
	}
	for _, to := range list {
		if to == at {
			return address, nil // with what else it says
		}
		if domain == unix.AF_INET6 || to.Addr().Is4() {
			return sockaddr(domain, to), nil
		}
	}
	return nil, unix.EHOSTUNREACH
}

// sockaddr is an address of the internet for a system call.
func sockaddr(domain int, at netip.AddrPort) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(domain))
	b = binary.BigEndian.AppendUint16(b, at.Port())
	if domain == unix.AF_INET {
		return append(append(b, at.Addr().AsSlice()...), make([]byte, 8)...)
	}
	ip := at.Addr().As16()
	return append(append(append(b, 0, 0, 0, 0), ip[:]...), 0, 0, 0, 0)
}

// The states of sockets in the lists of the kernel.
const (
	established = "01"
	waits       = "0A"
)

// socketsOf returns the numbers of the sockets of this machine that have a port, with any
// address, and are in a state.
func socketsOf(port uint16, state string) (sockets []uint32, err error) {
	end := fmt.Sprintf(":%04X", port)
	for _, name := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(name, "6") {
			continue // this machine has no IPv6
		} else if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			words := strings.Fields(lines.Text())
			if len(words) < 10 || words[3] != state || !strings.HasSuffix(words[1], end) {
				continue
			}
			socket, err := strconv.ParseUint(words[9], 10, 32)
			if err != nil {
				return nil, err
			}
			sockets = append(sockets, uint32(socket))
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
	}
	return sockets, nil
}

// mayWait decides about an address at which a socket is to wait for connections.
func (s *supervisor) mayWait(id uint64, tid uint32, host string, address []byte) error {
	if at, ok := inet(address); ok && s.gate.Effects && at.Addr().IsLoopback() {
		return nil
	}
	return s.mayReach(id, tid, feed.Accept, feed.Report{Host: host})
}

// bindInet gives a socket of the internet its address. Only one that waits for connections
// reaches further than what may be connected to.
func (s *supervisor) bindInet(id uint64, tid uint32, socket int, address []byte) error {
	if kind, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_TYPE); !s.netFree() && (err != nil || kind == unix.SOCK_STREAM) {
		if err := s.mayWait(id, tid, hostOf(address), address); err != nil {
			return err
		}
	}
	return as(tid, func() error { return callSocket(unix.SYS_BIND, socket, address) })
}

// listens has a socket of a thread wait for connections. One without an address gets one by
// that, which every machine reaches.
func (s *supervisor) listens(n *notice) {
	id, tid, fd, backlog := n.id, n.tid, n.args[0], n.args[1]
	if uint32(n.nr) == othersOf(n).sockets {
		words, err := wordsAt(n, 2)
		if err != nil {
			s.listener.finish(id, err)
			return
		}
		fd, backlog = words[0], words[1]
	}
	go func() {
		socket, err := socketOf(tid, int(int32(fd)))
		if err == nil {
			defer unix.Close(socket)
			if !s.netFree() && isNowhere(socket) {
				err = s.mayWait(id, tid, "any port", nil)
			}
		}
		if err == nil {
			err = unix.Listen(socket, int(int32(backlog)))
		}
		s.listener.finish(id, err)
	}()
}

// isNowhere reports whether a socket of the internet has no port yet.
func isNowhere(socket int) bool {
	address, err := unix.Getsockname(socket)
	switch at := address.(type) {
	case *unix.SockaddrInet4:
		return at.Port == 0
	case *unix.SockaddrInet6:
		return at.Port == 0
	}
	return err != nil
}
