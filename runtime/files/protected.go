package files

import (
	"path"
	"slices"
	"strings"
)

// denied are directories (or, for a linked work tree, files) whose content
// steers a version control system. Agents change it by running the system.
var denied = []string{".git", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs", "cvs"}

// runsLater lists, by what they are, the names whose content other programs
// execute or trust without being asked again. A name is matched wherever it
// stands in the path, so a directory protects what is in it; a pattern with
// slashes matches that many names in a row; * and ? are as in path.Match.
var runsLater = []struct {
	what  string
	names []string
}{
	{"editor start-up", []string{
		".nvim.lua", ".nvimrc", ".exrc", "_exrc", ".vimrc", "_vimrc", ".gvimrc", "_gvimrc", ".lvimrc",
		".vim", ".nvim", ".lazy.lua", ".neoconf.json", ".luarc.json", ".dir-locals.el", ".emacs", ".emacs.d",
		".projections.json", "*.code-workspace", ".vscode", ".idea", ".zed", ".fleet", ".sublime-project",
		"*.sublime-project", ".config/nvim", ".config/vim", ".config/emacs",
	}},
	{"shell start-up", []string{
		".envrc", ".profile", ".login", ".logout", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
		".bash_aliases", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc",
		".tcshrc", ".inputrc", ".config/fish", ".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".pam_environment",
		".tmux.conf", ".screenrc", ".config/tmux",
	}},
	{"program start-up", []string{
		".gdbinit", ".lldbinit", ".pythonrc", ".pythonrc.py", ".pdbrc", "sitecustomize.py", "usercustomize.py", "*.pth",
		".irbrc", ".pryrc", ".rprofile", ".sqliterc", ".psqlrc", ".ipython", ".noderc", ".config/autostart",
		".config/systemd", ".config/environment.d", ".local/bin", "crontab", ".crontab", "launchagents",
	}},
	{"build", []string{
		"makefile", "gnumakefile", "bsdmakefile", "makefile.*", "*.mk", "cmakelists.txt", "*.cmake", "justfile", ".justfile",
		"taskfile", "taskfile.yml", "taskfile.yaml", "rakefile", "gemfile", "*.gemspec", "vagrantfile", "dockerfile",
		"containerfile", "docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml", "build.gradle",
		"build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradlew", "mvnw", "pom.xml", "build.rs", "build.zig",
		"build.xml", "build.sbt", "sconstruct", "wscript", "meson.build", "configure", "build.bazel", "workspace.bazel",
		"module.bazel", "flake.nix", "shell.nix", "default.nix", "mix.exs", "dune-project", "package.swift", "conanfile.py",
	}},
	{"package scripts", []string{
		"package.json", "composer.json", "pyproject.toml", "setup.py", "setup.cfg", "conftest.py", "tox.ini", "noxfile.py",
		"pytest.ini", "gruntfile.*", "gulpfile.*",
		".eslintrc.js", ".eslintrc.cjs", ".prettierrc.js", ".babelrc.js", ".pnpmfile.cjs", ".yarn", "deno.json", "deno.jsonc",
	}},
	{"git hooks and attributes", []string{
		".gitattributes", ".gitmodules", ".gitconfig", ".githooks", ".husky", ".lefthook", "lefthook.yml", ".lefthook.yml",
		".pre-commit-config.yaml", ".hgrc", ".config/git",
	}},
	{"continuous integration", []string{
		".github", ".gitlab", ".gitlab-ci.yml", ".circleci", ".travis.yml", ".buildkite", ".drone.yml", ".woodpecker",
		".woodpecker.yml", ".forgejo", ".gitea", ".ci", ".cirrus.yml", ".appveyor.yml", "appveyor.yml", "azure-pipelines.yml",
		"bitbucket-pipelines.yml", "cloudbuild.yaml", "jenkinsfile", ".teamcity", ".tekton",
	}},
	{"tool versions and environments", []string{
		".tool-versions", ".mise.toml", "mise.toml", ".mise", ".nvmrc", ".devcontainer", ".devcontainer.json", ".direnv",
		".cargo/config", ".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml",
	}},
	{"credentials and trust", []string{
		".ssh", "authorized_keys", ".gnupg", ".netrc", "_netrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".aws", ".azure",
		".config/gcloud", ".kube", ".docker", ".config/pip", "pip.conf", ".git-credentials", ".cargo/credentials.toml", ".m2",
	}},
	{"agent configuration", []string{
		".claude", ".codex", ".gemini", ".cursor", ".opencode", "opencode.json", ".goose", ".qwen", ".kilocode", ".clinerules",
		".mcp.json", "mcp.json", ".continue", ".aider.conf.yml", ".config/hermes",
	}},
}

// protection says what is special about a name below a root, nil when nothing.
func protection(names []string) *ProtectedError {
	folded := make([]string, len(names))
	for i, name := range names {
		folded[i] = fold(name)
		if slices.Contains(denied, folded[i]) || strings.HasPrefix(folded[i], "git~") {
			return &ProtectedError{Reason: "version control internals", Denied: true}
		}
	}
	for _, group := range runsLater {
		for _, pattern := range group.names {
			if matches(pattern, folded) {
				return &ProtectedError{Reason: group.what}
			}
		}
	}
	return nil
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
