package host

import (
	"strings"
	"testing"
)

// An agent chooses how long its paths are. Where the work for one grows with the square of
// its length, one step of this test takes a minute.
func TestTheLengthOfAPathCostsNoMoreThanReadingIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.open()
	d.must("rules", args{"add": args{"action": "deny", "path": "**/secret/**/*.key", "scope": "always"}})
	d.must("rules", args{"add": args{"action": "allow", "kind": "edit", "path": d.path("a*/**/b*"), "scope": "always"}})
	const size = 256 << 10
	for name, part := range map[string]string{"short names": "n/", "long names": strings.Repeat("n", 300) + "/", "up": "../"} {
		for _, folder := range []string{d.root, "/nowhere"} {
			path := folder + "/" + strings.Repeat(part, size/len(part)) + "f"
			for _, step := range []string{"MAY edit ", "MAY delete ", "READ ", "WRITE ", "CALL terminal/create "} {
				if strings.HasPrefix(step, "CALL") {
					d.prompt(step + `{"sessionId":"s1","command":"true","cwd":"` + path + `"}`)
				} else {
					d.prompt(step + path)
				}
			}
			if t.Failed() {
				t.Fatal("at ", name)
			}
		}
	}
}
