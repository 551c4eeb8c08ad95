package host

import (
	"encoding/json"
	"strconv"
)

// maxExact is the largest integer a Lua number holds exactly.
const maxExact = 1 << 53

// appendLua appends src, which must be valid JSON, in a form that Neovim's
// decoder takes without loss: an integer beyond 2^53 becomes a string, a lone
// surrogate becomes U+FFFD (the decoder refuses it), and a null element of a
// list is left out, because vim.NIL is true in Lua. Null members stay; the
// decoder drops them.
func appendLua(dst, src []byte) []byte {
	c := luaCopier{src: src, dst: dst}
	c.value()
	return c.dst
}

type luaCopier struct {
	src []byte
	pos int
	dst []byte
}

func (c *luaCopier) space() {
	for c.pos < len(c.src) {
		switch c.src[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

func (c *luaCopier) skip(n int) { c.pos = min(c.pos+n, len(c.src)) }

func (c *luaCopier) peek() byte {
	c.space()
	if c.pos < len(c.src) {
		return c.src[c.pos]
	}
	return 0
}

func (c *luaCopier) value() {
	switch c.peek() {
	case '{':
		c.object()
	case '[':
		c.array()
	case '"':
		c.string()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		c.number()
	default: // true, false, null
		start := c.pos
		for c.pos < len(c.src) && c.src[c.pos] >= 'a' && c.src[c.pos] <= 'z' {
			c.pos++
		}
		c.dst = append(c.dst, c.src[start:c.pos]...)
		if c.pos == start {
			c.skip(1) // no JSON; go on all the same
		}
	}
}

func (c *luaCopier) object() {
	c.pos++
	c.dst = append(c.dst, '{')
	for first := true; c.peek() != '}' && c.pos < len(c.src); first = false {
		if c.src[c.pos] == ',' {
			c.pos++
			c.space()
		}
		if !first {
			c.dst = append(c.dst, ',')
		}
		c.string()
		if c.peek() == ':' {
			c.pos++
		}
		c.dst = append(c.dst, ':')
		c.value()
	}
	c.skip(1)
	c.dst = append(c.dst, '}')
}

func (c *luaCopier) array() {
	c.pos++
	c.dst = append(c.dst, '[')
	for first := true; c.peek() != ']' && c.pos < len(c.src); {
		if c.src[c.pos] == ',' {
			c.pos++
			continue
		}
		if c.src[c.pos] == 'n' {
			c.skip(len("null"))
			continue
		}
		if !first {
			c.dst = append(c.dst, ',')
		}
		first = false
		c.value()
	}
	c.skip(1)
	c.dst = append(c.dst, ']')
}

func (c *luaCopier) number() {
	start := c.pos
	whole := true
	for c.pos < len(c.src) {
		switch b := c.src[c.pos]; {
		case b == '-' || b == '+' || b >= '0' && b <= '9':
		case b == '.' || b == 'e' || b == 'E':
			whole = false
		default:
			goto done
		}
		c.pos++
	}
done:
	tok := c.src[start:c.pos]
	if whole && len(tok) > 15 {
		n, err := strconv.ParseInt(string(tok), 10, 64)
		if err != nil || n > maxExact || n < -maxExact {
			c.dst = append(c.dst, '"')
			c.dst = append(c.dst, tok...)
			c.dst = append(c.dst, '"')
			return
		}
	}
	c.dst = append(c.dst, tok...)
}

func (c *luaCopier) string() {
	start := c.pos
	c.skip(1)
	for c.pos < len(c.src) && c.src[c.pos] != '"' {
		if c.src[c.pos] != '\\' {
			c.pos++
			continue
		}
		hi, ok := escape(c.src[c.pos:])
		switch {
		case !ok:
			c.skip(2)
		case hi < 0xd800 || hi > 0xdfff:
			c.pos += 6
		default:
			if hi < 0xdc00 {
				if lo, ok := escape(c.src[c.pos+6:]); ok && lo >= 0xdc00 && lo <= 0xdfff {
					c.pos += 12
					continue
				}
			}
			c.dst = append(c.dst, c.src[start:c.pos]...)
			c.dst = append(c.dst, `\ufffd`...)
			c.pos += 6
			start = c.pos
		}
	}
	c.skip(1)
	c.dst = append(c.dst, c.src[start:c.pos]...)
}

// escape reads the \uXXXX at the start of b.
func escape(b []byte) (uint64, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return n, err == nil
}

// object builds one JSON object, member by member.
type object struct {
	buf  []byte
	lost lost // of what its members come from
}

// from starts with the members of raw, an object an agent sent. Members added
// later win, because Lua keeps the last of two.
func from(raw []byte) *object {
	o := new(object)
	if o.buf = appendLua(nil, raw); len(o.buf) <= len("{}") {
		o.buf = nil
	} else {
		o.buf = o.buf[:len(o.buf)-1]
	}
	return o
}

func (o *object) key(k string) {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
	o.buf = strconv.AppendQuote(o.buf, k) // keys are ours: plain ASCII
	o.buf = append(o.buf, ':')
}

func (o *object) str(k, v string) *object {
	o.key(k)
	o.buf = appendString(o.buf, v)
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
	o.buf = appendLua(o.buf, v)
	return o
}

func (o *object) strs(k string, v []string) *object {
	o.key(k)
	o.buf = append(o.buf, '[')
	for i, s := range v {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = appendString(o.buf, s)
	}
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

func appendString(dst []byte, s string) []byte {
	b, err := json.Marshal(s) // replaces invalid UTF-8
	if err != nil {
		return append(dst, `""`...)
	}
	return append(dst, b...)
}
