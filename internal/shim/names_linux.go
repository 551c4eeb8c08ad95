//go:build amd64 || arm64

package shim

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/process"
)

// A question about a connection names the host. A system call has only an address, and to look
// up a name already tells it to somebody outside. So in a gate for effects the supervisor
// answers lookups itself, with an address that it makes up. A connection to that address is one
// to the name: it is asked about, and only after a yes is the name looked up. Programs that
// look up names by themselves, not by the C library, use the proxy for HTTP.

// madeUp are the addresses that stand for names. They belong to no machine, because they are
// kept for benchmarks of networks.
var madeUp = netip.MustParsePrefix("198.18.0.0/15")

const (
	maxNames     = 1 << 16 // of one program
	lookupTime   = 10 * time.Second
	maxName      = 253 // bytes
	nameServer   = 53  // the port
	madeUpLasts  = 60  // seconds that a program may remember an answer
	resolverWays = "use-vc ndots:0"
)

// lookUp looks up a name where the user would. Tests have a list of their own.
var lookUp = net.DefaultResolver.LookupNetIP

// names are the names that programs have looked up.
type names struct {
	server, proxy net.Listener

	mu     sync.Mutex
	byName map[string]netip.Addr
	byAddr map[netip.Addr]string
	last   netip.Addr
}

// newNames starts to listen for lookups, and for requests to the proxy.
func newNames() (n *names, err error) {
	n = &names{byName: make(map[string]netip.Addr), byAddr: make(map[netip.Addr]string), last: madeUp.Addr()}
	if n.server, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if n.proxy, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		n.server.Close()
		return nil, err
	}
	return n, nil
}

func (n *names) close() {
	n.server.Close()
	n.proxy.Close()
}

// environ makes programs ask the supervisor for names. Servers of this machine need no proxy.
func (n *names) environ(env []string) []string {
	set := func(name, value string) {
		env = append(slices.DeleteFunc(env, func(v string) bool { return process.Name(v) == name }), name+"="+value)
	}
	set("RES_OPTIONS", strings.TrimSpace(os.Getenv("RES_OPTIONS")+" "+resolverWays))
	for _, name := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"} {
		set(name, "http://"+n.proxy.Addr().String())
	}
	for _, name := range []string{"no_proxy", "NO_PROXY"} {
		set(name, strings.TrimPrefix(os.Getenv(name)+",localhost,127.0.0.1,::1", ","))
	}
	return env
}

func (n *names) serverAt() netip.AddrPort { return n.server.Addr().(*net.TCPAddr).AddrPort() }
func (n *names) proxyAt() netip.AddrPort  { return n.proxy.Addr().(*net.TCPAddr).AddrPort() }

// of returns the name that an address stands for.
func (n *names) of(a netip.Addr) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.byAddr[a]
	return name, ok
}

// stand returns the address that stands for a name.
func (n *names) stand(name string) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a, ok := n.byName[name]
	if !ok && len(n.byName) < maxNames {
		n.last = n.last.Next()
		a, ok = n.last, true
		n.byName[name], n.byAddr[a] = a, name
	}
	return a, ok
}

// hostName is the name of a host as it is shown and looked up. ok reports whether it can be one.
func hostName(name string) (clean string, ok bool) {
	clean = strings.ToLower(strings.TrimSuffix(name, "."))
	for _, label := range strings.Split(clean, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", false
		}
	}
	return clean, len(clean) <= maxName
}

// serve answers the lookups of one connection.
func (n *names) serve(c net.Conn) {
	defer c.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		answer, err := n.answer(query)
		if err != nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

// answer answers a lookup. Every name exists, and has one address of IPv4.
func (n *names) answer(query []byte) ([]byte, error) {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil {
		return nil, err
	}
	q, err := p.Question()
	if err != nil || h.Response {
		return nil, errors.Join(err, errors.New("not a question"))
	}
	name, ok := hostName(q.Name.String())
	var a netip.Addr
	if ok && q.Type == dnsmessage.TypeA && q.Class == dnsmessage.ClassINET {
		a, ok = n.stand(name)
	}
	h = dnsmessage.Header{ID: h.ID, Response: true, OpCode: h.OpCode, RecursionDesired: h.RecursionDesired, RecursionAvailable: true}
	switch {
	case !ok:
		h.RCode = dnsmessage.RCodeServerFailure
	case q.Type != dnsmessage.TypeA && q.Type != dnsmessage.TypeAAAA:
		h.RCode = dnsmessage.RCodeNameError // what only a real server knows
	}
	b := dnsmessage.NewBuilder(nil, h)
	err = errors.Join(b.StartQuestions(), b.Question(q), b.StartAnswers())
	if a.IsValid() {
		err = errors.Join(err, b.AResource(dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: madeUpLasts}, dnsmessage.AResource{A: a.As4()}))
	}
	if err != nil {
		return nil, err
	}
	return b.Finish()
}

// serveNames answers lookups and requests of supervised programs, until the listeners close.
func (s *supervisor) serveNames() {
	go s.proxying().Serve(ours{s.names.proxy})
	go func() {
		for {
			c, err := ours{s.names.server}.Accept()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil:
				time.Sleep(lookAgain) // no file is left, for example
			default:
				go s.names.serve(c)
			}
		}
	}()
}

// ours is a listener for supervised programs only.
type ours struct{ net.Listener }

func (l ours) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || isSupervised(c.RemoteAddr()) {
			return c, err
		}
		c.Close()
	}
}

// isSupervised reports whether a connection from this machine is one of a supervised program.
func isSupervised(from net.Addr) bool {
	at, ok := from.(*net.TCPAddr)
	if !ok {
		return false
	}
	sockets, err := socketsOf(uint16(at.Port), established)
	return err == nil && len(sockets) > 0 && allHeld(sockets, supervised())
}

// find asks about a connection to a host, and returns where it is. A name may lead anywhere,
// also to this machine or to one of its network, so these are asked about as such, too.
func (s *supervisor) find(host string, port uint16, ask func(host string) error) ([]netip.AddrPort, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return s.findAddress(netip.AddrPortFrom(a.Unmap(), port), ask)
	}
	name, ok := hostName(host)
	if !ok {
		return nil, fmt.Errorf("%.100q is not the name of a host", host)
	}
	if name != "localhost" {
		if err := ask(fmt.Sprintf("%s:%d", name, port)); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	found, err := lookUp(ctx, "ip", name)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", name, err)
	}
	var list []netip.AddrPort
	for _, a := range found {
		at := netip.AddrPortFrom(a.Unmap(), port)
		if !isNear(at.Addr()) {
			list = append(list, at)
			continue
		}
		more, e := s.findAddress(at, ask)
		if list = append(list, more...); e != nil {
			err = e
		}
	}
	if len(list) == 0 {
		return nil, err
	}
	return list, nil
}

// isNear reports whether an address belongs to this machine or to a network that the internet
// does not reach.
func isNear(a netip.Addr) bool { return !a.IsGlobalUnicast() || a.IsPrivate() }

// findAddress is find, for an address.
func (s *supervisor) findAddress(at netip.AddrPort, ask func(host string) error) ([]netip.AddrPort, error) {
	if name, ok := s.names.of(at.Addr()); ok {
		return s.find(name, at.Port(), ask)
	}
	// Nowhere is here, too.
	if at.Addr().IsLoopback() || at.Addr().IsUnspecified() {
		sockets, err := socketsOf(at.Port(), waits)
		switch {
		case err != nil:
		case len(sockets) == 0:
			return nil, unix.ECONNREFUSED // now: later it may be a program outside
		case allHeld(sockets, supervised()):
			return []netip.AddrPort{at}, nil
		}
	}
	if err := ask(at.String()); err != nil {
		return nil, err
	}
	return []netip.AddrPort{at}, nil
}
