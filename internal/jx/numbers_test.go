package jx

import (
	"math"
	"testing"
)

func TestIntegersAreExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{`0`, 0, true}, {`-0`, 0, true}, {`7`, 7, true}, {`-12`, -12, true},
		{`9223372036854775807`, math.MaxInt64, true}, {`-9223372036854775808`, math.MinInt64, true},
		{`9223372036854775808`, 0, false}, {`-9223372036854775809`, 0, false}, {`18446744073709551616`, 0, false},
		{`99999999999999999999999999`, 0, false}, {`9007199254740993`, 9007199254740993, true},
		{`1.0`, 0, false}, {`1e0`, 0, false}, {`1E2`, 0, false}, {`0.5`, 0, false}, {`01`, 0, false}, {`-`, 0, false}, {`"1"`, 0, false},
	} {
		d := New([]byte(c.text))
		got := d.Int(math.MinInt64, math.MaxInt64)
		d.End()
		if got != c.want || d.Failed() == c.ok {
			t.Errorf("%s: got %d, %v", c.text, got, d.Err())
		}
	}
	for _, c := range []struct {
		text   string
		lo, hi int64
		ok     bool
	}{{`0`, 0, 65535, true}, {`65535`, 0, 65535, true}, {`65536`, 0, 65535, false}, {`-1`, 0, 65535, false}, {`-0`, 0, 65535, true}} {
		d := New([]byte(c.text))
		if d.Int(c.lo, c.hi); d.Failed() == c.ok {
			t.Errorf("%s in %d..%d: %v", c.text, c.lo, c.hi, d.Err())
		}
	}
}

func TestUnsignedIntegersAreExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want uint64
		ok   bool
	}{
		{`0`, 0, true}, {`-0`, 0, true}, {`18446744073709551615`, math.MaxUint64, true}, {`18446744073709551616`, 0, false},
		{`18446744073709551620`, 0, false}, {`184467440737095516150`, 0, false}, {`-1`, 0, false}, {`1.0`, 0, false}, {`1e0`, 0, false},
	} {
		d := New([]byte(c.text))
		got := d.Uint64()
		d.End()
		if got != c.want || d.Failed() == c.ok {
			t.Errorf("%s: got %d, %v", c.text, got, d.Err())
		}
	}
}

func TestNumbersMustBeFinite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want float64
		ok   bool
	}{
		{`0`, 0, true}, {`-1.5`, -1.5, true}, {`1e3`, 1000, true}, {`1e308`, 1e308, true}, {`1e400`, 0, false}, {`-1e400`, 0, false},
		{`1e-400`, 0, true}, {`0.1`, 0.1, true}, {`123456789012345678901234567890123`, 123456789012345678901234567890123, true},
	} {
		d := New([]byte(c.text))
		got := d.Float()
		d.End()
		if got != c.want || d.Failed() == c.ok {
			t.Errorf("%s: got %v, %v", c.text, got, d.Err())
		}
	}
	if f := New([]byte(`-0`)).Float(); !math.Signbit(f) {
		t.Error("-0 loses its sign")
	}
}

func TestIntegerErrorsSayWhy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`1.0`:   "want integer, got a number with fraction or exponent",
		`1e9`:   "want integer, got a number with fraction or exponent",
		`70000`: "integer out of range",
		`-1`:    "integer out of range",
	} {
		d := New([]byte(text))
		d.Int(0, 65535)
		if err := d.Err(); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestANegativeNumberFailsWhereItIs(t *testing.T) {
	t.Parallel()
	d := New([]byte(`{"a":-1,"b":2}`))
	d.Obj()
	d.Next()
	d.Uint64()
	if err := d.Err(); err == nil || err.Error() != "/a: integer out of range" {
		t.Errorf("error %v", err)
	}
}
