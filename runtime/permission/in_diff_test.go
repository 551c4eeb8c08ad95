package permission

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

// An argument is left out of a question only if the diff there shows all of it.
func TestAnArgumentIsInTheDiffOnlyIfTheDiffShowsIt(t *testing.T) {
	t.Parallel()
	const old, now = "a\nb\nc\nd\n", "a\nB\nc\nd\ne\n"
	change := &acp.Diff{Path: "/w/f", OldText: acp.Some(old), NewText: now}
	made := &acp.Diff{Path: "/w/f", NewText: "x\ny"}
	const head = "Index: /w/f\n===================================================================\n--- /w/f\n+++ /w/f\n"
	const hunks = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -4 +4,2 @@ c\n d\n+e\n"
	for _, test := range []struct {
		name, text string
		diff       *acp.Diff
		want       bool
	}{
		{"the old text", old, change, true},
		{"the new text", now, change, true},
		{"another text", "a\n", change, false},
		{"a patch", head + hunks, change, true},
		{"with tabs behind the names", strings.ReplaceAll(head, "/w/f\n", "/w/f\t\n") + hunks, change, true},
		{"without its head", hunks, change, true},
		{"a part of it", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", change, true},
		{"without the end of the last line", strings.TrimSuffix(hunks, "\n"), change, true},
		{"a new file", "--- /dev/null\n+++ /w/f\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n", made, true},
		{"nothing", "", change, false},
		{"only a head", head, change, false},
		{"of another file", strings.ReplaceAll(head, "/w/f", "/w/g") + hunks, change, false},
		{"of a file too", head + hunks + head + hunks, change, false},
		{"with a word before it", "rm -rf /\n" + head + hunks, change, false},
		{"with a word behind it", head + hunks + "rm -rf /\n", change, false},
		{"with a word in a hunk", strings.Replace(hunks, "-b\n", "-b\nrm\n", 1), change, false},
		{"with a word behind the head of a hunk", strings.Replace(hunks, "@@\n a", "@@ rm\n a", 1), change, false},
		{"with a date", strings.Replace(head, "--- /w/f", "--- /w/f\tx", 1) + hunks, change, false},
		{"elsewhere", "@@ -2 +2 @@\n-c\n+B\n", change, false},
		{"other lines", "@@ -2 +2 @@\n-b\n+C\n", change, false},
		{"more lines than it says", "@@ -2 +2 @@\n-b\n+B\n+rm\n", change, false},
		{"fewer lines than it says", "@@ -2,2 +2,2 @@\n-b\n+B\n", change, false},
		{"a line that is far away", "@@ -99999999999999999999 +2 @@\n-b\n+B\n", change, false},
		{"many lines", "@@ -2,9223372036854775807 +2 @@\n-b\n+B\n", change, false},
		{"no line", "@@ -0 +2 @@\n-b\n+B\n", change, false},
	} {
		if got := inDiff([]*acp.Diff{test.diff}, plainText, test.text); got != test.want {
			t.Errorf("%s: %t\n%s", test.name, got, test.text)
		}
	}
	for r, want := range map[role]bool{plainText: true, unknown: true, commandText: false, pathName: false} {
		if got := inDiff([]*acp.Diff{change}, r, head+hunks); got != want {
			t.Errorf("a patch as %q: %t", r, got)
		}
	}
	for want, objects := range map[bool][]map[string]any{
		true: {
			{"file": "/w/f", "patch": head + hunks, "additions": 2.0, "isNew": false, "mode": nil},
			{"content": now, "oldText": old},
		},
		false: {
			{},
			{"file": "/w/g", "patch": head + hunks},
			{"command": "/w/f"},
			{"run": head + hunks},
			{"patch": head + hunks, "other": "rm -rf /"},
			{"patch": []any{head + hunks}},
			{"patch": map[string]any{"patch": head + hunks}},
		},
	} {
		for _, object := range objects {
			if got := inDiff([]*acp.Diff{made, change}, pathName, object); got != want {
				t.Errorf("%v: %t", object, got)
			}
		}
	}
	if inDiff([]*acp.Diff{change}, unknown, now) {
		t.Error("a text whose name says nothing may be a command, and is shown")
	}
}

// A text that counts as a patch of the diff has no line that is in neither of
// its texts.
func FuzzInDiff(f *testing.F) {
	f.Add("@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nb\n", "a\nB\n")
	f.Add("--- /dev/null\n+++ p\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n", "", "x")
	f.Fuzz(func(t *testing.T, text, old, now string) {
		d := &acp.Diff{Path: "p", OldText: acp.Some(old), NewText: now}
		if !isPatchIn(text, d) {
			return
		}
		both := "\n" + old + "\n" + now + "\n"
		for _, line := range linesOf(text) {
			if !hunkHead.MatchString(line) && !patchHead.MatchString(line) && line != patchRule && line != noNewline &&
				line != "" && !strings.Contains(both, "\n"+line[1:]+"\n") {
				t.Errorf("%q is in no text of %s", line, fmt.Sprintf("%q", both))
			}
		}
	})
}
