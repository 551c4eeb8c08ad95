package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/lint"
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
	const script = `sed s/two/2/ deep/list.txt > t && mv t deep/list.txt; rm gone.txt; mv old.txt 'new name.txt'; printf 'a\0b' > binary; : > empty; printf '#!/bin/sh\n' > run.sh; chmod 755 run.sh; ln -s hello.txt link; mkdir -p .git/x made/by && echo > .git/x/y && echo it > made/by/agent`
	for name, c := range map[string]struct {
		steps func(path string) []string
		want  []string // of the patch
	}{
		"gemini": {
			steps: func(path string) []string {
				return []string{
					call(t, "read_file", map[string]any{"file_path": path}),
					call(t, "replace", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA", "instruction": "as asked"}),
					call(t, "run_shell_command", map[string]any{"command": script, "description": "all of it"}),
				}
			},
			want: []string{"source write, exact", "source disk, inferred"},
		},
		"claude": {
			steps: func(path string) []string {
				return []string{
					call(t, "mcp__acp__Read", map[string]any{"file_path": path}),
					call(t, "mcp__acp__Edit", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA"}),
					call(t, "mcp__acp__Bash", map[string]any{"command": script, "description": "all of it", "timeout": 60000, "run_in_background": false}),
				}
			},
			want: []string{"source write, exact", "source disk, inferred"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := environment{hermes: hermes, model: model.URL, home: t.TempDir(), npm: os.Getenv("HERMES_AGENTS"), recording: filepath.Join(t.TempDir(), "traffic.jsonl")}
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
			args := []string{"run", "--approve", "all", "--review", patch, "--record", env.recording, "--timeout", "2m"}
			for name, value := range agent.Env {
				args = append(args, "--env", name+"="+value)
			}
			args = append(args, strings.Join(c.steps(filepath.Join(work, "hello.txt")), "\n"), "--", agent.Command)
			ctx := patience.Context(t, patience.Turn)
			cmd := exec.CommandContext(ctx, hermes, append(args, agent.Args...)...)
			cmd.Dir = work
			said, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			lintHurried(t, env.recording, lint.Client)
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

// An agent in a terminal of its own, without the protocol, reports what it changes by
// the hooks of docs/review.md.
func TestTheHooksOfRealAgentsReportWhatTheyChange(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	hermes := build(t)
	for name, c := range map[string]struct {
		settings map[string]any // besides the hooks
		command  func(env environment, prompt string) []string
		steps    func(path, made string) []string
	}{
		"claude": {
			command: func(env environment, prompt string) []string {
				return []string{"node", filepath.Join(env.packages(t), "@anthropic-ai/claude-agent-sdk/cli.js"), "-p", prompt, "--allowedTools", "Read,Edit,Write"}
			},
			steps: func(path, made string) []string {
				return []string{
					call(t, "Read", map[string]any{"file_path": path}),
					call(t, "Edit", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA", "replace_all": false}),
					call(t, "Write", map[string]any{"file_path": made, "content": "made\n"}),
				}
			},
		},
		"gemini": {
			settings: map[string]any{
				"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": map[string]any{"enabled": false}},
				"general":  map[string]any{"disableAutoUpdate": true, "enableAutoUpdate": false},
				"privacy":  map[string]any{"usageStatisticsEnabled": false}, "telemetry": map[string]any{"enabled": false},
				"model": map[string]any{"name": "gemini-2.5-pro"},
			},
			command: func(env environment, prompt string) []string {
				return []string{filepath.Join(env.packages(t), ".bin/gemini"), "--yolo", "--skip-trust", "-p", prompt}
			},
			steps: func(path, made string) []string {
				return []string{
					call(t, "read_file", map[string]any{"file_path": path}),
					call(t, "replace", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA", "instruction": "as asked"}),
					call(t, "write_file", map[string]any{"file_path": made, "content": "made\n"}),
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := environment{hermes: hermes, model: model.URL, home: t.TempDir(), npm: os.Getenv("HERMES_AGENTS")}
			launch := agents[name](t, env) // for its environment
			writeFile(t, filepath.Join(env.home, "."+name, "settings.json"), documentedHooks(t, name, hermes, c.settings))
			work := realTempDir(t)
			path, made := filepath.Join(work, "hello.txt"), filepath.Join(work, "made.txt")
			writeFile(t, path, "alpha\nbeta\ngamma\n")
			state := sockdir.New(t)
			p, err := project.Open(filepath.Join(state, "nvim/hermes"), work, project.Options{Program: "the test"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			stop, err := p.Listen()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(stop)
			ctx := patience.Context(t, patience.Turn)
			if err := p.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, "mine\nalpha\nbeta\ngamma\n") // by the user, before the agent looks
			args := c.command(env, strings.Join(c.steps(path, made), "\n"))
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.Dir = work
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "NVIM_APPNAME=")
			for name, value := range launch.Env {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
			said, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			var got []string
			for _, f := range p.Review().Files() {
				for _, h := range p.Review().Hunks(f.Path) {
					a := h.Authors[0]
					agent, _, _ := strings.Cut(a.Session, "/")
					got = append(got, fmt.Sprintf("%s %s %s %v %q %q", f.Path, agent, a.Source, a.Inferred, h.Old, h.New))
				}
			}
			want := []string{`hello.txt ` + name + ` hook false ["beta\n"] ["BETA\n"]`, `made.txt ` + name + ` hook false [] ["made\n"]`}
			if !slices.Equal(got, want) {
				t.Errorf("%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), said)
			}
		})
	}
}

// documentedHooks returns settings of an agent with the hooks that docs/review.md has
// for it.
func documentedHooks(t *testing.T, agent, hermes string, settings map[string]any) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/review.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(block[1], "--agent "+agent) {
			continue
		}
		all := map[string]any{}
		maps.Copy(all, settings)
		if err := json.Unmarshal([]byte(strings.ReplaceAll(block[1], "hermes review", hermes+" review")), &all); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	t.Fatalf("docs/review.md has no hooks for %s", agent)
	return ""
}

// call is the step of the scripted model that calls a tool.
func call(t *testing.T, tool string, input map[string]any) string {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("CALL %s %s", tool, text)
}
