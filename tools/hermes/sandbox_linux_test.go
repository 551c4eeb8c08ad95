package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
)

// sandboxes has the folders of a test: one to work in, one that is not for the
// agent, and one for temporary files.
type sandboxes struct{ work, outside, tmp string }

func newSandboxes(t *testing.T) sandboxes {
	t.Helper()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		if os.Getenv("CI") != "" {
			t.Fatal(lacks)
		}
		t.Skip(lacks)
	}
	dir, err := filepath.EvalSymlinks(sockdir.New(t))
	if err != nil {
		t.Fatal(err)
	}
	s := sandboxes{filepath.Join(dir, "work"), filepath.Join(dir, "outside"), filepath.Join(dir, "tmp")}
	for _, d := range []string{s.work, s.outside, s.tmp} {
		write(t, filepath.Join(d, "file"), "text")
	}
	write(t, filepath.Join(s.work, "try.sh"), `
echo x > "$1/$2" && echo changed outside
rm "$1/file" 2> /dev/null && echo removed outside
TMPDIR=$1 HOME=$1 sh -c 'echo x > "$0/new"' "$1" && echo got around
echo y > "$2" && echo changed inside
echo z > "$TMPDIR/$2" && echo changed temporary
exit 0
`)
	return s
}

// says checks what try.sh has printed.
func (s sandboxes) says(t *testing.T, what, out string, confined bool) {
	t.Helper()
	for _, part := range []string{"changed outside", "removed outside", "got around"} {
		if strings.Contains(out, part) == confined {
			t.Errorf("%s: %s: %v\n%s", what, part, confined, out)
		}
	}
	for _, part := range []string{"changed inside", "changed temporary"} {
		if !strings.Contains(out, part) {
			t.Errorf("%s: not %s\n%s", what, part, out)
		}
	}
}

func TestRunConfinesTheAgentAndItsCommands(t *testing.T) {
	t.Parallel()
	for flag, confined := range map[string]bool{
		"": false, "--sandbox": true, "--sandbox=true": true, "--sandbox=false": false, `--sandbox={"net":false}`: true,
		`--sandbox=["/usr/bin/env","A=b"]`: false,
	} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			s := newSandboxes(t)
			args := []string{"run", "--env", asHermes, "--approve", "all", "--cwd", s.work, "--verbose"}
			if flag != "" {
				args = append(args, flag)
			}
			args = append(args, "/run sh try.sh "+s.outside+" by-command", "--", "sh", "-c",
				`cd `+s.work+`; sh try.sh `+s.outside+` by-agent >&2; rm -f `+s.outside+`/new; echo text > `+s.outside+`/file; exec "$0" demo-agent`, self(t))
			cmd := hermes(t, s.work, args...)
			cmd.Env = append(cmd.Environ(), "TMPDIR="+s.tmp)
			out, errs, status := end(t, cmd)
			if status != 0 {
				t.Fatalf("exit status %d\n%s\n%s", status, out, errs)
			}
			s.says(t, "the agent", errs, confined)
			s.says(t, "its command", out, confined)
		})
	}
}

func TestAnAgentThatCannotBeConfinedIsNotStarted(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	write(t, filepath.Join(s.work, "config/hermes/agents.json"), `{"mine": {"command": "sh", "args": ["-c", "echo x > `+s.outside+`/started"], "sandbox": {"write": ["`+s.work+`/missing"]}}}`)
	for args, want := range map[string]string{
		"mine hi":                                            "sandbox: lstat " + s.work + "/missing: no such file",
		`--sandbox={"write":["rel"]} mine hi`:                `write "rel": not an absolute path`,
		`--sandbox=["no-such-wrapper"] mine hi`:              `"no-such-wrapper": executable file not found`,
		`--sandbox={"hidden":["/x"]} mine hi`:                `unknown field "hidden"`,
		`--sandbox=yes mine hi`:                              "invalid",
		`--sandbox={"hide":["` + s.work + `/file"]} mine hi`: s.work + "/file cannot be hidden inside of " + s.work,
	} {
		cmd := hermes(t, s.work, append([]string{"run"}, strings.Fields(args)...)...)
		cmd.Env = append(cmd.Environ(), "TMPDIR="+s.tmp)
		_, errs, status := end(t, cmd)
		if status == 0 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit status %d\n%s, want %q", args, status, errs, want)
		}
	}
	if _, err := os.Stat(s.outside + "/started"); err == nil {
		t.Error("it was started")
	}
}

func TestServeConfinesItsAgents(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	path := filepath.Join(s.tmp, "s")
	cmd := hermes(t, s.work, "serve", "--sandbox", "--listen", "unix:"+path, "--", "sh", "-c", "sh try.sh "+s.outside+" by-agent > said; mv said done; cat")
	cmd.Env = append(cmd.Environ(), "TMPDIR="+s.tmp)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	eventually(t, "a server", func() bool { // its socket is there a moment before it listens
		c, err := socket.DialUnix(t.Context(), path)
		if err == nil {
			t.Cleanup(func() { c.Close() })
		}
		return err == nil
	})
	done := filepath.Join(s.work, "done")
	eventually(t, "the end of the script", func() bool {
		_, err := os.Stat(done)
		return err == nil
	})
	s.says(t, "the agent", readFile(t, done), true)
}

func TestConfineSaysWhatTheSystemLacks(t *testing.T) {
	t.Parallel()
	lacks := confine.Rules{}.Missing()
	out, errs, status := end(t, hermes(t, t.TempDir(), "confine", "--check"))
	if status != 0 || len(strings.Split(out, "\n"))-1 != len(lacks) {
		t.Errorf("exit status %d, %q, %s, want %q", status, out, errs, lacks)
	}
}
