package wire

import (
	"bytes"
	"strconv"

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

func ForLua(text []byte) Part {
	text, values := appendLua(nil, text)
	return Part{text, values}
}

// Elements returns the elements of the list that an object has as a member, as Lua
// takes them. odd says that the text has what Lua does not take. There may be no such
// list.
func Elements(object []byte, member string, odd bool) (list []Part, ok bool) {
	d := jx.New(object)
	if !enter(d, member) {
		return nil, false
	}
	for d.Array(); d.More(']'); {
		p := next(d)
		if odd {
			p = ForLua(p.Text)
		}
		list = append(list, p)
	}
	return list, true
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
