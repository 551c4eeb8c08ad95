package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// reviewed is a project that an editor has under review: this process.
type reviewed struct {
	*project.Project
	t           *testing.T
	state, root string
}

func underReview(t *testing.T) *reviewed {
	t.Helper()
	state := sockdir.New(t)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &reviewed{t: t, state: filepath.Join(state, "nvim", "hermes"), root: root}
	write(t, filepath.Join(root, "deep/a"), "1\n2\n3\n")
	write(t, filepath.Join(root, "b"), "b\n")
	r.open()
	return r
}

func (r *reviewed) open() {
	r.t.Helper()
	p, err := project.Open(r.state, r.root, project.Options{Program: "an editor"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Project = p
	r.t.Cleanup(func() { p.Close() })
	r.wait()
}

func (r *reviewed) wait() {
	r.t.Helper()
	ctx := patience.Context(r.t, patience.Soon)
	if err := r.Wait(ctx); err != nil {
		r.t.Fatal(err)
	}
}

// changes lets an agent change a file.
func (r *reviewed) changes(session, name, text string) {
	r.t.Helper()
	path := filepath.Join(r.root, name)
	err := r.Write(review.Author{Session: session, Source: "write"}, path, text, func() error { return os.WriteFile(path, []byte(text), 0o600) })
	if err != nil {
		r.t.Fatal(err)
	}
}

// hermes runs the program in a folder of the project, with the state of the editor.
func (r *reviewed) hermes(stdin, folder string, args ...string) (stdout, stderr string, status int) {
	r.t.Helper()
	cmd := hermes(r.t, filepath.Join(r.root, folder), append([]string{"review"}, args...)...)
	cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+filepath.Dir(filepath.Dir(r.state)), "NVIM_APPNAME=")
	cmd.Stdin = strings.NewReader(stdin)
	return end(r.t, cmd)
}

func TestPendingChangesAreListedWhileAnEditorHasThem(t *testing.T) {
	t.Parallel()
	r := underReview(t)
	if out, _, status := r.hermes("", "", "files"); status != 0 || out != "" {
		t.Errorf("%d %s", status, out)
	}
	if err := r.Prompt(t.Context(), "claude/s1", "t1", "make it\x1b[2J\nbetter"); err != nil {
		t.Fatal(err)
	}
	r.changes("claude/s1", "deep/a", "1\ntwo\n3\n")
	r.changes("claude/s2", "b", "b\nnew\n")
	evil := "e\nb\tx\x1b]0;x\a"
	r.changes("claude/s1", evil, "x\n")
	note := fmt.Sprintf("hermes review: an editor (process %d) has the project open; this is what it has stored\n", os.Getpid())
	want := "b\tchanged, +1 -0\tclaude/s2\ndeep/a\tchanged, +1 -1\tclaude/s1\n\"e\\012b\\011x\\033]0;x\\007\"\tcreated, +1 -0\tclaude/s1\n"
	for _, args := range [][]string{{"files"}, nil, {"--root", r.root}, {"--state", r.state, "files"}} {
		if out, errs, status := r.hermes("", "deep", args...); status != 0 || errs != note || out != want {
			t.Errorf("%v: %d\n%s\n%s", args, status, out, errs)
		}
	}
	out, _, status := r.hermes("", "deep", "show", "a", "../b")
	if status != 0 || strings.Count(out, "diff --git") != 2 || !strings.Contains(out, "# b: changed, +1 -0\n# [1] session claude/s2, source write, exact\n") {
		t.Errorf("%d\n%s", status, out)
	}
	whole, _, _ := r.hermes("", "", "show")
	gitApply(t, r.root, whole, "-R")
	if readFile(t, filepath.Join(r.root, "deep/a")) != "1\n2\n3\n" {
		t.Error(whole)
	}
	out, _, status = r.hermes("", "", "checkpoints")
	if fields := strings.Split(out, "\t"); status != 0 || len(fields) != 4 || fields[2] != "claude/s1" || fields[3] != "make it [2J\n" {
		t.Errorf("%d %q", status, out)
	}
	if out, _, status = r.hermes("", "", "projects"); status != 0 || !strings.HasSuffix(out, "\t"+r.root+"\n") || strings.Count(out, "\n") != 1 {
		t.Errorf("%d %q", status, out)
	}
}

func TestOnlyWithoutAnEditorAreChangesAccepted(t *testing.T) {
	t.Parallel()
	r := underReview(t)
	r.changes("s", "deep/a", "1\ntwo\n3\n")
	r.changes("s", "b", "b\nnew\n")
	_, errs, status := r.hermes("", "", "accept", "b")
	if want := fmt.Sprintf("an editor, process %d on ", os.Getpid()); status != 1 || !strings.Contains(errs, want) {
		t.Errorf("%d %s", status, errs)
	}
	r.Close()
	write(t, filepath.Join(r.root, "b"), "mine\nb\nnew\n") // by the user, with no editor
	if out, errs, status := r.hermes("", "", "accept", "b"); status != 0 || out+errs != "" {
		t.Errorf("%d %s%s", status, out, errs)
	}
	if out, errs, _ := r.hermes("", "", "files"); out != "deep/a\tchanged, +1 -1\ts\n" || errs != "" {
		t.Errorf("%s%s", out, errs)
	}
	if _, errs, status := r.hermes("", "", "accept", "b"); status != 1 || !strings.Contains(errs, "nothing is pending in b") {
		t.Errorf("%d %s", status, errs)
	}
	if _, errs, status := r.hermes("", "", "accept", "--all"); status != 0 {
		t.Errorf("%d %s", status, errs)
	}
	for _, verb := range []string{"accept", "reject"} {
		if _, errs, status := r.hermes("", "", verb, "--all"); status != 1 || !strings.Contains(errs, "nothing is pending in "+r.root) {
			t.Errorf("%s: %d %s", verb, status, errs)
		}
	}
	if out, _, _ := r.hermes("", "", "files"); out != "" {
		t.Error(out)
	}
	if text := readFile(t, filepath.Join(r.root, "b")); text != "mine\nb\nnew\n" {
		t.Error(text)
	}
}

func TestRejectingInAShellKeepsWhatTheUserWrote(t *testing.T) {
	t.Parallel()
	r := underReview(t)
	r.changes("s", "deep/a", "1\ntwo\n3\n")
	r.changes("s", "b", "b\nx\ny\n")
	r.changes("s", "made", "x\n")
	if _, _, status := r.hermes("", "", "reject", "--all"); status != 1 {
		t.Error("an editor has the project")
	}
	r.Close()
	write(t, filepath.Join(r.root, "deep/a"), "mine\n1\ntwo\n3\n")
	write(t, filepath.Join(r.root, "b"), "b\nx\nmine\ny\n")
	if _, errs, status := r.hermes("", "", "reject", "deep/a", "made"); status != 0 {
		t.Errorf("%d %s", status, errs)
	}
	if text := readFile(t, filepath.Join(r.root, "deep/a")); text != "mine\n1\n2\n3\n" {
		t.Errorf("%q", text)
	}
	if _, err := os.Stat(filepath.Join(r.root, "made")); err == nil {
		t.Error("what the agent made is still there")
	}
	if _, errs, status := r.hermes("", "", "reject", "--all"); status != 1 || !strings.Contains(errs, "--force") {
		t.Errorf("%d %s", status, errs)
	}
	if _, errs, status := r.hermes("", "", "reject", "--all", "--force"); status != 0 {
		t.Errorf("%d %s", status, errs)
	}
	if text := readFile(t, filepath.Join(r.root, "b")); text != "b\nmine\n" {
		t.Errorf("%q", text)
	}
	if out, _, _ := r.hermes("", "", "files"); out != "" {
		t.Error(out)
	}
}

func TestAReviewThatDoesNotExistIsNotMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{{"files"}, {"show"}, {"accept", "--all"}, {"--root", ".", "checkpoints"}} {
		cmd := hermes(t, dir, append([]string{"review", "--state", filepath.Join(dir, "state")}, args...)...)
		if _, errs, status := end(t, cmd); status != 1 || !strings.Contains(errs, "nothing is under review in ") {
			t.Errorf("%v: %d %s", args, status, errs)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Error(entries, err)
	}
	for _, args := range [][]string{{"accept"}, {"accept", "--all", "x"}, {"reject"}, {"files", "x"}, {"what"}, {"tell"}, {"tell", "write"}, {"tell", "rename", "x"}, {"tell", "eat", "x"}, {"--pre", "--failed", "tell", "write", "x"}} {
		if _, errs, status := end(t, hermes(t, dir, append([]string{"review"}, args...)...)); status != statusUsage {
			t.Errorf("%v: %d %s", args, status, errs)
		}
	}
}

// A hook of a shell runs one line before the change, and one after it.
func TestAHookReportsAChangeInOneLine(t *testing.T) {
	t.Parallel()
	r := underReview(t)
	stop, err := r.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	script := `set -e
		hermes() { env ` + asHermes + `=1 "$0" "$@"; }
		echo user >> a
		hermes review tell --pre write a
		echo agent >> a
		hermes review tell --session s --tool-call c --agent codex write a
		hermes review tell --pre rename ../b ../c
		mv ../b ../c
		hermes review tell rename ../b ../c
		hermes review tell --pre remove "$PWD/a b"
		hermes review tell --failed remove "$PWD/a b"`
	cmd := exec.Command("sh", "-c", script, self(t))
	cmd.Dir = filepath.Join(r.root, "deep")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Dir(filepath.Dir(r.state)), "NVIM_APPNAME=nvim")
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []string
	for _, f := range r.Review().Files() {
		for _, h := range r.Review().Hunks(f.Path) {
			a := h.Authors[0]
			got = append(got, fmt.Sprintf("%s %s %s %s %v %q %q", f.Path, a.Session, a.ToolCall, a.Source, a.Inferred, h.Old, h.New))
		}
	}
	want := `b hook  hook false ["b\n"] []
c hook  hook false [] ["b\n"]
deep/a codex/s c hook false [] ["agent\n"]`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
}

// The JSON that Claude Code and Gemini CLI give their hooks.
func TestTheHooksOfAgentsAreUnderstood(t *testing.T) {
	t.Parallel()
	r := underReview(t)
	stop, err := r.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	path := filepath.Join(r.root, "deep/a")
	json := func(event, input string) string {
		return fmt.Sprintf(`{"session_id":"s7","transcript_path":"/t","cwd":%q,"hook_event_name":%q,"tool_name":"Edit","tool_use_id":"call","tool_input":%s}`, r.root, event, input)
	}
	hook := func(text string) {
		t.Helper()
		if out, errs, status := r.hermes(text, "", "--agent", "claude", "tell", "hook"); status != 0 || out+errs != "" {
			t.Errorf("%d %s%s", status, out, errs)
		}
	}
	write(t, path, "user\n1\n2\n3\n")
	hook(json("PreToolUse", fmt.Sprintf(`{"file_path":%q,"old_string":"2"}`, path)))
	write(t, path, "user\n1\ntwo\n3\n")
	hook(json("PostToolUse", fmt.Sprintf(`{"file_path":%q,"old_string":"2"}`, path)))
	hook(json("BeforeTool", `{"file_path":"b"}`))
	write(t, filepath.Join(r.root, "b"), "B\n")
	hook(json("AfterTool", `{"file_path":"b"}`))
	hook(json("PostToolUse", `{"command":"ls"}`))
	out, _, _ := r.hermes("", "", "show")
	for _, want := range []string{"# b: changed, +1 -1\n", "# deep/a: changed, +1 -1\n# [1] session claude/s7, tool call call, source hook, exact\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if _, errs, status := r.hermes("not JSON", "", "tell", "hook"); status != 1 || !strings.Contains(errs, "the hook on standard input: ") {
		t.Errorf("%d %s", status, errs)
	}
}

// A hook runs in every project, and no state of an editor stops the agent.
func TestNobodyToTellIsNoError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{{"write", "f"}, {"write", "/f"}, {"rename", "missing/f", "missing/too/g"}} {
		cmd := hermes(t, dir, append([]string{"review", "--state", filepath.Join(dir, "state"), "tell"}, args...)...)
		if out, errs, status := end(t, cmd); status != 0 || out+errs != "" {
			t.Errorf("%v: %d %s%s", args, status, out, errs)
		}
	}
	r := underReview(t)
	stop, err := r.Listen()
	if err != nil {
		t.Fatal(err)
	}
	path := feed.Path(store.Dir(r.state, r.root))
	stop()
	l, err := net.Listen("unix", path) // the socket of an editor that was killed
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if out, errs, status := r.hermes("", "", "tell", "write", "f"); status != 0 || out+errs != "" {
		t.Errorf("%d %s%s", status, out, errs)
	}
	os.Remove(path)
	if l, err = net.Listen("unix", path); err != nil { // of one that hangs
		t.Fatal(err)
	}
	defer l.Close()
	if _, errs, status := r.hermes("", "", "tell", "write", "f"); status != 1 || !strings.Contains(errs, "tell the editor: context deadline exceeded") {
		t.Errorf("%d %s", status, errs)
	}
}
