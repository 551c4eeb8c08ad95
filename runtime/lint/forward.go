package lint

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/hermes-nvim/hermes/internal/jtree"
)

// Limits of what is kept to find the messages of one side of a proxy on the
// other.
const (
	maxForwarded = 64       // messages of each side and direction
	maxForward   = 16 << 10 // bytes of one; larger ones are not compared
	maxEntered   = 4096     // digests of messages that a proxy received, of each direction
)

// checkForwarded compares what a proxy received with what it sent. A proxy may drop,
// add and change messages. So it has broken the rule only if a message left it that is
// the same as one that entered it in all that the specification knows, which has to be
// more than a tag, and not in the words that the specification does not know.
func checkForwarded(c *Checker) {
	both := false
	flows := map[Party]*flow{}
	for _, from := range []Party{Client, Agent} {
		flows[from] = &flow{checker: c, entered: NewBounded[digest, bool](maxEntered)}
	}
	c.Beyond(func(m *Message) {
		both = true
		if f := flows[m.From]; m.From == Agent {
			f.enter(m, false)
		} else {
			f.leave(m, false)
		}
	})
	c.Message(func(m *Message) {
		if !both {
			return
		}
		if f := flows[m.From]; m.From == Client {
			f.enter(m, true)
		} else {
			f.leave(m, true)
		}
	})
	c.End(func() {
		for _, from := range []Party{Client, Agent} {
			for _, p := range flows[from].waiting {
				flows[from].judge(p)
			}
		}
	})
}

type digest [sha256.Size]byte

// forwarded is a message at one side of a proxy.
type forwarded struct {
	frame   Frame // with bytes and a tree of its own
	sum     digest
	method  string
	kind    Kind
	near    bool        // the side of the client, which is the one that findings point into
	unknown map[int]int // offsets of unknown words, by the offsets of the values that they describe
}

// flow is one direction through a proxy.
type flow struct {
	checker *Checker
	entered *Bounded[digest, bool] // what the proxy received
	waiting []*forwarded           // that entered with something unknown and have not left
	left    []*forwarded           // that have not entered like this
}

// enter notes a message that the proxy receives.
func (f *flow) enter(m *Message, near bool) {
	p := f.forwarded(m, near)
	f.entered.Put(p.sum, true)
	unknown := m.unknown()
	if len(unknown) == 0 || m.Batch || len(m.Bytes) > maxForward {
		return
	}
	p.unknown = map[int]int{}
	for _, u := range unknown {
		p.unknown[u.Of.Offset()] = u.At.Offset()
	}
	if i := slices.IndexFunc(f.left, func(o *forwarded) bool { return o.sum == p.sum }); i >= 0 {
		f.left = slices.Delete(f.left, i, i+1) // the clocks of the captures differ a little
		f.checker.Exercised()
		return
	}
	p.keep(m)
	if f.waiting = append(f.waiting, p); len(f.waiting) > maxForwarded {
		f.judge(f.waiting[0])
		f.waiting = slices.Delete(f.waiting, 0, 1)
	}
}

// leave notes a message that the proxy sends.
func (f *flow) leave(m *Message, near bool) {
	p := f.forwarded(m, near)
	if i := slices.IndexFunc(f.waiting, func(o *forwarded) bool { return o.sum == p.sum }); i >= 0 {
		f.waiting = slices.Delete(f.waiting, i, i+1)
		f.checker.Exercised()
		return
	}
	if _, same := f.entered.Get(p.sum); same || m.Batch || len(m.Bytes) > maxForward {
		return
	}
	p.keep(m)
	if f.left = append(f.left, p); len(f.left) > maxForwarded {
		f.left = slices.Delete(f.left, 0, 1)
	}
}

func (f *flow) forwarded(m *Message, near bool) *forwarded {
	return &forwarded{frame: *m.Frame, sum: sumOf(m.Root, 0), method: m.Method, kind: m.Kind, near: near}
}

// keep makes the text of a message its own.
func (p *forwarded) keep(m *Message) {
	p.frame.Bytes, p.frame.Tree = bytes.Clone(bytes.TrimPrefix(m.Bytes, byteOrderMark)), &jtree.Tree{}
	_ = p.frame.Tree.Parse(p.frame.Bytes) // it was parsed before
	p.frame.Root = p.frame.Tree.Root()
}

// judge looks for what the proxy made of a message that has not left it unchanged.
func (f *flow) judge(in *forwarded) {
	for i, out := range f.left {
		if out.method != in.method || out.kind != in.kind {
			continue
		}
		if _, own := f.entered.Get(out.sum); own {
			continue
		}
		d, ok := difference(in, out)
		if !ok {
			continue
		}
		f.left = slices.Delete(f.left, i, i+1)
		f.checker.Exercised()
		if d.was.Exists() {
			f.report(in, out, d)
		}
		return
	}
}

// report blames the agent, because for the client the proxy is that.
func (f *flow) report(in, out *forwarded, d *changes) {
	what, at, frame := "leaves out", d.was, in.frame
	if d.is.Exists() {
		what = "changes"
	}
	if out.near {
		at, frame = d.is, out.frame
	}
	f.checker.Report(&frame, Finding{By: Agent, Text: fmt.Sprintf("the proxy %s %q, which it received at %s", what, quote(d.word.Str()), quote(d.was.Pointer()))}, at)
}

// changes are what differs between a message that entered a proxy and one that left.
type changes struct {
	unknown map[int]int // see forwarded
	was, is Value       // the first unknown value that differs; is may be absent
	word    Value       // of was
	equal   int         // known values that say more than a tag
}

// difference compares two messages. It reports whether they are the same in all that the
// specification knows.
func difference(in, out *forwarded) (d *changes, same bool) {
	d = &changes{unknown: in.unknown}
	return d, d.same(in.frame.Root, out.frame.Root, 0) && d.equal > 0
}

// mayChange reports whether a proxy may change a member at a depth of a message: ids
// are its own on each side, and anybody may add to _meta.
func mayChange(name string, depth int) bool {
	switch name {
	case "_meta":
		return true
	case "id":
		return depth == 0
	case "sessionId", "requestId":
		return depth == 1 // of params and results
	}
	return false
}

// tagNames are the members that say what an object is.
var tagNames = []string{"jsonrpc", "method", "sessionUpdate", "type"}

// same compares values, except for unknown ones, whose difference it notes.
func (d *changes) same(was, is Value, depth int) bool {
	if word, unknown := d.wordOf(was); unknown {
		if !equal(was, is, depth) && !d.was.Exists() {
			d.was, d.is, d.word = was, is, word
		}
		return true
	}
	if was.Kind() != is.Kind() {
		return false
	}
	switch {
	case was.IsObject():
		return d.members(was, is, depth)
	case was.IsArray():
		return d.items(was, is, depth)
	}
	return equal(was, is, depth)
}

func (d *changes) members(was, is Value, depth int) bool {
	for name, v := range was.Members() {
		other := is.Get(string(name))
		if mayChange(string(name), depth) || v.IsNull() && !other.Set() {
			continue
		}
		if !d.same(v, other, depth+1) {
			return false
		}
		if _, unknown := d.wordOf(v); !unknown && !v.IsObject() && !v.IsArray() && !slices.Contains(tagNames, string(name)) {
			d.equal++
		}
	}
	for name, v := range is.Members() {
		if v.Set() && !mayChange(string(name), depth) && !was.Get(string(name)).Exists() {
			return false
		}
	}
	return true
}

// items compares lists, from which unknown elements may be missing.
func (d *changes) items(was, is Value, depth int) bool {
	var list []Value
	for _, v := range is.Items() {
		list = append(list, v)
	}
	whole := len(list) == was.Len()
	for _, v := range was.Items() {
		_, unknown := d.wordOf(v)
		if unknown && !whole && (len(list) == 0 || !equal(v, list[0], depth+1)) {
			d.same(v, Value{}, depth+1)
			continue
		}
		if len(list) == 0 || !d.same(v, list[0], depth+1) {
			return false
		}
		list = list[1:]
	}
	return len(list) == 0
}

// wordOf returns the word that describes a value that the specification does not know.
func (d *changes) wordOf(v Value) (word Value, unknown bool) {
	at, unknown := d.unknown[v.Offset()]
	if !unknown || at == v.Offset() {
		return v, unknown
	}
	for _, member := range v.Members() {
		if member.Offset() == at {
			word = member
		}
	}
	return word, true
}

// equal reports whether two values at a depth are the same, however they are written.
func equal(a, b Value, depth int) bool {
	return a.Kind() == b.Kind() && sumOf(a, depth) == sumOf(b, depth)
}

// sumOf returns a digest of a value at a depth, the same for all ways to write it,
// without the members that a proxy may change.
func sumOf(v Value, depth int) digest { return sha256.Sum256(appendValue(nil, v, depth)) }

func appendValue(b []byte, v Value, depth int) []byte {
	switch v.Kind() {
	case jtree.Object:
		members := map[string]Value{}
		for name, member := range v.Members() {
			if !member.IsNull() && !mayChange(string(name), depth) {
				members[string(name)] = member
			}
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			b = appendValue(appendText(b, []byte(name)), members[name], depth+1)
		}
		return append(b, '}')
	case jtree.Array:
		for _, e := range v.Items() {
			b = append(appendValue(b, e, depth+1), ',')
		}
		return append(b, ']')
	case jtree.String:
		return appendText(b, v.Bytes())
	case jtree.Number:
		if f, ok := v.Float(); ok {
			return fmt.Appendf(b, "%v ", f)
		}
	}
	return append(b, v.Text()...)
}

func appendText(b, text []byte) []byte {
	return append(append(appendInt(b, int64(len(text))), ':'), text...)
}
