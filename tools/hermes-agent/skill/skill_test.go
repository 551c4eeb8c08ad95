package skill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes files; a name that ends in -> is a link to its content.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	return treeIn(t, t.TempDir(), files)
}

// outsideRepositories makes a folder that is in no repository, which the usual temporary
// folder may be.
func outsideRepositories(t *testing.T) string {
	t.Helper()
candidates:
	for _, parent := range []string{t.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		for at := parent; at != filepath.Dir(at); at = filepath.Dir(at) {
			if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
				continue candidates
			}
		}
		dir, err := os.MkdirTemp(parent, "skill")
		if err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	t.Skip("every temporary folder is in a repository")
	return ""
}

func treeIn(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, strings.TrimSuffix(name, "->"))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if strings.HasSuffix(name, "->") {
			err = os.Symlink(text, at)
		} else {
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func front(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n# Do it\n"
}

func TestSkillsAreDisclosedStepByStep(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"mlops/axolotl/SKILL.md":          "---\nname: axolotl\ndescription: Trains\n  models.\nversion: 1.2.0\nmetadata:\n  hermes:\n    tags: [a, b]\n    related_skills: [vllm]\n---\n# Train\nRead references/api.md.\n",
		"mlops/axolotl/references/api.md": "the api",
		"mlops/axolotl/.hidden":           "x",
		"mlops/vllm/SKILL.md":             front("vllm", "Serves models."),
		"gif/SKILL.md":                    "\ufeff---\r\ndescription: Finds pictures.\r\ntags: [fun]\r\n---\r\nLook.\r\n",
		".hub/quarantine/bad/SKILL.md":    front("bad", "Not yet."),
		"notes.txt":                       "x",
	})
	x := Load(dir, filepath.Join(dir, "none"))
	if len(x.Faults()) > 0 {
		t.Error(x.Faults())
	}
	if got := x.Categories(); len(got) != 2 || got[0] != (Category{"", 1}) || got[1] != (Category{"mlops", 2}) {
		t.Errorf("categories %+v", got)
	}
	list := x.List("mlops")
	if len(list) != 2 || list[0].Name != "axolotl" || list[0].Description != "Trains models." || list[0].Version != "1.2.0" ||
		strings.Join(list[0].Tags, " ") != "a b" || strings.Join(list[0].Related, " ") != "vllm" {
		t.Errorf("list %+v", list)
	}
	if all := x.List(""); len(all) != 3 || all[0].Name != "gif" || all[0].Tags[0] != "fun" {
		t.Errorf("all %+v", all)
	}
	body, err := x.View("axolotl", "")
	if err != nil || !strings.HasPrefix(body, "# Train") || !strings.Contains(body, "- references/api.md") || strings.Contains(body, "the api") || strings.Contains(body, ".hidden") {
		t.Errorf("%q, %v", body, err)
	}
	if text, err := x.View("axolotl", "references/api.md"); err != nil || text != "the api" {
		t.Errorf("%q, %v", text, err)
	}
	message, err := x.Invoke("gif", " a cat ")
	if err != nil || !strings.Contains(message, "Look.") || !strings.HasSuffix(message, "What I want: a cat") {
		t.Errorf("%q, %v", message, err)
	}
	prompt := x.Prompt()
	if !strings.Contains(prompt, "- vllm: Serves models.\n") || strings.Contains(prompt, "# Train") || prompt != Load(dir).Prompt() {
		t.Errorf("prompt %q", prompt)
	}
	if _, err := x.View("vl", ""); err == nil || !strings.Contains(err.Error(), "vllm") {
		t.Error(err)
	}
}

func TestTheFirstSkillOfANameWins(t *testing.T) {
	t.Parallel()
	a, b := tree(t, map[string]string{"x/SKILL.md": front("x", "mine")}), tree(t, map[string]string{"c/x/SKILL.md": front("x", "theirs"), "y/SKILL.md": front("y", "other")})
	if list := Load(a, b).List(""); len(list) != 2 || list[0].Description != "mine" {
		t.Errorf("%+v", list)
	}
}

func TestABadSkillIsLeftOutWithItsReason(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]string{
		"# no front matter":                              "front matter",
		"---\nname: x\ndescription: y\n":                 "front matter",
		"---\nname: [\n---\n":                            "front matter",
		"---\nname: x\n---\n":                            "no description",
		front("X Y", "d"):                                "small letters",
		front("../x", "d"):                               "small letters",
		front("x", strings.Repeat("d", 1025)):            "1024",
		"---\nname: x\ndescription: \xff\n---\n":         "not text",
		front("x", "d") + strings.Repeat("x", maxFile+1): "larger",
	} {
		x := Load(tree(t, map[string]string{"a/SKILL.md": text, "b/SKILL.md": front("good", "d")}))
		if len(x.Faults()) != 1 || !strings.Contains(x.Faults()[0].Error(), why) || len(x.List("")) != 1 {
			t.Errorf("%.40q: %v, %+v", text, x.Faults(), x.List(""))
		}
	}
}

func TestNoFileOutsideASkillIsViewed(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"secret":       "s",
		"x/SKILL.md":   front("x", "d"),
		"x/link->":     "../secret",
		"x/absolute->": "/etc/passwd",
		"x/up->":       "..",
		"x/in->":       "a.md",
		"x/a.md":       "a",
	})
	x := Load(dir)
	for _, name := range []string{"../secret", "link", "absolute", "up/secret", "/etc/passwd", "./../secret", "nope", ".", "a.md/../../secret"} {
		if text, err := x.View("x", name); err == nil {
			t.Errorf("%s is viewed: %q", name, text)
		}
	}
	if text, err := x.View("x", "in"); err != nil || text != "a" {
		t.Errorf("a link within the skill: %q, %v", text, err)
	}
}

func TestManySkillsAreListedByCategory(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 200 {
		name := "s" + strings.Repeat("x", i%20) + string(rune('a'+i/20))
		files["c/"+name+"/SKILL.md"] = front(name, strings.Repeat("long ", 10))
	}
	if prompt := Load(tree(t, files)).Prompt(); len(prompt) > maxPrompt+300 || !strings.Contains(prompt, "- c: 200 skills") {
		t.Errorf("%d bytes: %.200q", len(prompt), prompt)
	}
	if Load(t.TempDir()).Prompt() != "" {
		t.Error("without skills the prompt says something")
	}
}

func TestInstructionsComeFromTheRepositoryDownToTheFolder(t *testing.T) {
	t.Parallel()
	dir := treeIn(t, outsideRepositories(t), map[string]string{
		"AGENTS.md":             "above the repository",
		"r/.git/HEAD":           "x",
		"r/AGENTS.md":           "top\u202e\U000e0041",
		"r/CLAUDE.md":           "the same again",
		"r/a/.cursorrules":      "rules of a",
		"r/a/b/CLAUDE.md->":     "../../AGENTS.md",
		"r/a/b/c/AGENTS.md->":   "../../../../AGENTS.md",
		"r/a/b/c/d/AGENTS.md->": "/etc/passwd",
		"r/a/b/c/d/CLAUDE.md/x": "a folder",
		"r/other/AGENTS.md":     "not on the way",
		"plain/AGENTS.md":       "alone",
		"plain/sub/x":           "",
		"long/AGENTS.md":        strings.Repeat("line\n", maxContext),
	})
	got := Context(filepath.Join(dir, "r/a/b/c/d"))
	want := "Instructions of AGENTS.md:\ntop\n\nInstructions of a/.cursorrules:\nrules of a\n\nInstructions of a/b/CLAUDE.md:\ntop\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Context(filepath.Join(dir, "plain")); got != "Instructions of AGENTS.md:\nalone\n" {
		t.Errorf("%q", got)
	}
	if got := Context(filepath.Join(dir, "plain/sub")); got != "" {
		t.Errorf("without a repository the folders above count: %q", got)
	}
	if got := Context(filepath.Join(dir, "none")); got != "" {
		t.Errorf("%q", got)
	}
	if got := Context(filepath.Join(dir, "long")); len(got) > maxContext+100 || !strings.HasSuffix(got, "[the rest is left out]\n") {
		t.Errorf("%d bytes", len(got))
	}
}
