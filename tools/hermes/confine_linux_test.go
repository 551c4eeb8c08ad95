package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
)

func TestConfineRunsACommandUnderRules(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inside, outside := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, d := range []string{inside, outside, filepath.Join(dir, "tmp")} {
		write(t, filepath.Join(d, "file"), "text")
	}
	for _, c := range []struct {
		flags, script string
		status        int
		want          string
	}{
		{"--write " + inside, "echo done > " + inside + "/new; cat " + inside + "/new; exit 3", 3, "done"},
		{"--write " + inside, "echo x > " + outside + "/new", 2, "Permission denied"},
		{`--rules {"write":["` + outside + `"]}`, "echo done > " + outside + "/new; cat " + outside + "/new", 0, "done"},
		{`--rules {"write":["` + outside + `"]} --write ` + inside, "cp " + inside + "/file " + outside + "/copy && echo x > " + inside + "/x && echo both", 0, "both"},
		{"--read " + inside, "cat " + outside + "/file", 1, "Permission denied"},
		{"--hide " + outside, "cat " + outside + "/file", 1, "Permission denied"},
		{"--write " + dir + "/none", "echo started", statusNotConfined, dir + "/none: no such file"},
		{"--net 0", "echo started", statusUsage, `net "0": want none, all, or ports`},
		{"--rules {", "echo started", statusUsage, "rules: unexpected end"},
		{`--rules {"net":"some"}`, "echo started", statusUsage, "net must be true, false or a list of ports"},
		{"stray", "echo started", statusUsage, `unexpected argument "stray"; a command follows --`},
	} {
		args := append(append([]string{"confine"}, strings.Fields(c.flags)...), "--", "sh", "-c", c.script)
		cmd := hermes(t, dir, args...)
		cmd.Env = append(cmd.Environ(), "TMPDIR="+dir+"/tmp", "LC_ALL=C")
		out, errs, status := end(t, cmd)
		if status != c.status || !strings.Contains(out+errs, c.want) || strings.Contains(out, "started") {
			t.Errorf("%s, %s: exit status %d, want %d and %q\n%s%s", c.flags, c.script, status, c.status, c.want, out, errs)
		}
	}
	for args, want := range map[string]int{"confine": statusUsage, "confine -- no-such-program-of-anybody": statusNotConfined} {
		if _, _, status := end(t, hermes(t, dir, strings.Fields(args)...)); status != want {
			t.Errorf("%s: exit status %d, want %d", args, status, want)
		}
	}
}
