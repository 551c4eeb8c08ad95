package pathmap

import "github.com/hermes-nvim/hermes/internal/jx"

// rewriter maps the strings at some positions of a JSON text.
type rewriter struct {
	mapping
	jx.Dec
	edit jx.Edit
}

// rewrite maps the paths below one member of a message, which is one JSON
// object. The result is msg itself when nothing changes.
func (m mapping) rewrite(msg []byte, member string, at object) []byte {
	if at == nil {
		return msg
	}
	r := rewriter{mapping: m, edit: jx.Edit{Source: msg}}
	r.Reset(msg)
	r.value(object{member: at})
	return r.edit.Result()
}

// value reads the next value and maps its strings.
func (r *rewriter) value(at shape) {
	kind, isLeaf := at.(leaf)
	members, isObject := at.(object)
	switch first := r.Peek(); {
	case first == '[':
		r.Array()
		for r.More(']') {
			r.value(at)
		}
	case first == '{' && isObject:
		r.Obj()
		for name, more := r.Next(); more; name, more = r.Next() {
			if below := members[string(name)]; below != nil {
				r.value(below)
			} else {
				r.Skip()
			}
		}
	case first == '"' && isLeaf:
		start := r.Pos()
		if s := r.Str(); kind == path && r.path(&s) || kind == uri && r.uri(&s) {
			r.edit.Replace(start, r.Pos(), jx.AppendReplaced(nil, s))
		}
	default:
		r.Skip()
	}
}
