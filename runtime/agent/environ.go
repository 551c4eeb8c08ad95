package agent

import (
	"os"
	"slices"
	"strings"
)

// everyAgent names the variables that every agent gets; a final * stands for
// any rest. Anything else may be a secret, so it takes Command.PassEnv.
var everyAgent = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*",
	"TERM", "COLORTERM", "TMPDIR", "TZ", "XDG_*",
	// What programs on Windows do not start without.
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP",
	"USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA",
	"PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
}

// Environ returns the environment an agent gets: the variables of this process
// that every agent needs (PATH, HOME, locale, terminal, XDG and their like),
// those named by PassEnv, or all of them with InheritEnv, and Env last.
func (c Command) Environ() []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if c.InheritEnv || matches(everyAgent, name) || matches(c.PassEnv, name) {
			env = append(env, v)
		}
	}
	for _, v := range c.Env {
		name, _, _ := strings.Cut(v, "=")
		env = slices.DeleteFunc(env, func(old string) bool {
			o, _, _ := strings.Cut(old, "=")
			return sameName(o, name)
		})
		env = append(env, v)
	}
	return env
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			return len(name) >= len(prefix) && sameName(name[:len(prefix)], prefix)
		}
		return sameName(p, name)
	})
}

// lookup returns the value of a variable in env.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if n, v, ok := strings.Cut(env[i], "="); ok && sameName(n, name) {
			return v
		}
	}
	return ""
}
