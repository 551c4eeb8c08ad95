//go:build amd64 || arm64

package shim_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// kept makes a repository in which git keeps some things, and others not.
const kept = `set -e
git init -q -b main .
git config user.name t; git config user.email t@example.com
printf 'build/\n' > .gitignore
mkdir -p build src; echo x > build/out
for f in kept.txt changed.txt src/a; do echo "$f" > $f; done
git add .; git commit -qm one
echo more >> kept.txt; git commit -qam two
git switch -qc side; echo s > side.txt; git add .; git commit -qm side; git switch -q main
git update-ref refs/heads/fetched $(git commit-tree -m fetched HEAD^{tree})
git update-ref refs/remotes/origin/there $(git commit-tree -m there HEAD^{tree})
git update-ref refs/tags/t $(git commit-tree -m tagged HEAD^{tree})
echo stashed >> src/a; git stash -q
git gc -q
echo later >> kept.txt; git commit -qam three
echo mine > notes.txt; echo mine >> changed.txt; : > empty
mkdir mine; echo mine > mine/a`

// A gate for effects asks before something of the project goes that nothing else keeps, in
// whatever way. After a no it is still there.
func TestAGateForEffectsAsksAboutWhatNothingElseKeeps(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][]string{
		// Git has it, or a command has made it.
		`rm kept.txt src/a empty; rm -r build`: nil,
		`git rm -q kept.txt`:                   nil,
		`echo x > new; rm new; cp notes.txt n; rm n; mkdir d; echo x > d/a; rm -r d`:             nil,
		`echo x > new; mv new notes.txt; echo x > changed.txt; sed -i s/x/y/ changed.txt`:        nil,
		`mv notes.txt other.txt; mv mine src; mv src/mine/a b`:                                   nil,
		`git stash -qu && git stash apply -q`:                                                    nil,
		`git add notes.txt; git rm -qf notes.txt`:                                                nil,
		`git commit -q --amend -m other; git commit -qam four`:                                   nil,
		`git branch -q -D side; git update-ref refs/heads/main HEAD~1; git pack-refs --all`:      nil,
		`git update-ref -d refs/remotes/origin/there`:                                            nil,
		`echo 0 > .git/refs/heads/x; git init -q sub; cd sub; echo x > a; git add a; rm -r .git`: nil,
		// It has not.
		`rm notes.txt`:                   {"remove notes.txt"},
		`git clean -fdq`:                 {"remove mine/a", "remove notes.txt"},
		`rm -r mine`:                     {"remove mine/a"},
		`git checkout -q -- changed.txt`: {"remove changed.txt"},
		`git reset -q --hard`:            {"remove changed.txt"},
		`git restore .`:                  {"remove changed.txt"},
		`find . -name '*.txt' -newer kept.txt -delete`: {"remove changed.txt", "remove notes.txt"},
		`mv notes.txt "$TMPDIR/n"`:                     {"remove notes.txt"},
		`mv notes.txt build/`:                          {"remove notes.txt"},
		`mv notes.txt .n; rm .n`:                       {"remove .n"},
		`mkdir d; mv notes.txt d; mv d "$TMPDIR"`:      {"remove d"},
		`mv mine build/mine`:                           {"remove mine"},
		`ln notes.txt "$TMPDIR/n"; rm notes.txt`:       {"remove notes.txt"},
		`bash -c 'exec 3<notes.txt; rm notes.txt'`:     {"remove notes.txt"},
		// History.
		`git update-ref refs/heads/loose $(git commit-tree -m x HEAD^{tree}); git update-ref -d refs/heads/loose`: {"remove .git/refs/heads/loose"},
		`git branch -q -f fetched main; git reset -q --soft HEAD~2`:                                               nil,
		`git branch -q -D fetched`:                             {"write .git/packed-refs"},
		`git tag -d t`:                                         {"write .git/packed-refs"},
		`git stash drop -q`:                                    {"write .git/packed-refs"},
		`git reflog expire --expire=now --all`:                 {"write .git/logs/HEAD"},
		`rm .git/packed-refs`:                                  {"remove .git/packed-refs"},
		`echo > .git/packed-refs`:                              {"write .git/packed-refs"},
		`rm .git/logs/HEAD; git update-ref -d refs/heads/side`: {"write .git/packed-refs"},
		`git gc -q --prune=now`:                                {"remove .git/objects/pack/OBJECT"},
		`rm -f .git/objects/*/*[0-9a-f]`:                       {"remove .git/objects/OBJECT"},
		`mv .git/objects "$TMPDIR/o"`:                          {"remove .git/objects"},
		`mv .git/refs "$TMPDIR/refs"`:                          {"remove .git/refs"},
	} {
		for _, allow := range []bool{true, false} {
			name := script
			if !allow {
				name = "no: " + script
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newShimmed(t)
				s.config.Gate = &shim.Gate{Effects: true}
				s.confined(confine.Rules{})
				made := exec.Command("sh", "-c", kept)
				made.Dir, made.Env = s.root, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
				if out, err := made.CombinedOutput(); err != nil {
					t.Fatal(err, string(out))
				}
				reports := s.editor(func(feed.Report) error {
					if !allow {
						return errors.New("no")
					}
					return nil
				})
				out, _ := s.run("sh", "-c", script)
				object := regexp.MustCompile(`objects/(pack/)?([0-9a-f]{2}/|pack-)[0-9a-f]+(\.(pack|idx))?`)
				var asked []string
				for _, r := range reports() {
					q := object.ReplaceAllString(s.effect(r), "objects/${1}OBJECT")
					if r.Phase == feed.Ask && r.Reason != "" && !slices.Contains(asked, q) {
						asked = append(asked, q)
					}
				}
				slices.Sort(asked)
				if len(want) == 0 != (len(asked) == 0) || len(want) > 0 && !slices.Contains(asked, want[0]) {
					t.Errorf("asked %q, want %q\n%s", asked, want, out)
				}
				if allow {
					return
				}
				for name, text := range map[string]string{"notes.txt": "mine\n", "changed.txt": "changed.txt\nmine\n", "mine/a": "mine\n"} {
					if data, err := os.ReadFile(filepath.Join(s.root, name)); len(want) > 0 && !strings.Contains(script, ".n") && !strings.Contains(script, "mv notes.txt d") && (err != nil || string(data) != text) {
						t.Errorf("%s: %q, %v", name, data, err)
					}
				}
				for _, commit := range []string{"fetched", "t", "stash", "main"} {
					look := exec.Command("git", "cat-file", "-e", commit+"^{tree}")
					look.Dir = s.root
					if out, err := look.CombinedOutput(); len(want) > 0 && err != nil {
						t.Errorf("%s: %v %s", commit, err, out)
					}
				}
			})
		}
	}
}
