package special

// vcs are directories (or, for a linked work tree, files) whose content steers a version
// control system. Agents change it by running the system.
var vcs = []string{".git", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs", "cvs"}

// secret lists the names of files that hold keys, tokens or passwords, and of the folders of
// such files. They match as those of steering do.
var secret = []string{
	".ssh", ".gnupg", ".aws", ".kube", ".password-store", ".netrc", "_netrc", ".pgpass", ".git-credentials", ".vault-token", ".htpasswd",
	".env", ".env.*", ".envrc", ".envrc.*", "id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk",
	"*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.ppk", "*.kdbx", "*.tfstate",
	"credentials.json", "client_secret*.json", "secrets.json", "secrets.toml", "secrets.yaml", "secrets.yml",
}

// examples are the ends of names that say what a secret file is to hold, without a secret.
var examples = []string{".example", ".sample", ".template", ".dist"}

// steering lists, by kind, the names whose content other programs execute or trust without
// asking again. A name matches anywhere in the path, so a directory counts for its content. A
// pattern with slashes matches that many names in a row; * and ? are as in path.Match. The
// names in files match only the last name of a path, because directories of that name are
// common.
var steering = []struct {
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
		"authorized_keys", ".rhosts", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".azure", ".config/gcloud", ".docker", ".config/pip",
		"pip.conf", ".cargo/credentials.toml", ".m2",
	}},
	{what: "agent configuration", names: []string{
		"claude.md", "claude.local.md", "agents.md", "gemini.md", ".claude", ".codex", ".gemini", ".cursor", ".opencode", "opencode.json", ".goose", ".qwen", ".kilocode", ".clinerules",
		".mcp.json", "mcp.json", ".continue", ".aider.conf.yml", ".augment", ".cline", ".copilot", ".factory", ".hermes", ".pi",
	}},
	{what: "settings of programs", names: []string{".config"}},
}

// sourced are directories whose scripts Vim and Neovim run by themselves if their parent is
// in the runtime path.
var sourced = []string{"after", "autoload", "colors", "compiler", "ftdetect", "ftplugin", "indent", "plugin", "syntax"}
