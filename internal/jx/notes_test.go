package jx

import "testing"

func TestADecNotesWhatOthersMisread(t *testing.T) {
	t.Parallel()
	for text, odd := range map[string]bool{
		`{"a":[1,"x",{"b":null}],"c":null}`: false,
		`999999999999999`:                   false,
		`-99999999999999`:                   false,
		`1234567890.1234567890`:             false,
		`"\ud83d\ude00 \\ud83d"`:            false,
		`{"a":[1,null]}`:                    true,
		`[{"b":[null]}]`:                    true,
		`[{},null]`:                         true,
		`{"a":1234567890123456}`:            true,
		`-1234567890123456`:                 true,
		`["\ud83d"]`:                        true,
		`{"\ude00":1}`:                      true,
	} {
		d := New([]byte(text))
		d.Skip()
		if d.End(); d.Failed() || d.Odd() != odd {
			t.Errorf("%s: odd is %v, %v", text, d.Odd(), d.Err())
		}
	}
}

func TestADecCountsValuesAndNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`1`: 1, `"x"`: 1, ` [ ] `: 1, `{}`: 1, `[1,2,3]`: 4, `{"a":1,"b\n":[true,false,null]}`: 8,
	} {
		d := New([]byte(text))
		d.Skip()
		if d.Values() != want {
			t.Errorf("%s: %d, want %d", text, d.Values(), want)
		}
	}
}

func TestADecNotesWhatItForgave(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`"x"`: false, `null`: false, `5`: true} {
		d := New([]byte(text))
		OptStr[string](d, Null|Forgive)
		if d.Failed() || d.Forgave() != want {
			t.Errorf("%s: forgave is %v", text, d.Forgave())
		}
	}
	d := New([]byte(`5`))
	m := d.Mark()
	d.Str()
	if !d.Retry(m) || d.Int(0, 9) != 5 || d.Forgave() {
		t.Errorf("another attempt counts as forgiven: %v", d.Err())
	}
}

func TestCharLenIsTheWrittenLength(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		``: 1, `ab`: 1, `éb`: 2, `\nb`: 2, `\u00e9b`: 6, `\ud83d\ude00b`: 12, `\ud83db`: 6, `\ud83d\u0041`: 6, `\ude00\ud83d`: 6,
	} {
		if got := CharLen([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
