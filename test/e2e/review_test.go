package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/test/llm"
)

// A published agent writes files through the client, with commands of the client
// and with commands of its own. The patch of the run makes the same tree.
func TestThePatchOfARunMakesTheTreeThatARealAgentMade(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	hermes := build(t)
	call := func(tool string, input map[string]any) string {
		text, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("CALL %s %s", tool, text)
	}
	const script = `sed s/two/2/ deep/list.txt > t && mv t deep/list.txt; rm gone.txt; mv old.txt 'new name.txt'; printf 'a\0b' > binary; : > empty; printf '#!/bin/sh\n' > run.sh; chmod 755 run.sh; ln -s hello.txt link; mkdir -p .git/x made/by && echo > .git/x/y && echo it > made/by/agent`
	for name, c := range map[string]struct {
		steps func(path string) []string
		want  []string // of the patch
	}{
		"gemini": {
			steps: func(path string) []string {
				return []string{
					call("read_file", map[string]any{"file_path": path}),
					call("replace", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA", "instruction": "as asked"}),
					call("run_shell_command", map[string]any{"command": script, "description": "all of it"}),
				}
			},
			want: []string{"source write, exact", "source disk, inferred"},
		},
		"claude": {
			steps: func(path string) []string {
				return []string{
					call("mcp__acp__Read", map[string]any{"file_path": path}),
					call("mcp__acp__Edit", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA"}),
					call("mcp__acp__Bash", map[string]any{"command": script, "description": "all of it", "timeout": 60000, "run_in_background": false}),
				}
			},
			want: []string{"source write, exact", "source disk, inferred"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := environment{hermes: hermes, model: model.URL, home: t.TempDir(), npm: os.Getenv("HERMES_AGENTS")}
			agent := agents[name](t, env)
			work, before := realTempDir(t), realTempDir(t)
			for _, dir := range []string{work, before} {
				for file, text := range map[string]string{
					"hello.txt": "alpha\nbeta\ngamma\n", "deep/list.txt": "one\ntwo\n", "gone.txt": "gone\n", "old.txt": "moved\nfrom\nhere\n", "untouched": "x",
				} {
					writeFile(t, filepath.Join(dir, file), text)
				}
			}
			patch := filepath.Join(t.TempDir(), "changes.patch")
			args := []string{"run", "--approve", "all", "--review", patch, "--timeout", "2m"}
			for name, value := range agent.Env {
				args = append(args, "--env", name+"="+value)
			}
			args = append(args, strings.Join(c.steps(filepath.Join(work, "hello.txt")), "\n"), "--", agent.Command)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, hermes, append(args, agent.Args...)...)
			cmd.Dir = work
			said, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			text, err := os.ReadFile(patch)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(string(text), want) {
					t.Errorf("no %q in\n%s\n%s", want, text, said)
				}
			}
			git := exec.Command("git", "apply", "-")
			git.Dir, git.Stdin = before, bytes.NewReader(text)
			git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(before))
			if out, err := git.CombinedOutput(); err != nil {
				t.Fatalf("git apply: %v\n%s\n%s", err, out, text)
			}
			if got, want := treeOf(t, before), treeOf(t, work); got != want {
				t.Errorf("the patch makes\n%s\nthe agent made\n%s\n%s\n%s", got, want, text, said)
			} else if !strings.Contains(got, "BETA") || !strings.Contains(got, "made/by/agent") {
				t.Errorf("the agent did not do it:\n%s\n%s", got, said)
			}
		})
	}
}

// treeOf lists the files of a folder, but git's, with content and mode.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.Type() == os.ModeSymlink {
			to, err := os.Readlink(path)
			fmt.Fprintf(&b, "%s -> %s\n", name, to)
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %v %q\n", name, info.Mode()&0o100 != 0, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
