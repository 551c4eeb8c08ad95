//go:build amd64 || arm64

package special_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/special"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
)

// All who decide about files agree on each name of the tables: the files that Neovim serves,
// the tools and the judge of commands of hermes-agent, the gate and the sandbox.

func TestNobodyChangesASpecialFileUnasked(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	work, err := files.Open([]string{project}, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	for _, name := range slices.Concat(special.Steering(), special.Secrets()) {
		path := filepath.Join(project, name)
		if err := work.WriteText(path, "x"); !errors.Is(err, files.ErrProtected) {
			t.Errorf("%s, files of Neovim: %v", name, err)
		}
		if name == "build" || name == "workspace" {
			name = strings.ToUpper(name)
			path = filepath.Join(project, name)
		}
		if approval.Protected(project, path) == "" {
			t.Errorf("%s, tools of hermes-agent: not protected", name)
		}
		if v := (approval.Place{Dir: project, Home: "/home/u"}).Judge("echo x > " + name); v.Action() == approval.Allow {
			t.Errorf("%s, commands of hermes-agent: written", name)
		}
	}
}

func TestNobodyReadsASecretUnasked(t *testing.T) {
	t.Parallel()
	project, home := "/home/u/p", "/home/u"
	gate := approval.NewGate(approval.Options{Home: home})
	places := map[string][]string{project: special.Secrets(), home: slices.Concat(special.Secrets(), special.Home())}
	for dir, names := range places {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if gate.Secret(project, path) == "" {
				t.Errorf("%s, tools of hermes-agent: read", path)
			}
			if v := (approval.Place{Dir: project, Home: home}).Judge("cat '" + path + "'"); v.Action() == approval.Allow {
				t.Errorf("%s, commands of hermes-agent: read", path)
			}
		}
	}
}

func hermes(t *testing.T) string {
	t.Helper()
	program, err := gobuild.Program(t.TempDir(), "tools/hermes")
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// A program in a sandbox reads no secret of the user.
func TestTheSandboxHidesEverySecretOfTheUser(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	home, names := t.TempDir(), special.Home()
	for _, name := range special.Secrets() {
		if !strings.ContainsAny(name, "x") { // not the example of a pattern
			names = append(names, name)
		}
	}
	command := "cd; cat ordinary .config/ordinary"
	for _, name := range append(slices.Clone(names), "ordinary", ".config/ordinary") {
		at := filepath.Join(home, name)
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			at += "/secret"
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(name+" is read\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if rel, err := filepath.Rel(home, at); err == nil && !strings.HasSuffix(name, "ordinary") {
			command += "; cat '" + rel + "'"
		}
	}
	cmd := exec.Command(hermes(t), "confine", "--", "sh", "-c", command)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=", "TMPDIR="+t.TempDir())
	out, _ := cmd.Output()
	if want := "ordinary is read\n.config/ordinary is read\n"; string(out) != want {
		t.Errorf("read:\n%s", out)
	}
}

// A gate asks about a special file, also if git ignores it by its name.
func TestTheGateAsksAboutEverySpecialFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"config", "core.excludesFile", "/dev/null"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("exec 2> /dev/null; (echo x > ordinary && echo ordinary)\n")
	for _, name := range slices.Concat(special.Steering(), special.Secrets()) {
		first, _, below := strings.Cut(name, "/")
		if below && special.Of([]string{first, ""}, 0).Use == "" {
			continue // git ignores the ordinary folder that it is in
		}
		script.WriteString("mkdir -p \"$(dirname " + name + ")\"; (echo x > " + name + " && echo " + name + ")\n")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, hermes(t), "shim", "--gate", "--", "sh", "-c", script.String())
	cmd.Dir, cmd.Env = root, append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
	out, err := cmd.Output()
	if string(out) != "ordinary\n" {
		t.Errorf("changed without a question:\n%s%v", out, err)
	}
}
