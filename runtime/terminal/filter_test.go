package terminal

import (
	"strings"
	"testing"
)

// T17.
func TestFilterKeepsTextAndColoursOnly(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ttext\r\nüñ😀\b":                                       "plain\ttext\r\nüñ😀\b",
		"\x1b[31mred\x1b[0m":                                         "\x1b[31mred\x1b[0m",
		"\x1b[38;2;1;2;3m\x1b[4:3mx\x1b[m":                           "\x1b[38;2;1;2;3m\x1b[4:3mx\x1b[m",
		"\x1b]52;c;ZXZpbA==\x07x":                                    "x",
		"\x1b]52;c;ZXZpbA==\x1b\\x":                                  "x",
		"\u009d52;c;ZXZpbA==\u009cx":                                 "x",
		"\x1b]0;title\x07x":                                          "x",
		"\x1b]8;;file:///etc\x1b\\l\x1b]8;;":                         "l",
		"\x1bPq#0\x1b\\x\x1b_apc\x1b\\y\x1b^pm\x1b\\z\x1bXsos\x1b\\": "xyz",
		"\x1b[2J\x1b[H\x1b[?1049h\x1b[6nx":                           "x",
		"\x1b[>4;2m\x1b[?1mx\x1b[1 qy":                               "xy",
		"\u009b2Jx\u009b31my":                                        "x\x1b[31my",
		"\x1bc\x1b=\x1b(0\x1b#8x":                                    "x",
		"a\x00b\x07c\x0bd\x0ee\x7ff\u0085g\u0090h\x1b\\i":            "abcdefgi",
		"\x1b]0;open\nnext":                                          "\nnext",
		"\x1b[31\nx":                                                 "\nx",
		"\x1b[3\x1b[32mx":                                            "\x1b[32mx",
		"\x1b]0;\x18x\x1b[\x1ay":                                     "xy",
		"\x1b[" + strings.Repeat("1;", 100) + "mx":                   "x",
		"\x1b]0;a\x1b]52;c;x\x07y":                                   "y",
		"\x1b[äx":                                                    "äx",
		"\x1b":                                                       "",
	} {
		f := Filter{Colors: true}
		if got := f.Apply(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		// in pieces of every length the result is the same
		runes := []rune(in)
		for n := 1; n < len(runes); n++ {
			f, got := Filter{Colors: true}, ""
			for i := 0; i < len(runes); i += n {
				got += f.Apply(string(runes[i:min(i+n, len(runes))]))
			}
			if got != want {
				t.Errorf("%q in pieces of %d: %q, want %q", in, n, got, want)
			}
		}
		plain := Filter{}
		if got := plain.Apply(in); strings.ContainsAny(got, "\x1b\x07\u009b\u009d") {
			t.Errorf("%q without colours: %q", in, got)
		}
	}
}
