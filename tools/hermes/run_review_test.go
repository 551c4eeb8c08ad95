package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/testagent"
)

// gitApply applies a patch to a folder.
func gitApply(t *testing.T, dir, patch string, flags ...string) {
	t.Helper()
	git := exec.Command("git", append(append([]string{"apply"}, flags...), "-")...)
	git.Dir, git.Stdin = dir, strings.NewReader(patch)
	git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, patch)
	}
}

// writer is the command of an agent that runs a script of the shell in its folder
// and is the demo agent then. The commands in late come after the end of the demo
// agent.
func writer(t *testing.T, script, late string) []string {
	return []string{"--", "sh", "-c", script + "\n" + `"$0" demo-agent` + "\n" + late, self(t)}
}

func TestAPatchOfTheRunGoesToAFileOrToStandardOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, errs, status := end(t, hermes(t, dir, demo("--approve", "all", "--review", "p.patch", "demo", "go")...))
	if status != 0 || out != toured {
		t.Fatalf("%d\n%s\n%s", status, out, errs)
	}
	first := readFile(t, filepath.Join(dir, "p.patch"))
	for _, want := range []string{"# hermes run, agent demo\n", "# hermes-demo.md: created, +3 -0\n", "source write, exact\n", "+- visit 1\n"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
	second, errs, status := end(t, hermes(t, dir, demo("--approve", "all", "--review", "-", "demo", "go")...))
	if status != 0 || !strings.Contains(errs, "That was the tour") || !strings.HasPrefix(second, "# hermes run, agent demo\n") {
		t.Errorf("%d\n%s\n%s", status, second, errs)
	}
	copied := t.TempDir()
	gitApply(t, copied, first)
	gitApply(t, copied, second)
	if got, want := readFile(t, filepath.Join(copied, "hermes-demo.md")), readFile(t, filepath.Join(dir, "hermes-demo.md")); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	gitApply(t, dir, second, "-R") // what a job in CI does that refuses
	if text := readFile(t, filepath.Join(dir, "hermes-demo.md")); strings.Contains(text, "visit 2") {
		t.Error(text)
	}
}

func TestWithoutChangesThePatchIsEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "p.patch"), "of the last run")
	_, errs, status := end(t, hermes(t, dir, demo("--review", "p.patch", "demo", "/say hi")...))
	if text := readFile(t, filepath.Join(dir, "p.patch")); status != 0 || text != "" {
		t.Errorf("%d %s%s", status, errs, text)
	}
}

// Changes that an agent makes behind the protocol, before its first message and
// after its last, are in the patch.
func TestAPatchHasWhatTheAgentDidBehindTheProtocol(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "kept"), "1\n2\n3\n")
	write(t, filepath.Join(dir, ".gitignore"), "ignored\n")
	cmd := hermes(t, dir, append([]string{"run", "--env", asHermes, "--review", filepath.Join(state, "p.patch"), "/say hi"},
		writer(t, `echo early > early; echo x > ignored`, `sed -i.bak s/2/two/ kept; rm kept.bak; chmod 755 kept; ln -s kept link`)...)...)
	cmd.Env = append(cmd.Env, "TMPDIR="+state)
	_, errs, status := end(t, cmd)
	patch := readFile(t, filepath.Join(state, "p.patch"))
	if status != 0 {
		t.Errorf("%d\n%s", status, errs)
	}
	copied := t.TempDir()
	write(t, filepath.Join(copied, "kept"), "1\n2\n3\n")
	gitApply(t, copied, patch)
	if readFile(t, filepath.Join(copied, "early")) != "early\n" || readFile(t, filepath.Join(copied, "link")) != "1\ntwo\n3\n" {
		t.Error(patch)
	}
	if info, err := os.Stat(filepath.Join(copied, "kept")); err != nil || info.Mode()&0o100 == 0 {
		t.Error(info.Mode(), err)
	}
	if strings.Contains(patch, "ignored") {
		t.Errorf("git ignores it:\n%s", patch)
	}
	if left, _ := filepath.Glob(filepath.Join(state, "*")); len(left) != 1 {
		t.Errorf("the run left %q", left)
	}
}

// In a container, the home folder is often the project or in it.
func TestAPatchOfAHomeFolderIsAsWhole(t *testing.T) {
	t.Parallel()
	for name, home := range map[string]string{"it is the folder": ".", "it is in the folder": "home", "the folder is in it": ".."} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "project")
			write(t, filepath.Join(dir, "kept"), "1\n")
			write(t, filepath.Join(dir, "home", "x"), "")
			cmd := hermes(t, dir, append([]string{"run", "--env", asHermes, "--review", "-", "/say hi"}, writer(t, "echo 2 >> kept", "")...)...)
			cmd.Env = append(cmd.Env, "HOME="+filepath.Join(dir, home))
			out, errs, status := end(t, cmd)
			if status != 0 || !strings.Contains(out, "# kept: changed, +1 -0\n") {
				t.Errorf("%d\n%s%s", status, out, errs)
			}
		})
	}
}

func TestAPatchIsWrittenHoweverTheRunEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		status int
	}{
		"it dies":        {[]string{"x", "--", "sh", "-c", "echo new > new; exit 7"}, 1},
		"it is too slow": {append([]string{"--timeout", "1s", "/slow 1000"}, writer(t, "echo new > new", "")...), statusTimeout},
		"it refuses":     {append([]string{"x"}, wrapped(t, "echo new > new", slices.Concat(hello, []string{fromAgent(`"id":2,"result":{"stopReason":"refusal"}`)}))...), statusStopped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, errs, status := end(t, hermes(t, dir, append([]string{"run", "--env", asHermes, "--review", "p.patch"}, c.args...)...))
			if patch := readFile(t, filepath.Join(dir, "p.patch")); status != c.status || !strings.Contains(patch, "# new: created, +1 -0\n") {
				t.Errorf("%d\n%s\n%s", status, errs, patch)
			}
		})
	}
}

// wrapped is the command of an agent that plays a recording after a script.
func wrapped(t *testing.T, before string, lines []string) []string {
	play := script(t, lines...)
	return append([]string{"--", "sh", "-c", before + "\n" + `exec "$@"`, "sh"}, play[1:]...)
}

func TestAPatchThatCannotBeWrittenStopsTheRunBeforeTheAgentStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := func(file string) []string {
		return append([]string{"run", "--env", asHermes, "--review", file, "x"}, writer(t, "touch started", "")...)
	}
	out, errs, status := end(t, hermes(t, dir, args("missing/p.patch")...))
	if status != 1 || out != "" || !strings.Contains(errs, "hermes run: --review "+filepath.Join(dir, "missing/p.patch")) {
		t.Errorf("%d\n%s\n%s", status, out, errs)
	}
	_, errs, status = end(t, hermes(t, dir, append([]string{"run", "--format", "json"}, args("-")[1:]...)...))
	if status != statusUsage || !strings.Contains(errs, "--format json") {
		t.Errorf("%d\n%s", status, errs)
	}
	// The patch would have the changes of the whole system, most of them in no file
	// of a disk.
	_, errs, status = end(t, hermes(t, dir, append([]string{"run", "--cwd", "/"}, args("p.patch")[1:]...)...))
	if status != 1 || !strings.Contains(errs, "--cwd") {
		t.Errorf("%d\n%s", status, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
		t.Error("the agent was started")
	}
}

// The agent may be hostile to the patch.
func TestAnAgentCannotKeepItsChangesOutOfThePatch(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	write(t, filepath.Join(elsewhere, "victim"), "untouched")
	cmd := hermes(t, dir, append([]string{"run", "--env", asHermes, "--review", "p.patch", "/say hi"},
		writer(t, `printf x > 'a
diff --git a'; mkdir 'b c'; printf '\033]0;t\a' > "b c/$(printf '\033[2J')"`, `ln -sf "`+elsewhere+`/victim" p.patch`)...)...)
	_, errs, status := end(t, cmd)
	patch := readFile(t, filepath.Join(dir, "p.patch"))
	if status != 0 || readFile(t, filepath.Join(elsewhere, "victim")) != "untouched" || strings.Count(patch, "\ndiff --git ") != 4 {
		t.Errorf("%d\n%s\n%s", status, errs, patch)
	}
	if strings.Contains(patch, "\x1b[2J") {
		t.Error("a name is not escaped")
	}
	copied := t.TempDir()
	gitApply(t, copied, patch, "--exclude=p.patch")
	if readFile(t, filepath.Join(copied, "a\ndiff --git a")) != "x" || readFile(t, filepath.Join(copied, "b c/\x1b[2J")) != "\x1b]0;t\a" {
		t.Error(patch)
	}
}

func TestWhatIsMissingInThePatchIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, errs, status := end(t, hermes(t, dir, append([]string{"run", "--env", asHermes, "--review", "p.patch", "/say hi"},
		writer(t, "truncate -s 20M large", "")...)...))
	patch := readFile(t, filepath.Join(dir, "p.patch"))
	if status != 0 || !strings.Contains(patch, "# incomplete: ") || !strings.Contains(patch, " large: ") || !strings.Contains(errs, "hermes run: --review: ") {
		t.Errorf("%d\n%s\n%s", status, errs, patch)
	}
}

func TestThePatchNamesAChangeOfWhatGitObeys(t *testing.T) {
	t.Parallel()
	namesWhatGitObeys(t, append([]string{"run", "--env", asHermes, "--review", "p.patch", "/say hi"}, writer(t, changesWhatGitObeys, "")...))
}

const changesWhatGitObeys = "mkdir .git/hooks; echo x > .git/hooks/pre-commit; echo x >> .git/info/exclude; echo x > .git/COMMIT_EDITMSG; echo new > new"

// namesWhatGitObeys fails unless the patch p.patch of a program that does what
// changesWhatGitObeys says names what is not in it.
func namesWhatGitObeys(t *testing.T, args []string) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(dir, ".git", "info", "exclude"), "p.patch\n")
	_, errs, status := end(t, hermes(t, dir, args...))
	patch := readFile(t, filepath.Join(dir, "p.patch"))
	want := "# incomplete: what git obeys is not under review, and .git/hooks was changed\n" +
		"# incomplete: what git obeys is not under review, and .git/info was changed\n"
	if status != 0 || !strings.Contains(patch, want) || strings.Count(patch, "# incomplete: ") != 2 || strings.Count(patch, "\ndiff --git ") != 1 {
		t.Errorf("%d\n%s\n%s", status, errs, patch)
	}
}

// The session and the tool call come from the agent.
func TestIDsOfAnAgentAreWordsOfAComment(t *testing.T) {
	t.Parallel()
	id := quoted("x\ndiff --git a/evil b/evil\x1b[2J")
	testAgent := steps(answering("session/new", `{"sessionId":`+id+`}`), turnOf(
		ask("fs/write_text_file", `{"sessionId":`+id+`,"path":"PATH","content":"x"}`)))
	dir := t.TempDir()
	cmd := hermes(t, dir, "run", "--approve", "all", "--env", testagent.Env, "--review", "-", "go", "--", self(t))
	cmd.Env = append(cmd.Env, testagent.Env+"="+strings.ReplaceAll(testAgent, "PATH", filepath.Join(dir, "f")))
	out, errs, status := end(t, cmd)
	if status != 0 || strings.Count(out, "\ndiff --git") != 1 || !strings.Contains(out, `/x\ndiff --git a/evil b/evil\x1b[2J`) {
		t.Errorf("%d\n%s\n%s", status, out, errs)
	}
}

// A change is known to belong to the tool call that made it, whatever the kind of
// the call, as in Neovim. A file elsewhere is not read just because a call names it.
func TestAPatchNamesTheToolCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ members, want string }{
		"a command":         {`"kind":"execute",`, "tool call c"},
		"another kind":      {`"kind":"other",`, "tool call c"},
		"no kind":           {``, "tool call c"},
		"an edit":           {`"kind":"edit","locations":[{"path":"DIR/made"}],`, "tool call c"},
		"an edit elsewhere": {`"kind":"edit","content":[{"type":"diff","path":"OUT/secret","newText":"secret\n"}],`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, out := t.TempDir(), t.TempDir()
			write(t, filepath.Join(out, "secret"), "secret\n")
			members := strings.NewReplacer("DIR", dir, "OUT", out).Replace(c.members)
			say := func(message string) string { return `read x; printf '%s\n' '{"jsonrpc":"2.0",` + message + `}'` + "\n" }
			update := func(rest string) string {
				return `printf '%s\n' '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"toolCallId":"c",` + rest + `}}}'` + "\n"
			}
			agent := say(`"id":1,"result":{"protocolVersion":1}`) + say(`"id":2,"result":{"sessionId":"s"}`) + "read x\n" +
				update(`"sessionUpdate":"tool_call",`+members+`"title":"t","status":"in_progress"`) +
				"sleep 0.3; echo made > made\n" +
				update(`"sessionUpdate":"tool_call_update","status":"completed"`) +
				`printf '%s\n' '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'; read x`
			patch, errs, status := end(t, hermes(t, dir, "run", "--review", "-", "go", "--", "sh", "-c", agent))
			if status != 0 || !strings.Contains(patch, "# made: created, +1 -0\n") || !strings.Contains(patch, c.want) {
				t.Errorf("%d\n%s\n%s", status, patch, errs)
			}
			if strings.Contains(patch, "secret") {
				t.Errorf("it has a file from elsewhere:\n%s", patch)
			}
		})
	}
}
