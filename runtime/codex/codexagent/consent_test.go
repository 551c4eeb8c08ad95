package codexagent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

func changeOf(status string) string {
	return fmt.Sprintf(`{"type":"fileChange","id":"f1","changes":[{"path":"added.txt","kind":{"type":"add"},"diff":"HELLO\n"},`+
		`{"path":"old.txt","kind":{"type":"update","move_path":"sub/moved.txt"},"diff":"@@ -1 +1 @@\n-x\n+y\n"}],"status":%q}`, status)
}

func init() {
	// consent asks about files: codex has told which, never does, or does while the question is open.
	plays["consent"] = func(t *testcodex.Turn, rest string) {
		part := strings.Fields(rest)
		when, root, asked := part[0], part[1], part[2]
		if when == "told" {
			t.Start(changeOf("inProgress"))
		}
		answered := make(chan string)
		go func() {
			answered <- t.Ask("item/fileChange/requestApproval", `"itemId":"f1","reason":null,"grantRoot":%s`, root)
		}()
		if when == "late" {
			for _, err := os.Stat(asked); err != nil; _, err = os.Stat(asked) {
				time.Sleep(time.Millisecond)
			}
			t.Start(changeOf("inProgress"))
		}
		answer := <-answered
		t.Complete(changeOf("completed"))
		t.Say(answer)
		t.End("completed", "")
	}
	plays["change"] = func(t *testcodex.Turn, changes string) {
		t.Start(`{"type":"fileChange","id":"f1","changes":` + changes + `,"status":"inProgress"}`)
		t.Complete(`{"type":"fileChange","id":"f1","changes":` + changes + `,"status":"completed"}`)
		t.End("completed", "")
	}
	plays["output"] = func(t *testcodex.Turn, whole string) {
		item := func(status, whole string) string {
			return fmt.Sprintf(`{"type":"commandExecution","id":"c1","command":"make","cwd":"/project","processId":null,"source":"agent","status":%q,"commandActions":[],"aggregatedOutput":%s,"exitCode":0,"durationMs":1}`, status, whole)
		}
		piece := func(text string) { t.Note("item/commandExecution/outputDelta", `"itemId":"c1","delta":%q`, text) }
		t.Start(item("inProgress", "null"))
		piece("one\n")
		piece("two\n")
		t.Complete(item("completed", whole))
		piece("late\n")
		t.End("completed", "")
	}
}

// A question says all that is allowed with it, for how long, and if that is not known. What codex
// tells later is shown then.
func TestAQuestionSaysWhatItAllows(t *testing.T) {
	t.Parallel()
	const folder = "/granted"
	for _, when := range []string{"told", "never", "late"} {
		for _, root := range []string{"null", `"` + folder + `"`} {
			t.Run(when+" "+root, func(t *testing.T) {
				t.Parallel()
				command, _ := scripted(t)
				e := start(t, command, nil)
				asked := filepath.Join(t.TempDir(), "asked")
				e.choose = func(*acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
					if when == "late" {
						if err := os.WriteFile(asked, nil, 0o600); err != nil {
							t.Error(err)
						}
						patience.True(t, "the files of an open question", func() bool { return e.has(`"f1"`, "added.txt", "HELLO") })
					}
					return &acp.SelectedPermissionOutcome{OptionID: "acceptForSession"}, nil
				}
				if _, err := e.prompt(t, e.open(t), "consent "+when+" "+root+" "+asked); err != nil || len(e.asked) != 1 {
					t.Fatalf("asked %d times, %v", len(e.asked), err)
				}
				call, question := e.asked[0].ToolCall, string(e.asked[0].AppendJSON(nil))
				var want []string
				switch {
				case root != "null":
					want = []string{"Allow all changes below " + folder + " for this session", "everything below " + folder + " may be written"}
					if slices.Contains(pathsOf(call.Locations), folder) != (when == "told") {
						t.Errorf("places: %v", pathsOf(call.Locations))
					}
				default:
					want = []string{"Allow all changes of these files for this session"}
				}
				if named := strings.Contains(question, `"grantRoot":"`+folder+`"`); named != (when == "told" && root != "null") {
					t.Errorf("the folder is in the input: %v", named)
				}
				if when == "told" {
					want = append(want, `"title":"Edit added.txt, old.txt; move old.txt to moved.txt"`, "HELLO")
					for _, name := range []string{"added.txt", "old.txt", "sub/moved.txt"} {
						if !slices.Contains(pathsOf(call.Locations), filepath.Join(e.dir, name)) {
							t.Errorf("%s is not among the places: %v", name, pathsOf(call.Locations))
						}
						want = append(want, `"path":"`+filepath.Join(e.dir, name)+`"`)
					}
				} else {
					want = append(want, `"title":"Edit files that Codex does not name"`, "Codex does not say which files this changes.")
				}
				for _, want := range want {
					if !strings.Contains(question, want) {
						t.Errorf("no %s in %s", want, question)
					}
				}
				if !e.has(`"f1"`, "added.txt", "HELLO") {
					t.Errorf("the files are never shown:\n%s", strings.Join(e.seen(), "\n"))
				}
				q := permission.Describe("codex", "s", &call)
				for _, rule := range []permission.Rule{{}, {Kind: acp.ToolKindEdit}, {Path: e.dir + "/**"}, {Kind: acp.ToolKindEdit, Path: "**"}} {
					rule.Action, rule.Scope = permission.Allow, permission.Always
					policy, err := permission.Open(filepath.Join(t.TempDir(), "rules.json"))
					if err != nil {
						t.Fatal(err)
					}
					if err := policy.Configure([]permission.Rule{rule}); err != nil {
						t.Fatal(err)
					}
					outcome, _ := policy.Decide(q)
					if allowed := outcome == permission.Allowed; allowed != (when == "told" && (root == "null" || rule.Path != e.dir+"/**")) {
						t.Errorf("rule %+v: allowed %v", rule, allowed)
					}
				}
			})
		}
	}
}

func pathsOf(locations []acp.ToolCallLocation) (paths []string) {
	for _, l := range locations {
		paths = append(paths, l.Path)
	}
	return paths
}

func TestAChangeOfFilesSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	const (
		added   = `{"path":"/w/new","kind":{"type":"add"},"diff":"a\n"}`
		deleted = `{"path":"/w/gone","kind":{"type":"delete"},"diff":"a\n"}`
		moved   = `{"path":"/w/a","kind":{"type":"update","move_path":"/w/b"},"diff":""}`
		changed = `{"path":"/w/c","kind":{"type":"update","move_path":null},"diff":"@@ -1 +1 @@\n-x\n+y\n"}`
	)
	for _, c := range []struct{ changes, kind, title string }{
		{added, "edit", "Edit new"},
		{deleted, "delete", "Delete gone"},
		{moved, "move", "Move a to b"},
		{changed + "," + moved + "," + deleted, "edit", "Edit c; move a to b; delete gone"},
		{moved + "," + deleted, "edit", "Move a to b; delete gone"},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			command, _ := scripted(t)
			e := start(t, command, nil)
			if _, err := e.prompt(t, e.open(t), "change ["+c.changes+"]"); err != nil {
				t.Fatal(err)
			}
			if !e.has(`"tool_call"`, `"title":"`+c.title+`"`, `"kind":"`+c.kind+`"`) {
				t.Error(strings.Join(e.seen(), "\n"))
			}
		})
	}
}

// Codex may leave out the output of a command at its end, or say more of it later.
func TestNoOutputOfACommandIsLost(t *testing.T) {
	t.Parallel()
	for _, whole := range []string{`null`, `""`, `"one\ntwo\n"`} {
		t.Run(whole, func(t *testing.T) {
			t.Parallel()
			command, _ := scripted(t)
			e := start(t, command, nil)
			if _, err := e.prompt(t, e.open(t), "output "+whole); err != nil {
				t.Fatal(err)
			}
			shown := ""
			for _, u := range e.seen() {
				var m struct {
					Content []struct{ Content struct{ Text string } }
				}
				if json.Unmarshal([]byte(u), &m) == nil && len(m.Content) > 0 {
					shown = m.Content[0].Content.Text
				}
			}
			if !strings.Contains(shown, "one\ntwo\n") {
				t.Errorf("%q", shown)
			}
		})
	}
}
