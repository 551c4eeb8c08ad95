package tool

import (
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
		{name: "new lines behind all others", text: text, old: "func b() {\nreturn 1\n}\n", fresh: "func b() {\nreturn 1\n}\n\nvar c\n", want: "func b() {\n\treturn 1\n}\n\nvar c\n"},
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
		{name: "line endings of both kinds", text: "a\r\nb\nc\n", old: "b\nc\n", fresh: "x\n", want: "a\r\nx\n"},
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
	f.Fuzz(func(t *testing.T, text, old, fresh string) {
		got, places, err := replace(text, old, fresh, false)
		if err != nil || old == "" {
			return
		}
		if isCRLF(text) {
			old, fresh = withCRLF(old), withCRLF(fresh)
		}
		if strings.Count(text, old) == 1 {
			if before, after, _ := strings.Cut(text, old); got != before+fresh+after {
				t.Errorf("%q", got)
			}
			return
		}
		lines, wanted := strings.SplitAfter(text, "\n"), strings.Split(strings.TrimSuffix(old, "\n"), "\n")
		at := matches(lines, wanted)
		if len(at) != 1 || places != 1 {
			t.Fatalf("%d places in %q, which has %d", places, text, len(at))
		}
		before, after := strings.Join(lines[:at[0]], ""), strings.Join(lines[at[0]+len(wanted):], "")
		if !strings.HasPrefix(got, before) || !strings.HasSuffix(got[len(before):], after) {
			t.Errorf("%q", got)
		}
	})
}
