package project

import (
	"strings"
	"testing"
)

func TestACheckpointIsNamedByTheFirstLineOfItsPrompt(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"":                                  "",
		" \n\t\r\n":                         "",
		"Fix the parser":                    "Fix the parser",
		"\n\n  Fix  the\tparser \nand more": "Fix the parser",
		"one\rtwo":                          "one two",
		"\x1b[31mred\x07\x00\x7f\u009b1m":   "[31mred 1m",
		"a\u202eb\u2066c\ufeffd\u200be":     "abcde",
		"<pasted_content id=\"ec8d\">\nfix this\n</pasted_content>": "fix this",
		"<pasted_content>a</pasted_content> please":                 "a please",
		"<div> is not closed":                                       "<div> is not closed",
		"bad \xff\xfe bytes":                                        "bad bytes",
		strings.Repeat("x", 80):                                     strings.Repeat("x", 80),
		strings.Repeat("x", 81):                                     strings.Repeat("x", 79) + "…",
		strings.Repeat("Grüße ", 100):                               strings.Repeat("Grüße ", 13) + "G…",
	} {
		if got := title(prompt); got != want {
			t.Errorf("title(%q) = %q, want %q", prompt, got, want)
		}
	}
}
