package process

import (
	"os"
	"slices"
	"strings"
)

// inherited names the variables that commands get besides those that every program
// gets, such as PATH, HOME and XDG_*. Any other variable may be a secret, so it has to
// be named in the settings.
var inherited = []string{
	// Terminals, editors and languages.
	"COLORTERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR*", "COLUMNS", "LINES", "TERMINFO", "TERMINFO_DIRS", "TERM_PROGRAM", "EDITOR", "VISUAL", "PAGER", "LESS", "MANPATH", "INFOPATH",
	"HOSTNAME", "DISPLAY", "WAYLAND_DISPLAY", "CI", "DEBUG", "SSL_CERT_FILE", "SSL_CERT_DIR", "NO_PROXY", "no_proxy",
	"GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_EDITOR", "GIT_PAGER", "GIT_TERMINAL_PROMPT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM",
	// Where tools are, and how they build.
	"CC", "CXX", "CPP", "AR", "LD", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "PKG_CONFIG_*", "CMAKE_*", "CCACHE_DIR", "LD_LIBRARY_PATH", "LIBRARY_PATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
	"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOENV", "GOFLAGS", "GOOS", "GOARCH", "GOTOOLCHAIN", "GOPRIVATE", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOEXPERIMENT", "GOWORK", "GOTMPDIR", "CGO_*",
	"CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_*", "RUSTFLAGS", "RUST_BACKTRACE", "RUST_LOG",
	"NODE_PATH", "NODE_ENV", "NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "NVM_DIR", "NVM_BIN", "VOLTA_HOME", "FNM_DIR", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR", "COREPACK_HOME",
	"PYTHONPATH", "PYTHONHOME", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_EXE", "PYENV_*", "POETRY_HOME", "PIPX_HOME", "UV_CACHE_DIR",
	"GEM_HOME", "GEM_PATH", "RBENV_ROOT", "RUBYLIB", "BUNDLE_PATH", "BUNDLE_GEMFILE", "JAVA_HOME", "JDK_HOME", "GRADLE_USER_HOME", "MAVEN_HOME", "M2_HOME", "SDKMAN_DIR", "KOTLIN_HOME",
	"ANDROID_HOME", "ANDROID_SDK_ROOT", "FLUTTER_ROOT", "DOTNET_ROOT", "DOTNET_CLI_HOME", "PHPENV_ROOT", "COMPOSER_HOME", "GHCUP_INSTALL_BASE_PREFIX", "STACK_ROOT", "OPAM_SWITCH_PREFIX", "CAML_LD_LIBRARY_PATH",
	"ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "MISE_CONFIG_DIR", "MISE_CACHE_DIR", "MISE_STATE_DIR", "MISE_SHELL", "MISE_ENV", "NIX_PATH", "NIX_PROFILES", "NIX_SSL_CERT_FILE", "HOMEBREW_PREFIX", "HOMEBREW_CELLAR", "HOMEBREW_REPOSITORY",
}

// proxies are addresses, which may have a password in them.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "GOPROXY", "PIP_INDEX_URL", "UV_INDEX_URL", "npm_config_registry"}

// reaching are for the programs that reach another machine or a container. Commands
// there do not get them.
var reaching = []string{"SSH_AUTH_SOCK", "DOCKER_*", "CONTAINER_*", "KRB5CCNAME"}

// environment names the variables that commands of a backend get. more are names
// from the settings.
func environment(b Backend, more []string) []string {
	names := slices.Concat(inherited, more)
	switch b.(type) {
	case *Container, SSH:
		names = append(names, reaching...)
	}
	for _, name := range proxies {
		if !strings.Contains(os.Getenv(name), "@") {
			names = append(names, name)
		}
	}
	return names
}
