package wire

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// Object builds one JSON object, member by member. The names of members are the
// host's own; values may be anybody's.
type Object struct {
	buf    []byte
	values int  // values and names of members in buf
	lost   Lost // of what its members come from
}

// roomForMore is about what is added to an object that an agent sent.
const roomForMore = 192

// From starts with the members of raw, an object an agent sent. Members added
// later win, because Lua keeps the last of two.
func From(raw []byte) *Object {
	buf, values := appendLua(make([]byte, 0, len(raw)+roomForMore), raw)
	return &Object{buf: opened(buf), values: values}
}

// Received starts with the members of text, an object that d has decoded into
// v. They are copied as they are, unless that would give Lua what v does not
// hold or what Lua cannot hold.
func Received(d *jx.Dec, text []byte, v acp.Appender) *Object {
	switch {
	case d.Forgave():
		return From(v.AppendJSON(nil))
	case d.Odd():
		return From(text)
	}
	buf := append(make([]byte, 0, len(text)+roomForMore), text...)
	return &Object{buf: opened(buf), values: d.Values()}
}

// opened is the text of an object without its end, nil for an empty one.
func opened(text []byte) []byte {
	text = bytes.TrimRight(text[:len(text)-1], " \t\r\n")
	if len(text) <= len("{") || text[0] != '{' {
		return nil
	}
	return text
}

func (o *Object) key(k string) {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
	o.buf = append(append(append(o.buf, '"'), k...), `":`...) // keys are ours and need no escapes
	o.values += 2
}

// Str adds a text.
func (o *Object) Str(k, v string) *Object {
	o.key(k)
	o.buf = jx.AppendReplaced(o.buf, v)
	return o
}

// Optional adds the member unless v is empty.
func (o *Object) Optional(k, v string) *Object {
	if v == "" {
		return o
	}
	return o.Str(k, v)
}

// Num adds a number.
func (o *Object) Num(k string, v int64) *Object {
	o.key(k)
	o.buf = strconv.AppendInt(o.buf, v, 10)
	return o
}

// Flag adds a truth value.
func (o *Object) Flag(k string, v bool) *Object {
	o.key(k)
	o.buf = strconv.AppendBool(o.buf, v)
	return o
}

// Raw adds a member that came from an agent; see appendLua.
func (o *Object) Raw(k string, v []byte) *Object {
	if len(v) == 0 {
		return o
	}
	o.key(k)
	var values int
	o.buf, values = appendLua(o.buf, v)
	o.values += values
	return o
}

// Part adds a member that Lua can take as it is.
func (o *Object) Part(k string, v Part) *Object {
	o.key(k)
	o.buf = append(o.buf, v.Text...)
	o.values += v.values
	return o
}

// Object adds a member that is an object, and what is missing of it.
func (o *Object) Object(k string, v *Object) *Object {
	o.key(k)
	o.buf = append(o.buf, v.JSON()...)
	o.values += v.values
	o.lost.add(v.lost)
	return o
}

// Strs adds a list of texts.
func (o *Object) Strs(k string, v []string) *Object {
	o.key(k)
	o.buf = append(o.buf, '[')
	for i, s := range v {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = jx.AppendReplaced(o.buf, s)
	}
	o.values += len(v)
	o.buf = append(o.buf, ']')
	return o
}

// LeftOut notes what is missing of what the object says.
func (o *Object) LeftOut(missing Lost) { o.lost.add(missing) }

// IsCut reports whether something is missing.
func (o *Object) IsCut() bool { return o.lost != (Lost{}) }

// Fits reports whether Neovim gets all of the object as an item that may cost max; 0
// means MaxCost.
func (o *Object) Fits(max int) bool { return o.cost()+CostOfMore <= cmp.Or(max, MaxCost) }

// JSON ends the object.
func (o *Object) JSON() []byte {
	if len(o.buf) == 0 {
		return []byte("{}")
	}
	return append(o.buf, '}')
}

// Item makes an item of the object; the item of an event goes by its name. Nothing is added to
// the object afterwards.
func (o *Object) Item(kind string) Item {
	cost := o.cost()
	return Item{Kind: kind, JSON: o.JSON(), cost: cost, lost: o.lost}
}

// Aside adds a member that Neovim can do without, unless the object becomes large.
func (o *Object) Aside(k string, v []byte) *Object {
	if len(v) == 0 || o.cost()+costOf(v) > MaxCost/2 {
		return o
	}
	return o.Raw(k, v)
}

// cost is what Neovim takes for the object; see MaxCost.
func (o *Object) cost() int { return len(o.buf) + len("{}") + (o.values+1)*ValueCost }
