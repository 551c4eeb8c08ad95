// Package process has what is needed to run other people's programs, whoever
// runs them: a chosen environment, a process group of their own, and an end
// that reaches all of it.
package process

import (
	"os"
	"slices"
	"strings"
)

// everyProgram names the variables that every program gets; a final * matches any
// rest. Other variables may be secrets, so they have to be named.
var everyProgram = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM", "TMPDIR", "TZ", "XDG_*",
	// Where locales are, on systems without a common folder for them.
	"LOCPATH", "LOCALE_ARCHIVE*", "GUIX_LOCPATH",
	// Programs on Windows do not start without these.
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP",
	"USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAM*",
}

// Supervised is the variable that a shim sets for the programs in it.
const Supervised = "HERMES_SHIM"

// Environ returns the variables of this process that every program needs, and
// those named in more.
func Environ(more []string) []string {
	var env []string
	for _, v := range os.Environ() {
		if name := Name(v); listed(everyProgram, name) || listed(more, name) {
			env = append(env, v)
		}
	}
	return env
}

// Name returns the name of the variable in "NAME=value".
func Name(variable string) string {
	name, _, _ := strings.Cut(variable, "=")
	return name
}

func listed(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			return len(name) >= len(prefix) && SameName(name[:len(prefix)], prefix)
		}
		return SameName(p, name)
	})
}

// Lookup returns the value of a variable in env; the last one counts.
func Lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if n, v, ok := strings.Cut(kv, "="); ok && SameName(n, name) {
			return v
		}
	}
	return ""
}
