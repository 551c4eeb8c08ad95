//go:build unix

package files

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode"
)

// T06, FS08.
func TestNamesThatRunLaterNeedApprovalInEverySpelling(t *testing.T) {
	t.Parallel()
	names := strings.Fields(`
		.nvim.lua .nvimrc .exrc _exrc .vimrc .gvimrc .lvimrc .vim/plugin/x.vim .vscode/tasks.json .vscode/settings.json
		.idea/workspace.xml .zed/tasks.json x.code-workspace .config/nvim/init.lua .dir-locals.el .envrc .profile .bashrc
		.bash_profile .zshrc .zshenv .zprofile .cshrc .config/fish/config.fish .xprofile .tmux.conf .gdbinit .lldbinit
		sitecustomize.py evil.pth .irbrc .config/autostart/x.desktop .config/systemd/user/x.service .local/bin/ls Makefile
		GNUmakefile rules.mk CMakeLists.txt justfile Taskfile.yml Rakefile Gemfile Dockerfile docker-compose.yml
		build.gradle pom.xml build.rs flake.nix package.json pyproject.toml setup.py conftest.py tox.ini .pnpmfile.cjs
		.yarn/releases/yarn.cjs .gitattributes .gitmodules .gitconfig .githooks/pre-commit .husky/pre-push
		.pre-commit-config.yaml .github/workflows/ci.yml .gitlab-ci.yml .circleci/config.yml .travis.yml Jenkinsfile
		.ci/run .tool-versions .mise.toml .devcontainer/devcontainer.json .cargo/config.toml .ssh/authorized_keys
		.ssh/config .netrc .npmrc .pypirc .docker/config.json .kube/config .claude/settings.json .mcp.json .codex/config.toml
		sub/dir/Makefile a/.github/b/c.txt`)
	if len(names) < 60 {
		t.Errorf("only %d names", len(names))
	}
	w := open(t, Options{}, t.TempDir())
	for _, name := range names {
		for how, spell := range spellings {
			var p *ProtectedError
			err := w.WriteText(w.Roots()[0]+"/"+spell(name), "x")
			if !errors.As(err, &p) || p.Denied {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			if loc, err := w.Resolve(w.Roots()[0] + "/" + spell(name)); err != nil || !errors.Is(loc.Protected(), ErrProtected) {
				t.Errorf("%s, %s resolved: %v", name, how, err)
			}
		}
	}
	if left, _ := os.ReadDir(w.Roots()[0]); len(left) != 0 {
		t.Errorf("written: %v", left)
	}
}

func TestVersionControlInternalsAreDeniedInEverySpelling(t *testing.T) {
	t.Parallel()
	w := open(t, Options{}, t.TempDir())
	for _, name := range strings.Fields(`.git .git/config .git/hooks/pre-commit sub/.git/info/exclude .hg/hgrc .svn/wc.db
		.jj/repo/config git~1/config .git::$INDEX_ALLOCATION/config .git./config`) {
		for how, spell := range spellings {
			var p *ProtectedError
			loc, err := w.Resolve(w.Roots()[0] + "/" + spell(name))
			must(t, err)
			if err := w.WriteApproved(loc, "x"); !errors.As(err, &p) || !p.Denied {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
}

var spellings = map[string]func(string) string{
	"as it is":        func(s string) string { return s },
	"upper case":      strings.ToUpper,
	"mixed case":      func(s string) string { return strings.Map(alternate(), s) },
	"look-alike fold": strings.NewReplacer("k", "\u212a", "s", "ſ").Replace,
	"invisible": func(s string) string {
		return strings.Map(func(r rune) rune { return r }, strings.ReplaceAll(s, "i", "\u200ci\u2060\ufe0f"))
	},
	"full width": func(s string) string {
		return strings.Map(func(r rune) rune {
			if r > ' ' && r < 0x7f && r != '/' && r != ':' {
				return r + 0xfee0
			}
			return r
		}, s)
	},
	"ligatures":      strings.NewReplacer("fi", "ﬁ", "fl", "ﬂ", "st", "ﬆ", ".", "․").Replace,
	"trailing dot":   func(s string) string { return strings.ReplaceAll(s, "/", "./") + "." },
	"trailing space": func(s string) string { return s + "  " },
}

func alternate() func(rune) rune {
	upper := false
	return func(r rune) rune {
		if upper = !upper; upper {
			return unicode.ToUpper(r)
		}
		return r
	}
}

func TestOrdinaryNamesNeedNoApproval(t *testing.T) {
	t.Parallel()
	w := open(t, Options{}, t.TempDir())
	for _, name := range strings.Fields(`main.go README.md src/index.ts git/x .gitignore .github.md github/x make.go
		Makefile.go.txt/x packages.json package-lock.json lib/setup.go notes.profile ssh/x .editorconfig .env build/x.c
		tests/conftest_test.py docs/vscode.md .sshx x.mkd git.txt dotgit/.gitkeep`) {
		err := w.WriteText(w.Roots()[0]+"/"+name, "x")
		if strings.HasPrefix(name, "Makefile.") {
			if !errors.Is(err, ErrProtected) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestApprovedNamesAreWritten(t *testing.T) {
	t.Parallel()
	w := open(t, Options{}, t.TempDir())
	p := w.Roots()[0] + "/.github/workflows/ci.yml"
	loc, err := w.Resolve(p)
	must(t, err)
	must(t, w.WriteApproved(loc, "on: push\n"))
	if got := read(t, p); got != "on: push\n" {
		t.Errorf("%q", got)
	}

	must(t, os.Rename(w.Roots()[0]+"/.github", w.Roots()[0]+"/elsewhere"))
	must(t, os.Symlink("elsewhere", w.Roots()[0]+"/.github"))
	if err := w.WriteApproved(loc, "evil\n"); !errors.Is(err, ErrChanged) {
		t.Errorf("wrote elsewhere than approved: %v", err)
	}
}
