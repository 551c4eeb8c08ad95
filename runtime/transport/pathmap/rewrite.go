package pathmap

import (
	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
)

// rewriter copies a valid JSON text and maps the strings at some positions.
type rewriter struct {
	mapping
	b, out []byte
	copied int // b[:copied] is in out
}

// rewrite maps the paths below one member of a message, which is one JSON
// object. The result is msg itself when nothing changes.
func (m mapping) rewrite(msg []byte, member string, at object) []byte {
	if at == nil {
		return msg
	}
	r := rewriter{mapping: m, b: msg}
	r.value(envelope.Space(msg, 0), object{member: at})
	if r.copied == 0 {
		return msg
	}
	return append(r.out, msg[r.copied:]...)
}

// value passes over the value at p and returns where it ends.
func (r *rewriter) value(p int, at shape) int {
	kind, isLeaf := at.(leaf)
	members, isObject := at.(object)
	switch c := r.b[p]; {
	case c == '[':
		for p = envelope.Space(r.b, p+1); r.b[p] != ']'; p = r.next(p) {
			p = r.value(p, at)
		}
		return p + 1
	case c == '{' && isObject:
		return r.object(p, members)
	}
	end := envelope.Value(r.b, p)
	if r.b[p] == '"' && isLeaf {
		r.str(p, end, kind)
	}
	return end
}

func (r *rewriter) object(p int, at object) int {
	for p = envelope.Space(r.b, p+1); r.b[p] != '}'; p = r.next(p) {
		end := envelope.Value(r.b, p)
		below := at[envelope.Text(r.b[p:end])]
		p = envelope.Space(r.b, envelope.Space(r.b, end)+1) // past the colon
		if below != nil {
			p = r.value(p, below)
		} else {
			p = envelope.Value(r.b, p)
		}
	}
	return p + 1
}

// next goes from the end of a member or item to the next one, or to the end of
// the object or list.
func (r *rewriter) next(p int) int {
	if p = envelope.Space(r.b, p); r.b[p] == ',' {
		p = envelope.Space(r.b, p+1)
	}
	return p
}

func (r *rewriter) str(p, end int, kind leaf) {
	s := envelope.Text(r.b[p:end])
	if kind == path && r.path(&s) || kind == uri && r.uri(&s) {
		r.out = acp.StringID(s).AppendJSON(append(r.out, r.b[r.copied:p]...))
		r.copied = end
	}
}
