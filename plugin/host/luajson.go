package host

import (
	"bytes"
	"strconv"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// maxExact is the largest integer a Lua number holds exactly.
const maxExact = 1 << 53

// appendLua appends src, which must be valid JSON, in a form that Neovim's
// decoder takes without loss, and returns how many values and names that are. An
// integer beyond 2^53 becomes a string, a lone surrogate becomes U+FFFD (the
// decoder refuses it), and a null element of a list is left out, because vim.NIL
// is true in Lua. Null members stay; the decoder drops them.
func appendLua(dst, src []byte) ([]byte, int) {
	c := luaCopier{src: jx.Paired(src), dst: dst}
	c.d.Reset(c.src)
	if c.value(); c.d.Failed() {
		return append(dst, "null"...), 1
	}
	c.copyTo(c.d.Pos())
	return c.dst, c.d.Values()
}

func forLua(text []byte) part {
	text, values := appendLua(nil, text)
	return part{text, values}
}

type luaCopier struct {
	d        jx.Dec
	src, dst []byte
	done     int // what of src is in dst, or left out
}

func (c *luaCopier) copyTo(pos int) {
	c.dst = append(c.dst, c.src[c.done:pos]...)
	c.done = pos
}

func (c *luaCopier) value() {
	switch b := c.d.Peek(); {
	case b == '{':
		c.d.Obj()
		for _, more := c.d.Next(); more; _, more = c.d.Next() {
			c.value()
		}
	case b == '[':
		c.array()
	case b == '-' || b >= '0' && b <= '9':
		c.number()
	default:
		c.d.Skip()
	}
}

func (c *luaCopier) array() {
	c.d.Array()
	c.copyTo(c.d.Pos())
	for first := true; c.d.More(']'); {
		c.done = c.d.Pos()
		if c.d.Null() {
			continue
		}
		if !first {
			c.dst = append(c.dst, ',')
		}
		first = false
		c.value()
		c.copyTo(c.d.Pos())
	}
	c.done = c.d.Pos() - len("]")
}

func (c *luaCopier) number() {
	start := c.d.Pos()
	tok := c.d.Token()
	if len(tok) <= 15 || bytes.ContainsAny(tok, ".eE") {
		return
	}
	n, err := strconv.ParseInt(string(tok), 10, 64)
	if err != nil || n > maxExact || n < -maxExact {
		c.copyTo(start)
		c.dst = append(append(append(c.dst, '"'), tok...), '"')
		c.done = c.d.Pos()
	}
}

// object builds one JSON object, member by member.
type object struct {
	buf    []byte
	values int  // values and names of members in buf
	lost   lost // of what its members come from
}

// roomForMore is about what is added to an object that an agent sent.
const roomForMore = 192

// from starts with the members of raw, an object an agent sent. Members added
// later win, because Lua keeps the last of two.
func from(raw []byte) *object {
	buf, values := appendLua(make([]byte, 0, len(raw)+roomForMore), raw)
	return &object{buf: opened(buf), values: values}
}

// received starts with the members of text, an object that d has decoded into
// v. They are copied as they are, unless that would give Lua what v does not
// hold or what Lua cannot hold.
func received(d *jx.Dec, text []byte, v acp.Appender) *object {
	switch {
	case d.Forgave():
		return from(v.AppendJSON(nil))
	case d.Odd():
		return from(text)
	}
	buf := append(make([]byte, 0, len(text)+roomForMore), text...)
	return &object{buf: opened(buf), values: d.Values()}
}

// opened is the text of an object without its end, nil for an empty one.
func opened(text []byte) []byte {
	text = bytes.TrimRight(text[:len(text)-1], " \t\r\n")
	if len(text) <= len("{") || text[0] != '{' {
		return nil
	}
	return text
}

func (o *object) key(k string) {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
	o.buf = append(append(append(o.buf, '"'), k...), `":`...) // keys are ours and need no escapes
	o.values += 2
}

func (o *object) str(k, v string) *object {
	o.key(k)
	o.buf = jx.AppendString(o.buf, v)
	return o
}

// optional adds the member unless v is empty.
func (o *object) optional(k, v string) *object {
	if v == "" {
		return o
	}
	return o.str(k, v)
}

func (o *object) num(k string, v int64) *object {
	o.key(k)
	o.buf = strconv.AppendInt(o.buf, v, 10)
	return o
}

func (o *object) flag(k string, v bool) *object {
	o.key(k)
	o.buf = strconv.AppendBool(o.buf, v)
	return o
}

// raw adds a member that came from an agent; see appendLua.
func (o *object) raw(k string, v []byte) *object {
	if len(v) == 0 {
		return o
	}
	o.key(k)
	var values int
	o.buf, values = appendLua(o.buf, v)
	o.values += values
	return o
}

// part adds a member that Lua can take as it is.
func (o *object) part(k string, v part) *object {
	o.key(k)
	o.buf = append(o.buf, v.text...)
	o.values += v.values
	return o
}

// object adds a member that is an object, and what is missing of it.
func (o *object) object(k string, v *object) *object {
	o.key(k)
	o.buf = append(o.buf, v.json()...)
	o.values += v.values
	o.lost.add(v.lost)
	return o
}

func (o *object) strs(k string, v []string) *object {
	o.key(k)
	o.buf = append(o.buf, '[')
	for i, s := range v {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = jx.AppendString(o.buf, s)
	}
	o.values += len(v)
	o.buf = append(o.buf, ']')
	return o
}

// json ends the object.
func (o *object) json() []byte {
	if len(o.buf) == 0 {
		return []byte("{}")
	}
	return append(o.buf, '}')
}

// item makes an item of the object. Nothing is added to the object afterwards.
func (o *object) item(kind string) item {
	cost := o.cost()
	return item{kind: kind, json: o.json(), cost: cost, lost: o.lost}
}

// cost is what Neovim takes for the object; see maxCost.
func (o *object) cost() int { return len(o.buf) + len("{}") + (o.values+1)*valueCost }
