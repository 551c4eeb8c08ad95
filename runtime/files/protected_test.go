//go:build unix

package files

import (
	"errors"
	"os"
	"path/filepath"
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
		sub/dir/Makefile a/.github/b/c.txt
		.luacheckrc .local.vimrc .vimspector.json vite.config.js vite.config.ts webpack.config.js jest.config.mjs
		eslint.config.js babel.config.cjs .mocharc.js .mocharc.yml .babelrc .babelrc.json .bazelrc BUILD lib/BUILD WORKSPACE
		Tiltfile Snakefile magefile.go .envrc.local .bash_completion .overcommit.yml .rhosts .mailcap .helix/config.toml .ghci
		.guile .config/Code/User/tasks.json .config/sway/config .config/kitty/kitty.conf .config/any/thing .wezterm.lua .curlrc
		.my.cnf .local/share/nvim/site/plugin/x.lua .local/state/nvim/trust Library/LaunchAgents/x.plist
		plugin/x.vim plugin/x.lua plugin/sub/x.lua after/plugin/x.vim after/any.lua ftplugin/go.vim ftplugin/go/more.lua
		ftdetect/x.vim autoload/x.vim autoload/a/b.vim indent/x.lua syntax/x.vim colors/x.vim compiler/x.vim
		sub/dotfiles/nvim/plugin/x.lua
		tasks.py sub/tasks.py .clangd tsconfig.json tsconfig.build.json Cargo.toml crates/a/Cargo.toml .projectile
		CLAUDE.md sub/AGENTS.md GEMINI.md CLAUDE.local.md .env sub/.env.local server.key .aws/credentials secrets.yml`)
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
		Makefile.go.txt/x packages.json package-lock.json lib/setup.go notes.profile ssh/x .editorconfig .env.example build/x.c
		tests/conftest_test.py docs/vscode.md .sshx x.mkd git.txt dotgit/.gitkeep
		plugin/index.js plugins/x.lua plugin/README.md src/plugin/x.lua.txt lua/x.lua lua/plugin.lua vim/x.vim x.lua after.lua
		build/BUILD.md BUILD_NOTES workspace/x.go build/workspace/x.c config/app.js app.config.ts site.config.js vite.config
		snake/file worktrees/x.go configs/x Code/x`) {
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

// The names above the root also count, because a session may start anywhere.
func TestASessionInsideAProtectedFolderIsProtected(t *testing.T) {
	t.Parallel()
	const denied, asked, free = "denied", "asked", "free"
	for root, want := range map[string]string{
		".git": denied, ".git/hooks": denied, ".GIT": denied, "p/.git/modules/m": denied, ".git/worktrees/w": denied, ".hg/store": denied,
		".svn": denied, "_darcs": denied, ".jj/repo": denied, "ｇｉｔ/.ｇｉｔ": denied,
		".config/nvim": asked, ".config/nvim/lua": asked, ".CONFIG/Nvim": asked, ".config": asked, ".vim/plugin": asked, ".ssh": asked,
		".github/workflows": asked, ".claude": asked, ".local/bin": asked, ".local/share/nvim/site/pack/p/start/q": asked,
		"Library/LaunchAgents": asked, ".vſcode": asked, "p/.husky/_": asked,
		// A folder with an everyday name is an ordinary project.
		"plain": free, "configure": free, "makefile/x": free, "crontab": free, "cvs/resume": free, "plugin": free, "after/x": free,
		"build": free, "workspace/p": free, "git": free, "github/p": free, "config/nvim": free, ".local/src": free, ".cache/p": free,
		// A checkout that an agent works in is an ordinary project, wherever it is.
		".claude/worktrees/w": free, ".cursor/worktrees/p/w": free, ".claude/worktrees/w/.git": denied,
	} {
		base, err := filepath.EvalSymlinks(t.TempDir())
		must(t, err)
		dir := filepath.Join(base, "home", filepath.FromSlash(root))
		must(t, os.MkdirAll(dir, 0o755))
		link := filepath.Join(base, "link")
		must(t, os.Symlink(dir, link))
		moved := filepath.Join(base, "moved")
		must(t, os.Mkdir(moved, 0o755))
		for _, at := range []string{dir, link} { // the root as it is, and under a harmless name
			w := open(t, Options{}, at)
			name := filepath.Join(at, "init.lua")
			err := w.WriteText(name, "x")
			loc, resolveErr := w.Resolve(name)
			must(t, resolveErr)
			approved := w.WriteApproved(loc, "x")
			got := free
			if p := (*ProtectedError)(nil); errors.As(err, &p) {
				got = asked
				if p.Denied {
					got = denied
				}
			} else if err != nil {
				t.Errorf("%s: %v", root, err)
			}
			if (loc.Protected() == nil) != (got == free) || (approved == nil) != (got != denied) {
				t.Errorf("%s: wrote %v, approved %v, resolved %v", root, err, approved, loc.Protected())
			}
			if got != want {
				t.Errorf("a session in %s (%s): %s, want %s", root, filepath.Base(at), got, want)
			}
			w.Close()
		}
		// The reverse: a protected name that leads to a harmless folder.
		if want == free {
			continue
		}
		must(t, os.RemoveAll(dir))
		must(t, os.Symlink(moved, dir))
		w := open(t, Options{}, dir)
		if err := w.WriteText(filepath.Join(dir, "init.lua"), "x"); !errors.Is(err, ErrProtected) {
			t.Errorf("a session in %s, which is a link: %v", root, err)
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

// A folder with HEAD, config, objects and refs is a repository, and its
// configuration names programs that git runs in it.
func TestMakingARepositoryNeedsApproval(t *testing.T) {
	t.Parallel()
	for _, order := range []string{ // a ! marks what needs approval
		"HEAD !config",
		"config !HEAD",
		"objects/x refs/x config !HEAD",
		"objects/x HEAD refs/x !config",
		"HEAD !commondir",
		"commondir !HEAD",
		"HEAD !config.worktree !config",
		"a/HEAD config b/config a/b/config",
		"head.txt config HEADER a.config",
		"config config",
		"HEAD HEAD objects/x refs/heads/x",
	} {
		w := open(t, Options{}, t.TempDir())
		for name := range strings.FieldsSeq(order) {
			name, protected := strings.CutPrefix(name, "!")
			path := w.Roots()[0] + "/deep/" + name
			err := w.WriteText(path, "x")
			loc, resolveErr := w.Resolve(path)
			must(t, resolveErr)
			if p := (*ProtectedError)(nil); protected != errors.As(err, &p) || p != nil && (p.Denied || p.Name != "deep/"+name) || protected != errors.Is(loc.Protected(), ErrProtected) {
				t.Errorf("%s: %s: %v, %v", order, name, err, loc.Protected())
			}
		}
	}
	w := open(t, Options{}, t.TempDir())
	dir := w.Roots()[0]
	must(t, os.Mkdir(dir+"/bare", 0o755))
	for _, name := range []string{"/bare/HEAD", "/bare/config"} { // as a hostile clone brings it
		must(t, os.WriteFile(dir+name, nil, 0o644))
	}
	must(t, os.Symlink("bare/config", dir+"/link"))
	for how, spell := range spellings {
		if err := w.WriteText(dir+"/bare/"+spell("config"), "x"); !errors.Is(err, ErrProtected) {
			t.Errorf("%s: %v", how, err)
		}
	}
	if err := w.WriteText(dir+"/link", "x"); !errors.Is(err, ErrProtected) {
		t.Errorf("by a link: %v", err)
	}
	loc, err := w.Resolve(dir + "/bare/config")
	must(t, err)
	must(t, w.WriteApproved(loc, "y"))
}
