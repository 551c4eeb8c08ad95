package docs

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every complaint has its number, links to those who made it, and names tests
// that exist.
func TestComplaintsNameTestsThatExist(t *testing.T) {
	t.Parallel()
	source := regexp.MustCompile(`\]\(https://github\.com/[\w.-]+/[\w.-]+/issues/\d+\)`)
	proof := regexp.MustCompile(`\[([^\]]+)\]\(\.\./([^)]+)\)`)
	tests := map[string]map[string][]string{}
	parts := strings.Split(read(t, "complaints.md"), "\n## ")[1:]
	if len(parts) != 25 {
		t.Errorf("%d complaints, want 25", len(parts))
	}
	for i, part := range parts {
		number, _, _ := strings.Cut(part, ". ")
		if number != strconv.Itoa(i+1) {
			t.Errorf("%q is the complaint after %d", number, i)
		}
		if !source.MatchString(part) {
			t.Errorf("complaint %s links to nobody who made it", number)
		}
		_, named, _ := strings.Cut(part, "\nTests: ")
		found := proof.FindAllStringSubmatch(named, -1)
		if len(found) == 0 {
			t.Errorf("complaint %s names no test", number)
		}
		for _, m := range found {
			name, dir := m[1], m[2]
			if tests[dir] == nil {
				tests[dir] = testsIn(t, dir)
			}
			if _, ok := tests[dir][name]; !ok {
				t.Errorf("complaint %s: there is no %q in %s", number, name, dir)
			}
		}
	}
}
