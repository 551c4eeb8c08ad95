package compare

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jtree"
)

// node is a JSON value without what differs in every run.
type node struct {
	kind    jtree.Kind
	normal  string // of a scalar
	raw     []byte // as it is written
	members []member
	items   []*node
	hash    uint64
}

type member struct {
	name string
	node *node
}

// node makes a node of a value. name is its member, or the member whose list
// has it.
func (n *names) node(name string, v jtree.Value) *node {
	x := &node{kind: v.Kind(), raw: v.Text()}
	switch {
	case v.IsObject():
		for key, e := range v.Members() {
			key := string(key)
			x.members = append(x.members, member{key, n.node(key, e)})
		}
		slices.SortStableFunc(x.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	case v.IsArray():
		for _, e := range v.Items() {
			x.items = append(x.items, n.node(name, e))
		}
	case v.IsString():
		x.normal = n.normal(v.Str())
		if what := given[name]; what != "" {
			x.normal = "‹" + what + "›"
		}
	case x.kind == jtree.Number && isTime(name, v):
		x.normal = "‹time›"
	default:
		x.normal = string(v.Text())
		if f, ok := v.Float(); ok {
			x.normal = strconv.FormatFloat(f, 'g', -1, 64)
		}
	}
	x.sum()
	return x
}

// sum hashes what makes a node equal to others.
func (x *node) sum() {
	h := fnv.New64a()
	put := func(n uint64) { _, _ = h.Write(binary.LittleEndian.AppendUint64(nil, n)) }
	put(uint64(x.kind))
	_, _ = h.Write([]byte(x.normal))
	for _, m := range x.members {
		_, _ = h.Write([]byte(m.name))
		put(m.node.hash)
	}
	for _, e := range x.items {
		put(e.hash)
	}
	x.hash = h.Sum64()
}

// get returns a member, nil if there is none.
func (x *node) get(name string) *node {
	i := slices.IndexFunc(x.members, func(m member) bool { return m.name == name })
	if i < 0 {
		return nil
	}
	return x.members[i].node
}

// plain is a value as it is compared, if that is a text.
func (x *node) plain() []byte {
	if x.kind == jtree.String {
		return []byte(strconv.Quote(x.normal))
	}
	return x.raw
}

// identities are members that say which element of a list it is, the best first.
var identities = []string{"id", "optionId", "modelId", "modeId", "configId", "name", "path", "uri", "value"}

// contents are members that say what an element of a list is about.
var contents = []string{"content", "text", "type"}

// key is what an element is found by in another list, empty if it has nothing like that.
// An element with an identity is another one if that changes.
func (x *node) key() (key string, identity bool) {
	for i, names := range [][]string{identities, contents} {
		for _, name := range names {
			if v := x.get(name); v != nil && v.kind == jtree.String {
				return name + "=" + v.normal, i == 0
			}
		}
	}
	return x.normal, false
}

// read parses a message. The id of a message is different in every run.
func (r *Recording) read(m *message) {
	if m.tree != nil {
		return
	}
	var t jtree.Tree
	if err := t.Parse(m.text); err != nil {
		m.tree = &node{kind: jtree.String, normal: r.names.normal(string(m.text)), raw: []byte(strconv.Quote(string(m.text)))}
		m.tree.sum()
	} else {
		m.tree = r.names.node("", t.Root())
		if i := slices.IndexFunc(m.tree.members, func(x member) bool { return x.name == "id" }); i >= 0 {
			m.tree.members = slices.Delete(m.tree.members, i, i+1)
		}
		if text := m.tree.follow("params", "update", "content", "text"); m.chunked && text != nil {
			joined := string(m.joined())
			text.normal, text.raw = r.names.normal(joined), []byte(strconv.Quote(joined))
			m.tree.resum("params", "update", "content", "text")
		}
		m.tree.sum()
	}
	m.hash = m.tree.hash
}

func (x *node) follow(path ...string) *node {
	for _, name := range path {
		if x == nil {
			return nil
		}
		x = x.get(name)
	}
	return x
}

// resum hashes the nodes on a path again, the inner ones first.
func (x *node) resum(path ...string) {
	for i := len(path); i >= 0; i-- {
		if at := x.follow(path[:i]...); at != nil {
			at.sum()
		}
	}
}
