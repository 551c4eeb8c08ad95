package tool

import (
	"slices"
	"strings"
	"testing"
)

func TestEdits(t *testing.T) {
	t.Parallel()
	const text = "func a() {\n\tif x {\n\t\treturn 1\n\t}\n}\n\nfunc b() {\n\treturn 1\n}\n"
	for _, test := range []struct {
		name, text, old, fresh string
		all                    bool
		want                   string // what is in the result, or in the error
		fails                  bool
	}{
		{name: "exactly", text: text, old: "\tif x {", fresh: "\tif y {", want: "\tif y {\n\t\treturn 1"},
		{name: "a part of a line", text: text, old: "a()", fresh: "c()", want: "func c() {"},
		{name: "all", text: text, old: "return 1", fresh: "return 2", all: true, want: "return 2\n}\n"},
		{name: "more than once", text: text, old: "return 1", fresh: "return 2", fails: true, want: "old occurs 2 times, at lines 3, 8"},
		{name: "a deletion", text: text, old: "\treturn 1\n}\n", fresh: "}\n", want: "func b() {\n}\n"},
		{name: "the same", text: text, old: "a", fresh: "a", fails: true, want: "the same"},
		{name: "spaces for tabs", text: text, old: "    if x {\n        return 1\n    }", fresh: "    if x {\n        return 5\n    }", want: "func a() {\n\tif x {\n\t\treturn 5\n\t}\n}\n"},
		{name: "less indentation", text: text, old: "if x {\n\treturn 1\n}", fresh: "if z {\n\treturn 1\n}", want: "\tif z {\n\t\treturn 1\n\t}\n}\n"},
		{name: "exactly, from the middle of a line", text: text, old: "if x {\n\t\treturn 1\n\t}", fresh: "if z {\n\t\treturn 2\n\t}", want: "{\n\tif z {\n\t\treturn 2\n\t}\n}\n"},
		{name: "new lines behind all others", text: text, old: "func b() {\n  return 1\n}\n", fresh: "func b() {\n  return 1\n}\n\nvar c\n", want: "func b() {\n\treturn 1\n}\n\nvar c\n"},
		{name: "new lines behind all others, without any indentation", text: text, old: "func b() {\nreturn 1\n}\n", fresh: "func b() {\nreturn 1\n}\n\nvar c\n", fails: true, want: `does not say how the file indents "var c"`},
		{name: "lines that are indented now", text: text, old: "if x {\n\treturn 1\n}\n", fresh: "for {\n\tif x {\n\t\treturn 1\n\t}\n}\n", want: "{\n\tfor {\n\t\tif x {\n\t\t\treturn 1\n\t\t}\n\t}\n}\n"},
		{name: "blank lines around", text: "\n\n\ta \n\n\nb\n", old: "\n\na\n\n", fresh: "\n\na\n\nc\n", want: "\n\n\ta \n\n\tc\n\nb\n"},
		{name: "blanks at the end of a line", text: "a  \nb\n", old: "a\nb\n", fresh: "c\n", want: "c\n"},
		{name: "no line break at the end", text: "x\n  a", old: "a\n", fresh: "b\n", want: "x\n  b"},
		{name: "whole lines are deleted", text: "x\n  a \ny\n", old: "a\n", fresh: "", want: "x\ny\n"},
		{name: "two places when white space is ignored", text: "\ta\nx\n\t\ta\n", old: " a\n", fresh: "b\n", fails: true, want: "in 2 places when white space is ignored"},
		{name: "the nearest text", text: text, old: "\tif x > 1 {\n\t\treturn 1", fresh: "", fails: true, want: "the nearest text is at line 2:\n\tif x {\n\t\treturn 1\n"},
		{name: "nothing near", text: text, old: "zzz", fresh: "", fails: true, want: "nothing there is like it"},
		{name: "only white space", text: "a\n\n\nb\n", old: "  ", fresh: "x", fails: true, want: "not in the file"},
		{name: "line endings of Windows", text: "a\r\nb\r\nc\r\n", old: "a\nb\n", fresh: "x\ny\n", want: "x\r\ny\r\nc\r\n"},
		{name: "line endings of Windows, and white space", text: "\ta\r\n\tb\r\nc\r\n", old: "a\nb\n", fresh: "x\ny\n", want: "\tx\r\n\ty\r\nc\r\n"},
		{name: "all line endings of Windows", text: "a\r\nb\r\na\r\n", old: "a\n", fresh: "x\ny\n", all: true, want: "x\r\ny\r\nb\r\nx\r\ny\r\n"},
		{name: "line endings of Windows, but none at the end", text: "a\r\n\tb", old: "b  \n", fresh: "x\ny\n", want: "a\r\n\tx\r\n\ty"},
		{name: "curly quotes for straight ones", text: "a\nsay(\"it's\")\nb\n", old: "say(\u201cit\u2019s\u201d)\n", fresh: "say(\"done\")\n", want: "a\nsay(\"done\")\nb\n"},
		{name: "straight quotes for curly ones", text: "\u201cone\u201d\nkeep \u2014 it\n", old: "\"one\"\nkeep - it\n", fresh: "\"two\"\nkeep - it\n", want: "\"two\"\nkeep \u2014 it\n"},
		{name: "a space that does not break", text: "a\u00a0b\nc\n", old: "a b\n", fresh: "x\n", want: "x\nc\n"},
		{name: "typography in two places", text: "\u2018a\u2019\nx\n\u2019a\u2018\n", old: "'a'\n", fresh: "b\n", fails: true, want: "in 2 places"},
		{name: "exactly, although typography is near", text: "\u2018a\u2019\n'a'\n", old: "'a'\n", fresh: "b\n", want: "\u2018a\u2019\nb\n"},
		{name: "numbers of lines", text: text, old: "2: \tif x {\n3: \t\treturn 1\n4: \t}\n", fresh: "2: \tif y {\n3: \t\treturn 1\n4: \t}\n", want: "\tif y {\n\t\treturn 1\n\t}\n"},
		{name: "numbers of lines before old only", text: text, old: "7\tfunc b() {", fresh: "func c() {", want: "func c() {"},
		{name: "numbers that are no numbers of lines", text: text, old: "2: \tif x {\n2: \t\treturn 1\n", fresh: "", fails: true, want: "old is not in the file"},
		{name: "each line has its own ending", text: "one\r\n  two\n  three\nfour\n", old: "two\nthree", fresh: "TWO\nTHREE", want: "one\r\n  TWO\n  THREE\nfour\n"},
		{name: "a line that is repeated keeps its ending", text: "one\ntwo\r\nthree\nfour\n", old: "one\ntwo\nthree", fresh: "ONE\ntwo\nTHREE", want: "ONE\ntwo\r\nTHREE\nfour\n"},
		{name: "a line that is repeated keeps its ending behind new ones", text: "one\ntwo\r\nthree\n", old: "one\ntwo\nthree\n", fresh: "one\nnew\nmore\ntwo\nthree\n", want: "one\nnew\nmore\ntwo\r\nthree\n"},
		{name: "a line that is repeated keeps its ending, and white space", text: "\tone\n\ttwo\r\n\tthree\n", old: "one\ntwo\nthree\n", fresh: "one\nnew\ntwo\nthree\n", want: "\tone\n\tnew\n\ttwo\r\n\tthree\n"},
		{name: "line endings of Windows in new", text: "one\ntwo\n", old: "two", fresh: "two\r\nthree", want: "one\ntwo\nthree\n"},
		{name: "line endings of Windows in old and new", text: "one\ntwo\nx", old: "one\r\ntwo\r\n", fresh: "1\r\n2\r\n3\r\n", want: "1\n2\n3\nx"},
		{name: "line endings of Windows at the last line", text: "one\r\ntwo", old: "two", fresh: "two\nthree", want: "one\r\ntwo\r\nthree"},
		{name: "the same but for the line endings", text: "a\nb\n", old: "a\n", fresh: "a\r\n", fails: true, want: "the same"},
		{name: "places that differ in their line endings", text: "a\r\nb\na\nb\n", old: "a\nb\n", fresh: "x\n", fails: true, want: "old occurs 2 times, at lines 1, 3"},
		{name: "all places, with their own line endings", text: "a\r\nb\na\nb\n", old: "a\nb\n", fresh: "a\nc\n", all: true, want: "a\r\nc\na\nc\n"},
		{name: "else for an if that was repeated", text: "class A:\n    def f():\n        if x:\n            y()\n", old: "if x:\n    y()", fresh: "if x:\n    y()\nelse:\n    z()", want: "        if x:\n            y()\n        else:\n            z()\n"},
		{name: "a method behind another one", text: "class A:\n    def f(self):\n        return 1\n", old: "def f(self):\n    return 1", fresh: "def f(self):\n    return 1\n\ndef g(self):\n    return 2", want: "        return 1\n\n    def g(self):\n        return 2\n"},
		{name: "spaces for tabs, and a new line", text: "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n", old: "    if x {\n        y()\n    }", fresh: "    if x {\n        y()\n        z()\n    }", want: "\t\ty()\n\t\tz()\n\t}\n"},
		{name: "spaces for tabs, and a deeper line", text: "\tif x {\n\t}\n", old: "    if x {\n    }\n", fresh: "    if x {\n        for {\n            y()\n        }\n    }\n", want: "\tif x {\n\t\tfor {\n\t\t\ty()\n\t\t}\n\t}\n"},
		{name: "spaces for tabs, without the outer ones", text: "\t\tif x {\n\t\t\ty()\n\t\t}\n", old: "if x {\n  y()\n}\n", fresh: "if x {\n  y()\n  if z {\n    y()\n  }\n}\n", want: "\t\t\tif z {\n\t\t\t\ty()\n\t\t\t}\n\t\t}\n"},
		{name: "tabs for spaces", text: "  if x:\n    y()\n", old: "\tif x:\n\t\ty()\n", fresh: "\tif x:\n\t\ty()\n\t\tif z:\n\t\t\ty()\n", want: "    if z:\n      y()\n"},
		{name: "more indentation than in the file", text: "if x:\n  y()\n", old: "    if x:\n      y()\n", fresh: "    if x:\n      y()\n    else:\n      z()\n    w()\n", want: "if x:\n  y()\nelse:\n  z()\nw()\n"},
		{name: "no indentation, one line for one line", text: text, old: "if x {\nreturn 1\n}\n}\n\nfunc b() {", fresh: "if x {\nreturn 5\n}\n}\n\nfunc b() {", want: "\tif x {\n\t\treturn 5\n\t}\n}\n"},
		{name: "no indentation, and a new line that could be anywhere", text: "class A:\n    def f():\n        x()\n", old: "def f():\nx()\n", fresh: "def f():\nx()\ny()\n", fails: true, want: `does not say how the file indents "y()"`},
		{name: "tabs or spaces of a line that is like no other", text: "\t\tx()\n", old: "    x()\n", fresh: "    x()\n  y()\n", fails: true, want: `does not say how the file indents "y()"`},
		{name: "numbers of lines with a blank behind them", text: text, old: "2: \tif x {\n3: \t\treturn 1\n4: \t}\n", fresh: "\tif y {\n\t\treturn 1\n\t}\n", want: "\tif y {\n\t\treturn 1\n\t}\n"},
		{name: "line endings of both kinds", text: "a\r\nb\nc\n", old: "b\nc\n", fresh: "x\n", want: "a\r\nx\n"},
		{name: "a missing blank line", text: text, old: "\t}\n}\nfunc b() {\n", fresh: "\t}\n}\nfunc c() {\n", want: "\t}\n}\n\nfunc c() {\n\treturn 1\n}\n"},
		{name: "a missing blank line, and other indentation", text: text, old: "  }\n}\nfunc b() {\n  return 1\n}", fresh: "  }\n}\nfunc b() {\n  return 7\n}", want: "\t}\n}\n\nfunc b() {\n\treturn 7\n}\n"},
		{name: "a missing blank line, and something new there", text: "a()\n\nb()\n", old: "a()\nb()\n", fresh: "a()\nnew()\nb()\n", want: "a()\n\nnew()\nb()\n"},
		{name: "a missing blank line, which new has", text: "a()\n\nb()\nc()\n", old: "a()\nb()\nc()", fresh: "a()\n\nb()\nd()", want: "a()\n\nb()\nd()\n"},
		{name: "a missing blank line, and something new with its own", text: "a()\n\nb()\n", old: "a()\nb()\n", fresh: "a()\n\nnew()\n\nb()\n", want: "a()\n\nnew()\n\nb()\n"},
		{name: "a missing blank line within what is replaced", text: "x\na()\n\nb()\ny\n", old: "a()\nb()\n", fresh: "c()\n", want: "x\nc()\ny\n"},
		{name: "a missing blank line within what is deleted", text: "x\na()\n \n\nb()\ny\n", old: "a()\nb()\n", fresh: "", want: "x\ny\n"},
		{name: "a blank line too many", text: "a()\nb()\nc()\n", old: "a()\n\nb()\n", fresh: "a()\n\nd()\n", want: "a()\nd()\nc()\n"},
		{name: "a blank line too many before old, and behind it", text: "x\n  a()\ny\n", old: "\na()\n\n", fresh: "\nb()\n\n", want: "x\n  b()\ny\n"},
		{name: "blank lines at other places", text: "a()\n\nb()\nc()\n", old: "a()\nb()\n\nc()\n", fresh: "a()\nb()\n\nd()\n", want: "a()\n\nb()\nd()\n"},
		{name: "a missing blank line with the endings of Windows", text: "a()\r\n\r\n  b()\r\nc()\r\n", old: "a()\nb()\n", fresh: "a()\nd()\n", want: "a()\r\n\r\n  d()\r\nc()\r\n"},
		{name: "a missing blank line at the end of the file", text: "a()\n\nb()", old: "a()\nb()\n", fresh: "a()\nc()\n", want: "a()\n\nc()"},
		{name: "a missing blank line, and typography", text: "say \u201cx\u201d\n\nb()\n", old: "say \"x\"\nb()\n", fresh: "say \"x\"\nc()\n", want: "say \u201cx\u201d\n\nc()\n"},
		{name: "a missing blank line between numbers of lines", text: "x\na()\n\nb()\n", old: "2: a()\n3: b()\n", fresh: "2: a()\n3: c()\n", want: "x\na()\n\nc()\n"},
		{name: "missing text", text: "a()\nunseen()\nb()\n", old: "a()\nb()\n", fresh: "c()\n", fails: true, want: "old is not in the file; the nearest text is at line 1"},
		{name: "missing text beside a blank line", text: "a()\n\nunseen()\n\nb()\n", old: "a()\nb()\n", fresh: "", fails: true, want: "old is not in the file"},
		{name: "missing blank lines in two places", text: "a()\n\nb()\nx\na()\n\nb()\n", old: "a()\nb()\n", fresh: "c()\n", fails: true, want: "in 2 places when white space is ignored"},
		{name: "missing blank lines in all places", text: "a()\n\nb()\nx\na()\n\nb()\n", old: "a()\nb()\n", fresh: "c()\n", all: true, fails: true, want: "in 2 places when white space is ignored"},
		{name: "a missing blank line that should be added", text: "a()\n\nb()\n", old: "a()\nb()\n", fresh: "a()\n\nb()\n", fails: true, want: "differ only in blank lines, which the file has elsewhere"},
		{name: "a blank line that should be removed, and is not there", text: "a()\nb()\n", old: "a()\n\nb()\n", fresh: "a()\nb()\n", fails: true, want: "differ only in blank lines"},
		{name: "a missing blank line, and new indentation that could be anything", text: "class A:\n    def f():\n\n        x()\n", old: "def f():\nx()\n", fresh: "def f():\nx()\ny()\n", fails: true, want: `does not say how the file indents "y()"`},
		{name: "blank lines only", text: "a\n\n\nb\n", old: "\n\n\n\n\n", fresh: "x", fails: true, want: "old is not in the file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := replace(test.text, test.old, test.fresh, test.all)
			if err != nil {
				got = err.Error()
			}
			if (err != nil) != test.fails || !strings.Contains(got, test.want) {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// The text of a file survives every edit outside of the place that was edited.
func FuzzEditsLeaveTheRestAlone(f *testing.F) {
	f.Add("a\n  b\nc\n", "b\n", "x\n")
	f.Add("a", "a", "")
	f.Add("a\r\nb\r\n", "a\nb", "x\n")
	f.Add("a\r\nb\nc\r\n", "b\nc", "x\ny\nz")
	f.Add("a\r\n\tb\nc\r\n", "a\nb \nc", "a\nb\nx\nc")
	f.Add("x\na\n\n\tb\r\n\r\nc\nz", "a\nb\nc\n", "a\nb\nx\nc\n")
	f.Add("x\na\nb\nz", "\na\n\nb\n", "")
	f.Fuzz(func(t *testing.T, text, old, fresh string) {
		got, places, err := replace(text, old, fresh, false)
		if err != nil || old == "" {
			return
		}
		old, fresh = unixBreaks(old), unixBreaks(fresh)
		flat := unixBreaks(text)
		if strings.Contains(flat+old+fresh, "\r") {
			return // it may become half of a line break
		}
		before, after, exactly := strings.Cut(flat, old)
		if exactly {
			if unixBreaks(got) != before+fresh+after {
				t.Errorf("%q", got)
			}
			// The longest ends of the text that are not part of the place.
			before, after = text[:rawLen(text, len(before))], text[rawLen(text, len(before)+len(old)):]
		} else {
			lines, wanted := strings.SplitAfter(text, "\n"), strings.Split(strings.TrimSuffix(old, "\n"), "\n")
			at := matches(strings.Split(flat, "\n"), wanted)
			var spans [][2]int
			for _, from := range at {
				spans = append(spans, [2]int{from, from + len(wanted)})
			}
			if len(at) == 0 { // by blank lines
				spans = spread(strings.Split(flat, "\n"), wanted)
			}
			if _, numbers := unnumbered(old); numbers && len(spans) == 0 {
				return
			}
			if len(spans) != 1 || places != 1 {
				t.Fatalf("%d places in %q, which has %d", places, text, len(spans))
			}
			from, to := spans[0][0], spans[0][1]
			seen := strings.Fields(plain.Replace(strings.Join(wanted, "\n")))
			if gone := strings.Fields(plain.Replace(strings.Join(lines[from:to], ""))); !slices.Equal(gone, seen) {
				t.Errorf("the place has %q, and the model has seen %q", gone, seen)
			}
			before, after = strings.Join(lines[:from], ""), strings.Join(lines[to:], "")
		}
		if !strings.HasPrefix(got, before) || !strings.HasSuffix(got[len(before):], after) {
			t.Errorf("%q", got)
		}
	})
}

// rawLen is how long the part of a text is that has n bytes with line breaks of one kind.
func rawLen(text string, n int) int {
	at := 0
	for ; n > 0; n-- {
		if strings.HasPrefix(text[at:], "\r\n") {
			at++
		}
		at++
	}
	return at
}
