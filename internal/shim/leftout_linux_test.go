//go:build amd64 || arm64

package shim_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// hidings are ways of a program to have its changes ignored. Each ends with a change
// of src/a, which was there before, and of the new file src/evil.
var hidings = map[string]string{
	"exclude":                    `mkdir -p .git/info; echo '*' > .git/info/exclude`,
	"exclude, renamed":           `echo '*' > ../x; mkdir -p .git/info; mv ../x .git/info/exclude`,
	".gitignore":                 `echo '*' > .gitignore`,
	".gitignore of a folder":     `echo '*' > src/.gitignore`,
	".gitignore, linked":         `echo '*' > ../x; ln ../x src/.gitignore`,
	"an old file as .gitignore":  `mv venv/all src/.gitignore`,
	"a nested repository":        `mkdir -p src/.git/info; echo '*' > src/.git/info/exclude`,
	"a nested one, renamed":      `mkdir -p ../r/info; echo '*' > ../r/info/exclude; mv ../r src/.git`,
	"a nested one, elsewhere":    `mkdir -p ../r/info; echo '*' > ../r/info/exclude; echo "gitdir: $PWD/../r" > src/.git`,
	"the settings":               `echo '*' > ../x; printf '[core]\n\texcludesFile = %s\n' "$PWD/../x" >> .git/config`,
	"the user's settings":        `mkdir -p ~/.config/git; echo '*' > ~/.config/git/ignore; printf '[core]\n\texcludesFile = ~/.config/git/ignore\n' > ~/.gitconfig`,
	"commondir":                  `mkdir -p ../r/info; echo '*' > ../r/info/exclude; echo "$PWD/../r" > .git/commondir`,
	"after other changes":        `echo x > b; echo x > src/z; mkdir -p src/.git/info; echo '*' > src/.git/info/exclude`,
	"only the root was changed":  `echo x > b; mkdir -p src/.git/info; echo '*' > src/.git/info/exclude`,
	"the folder is another one":  `mv src ../s; mkdir -p src/gen; echo '*' > src/.gitignore; cp ../s/a src/a`,
	"a folder that ignores all":  `cp -r src ../s; echo '*' > ../s/.gitignore; rm -r src; mv ../s src`,
	"out of the index":           `git rm -q --cached src/gen/a; echo gen > src/.gitignore`,
	"a submodule's exclude":      `mkdir -p .git/modules/s/info; echo '*' > .git/modules/s/info/exclude; echo "gitdir: ../.git/modules/s" > src/.git`,
	"exclude, through a symlink": `ln -s "$PWD/.git" ../g; mkdir -p ../g/info; echo '*' > ../g/info/exclude`,
}

func (s *shimmed) repository() {
	s.t.Helper()
	for _, file := range []string{"src/a", "src/gen/a", "b"} {
		s.write(file, "old\n")
	}
	s.write(".gitignore", "gen/\nvenv/\nbuild/\n")
	s.write("venv/all", "*\n")
	s.write("build/gen.go", "old\n")
	s.write("build/other", "old\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"add", "-f", "src/gen/a", "build/gen.go"}, {"-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = s.root, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Fatalf("%s: %v", out, err)
		}
	}
}

// Files that a program writes decide neither which of its changes are asked about
// nor which are recorded.
func TestAProgramCannotHaveItsChangesIgnored(t *testing.T) {
	t.Parallel()
	for name, hide := range hidings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, gated := range []bool{false, true} {
				s := newShimmed(t)
				s.repository()
				home := t.TempDir()
				s.env = []string{"HOME=" + home}
				if gated {
					s.config.Gate = &shim.Gate{}
				}
				out, _ := s.run("sh", "-c", hide+"\necho new > src/a; echo new > src/evil; echo new > src/gen/a")
				for _, file := range []string{"src/a", "src/evil", "src/gen/a"} {
					recorded := slices.ContainsFunc(s.lines(journal.Post), func(line string) bool {
						return strings.HasPrefix(line, "write "+file+" ") && strings.HasSuffix(line, `"new\n"`)
					})
					data, err := os.ReadFile(filepath.Join(s.root, file))
					changed := string(data) == "new\n"
					switch {
					case gated && (changed || err == nil && string(data) != "old\n"):
						t.Errorf("%s changed, and nobody allowed it\n%s", file, out)
					case !gated && changed && !recorded:
						t.Errorf("the change of %s is not recorded\n%s\n  %s", file, out, strings.Join(s.lines(journal.Post), "\n  "))
					case !gated && !changed:
						t.Errorf("%s did not change\n%s", file, out)
					}
				}
			}
		})
	}
}

// What holds secrets and what other programs run is usually ignored by its own name. Then it
// is asked about, and recorded. What is in an ignored folder, such as one of packages, is not.
func TestASpecialFileIsOneOfTheProjectThoughGitIgnoresIt(t *testing.T) {
	t.Parallel()
	for _, gated := range []bool{false, true} {
		s := newShimmed(t)
		s.repository()
		s.write(".gitignore", ".env*\n.vscode\n*.pem\nnode_modules/\nout/\n*.log\n")
		s.write("node_modules/p/index.js", "")
		s.write("out/a", "")
		if gated {
			s.config.Gate = &shim.Gate{}
		}
		out, _ := s.run("sh", "-c", `
try() { if mkdir -p "$(dirname "$1")" && echo x > "$1"; then echo "done $1"; fi 2> /dev/null; }
for f in .env sub/.env.local .envrc .vscode/tasks.json sub/deploy.pem node_modules/p/package.json node_modules/.env out/Makefile out/x.pem a.log; do try $f; done`)
		var done []string
		for line := range strings.Lines(out) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), "done "); ok {
				done = append(done, name)
			}
		}
		want := []string{"node_modules/p/package.json", "node_modules/.env", "out/Makefile", "out/x.pem", "a.log"}
		special := []string{".env", "sub/.env.local", ".envrc", ".vscode/tasks.json", "sub/deploy.pem"}
		if !gated {
			want = append(slices.Clone(special), want...)
		}
		if !slices.Equal(done, want) {
			t.Errorf("gated %v: changed %q, want %q\n%s", gated, done, want, out)
		}
		var recorded []string
		for _, line := range s.lines(journal.Post) {
			if words := strings.Fields(line); words[0] == "write" {
				recorded = append(recorded, words[1])
			}
		}
		if gated {
			special = nil
		}
		if !slices.Equal(recorded, special) {
			t.Errorf("gated %v: recorded %q", gated, recorded)
		}
	}
}

// Git does not ignore what it tracks, whatever its patterns say.
func TestTrackedFilesAreFilesOfTheProject(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.repository()
	out, status := s.run("sh", "-c", "echo new > build/gen.go; echo new > build/other; echo new > src/gen/a; echo new > src/gen/b; rm build/gen.go")
	want := []string{`write build/gen.go "old\n" "new\n"`, `write src/gen/a "old\n" "new\n"`, `remove build/gen.go "new\n"`}
	if got := s.lines(journal.Post); !slices.Equal(got, want) || status != 0 {
		t.Errorf("exit status %d, got\n  %s\n%s", status, strings.Join(got, "\n  "), out)
	}
}

// A file that is added during the run is one of the project from then on, whoever adds it.
func TestAFileThatGitTracksLaterIsAFileOfTheProject(t *testing.T) {
	t.Parallel()
	for _, gated := range []bool{false, true} {
		s := newShimmed(t)
		s.repository()
		s.write("build/late", "old\n")
		if gated {
			s.config.Gate = &shim.Gate{Allow: []string{filepath.Join(s.root, ".git")}}
		}
		d := s.talk(`exec 2>&1
change() { (echo $1 > build/other); (echo $1 > build/late); echo changed; read line; }
change one; git add -f build/other; change two; git rm -q -f --cached build/other; change three; exit 0`)
		refused := map[string]int{}
		changed := func() {
			for line := d.line(); line != "changed"; line = d.line() {
				for _, file := range []string{"build/other", "build/late"} {
					if strings.Contains(line, file) && strings.Contains(line, "denied") {
						refused[file]++
					}
				}
			}
		}
		changed()
		d.enter()
		changed()
		add := exec.Command("git", "add", "-f", "build/late")
		add.Dir, add.Env = s.root, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := add.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		d.enter()
		changed()
		d.enter()
		if err := d.cmd.Wait(); err != nil {
			t.Error(err)
		}
		got := slices.DeleteFunc(s.lines(journal.Post), func(line string) bool { return !strings.Contains(line, "build/") })
		want, wantRefused := []string{`write build/other "one\n" "two\n"`, `write build/other "two\n" "three\n"`, `write build/late "two\n" "three\n"`}, map[string]int{}
		if gated {
			want, wantRefused = nil, map[string]int{"build/other": 2, "build/late": 1}
		}
		if !slices.Equal(got, want) || !maps.Equal(refused, wantRefused) {
			t.Errorf("gate %v: refused %v, recorded\n  %s", gated, refused, strings.Join(got, "\n  "))
		}
	}
}

// Below ".git", the shim leaves out files that git only keeps.
func TestWhatSteersGitIsGated(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.repository()
	s.config.Gate = &shim.Gate{}
	out, _ := s.run("sh", "-c", `
try() { if mkdir -p "$(dirname "$1")" && echo x > "$1"; then echo "$1"; fi 2> /dev/null; }
for f in config config.worktree commondir hooks/pre-commit info/exclude info/attributes info/sparse-checkout modules/s/hooks/x modules/s/config modules/a/logs/hooks/x \
	worktrees/w/commondir worktrees/w/gitdir rebase-merge/git-rebase-todo new; do try .git/$f; done
for f in .git/objects/00/x .git/refs/heads/x .git/logs/x .git/FETCH_HEAD .git/COMMIT_EDITMSG .git/config.lock .git/index .git/packed-refs .git/sharedindex.x; do try $f; done
for f in config hooks/x HEAD; do try src/.git/$f; done
echo "gitdir: /x" > b/.git || rm -rf .git/config; mv .git/config .git/FETCH_HEAD; ls .git/config
`)
	want := ".git/objects/00/x\n.git/refs/heads/x\n.git/logs/x\n.git/FETCH_HEAD\n.git/COMMIT_EDITMSG\n.git/config.lock\n.git/index\n.git/packed-refs\n.git/sharedindex.x\n"
	var got strings.Builder
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, ".git/") || strings.HasPrefix(line, "src/") {
			got.WriteString(line)
		}
	}
	if got.String() != want+".git/config\n" {
		t.Errorf("not asked about:\n%s\nall:\n%s", got.String(), out)
	}
}

// A folder that git ignores as a folder is left out from its first moment to its last.
func TestAnIgnoredFolderIsLeftOutWhenItIsMade(t *testing.T) {
	t.Parallel()
	const script = `set -e; mkdir node_modules node_modules/p; echo x > node_modules/p/a; mv node_modules/p node_modules/q; rm -r node_modules; mkdir ../new; mv ../new node_modules; rmdir node_modules
mkdir kept; mv kept node_modules; mkdir file-only; mv node_modules kept`
	want := []string{"mkdir kept", "mkdir file-only", "mkdir kept"}
	for _, gated := range []bool{false, true} {
		s := newShimmed(t)
		s.repository()
		s.write(".gitignore", "*\n!*/\nnode_modules/\n")
		asked := func() []feed.Report { return nil }
		if gated {
			s.config.Gate = &shim.Gate{}
			asked = s.editor(nil)
		}
		if out, status := s.run("sh", "-c", script); status != 0 {
			t.Fatalf("gated %v: exit status %d\n%s", gated, status, out)
		}
		if got := s.lines(journal.Post); !slices.Equal(got, want) {
			t.Errorf("gated %v: recorded %q, want %q", gated, got, want)
		}
		var questions []string
		for _, r := range asked() {
			if r.Phase == feed.Ask {
				questions = append(questions, filepath.Base(r.From)+" "+filepath.Base(r.Path))
			}
		}
		if want := []string{". kept", "kept node_modules", ". file-only", "node_modules kept"}; gated && !slices.Equal(slices.Compact(questions), want) { // what is allowed is told again
			t.Errorf("asked about %q, want %q", questions, want)
		}
	}
}
