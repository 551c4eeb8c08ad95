// Package pathmap lets a client work with an agent that sees the same files
// under other names, as one in a container or on another machine does.
//
// It rewrites the paths and file URIs of the protocol's own members (cwd, path,
// additionalDirectories, locations, diffs, resources, the programs of MCP
// servers) in both directions, in every version of the protocol. Texts, patches
// among them, and what agents put into rawInput, rawOutput and _meta, stay as
// they are; so does the rest of each message, byte for byte.
//
// See https://agentclientprotocol.com/protocol/file-system.
package pathmap

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Rule says that a folder of this machine is known to the agent by another
// name. Both are absolute.
type Rule struct {
	Local, Remote string
}

// Parse reads a rule written as LOCAL=REMOTE.
func Parse(s string) (Rule, error) {
	local, remote, ok := strings.Cut(s, "=")
	r := Rule{trimmed(local), trimmed(remote)}
	if !ok || !absolute(r.Local) || !absolute(r.Remote) {
		return Rule{}, fmt.Errorf("path map %q: expected LOCAL=REMOTE, both absolute", s)
	}
	return r, nil
}

// mapping rewrites paths in one direction.
type mapping []struct{ from, to string }

// path rewrites a path below one of the folders; any other stays as it is.
func (m mapping) path(p *string) (changed bool) {
	for _, rule := range m {
		rest, ok := below(*p, rule.from)
		if !ok {
			continue
		}
		if strings.Contains(rule.to, `\`) {
			rest = strings.ReplaceAll(rest, "/", `\`)
		} else if strings.Contains(rule.from, `\`) {
			rest = strings.ReplaceAll(rest, `\`, "/")
		}
		to := rule.to
		if rest != "" {
			to = strings.TrimRight(to, `/\`)
		}
		changed = *p != to+rest
		*p = to + rest
		return changed
	}
	return false
}

// below returns what follows folder in p, with its separator.
func below(p, folder string) (rest string, ok bool) {
	base := strings.TrimRight(folder, `/\`)
	rest, ok = strings.CutPrefix(p, base)
	if !ok {
		return "", false
	}
	if rest == "" {
		return "", base != ""
	}
	return rest, rest[0] == '/' || rest[0] == '\\' && strings.Contains(folder, `\`)
}

// uri rewrites a file URI of this form: file:///path.
func (m mapping) uri(s *string) (changed bool) {
	u, err := url.Parse(*s)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return false
	}
	drive := len(u.Path) > 2 && u.Path[0] == '/' && u.Path[2] == ':' // file:///C:/x
	if drive {
		u.Path = strings.ReplaceAll(u.Path[1:], "/", `\`)
	}
	if !m.path(&u.Path) {
		return false
	}
	if u.Path = strings.ReplaceAll(u.Path, `\`, "/"); !strings.HasPrefix(u.Path, "/") {
		u.Path = "/" + u.Path
	}
	u.RawPath = ""
	*s = u.String()
	return true
}

// conn is a transport of a client whose paths are mapped.
type conn struct {
	transport.Transport
	out, in mapping

	mu    sync.Mutex
	calls map[string]string // methods by id, of calls without an answer whose results hold paths
}

// Wrap maps paths on the client's side of t. The rule with the longest folder
// that fits counts. Without rules t is returned as it is.
func Wrap(t transport.Transport, rules ...Rule) transport.Transport {
	if len(rules) == 0 {
		return t
	}
	c := &conn{Transport: t, calls: map[string]string{}}
	for _, r := range rules {
		c.out = append(c.out, struct{ from, to string }{r.Local, r.Remote})
		c.in = append(c.in, struct{ from, to string }{r.Remote, r.Local})
	}
	for _, m := range []mapping{c.out, c.in} {
		slices.SortStableFunc(m, func(a, b struct{ from, to string }) int { return len(b.from) - len(a.from) })
	}
	return c
}

// SetMaxMessage implements transport.Limiter.
func (c *conn) SetMaxMessage(n int) {
	if l, ok := c.Transport.(transport.Limiter); ok {
		l.SetMaxMessage(n)
	}
}

var _ transport.Progress = (*conn)(nil)

// Received implements transport.Progress, as far as the transport does.
func (c *conn) Received() (mark uint64, inside bool) {
	if p, ok := c.Transport.(transport.Progress); ok {
		return p.Received()
	}
	return 0, false
}

// Sent implements transport.Progress, as far as the transport does.
func (c *conn) Sent() (mark uint64) {
	if p, ok := c.Transport.(transport.Progress); ok {
		return p.Sent()
	}
	return 0
}

// Write implements transport.Transport.
func (c *conn) Write(msg []byte) error {
	if e, err := envelope.Parse(msg); err == nil && e.Method != "" {
		if results[e.Method] != nil && e.IsRequest() {
			c.mu.Lock()
			c.calls[e.Key()] = e.Method
			c.mu.Unlock()
		}
		msg = c.out.rewrite(msg, "params", toAgent[e.Method])
	}
	return c.Transport.Write(msg)
}

// Read implements transport.Transport.
func (c *conn) Read(buf []byte) ([]byte, error) {
	msg, err := c.Transport.Read(buf)
	if err != nil {
		return msg, err
	}
	e, bad := envelope.Parse(msg)
	switch {
	case bad != nil:
		return msg, nil
	case e.IsAnswer():
		c.mu.Lock()
		method := c.calls[e.Key()]
		delete(c.calls, e.Key())
		c.mu.Unlock()
		return c.in.rewrite(msg, "result", results[method]), nil
	}
	return c.in.rewrite(msg, "params", toClient[e.Method]), nil
}

func trimmed(p string) string {
	if t := strings.TrimRight(p, `/\`); t != "" && !strings.HasSuffix(t, ":") {
		return t
	}
	return p
}

func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}
