package jx

import (
	"bytes"
	"math"
	"strconv"
)

// Int reads an integer between lo and hi. It must be written as one: 1.0 and
// 1e0 are refused.
func (d *Dec) Int(lo, hi int64) int64 {
	tok, whole := d.number("integer")
	if d.code != ok {
		return 0
	}
	n, fits := parseInt(tok)
	if !whole || !fits || n < lo || n > hi {
		d.notInteger(tok, whole)
		return 0
	}
	return n
}

// Uint64 reads an integer from 0 to 2^64-1, written as one.
func (d *Dec) Uint64() uint64 {
	tok, whole := d.number("integer")
	if d.code != ok {
		return 0
	}
	unsigned, neg := bytes.CutPrefix(tok, []byte("-"))
	n, fits := digits(unsigned)
	if !whole || !fits || neg && n != 0 {
		d.notInteger(tok, whole)
		return 0
	}
	return n
}

func (d *Dec) notInteger(tok []byte, whole bool) {
	if whole {
		d.failAt(d.p-len(tok), badRange, "integer out of range")
	} else {
		d.failAt(d.p-len(tok), badRange, "want integer, got a number with fraction or exponent")
	}
}

// Float reads a number.
func (d *Dec) Float() float64 {
	tok, _ := d.number("number")
	if d.code != ok {
		return 0
	}
	f, err := strconv.ParseFloat(string(tok), 64)
	if err != nil || math.IsInf(f, 0) {
		d.failAt(d.p-len(tok), badRange, "number out of range")
		return 0
	}
	return f
}

// number checks a number and moves past it; whole means that it has neither
// fraction nor exponent.
func (d *Dec) number(what string) (tok []byte, whole bool) {
	c := d.Peek()
	if c != '-' && c-'0' > 9 {
		d.want(what)
		return nil, false
	}
	b, i := d.b, d.p
	if c == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	default:
		n := run(b, i)
		if n == i {
			d.fail(syntax, "invalid number")
			return nil, false
		}
		i = n
	}
	whole = true
	if i < len(b) && b[i] == '.' {
		whole = false
		n := run(b, i+1)
		if n == i+1 {
			d.fail(syntax, "invalid number")
			return nil, false
		}
		i = n
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		whole = false
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := run(b, i)
		if n == i {
			d.fail(syntax, "invalid number")
			return nil, false
		}
		i = n
	}
	tok = b[d.p:i]
	d.p = i
	d.values++
	d.odd = d.odd || whole && len(tok) > maxShort
	return tok, whole
}

// run returns the end of the digits at i.
func run(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// parseInt returns the value of an integer token and whether it fits.
func parseInt(tok []byte) (int64, bool) {
	if tok[0] == '-' {
		n, fits := digits(tok[1:])
		return -int64(n), fits && n <= 1<<63
	}
	n, fits := digits(tok)
	return int64(n), fits && n < 1<<63
}

func digits(tok []byte) (n uint64, fits bool) {
	const cut = math.MaxUint64 / 10
	for _, c := range tok {
		v := uint64(c - '0')
		if n > cut || n == cut && v > math.MaxUint64%10 {
			return 0, false
		}
		n = n*10 + v
	}
	return n, true
}
