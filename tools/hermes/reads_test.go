package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An agent may read without a question only files that are certainly below the
// working folder.
func TestReadsAreAllowedOnlyInsideTheFolder(t *testing.T) {
	t.Parallel()
	calls := []struct{ call, want string }{
		{`"kind":"read","locations":[{"path":"/w/a"}]`, "allowed"},
		{`"kind":"read","rawInput":{"file_path":"/w/inside"}`, "allowed"},
		{`"kind":"search","rawInput":{"path":"/w/deep","pattern":"TODO","glob":"*.go"}`, "allowed"},
		{`"kind":"read","rawInput":{"file_path":"/w/outside"}`, "denied"},
		{`"kind":"read","locations":[{"path":"/w/outside"}]`, "denied"},
		{`"kind":"read","rawInput":{"path":"/w/a","destination":"/etc/passwd"}`, "denied"},
		{`"kind":"read","rawInput":{"path":"/w/a","paths":["/etc/passwd"]}`, "denied"},
		{`"kind":"read","rawInput":{"path":"/w/a","command":"cat /etc/shadow"}`, "denied"},
		{`"kind":"search","rawInput":{"path":"/w","pattern":"../**"}`, "denied"},
		{`"kind":"search","rawInput":{"pattern":"x"}`, "denied"},
		{`"kind":"read","rawInput":{"uri":"file:///w/a"}`, "denied"},
		{`"kind":"execute","rawInput":{"command":"cat a","cwd":"/w"}`, "denied"},
	}
	lines := slices.Clone(hello)
	var want []string
	for i, c := range calls {
		lines = append(lines,
			fromAgent(fmt.Sprintf(`"id":%d,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c%d","title":"call%d",%s},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}`, i, i, i, c.call)),
			fromClient(fmt.Sprintf(`"id":%d,"result":{}`, i)))
		want = append(want, fmt.Sprintf("[%s] call%d", c.want, i))
	}
	lines = append(lines, fromAgent(`"id":2,"result":{"stopReason":"end_turn"}`))
	dir := t.TempDir()
	for name, target := range map[string]string{"inside": "a", "outside": "/etc/passwd"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, errs, status := end(t, hermes(t, dir, slices.Concat([]string{"run", "--env", asHermes, "--approve", "reads", "x"}, script(t, lines...))...))
	if got := strings.Split(strings.TrimSpace(errs), "\n"); status != statusDenied || !slices.Equal(got[:min(len(got), len(want))], want) {
		t.Errorf("%d\n%s\nwant\n%s", status, errs, strings.Join(want, "\n"))
	}
}
