package files

import (
	"os"
	"path"
	"slices"
	"strings"
)

// denied are directories (or, for a linked work tree, files) whose content
// steers a version control system. Agents change it by running the system.
var denied = []string{".git", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs", "cvs"}

// runsLater lists, by kind, the names whose content other programs execute or
// trust without asking again. A name matches anywhere in the path, so a
// directory protects its content. A pattern with slashes matches that many
// names in a row; * and ? are as in path.Match. The names in files match only
// the last name of a path, because directories of that name are common.
var runsLater = []struct {
	what  string
	names []string
	files []string
}{
	{what: "editor start-up", names: []string{
		".nvim.lua", ".nvimrc", ".exrc", "_exrc", ".vimrc", "_vimrc", ".gvimrc", "_gvimrc", ".lvimrc",
		".vim", ".nvim", ".lazy.lua", ".neoconf.json", ".luarc.json", ".dir-locals.el", ".emacs", ".emacs.d",
		".projections.json", "*.code-workspace", ".vscode", ".idea", ".zed", ".fleet", ".sublime-project",
		"*.sublime-project", ".config/nvim", ".config/vim", ".config/emacs", ".local/share/nvim", ".local/state/nvim",
		".local.vimrc", ".vimspector.json", ".helix", ".clangd", ".projectile",
	}},
	{what: "shell start-up", names: []string{
		".envrc", ".envrc.local", ".profile", ".login", ".logout", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
		".bash_aliases", ".bash_completion", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc",
		".tcshrc", ".inputrc", ".config/fish", ".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".pam_environment",
		".tmux.conf", ".screenrc", ".config/tmux",
	}},
	{what: "program start-up", names: []string{
		".gdbinit", ".lldbinit", ".pythonrc", ".pythonrc.py", ".pdbrc", "sitecustomize.py", "usercustomize.py", "*.pth",
		".irbrc", ".pryrc", ".rprofile", ".sqliterc", ".psqlrc", ".my.cnf", ".ipython", ".noderc", ".ghci", ".guile",
		".luacheckrc", ".wezterm.lua", ".mailcap", ".curlrc", ".config/autostart", ".config/systemd", ".config/environment.d",
		".local/bin", "crontab", ".crontab", "launchagents", "library/launchagents",
	}},
	{what: "build", names: []string{
		"makefile", "gnumakefile", "bsdmakefile", "makefile.*", "*.mk", "cmakelists.txt", "*.cmake", "justfile", ".justfile",
		"taskfile", "taskfile.yml", "taskfile.yaml", "rakefile", "gemfile", "*.gemspec", "vagrantfile", "dockerfile",
		"containerfile", "docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml", "build.gradle",
		"build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradlew", "mvnw", "pom.xml", "build.rs", "build.zig",
		"build.xml", "build.sbt", "sconstruct", "wscript", "meson.build", "configure", "build.bazel", "workspace.bazel",
		"module.bazel", ".bazelrc", "flake.nix", "shell.nix", "default.nix", "mix.exs", "dune-project", "package.swift",
		"conanfile.py", "tiltfile", "snakefile", "magefile.go", "tasks.py", "cargo.toml", "tsconfig.json", "tsconfig.*.json",
	}, files: []string{"build", "workspace"}},
	{what: "package scripts", names: []string{
		"package.json", "composer.json", "pyproject.toml", "setup.py", "setup.cfg", "conftest.py", "tox.ini", "noxfile.py",
		"pytest.ini", "gruntfile.*", "gulpfile.*",
		".eslintrc.js", ".eslintrc.cjs", ".prettierrc.js", ".babelrc", ".babelrc.*", ".mocharc.*", ".pnpmfile.cjs", ".yarn",
		"deno.json", "deno.jsonc", "astro.config.*", "babel.config.*", "cypress.config.*", "eslint.config.*", "jest.config.*",
		"karma.conf.*", "metro.config.*", "next.config.*", "nuxt.config.*", "playwright.config.*", "postcss.config.*",
		"prettier.config.*", "rollup.config.*", "svelte.config.*", "tailwind.config.*", "vite.config.*", "vitest.config.*",
		"webpack.config.*",
	}},
	{what: "git hooks and attributes", names: []string{
		".gitattributes", ".gitmodules", ".gitconfig", ".githooks", ".husky", ".lefthook", "lefthook.yml", ".lefthook.yml",
		".pre-commit-config.yaml", ".overcommit.yml", ".hgrc", ".config/git",
	}},
	{what: "continuous integration", names: []string{
		".github", ".gitlab", ".gitlab-ci.yml", ".circleci", ".travis.yml", ".buildkite", ".drone.yml", ".woodpecker",
		".woodpecker.yml", ".forgejo", ".gitea", ".ci", ".cirrus.yml", ".appveyor.yml", "appveyor.yml", "azure-pipelines.yml",
		"bitbucket-pipelines.yml", "cloudbuild.yaml", "jenkinsfile", ".teamcity", ".tekton",
	}},
	{what: "tool versions and environments", names: []string{
		".tool-versions", ".mise.toml", "mise.toml", ".mise", ".nvmrc", ".devcontainer", ".devcontainer.json", ".direnv",
		".cargo/config", ".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml",
	}},
	{what: "credentials and trust", names: []string{
		".ssh", "authorized_keys", ".gnupg", ".rhosts", ".netrc", "_netrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".aws", ".azure",
		".config/gcloud", ".kube", ".docker", ".config/pip", "pip.conf", ".git-credentials", ".cargo/credentials.toml", ".m2",
	}},
	{what: "agent configuration", names: []string{
		"claude.md", "claude.local.md", "agents.md", "gemini.md", ".claude", ".codex", ".gemini", ".cursor", ".opencode", "opencode.json", ".goose", ".qwen", ".kilocode", ".clinerules",
		".mcp.json", "mcp.json", ".continue", ".aider.conf.yml", ".config/hermes",
	}},
	{what: "settings of programs", names: []string{".config"}},
}

// sourced are directories whose scripts Vim and Neovim run by themselves if
// their parent is in the runtime path.
var sourced = []string{"after", "autoload", "colors", "compiler", "ftdetect", "ftplugin", "indent", "plugin", "syntax"}

// protection says what is special about a path, nil if nothing is. The first
// above names lead to the root.
func protection(names []string, above int) *ProtectedError {
	folded := make([]string, len(names))
	for i, name := range names {
		folded[i] = fold(name)
	}
	for i, name := range folded {
		if slices.Contains(denied, name) && (i >= above || !everyday(name)) || strings.HasPrefix(name, "git~") {
			return &ProtectedError{Reason: "version control internals", Denied: true}
		}
	}
	folded, above = checkout(folded, above)
	last := len(folded) - 1
	for _, group := range runsLater {
		for _, pattern := range group.names {
			from := 0
			if everyday(pattern) {
				from = above
			}
			if matches(pattern, folded[from:]) {
				return &ProtectedError{Reason: group.what}
			}
		}
		if last >= above && slices.Contains(group.files, folded[last]) {
			return &ProtectedError{Reason: group.what}
		}
	}
	if last > above && (strings.HasSuffix(folded[last], ".vim") || strings.HasSuffix(folded[last], ".lua")) {
		for _, dir := range folded[above:last] {
			if slices.Contains(sourced, dir) {
				return &ProtectedError{Reason: "editor start-up"}
			}
		}
	}
	return nil
}

// RunsLater says what other programs would do with a file, by its names from the root
// of a project on, or from the root of the file system: execute it, trust it, or let
// it steer them. It is empty for ordinary files.
func RunsLater(names []string) string {
	if p := protection(names, 0); p != nil {
		return p.Reason
	}
	return ""
}

// everyday reports whether a pattern's match above a root may be the name of
// any project, such as "configure".
func everyday(pattern string) bool {
	return !strings.HasPrefix(pattern, ".") && !strings.HasPrefix(pattern, "_") && !strings.Contains(pattern, "/")
}

// checkout drops the names that lead to a working copy above the root. Agents
// keep theirs in their own folders, such as .claude/worktrees/NAME.
func checkout(names []string, above int) ([]string, int) {
	for i := above - 2; i >= 0; i-- {
		if names[i] == "worktrees" {
			return names[i+1:], above - i - 1
		}
	}
	return names, above
}

// makesRepository reports whether a file, together with those that are already
// in the directory, makes it a bare repository. The configuration of one names
// programs that git runs.
func makesRepository(dir *os.Root, name string) bool {
	beside := []string{"HEAD"}
	switch fold(name) {
	case "head":
		beside = []string{"config", "config.worktree", "commondir"}
	case "config", "config.worktree", "commondir":
	default:
		return false
	}
	return slices.ContainsFunc(beside, func(name string) bool {
		_, err := dir.Lstat(name)
		return err == nil
	})
}

func matches(pattern string, names []string) bool {
	n := strings.Count(pattern, "/") + 1
	for i := 0; i+n <= len(names); i++ {
		if ok, _ := path.Match(pattern, strings.Join(names[i:i+n], "/")); ok {
			return true
		}
	}
	return false
}
