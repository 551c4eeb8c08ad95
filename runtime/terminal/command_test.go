//go:build unix

package terminal

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/gobuild"
)

// T11, TER16: golden argument vectors.
func TestAShellRunsOnlyWholeLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"/tool", "/my tool", "/a;b"} {
		if err := gobuild.Write(dir+name, "#!/bin/sh\n"); err != nil {
			t.Fatal(err)
		}
	}
	m, never := New(Options{}), New(Options{Shell: ShellNever})
	for _, c := range []struct {
		command string
		args    []string
		want    string // what the user is shown; empty: refused
		shell   bool
	}{
		{"echo", nil, "echo", false},
		{"echo", []string{"hi; rm -rf /", "$(id)", "`id`", "*", "a b", "", "it's"}, `echo 'hi; rm -rf /' '$(id)' '` + "`id`" + `' '*' 'a b' '' 'it'\''s'`, false},
		{"echo hi; exit 3", nil, "/bin/sh -c 'echo hi; exit 3'", true},
		{"touch /w/one.txt", nil, "/bin/sh -c 'touch /w/one.txt'", true},
		{"A=1 make", nil, "/bin/sh -c 'A=1 make'", true},
		{"ls|wc", nil, "/bin/sh -c 'ls|wc'", true},
		{"./tool", nil, "./tool", false},
		{"./my tool", nil, "'./my tool'", false},
		{dir + "/a;b", nil, "'" + dir + "/a;b'", false},
		{"./tool x", nil, "/bin/sh -c './tool x'", true},
		{"ls -l", []string{"x"}, "", false},
		{"echo hi\x1b]0;evil\x07", nil, `/bin/sh -c $'echo hi\x1b]0;evil\a'`, true},
		{"echo", []string{"a\u202eb", "x\ny", "'\"\\\u200b\""}, `echo $'a\u202eb' $'x\ny' $'\'"\\\u200b"'`, false},
		{"no-such-program", nil, "", false},
	} {
		req := Request{Command: c.command, Args: c.args, Dir: dir}
		got, err := m.Command(req)
		if (err != nil) != (c.want == "") || err == nil && (got.String() != c.want || got.Shell != c.shell) {
			t.Errorf("%q %q: %v, %v; want %s", c.command, c.args, got, err, c.want)
		}
		if got, err := never.Command(req); c.shell && err == nil {
			t.Errorf("%q: a shell where there must be none: %v", c.command, got)
		}
	}
}

func TestRelativePathEntriesAreSkipped(t *testing.T) {
	dir := t.TempDir()
	if err := gobuild.Write(dir+"/hermes-trap", "#!/bin/sh\n"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", ".:"+":"+os.Getenv("PATH"))
	t.Chdir(dir)
	if c, err := New(Options{}).Command(Request{Command: "hermes-trap", Dir: dir}); err == nil {
		t.Errorf("found %s", c.Path)
	}
}

// TER14.
func TestEnvironmentOfTheRequestIsChecked(t *testing.T) {
	t.Parallel()
	m := New(Options{})
	for name, refused := range map[string]bool{
		"FOO": false, "CLAUDECODE": false, "PAGER": false, "CI": false, "NO_COLOR": false, "GIT_PAGER": false, "LC_ALL": false, "HOME": false,
		"LD_PRELOAD": true, "LD_LIBRARY_PATH": true, "ld_preload": true, "DYLD_INSERT_LIBRARIES": true, "BASH_ENV": true, "ENV": true,
		"BASH_FUNC_ls%%": true, "PYTHONPATH": true, "PYTHONSTARTUP": true, "PERL5OPT": true, "RUBYOPT": true, "NODE_OPTIONS": true,
		"GIT_SSH_COMMAND": true, "GIT_CONFIG_COUNT": true, "PROMPT_COMMAND": true, "IFS": true, "PATH": true, "VIMINIT": true,
		"GIT_DIR": true, "GIT_COMMON_DIR": true, "GIT_ALLOW_PROTOCOL": true, "PERL5SHELL": true, "PYTHONPLATLIBDIR": true, "PYTHONPYCACHEPREFIX": true,
		"GOROOT": true, "LESSKEYIN": true, "LESSKEY_CONTENT": true, "VIMRUNTIME": true, "VIM": true, "ERL_FLAGS": true, "EMACSLOADPATH": true, "TCLLIBPATH": true,
		"PYTHONUNBUFFERED": false, "GIT_EDITOR": false, "EDITOR": false, "GIT_TERMINAL_PROMPT": false, "GOCACHE": false, "XDG_CACHE_HOME": false, "CC": false,
		"": true, "A=B": true, "A\x00": true,
	} {
		_, err := m.Command(Request{Command: "true", Env: []acp.EnvVariable{{Name: name, Value: "x"}}})
		if (err != nil) != refused || refused && !errors.Is(err, ErrEnv) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, vars := range [][]acp.EnvVariable{{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}, {{Name: "A", Value: "\x00"}}} {
		if _, err := m.Command(Request{Command: "true", Env: vars}); !errors.Is(err, ErrEnv) {
			t.Errorf("%v: %v", vars, err)
		}
	}
}

// T15, S5.
func TestSecretsOfTheEnvironmentAreNotPassedOn(t *testing.T) {
	t.Setenv("HERMES_TEST_TOKEN", "canary")
	t.Setenv("HERMES_LISTED_ONE", "seen")
	t.Setenv("LC_HERMES", "seen")
	t.Setenv("TERM", "dumb")
	m := manager(t, Options{Env: []string{"HERMES_LISTED_*"}})
	id, err := m.Create(t.Context(), Request{Command: "env", Env: []acp.EnvVariable{{Name: "TERM", Value: "mine"}, {Name: "EMPTY", Value: ""}}})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, m, id)
	text, _, _ := output(t, m, id)
	if strings.Contains(text, "canary") || strings.Count(text, "TERM=") != 1 {
		t.Error(text)
	}
	for _, want := range []string{"HERMES_LISTED_ONE=seen\n", "LC_HERMES=seen\n", "PATH=", "HOME=", "TERM=mine\n", "EMPTY=\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
