package special

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// system are the files and folders with secrets of the machine.
var system = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh", "/etc/ssl/private"}

// home lists the files and folders with secrets below the home folder, besides those that
// secret names.
var home = []string{
	// Keys, tokens and passwords of programs.
	".my.cnf", ".mylogin.cnf", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".azure", ".docker", ".m2", ".terraform.d", ".terraformrc",
	".cargo/credentials", ".cargo/credentials.toml", ".gradle/gradle.properties", ".gem/credentials", ".boto", ".s3cfg", ".kaggle", ".databrickscfg",
	".config/gcloud", ".config/gh", ".config/hub", ".config/glab-cli", ".config/doctl", ".config/op", ".config/pip", ".config/rclone",
	".config/git/credentials", ".config/containers/auth.json", ".config/sops/age/keys.txt", ".config/age", ".config/heroku", ".config/netlify",
	".cache/huggingface/token", ".huggingface/token", ".local/share/keyrings", ".local/share/kwalletd",
	// Browsers and mail.
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi",
	".config/opera", ".config/Signal", ".var/app", "snap/firefox", "snap/chromium", "snap/thunderbird",
	"Library/Keychains", "Library/Cookies", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox",
	// What was typed.
	".bash_history", ".zsh_history", ".zhistory", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history",
	".rediscli_history", ".lesshst", ".local/share/fish/fish_history", ".local/state/bash", ".local/state/zsh", ".local/share/atuin", ".config/atuin",
	// Logins and conversations of agents.
	".augment", ".claude", ".claude.json", ".cline", ".codex", ".copilot", ".cursor", ".factory", ".gemini", ".hermes", ".pi", ".qwen", ".kilocode",
	".continue", ".config/amp", ".config/cursor", ".config/github-copilot", ".config/goose", ".config/opencode", ".config/kilo",
	".local/share/amp", ".local/share/goose", ".local/share/opencode", ".local/share/kilo", ".local/state/goose", ".local/state/opencode",
	".config/hermes-agent", ".local/state/hermes-agent",
}

// moved are the variables that move what is below the home folder.
var moved = []struct{ below, variable string }{
	{".config", "XDG_CONFIG_HOME"}, {".cache", "XDG_CACHE_HOME"}, {".local/share", "XDG_DATA_HOME"}, {".local/state", "XDG_STATE_HOME"},
	{".claude", "CLAUDE_CONFIG_DIR"}, {".codex", "CODEX_HOME"}, {".hermes", "HERMES_HOME"}, {".gnupg", "GNUPGHOME"}, {".docker", "DOCKER_CONFIG"},
	{".password-store", "PASSWORD_STORE_DIR"}, {".cargo", "CARGO_HOME"}, {".gradle", "GRADLE_USER_HOME"}, {".azure", "AZURE_CONFIG_DIR"},
}

// Hidden returns the files and folders of the machine and of a user that hold secrets: keys,
// tokens, passwords, histories of shells, and the logins and conversations of agents. They
// need not exist. lookup finds the variables that move some of them.
func Hidden(homeDir string, lookup func(string) string) []string {
	list := slices.Clone(system)
	if homeDir == "" {
		return list
	}
	for _, name := range slices.Concat(secret, home) {
		if strings.ContainsAny(name, "*?[") {
			continue
		}
		list = append(list, filepath.Join(homeDir, filepath.FromSlash(name)))
		list = append(list, elsewhere(name, lookup)...)
	}
	return list
}

// elsewhere returns where a variable moves what is below the home folder.
func elsewhere(name string, lookup func(string) string) []string {
	for _, m := range moved {
		rest, below := strings.CutPrefix(name+"/", m.below+"/")
		if to := lookup(m.variable); below && filepath.IsAbs(to) {
			return []string{filepath.Join(to, filepath.FromSlash(rest))}
		}
	}
	return nil
}

// own are the folders, below the home folder, with the settings of Hermes and of hermes-agent,
// its skills, its key and what it is allowed, and with what Hermes keeps.
var own = []string{".config/hermes", ".config/hermes-agent", ".local/state/nvim/hermes", ".local/state/hermes-agent"}

// Own returns the folders that only Hermes and the user change.
func Own(homeDir string, lookup func(string) string) []string {
	if homeDir == "" {
		return nil
	}
	var list []string
	for _, name := range own {
		list = append(list, filepath.Join(homeDir, filepath.FromSlash(name)))
		list = append(list, elsewhere(name, lookup)...)
	}
	return list
}

// User returns the home folder of the user, "" if nobody knows it.
func User() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return dir
}
