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

// Rule says that the agent knows a folder of this machine under another name.
// Both names are absolute.
type Rule struct {
	Local, Remote string
}

// NewRule returns the rule for two folders, which must be absolute.
func NewRule(local, remote string) (Rule, error) {
	for _, folder := range []string{local, remote} {
		if !absolute(folder) {
			return Rule{}, fmt.Errorf("path map %s=%s: %q is not an absolute path", local, remote, folder)
		}
	}
	return Rule{trimmed(local), trimmed(remote)}, nil
}

// Parse reads a rule written as LOCAL=REMOTE.
func Parse(s string) (Rule, error) {
	local, remote, ok := strings.Cut(s, "=")
	if !ok {
		return Rule{}, fmt.Errorf("path map %q: expected LOCAL=REMOTE", s)
	}
	return NewRule(local, remote)
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

// Map renames the paths in the messages of one connection. It remembers the open
// calls whose results hold paths. It is safe for concurrent use.
type Map struct {
	out, in mapping

	mu    sync.Mutex
	calls map[string]string // methods by id
}

// New returns a Map. The rule with the longest folder that fits a path applies
// to it.
func New(rules ...Rule) *Map {
	m := &Map{calls: make(map[string]string)}
	for _, r := range rules {
		m.out = append(m.out, struct{ from, to string }{r.Local, r.Remote})
		m.in = append(m.in, struct{ from, to string }{r.Remote, r.Local})
	}
	for _, way := range []mapping{m.out, m.in} {
		slices.SortStableFunc(way, func(a, b struct{ from, to string }) int { return len(b.from) - len(a.from) })
	}
	return m
}

// ToAgent returns a message of the client as the agent knows its paths, msg
// itself when nothing changes.
func (m *Map) ToAgent(msg []byte) []byte {
	e, err := envelope.Parse(msg)
	if err != nil {
		return msg
	}
	method := string(e.Method)
	if results[method] != nil && e.IsRequest() {
		m.mu.Lock()
		m.calls[e.Key()] = method
		m.mu.Unlock()
	}
	return m.out.rewrite(msg, "params", toAgent[method])
}

// ToClient returns a message of the agent as the client knows its paths, msg
// itself when nothing changes.
func (m *Map) ToClient(msg []byte) []byte {
	e, err := envelope.Parse(msg)
	switch {
	case err != nil:
		return msg
	case e.IsAnswer():
		m.mu.Lock()
		method := m.calls[e.Key()]
		delete(m.calls, e.Key())
		m.mu.Unlock()
		return m.in.rewrite(msg, "result", results[method])
	}
	return m.in.rewrite(msg, "params", toClient[string(e.Method)])
}

// conn is a transport of a client whose paths are mapped.
type conn struct {
	transport.Transport
	paths *Map
}

// Wrap maps paths on the client's side of t. Without rules t is returned as it
// is.
func Wrap(t transport.Transport, rules ...Rule) transport.Transport {
	if len(rules) == 0 {
		return t
	}
	return &conn{t, New(rules...)}
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
func (c *conn) Write(msg []byte) error { return c.Transport.Write(c.paths.ToAgent(msg)) }

// WriteBatch implements transport.BatchWriter.
func (c *conn) WriteBatch(msgs [][]byte) error {
	mapped := make([][]byte, len(msgs))
	for i, msg := range msgs {
		mapped[i] = c.paths.ToAgent(msg)
	}
	if w, ok := c.Transport.(transport.BatchWriter); ok {
		return w.WriteBatch(mapped)
	}
	for _, msg := range mapped {
		if err := c.Transport.Write(msg); err != nil {
			return err
		}
	}
	return nil
}

// Read implements transport.Transport.
func (c *conn) Read(buf []byte) ([]byte, error) {
	msg, err := c.Transport.Read(buf)
	if err != nil {
		return msg, err
	}
	return c.paths.ToClient(msg), nil
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
