package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/process"
)

// hooks make programs load or run other code, which users do not see in the
// command that they approve. An agent may not set them. Others, such as HOME or
// PAGER, can do the same but have everyday uses: they are shown with the
// command, and in package permission no rule allows them unless it names them.
var hooks = []string{
	"PATH", "IFS", "ENV", "BASH_*", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "ZDOTDIR", "FPATH", "CDPATH",
	"LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES",
	"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONEXECUTABLE",
	"PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PERL5*", "PERLLIB", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "MAVEN_OPTS", "GRADLE_OPTS", "CLASSPATH",
	"DOTNET_STARTUP_HOOKS", "CORECLR_*", "COR_*", "PHPRC", "PHP_INI_SCAN_DIR", "LUA_INIT*", "LUA_PATH*", "LUA_CPATH*",
	"R_PROFILE*", "R_ENVIRON*", "GOFLAGS", "GOROOT", "RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "MAKEFLAGS", "MAKEFILES",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_CONFIG*", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
	"GIT_DIR", "GIT_COMMON_DIR", "GIT_ALLOW_PROTOCOL", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "LESSOPEN", "LESSCLOSE", "LESSKEY*",
	"VIM", "VIMRUNTIME", "VIMINIT", "GVIMINIT", "EXINIT", "NVIM*", "MYVIMRC", "EMACSLOADPATH",
	"ERL_*", "TCLLIBPATH", "GUILE_LOAD_PATH", "GUILE_LOAD_COMPILED_PATH",
	"npm_config_*", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "QT_PLUGIN_PATH", "GTK_MODULES", "GIO_EXTRA_MODULES",
}

// requested checks the variables of a request. They are never repaired: a
// command that runs with other variables is another command.
func requested(vars []acp.EnvVariable) ([]string, error) {
	var env []string
	seen := make(map[string]bool)
	for _, v := range vars {
		var why string
		switch {
		case v.Name == "" || strings.ContainsAny(v.Name, "=\x00"):
			why = "not a name"
		case strings.IndexByte(v.Value, 0) >= 0:
			why = "its value contains NUL"
		case seen[v.Name]:
			why = "it is set twice"
		case isHook(v.Name):
			why = "it makes programs run something else"
		}
		if why != "" {
			return nil, fmt.Errorf("%w: %s: %s", ErrEnv, brief(v.Name), why)
		}
		seen[v.Name] = true
		env = append(env, v.Name+"="+v.Value)
	}
	return env, nil
}

// environ returns the whole environment of a command.
func (m *Manager) environ(c *Command) []string {
	env := append(process.Environ(m.opts.Env), "PWD="+c.Dir)
	if m.opts.PTY != nil && process.Lookup(env, "TERM") == "" {
		env = append(env, "TERM=xterm-256color")
	}
	return append(env, c.Env...) // the last value of a name counts
}

// isHook ignores case everywhere, because some systems do.
func isHook(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(hooks, func(p string) bool {
		prefix, open := strings.CutSuffix(strings.ToUpper(p), "*")
		return name == prefix || open && strings.HasPrefix(name, prefix)
	})
}
