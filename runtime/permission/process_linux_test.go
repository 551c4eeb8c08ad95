package permission

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// /proc/self is another folder for the agent than for whoever checks a rule.
func TestAPathThatIsAnotherOneForTheAgentIsAsked(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	cwd, err := os.Getwd()
	must(t, err)
	cwd, err = filepath.EvalSymlinks(cwd)
	must(t, err)
	for i := range 2 * maxLinks { // more than systems follow at once
		must(t, os.Symlink("long"+strconv.Itoa(i+1), filepath.Join(dir, "long"+strconv.Itoa(i))))
	}
	must(t, os.Symlink("/proc/self/cwd", filepath.Join(dir, "long"+strconv.Itoa(2*maxLinks))))
	for link, to := range map[string]string{"direct": "/proc/self/cwd", "away": "/proc", "relative": "direct", "here": cwd} {
		must(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	p, err := Open("")
	must(t, err)
	must(t, p.Add(t.Context(), Rule{Action: Allow, Scope: Always, Kind: read, Path: cwd + "/**"}))
	for path, want := range map[string]Outcome{
		cwd + "/path.go":                Allowed,
		dir + "/here/path.go":           Allowed,
		"/proc/self/cwd/path.go":        Ask,
		"/proc/thread-self/cwd/path.go": Ask,
		"/./proc/self/cwd/path.go":      Ask,
		dir + "/direct/path.go":         Ask,
		dir + "/relative/path.go":       Ask,
		dir + "/away/self/cwd/path.go":  Ask,
		dir + "/direct/../cwd/path.go":  Ask,
		dir + "/long0/path.go":          Ask,
	} {
		q := Describe("agent", "s", call(read, `{"path":"`+path+`"}`))
		q.Roots = []string{cwd}
		if got, _ := p.Decide(q); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
