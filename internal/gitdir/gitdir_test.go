//go:build unix

package gitdir

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestGitDirs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files       map[string]string
		own, common string
	}{
		"a repository":                        {nil, "/w/.git", "/w/.git"},
		"an added work tree":                  {map[string]string{"/w/.git": "gitdir: /r/.git/worktrees/w\n", "/r/.git/worktrees/w/commondir": "../..\n"}, "/r/.git/worktrees/w", "/r/.git"},
		"a submodule":                         {map[string]string{"/w/.git": "gitdir: ../.git/modules/w\n"}, "/.git/modules/w", "/.git/modules/w"},
		"a shared folder with a full name":    {map[string]string{"/w/.git": "gitdir: /r/own", "/r/own/commondir": "/r/all"}, "/r/own", "/r/all"},
		"spaces are part of a name":           {map[string]string{"/w/.git": "gitdir: /r/own \r\n", "/r/own /commondir": "../all \n"}, "/r/own ", "/r/all "},
		"a file that git would not recognize": {map[string]string{"/w/.git": "gitdir:/r\n"}, "/w/.git", "/w/.git"},
	} {
		read := func(path string) string { return c.files[filepath.ToSlash(path)] }
		own, common := Of("/w", read)
		if own, common = filepath.ToSlash(own), filepath.ToSlash(common); own != c.own || common != c.common {
			t.Errorf("%s: %q and %q, expected %q and %q", name, own, common, c.own, c.common)
		}
	}
}

// Git itself finds the same folders.
func TestGitDirsAreThoseOfGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := func(dir string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(args, err)
		}
		return string(out)
	}
	main, added := filepath.Join(top, "main"), filepath.Join(top, "added")
	git(top, "init", "-q", main)
	git(main, "commit", "-q", "--allow-empty", "-m", "one")
	git(main, "worktree", "add", "-q", added)
	for _, folder := range []string{main, added} {
		own, common := Of(folder, func(path string) string { b, _ := os.ReadFile(path); return string(b) })
		got := filepath.ToSlash(own) + "\n" + filepath.ToSlash(common) + "\n"
		if want := git(folder, "rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir"); got != want {
			t.Errorf("%s: got %q, git has %q", folder, got, want)
		}
	}
}

// A folder that git does not take for a repository is none: agents and their sandboxes leave
// such folders.
func TestARepositoryIsWhatGitTakesForOne(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for name, makes := range map[string]func(at string) error{
		"nothing":                func(string) error { return nil },
		"a repository":           func(at string) error { return exec.Command("git", "init", "-q", filepath.Dir(at)).Run() },
		"an empty folder":        func(at string) error { return os.Mkdir(at, 0o755) },
		"a folder with settings": func(at string) error { return errors.Join(os.Mkdir(at, 0o755), os.WriteFile(at+"/config", nil, 0o644)) },
		"a link to one elsewhere": func(at string) error {
			return errors.Join(exec.Command("git", "init", "-q", at+".elsewhere").Run(), os.Symlink(at+".elsewhere/.git", at))
		},
		"a file that names one elsewhere": func(at string) error {
			return exec.Command("git", "init", "-q", "--separate-git-dir", at+".elsewhere", filepath.Dir(at)).Run()
		},
		"a link to nothing": func(at string) error { return os.Symlink("nowhere", at) },
		"an empty file":     func(at string) error { return os.WriteFile(at, nil, 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := makes(filepath.Join(folder, ".git")); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("git", "-C", folder, "rev-parse", "--show-toplevel")
			cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(folder))
			top, err := cmd.Output()
			if got, want := IsIn(folder), err == nil && strings.TrimSpace(string(top)) == folder; got != want {
				t.Errorf("%v, git says %v: %s %v", got, want, top, err)
			}
		})
	}
}
