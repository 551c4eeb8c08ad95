package agent

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/skill"
)

func TestASkillIsASlashCommandAndATool(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"greet/SKILL.md": "---\nname: greet\ndescription: Greets.\n---\nSAY hello from the skill",
		"greet/more.md":  "even more",
		"reset/SKILL.md": "---\nname: reset\ndescription: Resets.\n---\nSAY the skill has run",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e.have = skill.Load(dir)
	e.start()
	id := e.open()
	if got := e.play(id, "/greet the world", acp.StopReasonEndTurn); !strings.Contains(got, "hello from the skill") {
		t.Errorf("the command shows\n%s", got)
	}
	for _, space := range []string{"\n", "\t", "\r\n", "\u00a0"} {
		if got := e.play(id, "/greet"+space+"the world", acp.StopReasonEndTurn); !strings.Contains(got, "hello from the skill") {
			t.Errorf("with %q behind the name, the command shows\n%s", space, got)
		}
	}
	e.mu.Lock()
	announced := slices.Clone(e.commands)
	e.mu.Unlock()
	if want := []string{"context", "compact", "reset", "tools", "greet"}; !slices.Equal(announced, want) {
		t.Errorf("the commands are %q, want %q", announced, want)
	}
	// A command of the agent is that with and without words behind it: it takes none.
	if got := e.play(id, "/reset everything\nSAY as you wish", acp.StopReasonEndTurn); strings.Contains(got, "the skill has run") || !strings.Contains(got, "as you wish") {
		t.Errorf("the command shows\n%s", got)
	}
	if got := e.play(id, "/greetings\nSAY no skill", acp.StopReasonEndTurn); !strings.Contains(got, "agent: no skill") {
		t.Errorf("an unknown command shows\n%s", got)
	}
	got := e.play(id, `CALL skill {}
CALL skill {"name":"greet","file":"more.md"}
CALL skill {"name":"greet","file":"../../secret"}`, acp.StopReasonEndTurn)
	if !strings.Contains(got, `[{"name":"","skills":2}]`) || !strings.Contains(got, "completed even more") || strings.Count(got, "  failed") != 1 {
		t.Errorf("the tool shows\n%s", got)
	}
}

func TestABackgroundProcessEndsWithTheSession(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	id := e.open()
	got := e.play(id, `CALL process {"action":"start","command":"echo $$ >pid; exec sleep 1000"}
CALL process {"action":"list"}
CALL process {"action":"start","command":"rm -rf /"}
CALL process {"action":"poll","id":"proc_none"}`, acp.StopReasonEndTurn)
	if !strings.Contains(got, "terminal\n  completed") || !strings.Contains(got, `"status":"running"`) || strings.Count(got, "  failed") != 2 || !strings.Contains(got, "it is never allowed") {
		t.Errorf("shown:\n%s", got)
	}
	process := regexp.MustCompile(`proc_[0-9a-f]+`).FindString(got)
	patience.True(t, "the process", func() bool { return strings.HasSuffix(e.content("pid"), "\n") })
	pid := strings.TrimSpace(e.content("pid"))
	got = e.play(id, `CALL process {"action":"poll","id":"`+process+`"}`, acp.StopReasonEndTurn)
	if !strings.Contains(got, `"status":"running"`) {
		t.Errorf("in the next turn:\n%s", got)
	}
	if _, err := e.agent.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("this system has no /proc")
	}
	if e.released != e.ran {
		t.Errorf("%d of %d terminals are released", e.released, e.ran)
	}
	patience.True(t, "the end of the process", func() bool { _, err := os.Stat("/proc/" + pid); return err != nil })
}

// Nothing is left to recover after an agent ends, and the model learns that.
func TestTheModelLearnsThatItsProcessesEndedWithTheAgent(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	id := e.open()
	e.play(id, `CALL process {"action":"start","input":true,"command":"exec sleep 1000"}`, acp.StopReasonEndTurn)
	got := e.play(id, `CALL process {"action":"list"}`, acp.StopReasonEndTurn)
	process := regexp.MustCompile(`proc_[0-9a-f]+`).FindString(got)
	e.start() // another agent process
	if _, err := e.LoadSession(t.Context(), e.agent, &acp.LoadSessionRequest{SessionID: id, Cwd: e.dir}); err != nil {
		t.Fatal(err)
	}
	got = e.play(id, `CALL process {"action":"list","limit":1}
CALL process {"action":"poll","id":"`+process+`"}`, acp.StopReasonEndTurn)
	if !strings.Contains(got, "  completed []") || !strings.Contains(got, "those that ran before the session was opened again have ended") {
		t.Errorf("shown:\n%s", got)
	}
}

// island is a backend that cannot reach this machine, as far as the agent knows.
type island struct{ process.Local }

func (island) Reach(context.Context) process.Reach { return process.Isolated }

func TestIsolatedCommandsRunThereWithoutAQuestion(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.runs = func(string) process.Options { return process.Options{Backend: island{}} }
	e.start()
	e.file("old", "")
	got := e.play(e.open(), `CALL terminal {"command":"rm -rf old && echo gone"}
CALL terminal {"command":"exit 3"}
CALL terminal {"command":"sleep 600","timeout":1}
CALL terminal {"command":"rm -rf /"}`, acp.StopReasonEndTurn)
	for _, want := range []string{"completed gone", "[exit code 3]", "[ended after 1s, because it was still running]", "it is never allowed"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if _, err := os.Stat(filepath.Join(e.dir, "old")); err == nil || len(e.asked) > 0 || e.ran > 0 {
		t.Errorf("%v, %d questions, %d terminals", err, len(e.asked), e.ran)
	}
}

func TestTheQuestionSaysWhyACommandIsDangerous(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	e.play(e.open(), `CALL terminal {"command":"rm -rf old"}`, acp.StopReasonEndTurn)
	if len(e.asked) != 1 || len(e.asked[0].ToolCall.Content) != 1 {
		t.Fatalf("asked %+v", e.asked)
	}
	content, ok := e.asked[0].ToolCall.Content[0].(*acp.Content)
	if text, isText := content.Content.(*acp.TextContent); !ok || !isText || text.Text != "deletes a folder with everything in it" {
		t.Errorf("the question says %+v", content)
	}
}

func TestAProtectedFileIsAskedAboutInEveryMode(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	// Settings are often links to files that are in a project.
	e.own = []string{filepath.Join(t.TempDir(), "hermes-agent")}
	if err := os.Symlink(filepath.Join(e.dir, "agent"), e.own[0]); err != nil {
		t.Skip(err)
	}
	e.start()
	id := e.open()
	if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: modeAcceptEdits}); err != nil {
		t.Fatal(err)
	}
	e.play(id, `CALL write {"path":"a.txt","content":"1"}
CALL write {"path":".env","content":"1"}
CALL write {"path":"agent/config.yaml","content":"1"}
CALL write {"path":"agents/config.yaml","content":"1"}`, acp.StopReasonEndTurn)
	if len(e.asked) != 2 {
		t.Errorf("%d questions", len(e.asked))
	}
}

func TestSearchFindsLinesAndFiles(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	id := e.open()
	e.file("a.go", "package a\n\nfunc Find() {}\nfunc Other() {}\n")
	e.file("b.txt", "Find\n")
	e.file("ignored.log", "Find\n")
	e.file(".gitignore", "*.log\n")
	e.file("many.md", strings.Repeat("a line\n", 300))
	for _, test := range []struct{ arguments, want string }{
		{`{"pattern":"Find"}`, "  completed a.go\n3: func Find() {}\n\nb.txt\n1: Find\n"},
		{`{"pattern":"func","glob":"*.go"}`, "  completed a.go\n3: func Find() {}\n4: func Other() {}\n"},
		{`{"pattern":"^Find$","path":"b.txt"}`, "  completed b.txt\n1: Find\n"},
		{`{"glob":"*.{go,txt,log}"}`, "  completed a.go\nb.txt\n"},
		{`{"pattern":"nowhere"}`, "  completed [nothing found]\n"},
		{`{"pattern":"line"}`, "[there is more: these are the first 100; narrow the pattern, the path or the glob]"},
		{`{"pattern":"line","limit":2}`, "  completed many.md\n1: a line\n2: a line\n[there is more: these are the first 2;"},
		{`{"pattern":"("}`, "  failed the pattern is not valid: error parsing regexp"},
		{`{"pattern":"x","glob":"{a"}`, "  failed the glob"},
		{`{"pattern":"root","path":"/etc"}`, "  failed search /etc: it is outside of the folders of the session"},
		{`{"pattern":"root","path":"none"}`, "no such file"},
	} {
		if got := e.play(id, "CALL search "+test.arguments, acp.StopReasonEndTurn); !strings.Contains(got, test.want) {
			t.Errorf("%s shows\n%s\nwant\n%s", test.arguments, got, test.want)
		}
	}
}

// looker is a model that reads a picture.
type looker struct{ got []model.Message }

func (l *looker) Complete(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	l.got = r.Messages
	if last := r.Messages[len(r.Messages)-1]; last.Role == model.User {
		return model.Reply{Message: model.Message{Role: model.Assistant, Calls: []model.Call{{Name: "read", Arguments: `{"path":"` + last.Text + `"}`}}}}, nil
	}
	return model.Reply{Message: model.Message{Role: model.Assistant, Text: "nice"}}, nil
}

func TestReadShowsPicturesToTheModel(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	l := &looker{}
	e.model = l
	e.start()
	id := e.open()
	picture := "\x89PNG\r\n\x1a\nrest"
	e.file("a.PNG", picture)
	e.file("b.png", "no picture")
	outside := filepath.Join(t.TempDir(), "c.png")
	if err := os.WriteFile(outside, []byte(picture), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(e.dir, "c.png")); err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString([]byte(picture))
	if got := e.play(id, "a.PNG", acp.StopReasonEndTurn); !strings.Contains(got, "[image "+data+"]") {
		t.Errorf("shown:\n%s", got)
	}
	if last := l.got[len(l.got)-1]; len(last.Images) != 1 || last.Images[0] != (model.Image{MimeType: "image/png", Data: data}) || last.Text != "[image/png, 12 bytes]" {
		t.Errorf("the model got %+v", last)
	}
	for name, want := range map[string]string{
		"b.png":    "it is not image/png but text/plain",
		"c.png":    "outside of the folders of the session",
		"none.png": "no such file",
	} {
		if got := e.play(id, name, acp.StopReasonEndTurn); !strings.Contains(got, "  failed ") || !strings.Contains(got, want) {
			t.Errorf("%s shows\n%s", name, got)
		}
	}
}
