package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model/openai"
)

// mutated are the files that get the faults.
var mutated = []string{"../*/*.go", "../model/openai/*.go", "../../../runtime/permission/*.go"}

// Sixty faults in files of this repository are looked for, repaired through the editor and
// checked with a command. The scripted model knows the answer, but writes it as models do:
// with wrong white space, with too little around it, from a stale memory, or as a whole
// file. So this measures the agent and not the model.
func TestFaultsInThisRepositoryAreRepaired(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	for i, m := range mutations(t, 20, mutated...) {
		style := styles[i%len(styles)]
		if style.crlf {
			m.right, m.wrong = strings.ReplaceAll(m.right, "\n", "\r\n"), strings.ReplaceAll(m.wrong, "\n", "\r\n")
		}
		id, name := e.broken(i, m)
		e.file(fmt.Sprint(i, "/right"), m.right)
		script, failures := m.script(style)
		shown := e.play(id, script, acp.StopReasonEndTurn)
		if n := strings.Count(shown, "\n  failed"); n != failures || !strings.Contains(shown, "Done. as it was") || e.content(name) != m.right {
			t.Errorf("%s in %s, repaired %s: %d calls failed, want %d:\n%s", m.kind, m.file, style.name, n, failures, shown)
		}
	}
}

// A model repairs the same faults. This measures the model, so it fails only if none
// answers.
func TestARealModelRepairsFaults(t *testing.T) {
	endpoint := os.Getenv("HERMES_AGENT_ENDPOINT")
	if endpoint == "" {
		t.Skip("skipped: HERMES_AGENT_ENDPOINT names no endpoint")
	}
	client := openai.New(openai.Options{BaseURL: endpoint, Key: os.Getenv("HERMES_AGENT_KEY")})
	sizes, err := client.Models(t.Context())
	if err != nil {
		t.Log("list the models:", err) // not all endpoints can
	}
	e := newEditor(t)
	e.rude = true // only the repairs matter
	e.model, e.name, e.sizes = client, os.Getenv("HERMES_AGENT_MODEL"), sizes
	e.choose = func(p *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
		if len(p.ToolCall.Content) == 1 {
			if _, edits := p.ToolCall.Content[0].(*acp.Diff); edits {
				return agentkit.OptionOnce, nil
			}
		}
		return acp.PermissionOptionID(approval.Refused), nil // a dangerous command
	}
	e.start()
	repaired := map[string]int{}
	list := mutations(t, 20, mutated...)
	for i, m := range list {
		id, name := e.broken(i, m)
		begin := time.Now()
		reason, err := e.prompt(id, acp.NewTextContent(fmt.Sprintf("%s has a fault: %s. Find and repair it. Change nothing else.", m.file, m.kind)))
		done := e.content(name) == m.right
		t.Logf("%2d %s in %s: repaired: %t (%s, %v, %s)", i, m.kind, m.file, done, reason, err, time.Since(begin).Round(time.Second))
		if err != nil && i == 0 {
			t.Fatal("the model does not answer")
		}
		if done {
			repaired[m.kind]++
		}
	}
	t.Logf("repaired of %d each: %v", len(list)/3, repaired)
}

// broken opens a session in a new folder with a faulty file, and returns the file's name.
func (e *editor) broken(number int, m mutation) (id acp.SessionID, name string) {
	e.t.Helper()
	dir := filepath.Join(e.dir, fmt.Sprint(number))
	if err := os.Mkdir(dir, 0o755); err != nil {
		e.t.Fatal(err)
	}
	name = fmt.Sprint(number, "/", m.file)
	e.file(name, m.wrong)
	answer, err := e.NewSession(e.t.Context(), e.agent, &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		e.t.Fatal(err)
	}
	return answer.SessionID, name
}

// style is how a model writes an edit.
type style struct {
	name string
	crlf bool                                               // of the file
	edit func(m mutation, old, new string) (calls []string) // all but the last one fail
}

var styles = []style{
	{"exactly", false, func(m mutation, old, new string) []string {
		return []string{edit(m, old, new)}
	}},
	{"without indentation", false, func(m mutation, old, new string) []string {
		return []string{edit(m, dedent(old, old+new), dedent(new, old+new))}
	}},
	{"with spaces at the ends of lines", false, func(m mutation, old, new string) []string {
		return []string{edit(m, strings.ReplaceAll(old, "\n", "  \n"), new)}
	}},
	{"from a stale memory", false, func(m mutation, old, new string) []string {
		return []string{edit(m, "\n// as it was once\n"+old, new), edit(m, old, new)}
	}},
	{"ambiguously", false, func(m mutation, old, new string) []string {
		return []string{edit(m, "\n", "\n\n"), edit(m, old, new)}
	}},
	{"as a whole file", false, func(m mutation, _, _ string) []string {
		return []string{call("write", map[string]any{"path": m.file, "content": m.right})}
	}},
	{"with other ends of lines", true, func(m mutation, old, new string) []string {
		return []string{edit(m, strings.ReplaceAll(old, "\r", ""), strings.ReplaceAll(new, "\r", ""))}
	}},
}

// script is what the model does about a fault, and how many of the calls have to fail.
func (m mutation) script(s style) (script string, failures int) {
	old, new, line := m.difference()
	check := func(say string) string {
		return call("terminal", map[string]any{"command": "cmp -s " + m.file + " right && echo " + say})
	}
	steps := []string{
		"THINK let me look",
		call("search", map[string]any{"pattern": "^package ", "glob": m.file}),
		call("read", map[string]any{"path": m.file, "offset": max(line-20, 1), "limit": 60}),
		check("not broken"),
	}
	edits := s.edit(m, old, new)
	steps = append(append(steps, edits...), check("as it was"))
	return strings.Join(steps, "\n"), len(edits)
}

// difference returns the lines that are wrong, those that should be there, and where they
// are, with as much around them as it takes to name the place.
func (m mutation) difference() (old, new string, line int) {
	wrong, right := strings.SplitAfter(m.wrong, "\n"), strings.SplitAfter(m.right, "\n")
	from := 0
	for wrong[from] == right[from] {
		from++
	}
	behind := 0
	for wrong[len(wrong)-1-behind] == right[len(right)-1-behind] && behind < min(len(wrong), len(right))-from-1 {
		behind++
	}
	line = from + 1
	for {
		old = strings.Join(wrong[from:len(wrong)-behind], "")
		if unique(wrong, old) {
			return old, strings.Join(right[from:len(right)-behind], ""), line
		}
		from, behind = max(from-1, 0), max(behind-1, 0)
	}
}

// unique reports whether lines are at one place only, also when white space is ignored. One
// line alone does not show how it is indented.
func unique(lines []string, part string) bool {
	if strings.Count(strings.TrimSpace(part), "\n") == 0 {
		return false
	}
	plain := func(text string) string {
		var out []string
		for line := range strings.Lines(text) {
			out = append(out, strings.TrimSpace(line))
		}
		return "\n" + strings.Join(out, "\n") + "\n"
	}
	whole := strings.Join(lines, "")
	return strings.Count(plain(whole), plain(part)) == 1 && strings.Count(whole, strings.TrimLeft(part, "\t")) == 1
}

// dedent takes away the indentation that all lines of another text have.
func dedent(text, like string) string {
	least := len(like)
	for line := range strings.Lines(like) {
		if strings.TrimSpace(line) != "" {
			least = min(least, len(line)-len(strings.TrimLeft(line, "\t")))
		}
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(line[min(least, len(line)-len(strings.TrimLeft(line, "\t"))):])
	}
	return out.String()
}

func edit(m mutation, old, new string) string {
	return call("edit", map[string]any{"path": m.file, "old": old, "new": new})
}

func call(name string, arguments any) string {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return "CALL " + name + " " + string(b)
}
