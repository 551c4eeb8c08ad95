package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/test/llm"
)

// scored is what the JSON of a scoreboard says.
type scored struct {
	Status       int
	Result       string
	Requirements []report.Requirement
	Agents       []struct {
		report.Row
		Status int
		Result string
	}
}

func readScoreboard(t *testing.T, dir string) (s scored) {
	t.Helper()
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(dir, "scoreboard/index.json"))), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// told returns the statuses of all steps of a scoreboard, by agent, with the
// verdict.
func (s *scored) told() (rows []string) {
	for _, a := range s.Agents {
		row := fmt.Sprintf("%s %d %s", a.Agent, a.Status, a.Problem)
		if a.Run != nil {
			row += a.Run.Verdict()
			for _, step := range a.Run.Steps {
				row += fmt.Sprintf("; %s %s", step.ID, step.Status)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// inHTML are the same statuses, as the page of a scoreboard shows them.
func inHTML(t *testing.T, dir string) (rows []string) {
	t.Helper()
	page := readFile(t, filepath.Join(dir, "scoreboard/index.html"))
	for _, m := range regexp.MustCompile(`<tr><th scope="row">(?:<a href="[^"]*">)?([^<]*).*?<td class="result-(\d)" title="[^"]*">([^<]*)</td>(.*)</tr>`).FindAllStringSubmatch(page, -1) {
		row := fmt.Sprintf("%s %s %s", m[1], m[2], m[3])
		for _, cell := range regexp.MustCompile(`<td class="[a-z]+" title="([^:]*): (PASS|FAIL|not exercised|not played)`).FindAllStringSubmatch(m[4], -1) {
			row += "; " + cell[1] + " " + cell[2]
		}
		rows = append(rows, row)
	}
	return rows
}

// agentTable is an agent of a matrix.
func agentTable(name string, command []string, more string) string {
	var args []string
	for _, a := range command {
		b, _ := json.Marshal(a)
		args = append(args, string(b))
	}
	return fmt.Sprintf("[[agent]]\nname = %q\ncommand = [%s]\n%s\n", name, strings.Join(args, ", "), more)
}

// short are the flags of a run that takes a moment.
var short = []string{"--prompt", "SAY hi", "--timeout", "20s", "--step", "initialize", "--step", "session-new", "--step", "prompt"}

func runMatrix(t *testing.T, dir string, more ...string) (out, errs string, status int) {
	t.Helper()
	return end(t, hermes(t, dir, slices.Concat([]string{"lint", "run", "--matrix", "agents.toml"}, short, more)...))
}

// Two published agents with a scripted model, and between them one that hangs. The run is
// killed while that one hangs. The second run says the same as one that nobody killed.
func TestAMatrixThatIsKilledIsContinued(t *testing.T) {
	t.Parallel()
	sdkAgent(t) // skips without the packages
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	home := t.TempDir()
	write(t, filepath.Join(home, ".gemini/settings.json"), `{
		"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
		"general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
		"privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
		"model": {"name": "gemini-2.5-pro"}}`)
	example := strings.SplitAfter(readFile(t, "../../examples/agents.toml"), "\n\n")
	if len(example) != 3 {
		t.Fatalf("the example has %d parts, want a comment and two agents", len(example))
	}
	dir, whole := t.TempDir(), t.TempDir()
	text := func(timeout string) string {
		hangs := agentTable("hangs", []string{"sh", "-c", "cat >/dev/null"}, "timeout = \""+timeout+"\"\n")
		return example[0] + example[1] + hangs + example[2]
	}
	write(t, filepath.Join(dir, "agents.toml"), text("10m"))
	run := func(dir, atOnce string, killed bool) (errs string, status int) {
		args := []string{"lint", "run", "--matrix", "agents.toml", "--at-once", atOnce, "--prompt", "SAY hello", "--step", "initialize", "--step", "session-new", "--step", "prompt", "--step", "custom-method"}
		cmd := hermes(t, dir, args...)
		cmd.Env = append(cmd.Env, "HOME="+home, "PATH="+filepath.Join(os.Getenv("HERMES_AGENTS"), "node_modules/.bin")+":"+os.Getenv("PATH"),
			"ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=none", "GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL="+model.URL)
		if !killed {
			_, errs, status = end(t, cmd)
			return errs, status
		}
		said, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer said.Close()
		cmd.Stderr = w
		err = cmd.Start()
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		for !strings.Contains(errs, "hangs: is driven\n") {
			errs += answer(t, said)
		}
		cmd.Process.Kill()
		cmd.Wait()
		return errs, -1
	}
	errs, _ := run(dir, "1", true)
	before := readScoreboard(t, dir)
	if len(before.Agents) != 3 || before.Agents[0].Run == nil || before.Agents[1].Run != nil || before.Status != 2 || strings.Contains(errs, "continues") {
		t.Fatalf("after the kill: %q\n%s", before.told(), errs)
	}
	if got := inHTML(t, dir); len(got) != 3 || !strings.Contains(got[1], "not judged") {
		t.Errorf("after the kill the page says %q", got)
	}
	old := readFile(t, filepath.Join(dir, "scoreboard/agents/Claude-Code-ACP.html"))
	for _, folder := range []string{dir, whole} {
		write(t, filepath.Join(folder, "agents.toml"), text("1s"))
	}
	errs, status := run(dir, "1", false)
	if !strings.Contains(errs, "continues the run in scoreboard/index.json: 1 of its agents") || !strings.Contains(errs, "(kept)\n") || strings.Contains(errs, "Claude Code ACP: is driven") {
		t.Errorf("the second run says\n%s", errs)
	}
	if readFile(t, filepath.Join(dir, "scoreboard/agents/Claude-Code-ACP.html")) != old {
		t.Error("the first agent has another report")
	}
	_, unbroken := run(whole, "2", false)
	got, want := readScoreboard(t, dir), readScoreboard(t, whole)
	if !slices.Equal(got.told(), want.told()) || got.Result != want.Result || status != unbroken || status != got.Status {
		t.Errorf("%d %s\n%s\nwithout the kill\n%d %s\n%s", status, got.Result, strings.Join(got.told(), "\n"), unbroken, want.Result, strings.Join(want.told(), "\n"))
	}
	for _, folder := range []string{dir, whole} {
		if shown := inHTML(t, folder); !slices.Equal(shown, got.told()) {
			t.Errorf("the page says\n%s\nand the JSON\n%s", strings.Join(shown, "\n"), strings.Join(got.told(), "\n"))
		}
	}
	for i, a := range got.Agents {
		if strings.Contains(a.Agent, "hangs") != (a.Status != 0 && a.Run.Decision == "UNDECIDED" && a.Run.Steps[0].Status == "not played") || len(a.Run.Steps) != 4 {
			t.Errorf("row %d: %s\n%s", i, got.told()[i], a.Result)
		}
	}
	if got.Agents[2].Version != "0.61.0" {
		t.Errorf("the version is %q", got.Agents[2].Version)
	}
}

// A row says the same as hermes lint run about this agent alone.
func TestARowSaysWhatARunOfTheAgentSays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agents := map[string][]string{
		"good":    scenario(t, "SERVE"),
		"locked":  scenario(t, "SERVE locked"),
		"version": scenario(t, "SERVE version"),
		"away":    {"sh", "-c", "read line; exit 3"},
		"noise":   {"sh", "-c", "read line; echo usage: me; exit 0"},
		"nowhere": {"no-such-agent"},
	}
	text := ""
	for name, command := range agents {
		text += agentTable(name, command, "")
	}
	write(t, filepath.Join(dir, "agents.toml"), text)
	_, errs, status := runMatrix(t, dir, "--at-once", "3")
	board := readScoreboard(t, dir)
	if status != board.Status || status != 2 { // one cannot be started
		t.Errorf("exit status %d, the scoreboard says %d\n%s", status, board.Status, errs)
	}
	if len(board.Agents) != len(agents) {
		t.Fatalf("%q", board.told())
	}
	for _, row := range board.Agents {
		out, errs, alone := end(t, hermes(t, dir, slices.Concat([]string{"lint", "run", "--format", "json"}, short, []string{"--"}, agents[row.Agent])...))
		if row.Status != alone {
			t.Errorf("%s: status %d, and alone %d\n%s%s", row.Agent, row.Status, alone, out, errs)
		}
		if row.Run == nil {
			if row.Agent != "nowhere" || !strings.Contains(errs, row.Problem) {
				t.Errorf("%s: %s", row.Agent, row.Problem)
			}
			continue
		}
		want := readRun(t, out)
		if row.Run.Decision != want.decision || len(row.Run.Steps) != len(want.steps) {
			t.Errorf("%s: %s, %d steps; alone %s, %d steps", row.Agent, row.Run.Decision, len(row.Run.Steps), want.decision, len(want.steps))
		}
		for _, step := range row.Run.Steps {
			if got := strings.TrimSpace(step.Status + " " + step.Text); got != want.steps[step.ID] {
				t.Errorf("%s: %s %s, alone %s", row.Agent, step.ID, got, want.steps[step.ID])
			}
		}
		for _, extension := range []string{".jsonl", ".html"} {
			text := readFile(t, filepath.Join(dir, "scoreboard/agents", row.Agent+extension))
			if got := written["x"+extension](text); got != alone {
				t.Errorf("%s: its report %s says %d, and alone it ends with %d", row.Agent, extension, got, alone)
			}
			if extension == ".jsonl" && readRun(t, text).decision != row.Run.Decision {
				t.Errorf("%s: its report says %s", row.Agent, readRun(t, text).decision)
			}
		}
	}
}

// The message that a red cell links to is in the report, and shows the fault.
func TestARedCellLinksToItsMessage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "agents.toml"), agentTable("a", scenario(t, "SERVE"), "")+agentTable("b", scenario(t, "SERVE version"), ""))
	runMatrix(t, dir, "--step", "session-list-folder")
	page := readFile(t, filepath.Join(dir, "scoreboard/index.html"))
	for cell, want := range map[string]string{
		`title="session-list-folder: FAIL [^"]*"><a href="(agents/a\.html)#m(\d+)">FAIL</a></td>`: `"sessions":[{`,
		`><a href="(agents/b\.html)#m(\d+)">INI04</a></td>`:                                       `"protocolVersion":9`,
	} {
		m := regexp.MustCompile(`<td class="error" ?` + cell).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("no link like %s in\n%s", cell, page)
		}
		if text := row(t, filepath.Join(dir, "scoreboard", m[1]), m[2]); !strings.Contains(text, want) {
			t.Errorf("message %s is %s, want %s", m[2], text, want)
		}
	}
}

// row is the text of a message in an HTML report.
func row(t *testing.T, file, number string) string {
	t.Helper()
	_, rest, _ := strings.Cut(readFile(t, file), `class="capture">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var data struct {
		Rows []struct {
			N int
			X string
		}
	}
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	for _, r := range data.Rows {
		if fmt.Sprint(r.N) == number {
			return r.X
		}
	}
	return ""
}

func TestAnAgentThatHasChangedIsDrivenAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	said := filepath.Join(dir, "version")
	write(t, said, "1.0\nand more\n")
	agent := func(name, more string) string {
		return agentTable(name, scenario(t, "SERVE"), "version = [\"cat\", \"version\"]\n"+more)
	}
	file := filepath.Join(dir, "agents.toml")
	write(t, file, agent("a", "")+agent("b", ""))
	for _, c := range []struct {
		name   string
		change func()
		flags  []string
		want   []string // of the second run
	}{
		{"nothing", func() {}, nil, []string{"a: passed: CONFORMANT with only initialize, session-new, prompt (kept)", "b: passed: CONFORMANT with only initialize, session-new, prompt (kept)"}},
		{"a version", func() { write(t, said, "1.1\n") }, nil, []string{"a: is driven again: its version was 1.0 and is 1.1", "b: is driven again: its version was 1.0 and is 1.1"}},
		{"a variable", func() { write(t, file, agent("a", "env = { X = \"1\" }")+agent("b", "")) }, nil, []string{"a: is driven again: its command, its settings", "b: passed: CONFORMANT with only initialize, session-new, prompt (kept)"}},
		{"a command", func() {
			write(t, file, agent("a", "env = { X = \"1\" }")+agentTable("b", slices.Insert(scenario(t, "SERVE"), 3, "OTHER=1"), ""))
		}, nil, []string{"a: passed: CONFORMANT with only initialize, session-new, prompt (kept)", "b: is driven again: "}},
		{"a prompt", func() {}, []string{"--prompt", "SAY bye"}, []string{"a: is driven again: its command, its settings", "b: is driven again: "}},
		{"a report that is gone", func() { os.Remove(filepath.Join(dir, "scoreboard/agents/a.html")) }, []string{"--prompt", "SAY bye"}, []string{"a: is driven again: its report is gone", "b: passed: CONFORMANT with only initialize, session-new, prompt (kept)"}},
		{"what fails", func() {}, []string{"--prompt", "SAY bye", "--fail-on", "never"}, []string{"a: passed: CONFORMANT with only initialize, session-new, prompt (kept)", "b: passed: CONFORMANT with only initialize, session-new, prompt (kept)"}},
		{"the wish", func() {}, []string{"--prompt", "SAY bye", "--again"}, []string{"a: is driven", "b: is driven"}},
	} {
		if c.name == "nothing" {
			runMatrix(t, dir)
		}
		c.change()
		_, errs, status := runMatrix(t, dir, c.flags...)
		for _, want := range c.want {
			if status != 0 || !strings.Contains(errs, want) {
				t.Errorf("%s: exit status %d, want %q\n%s", c.name, status, want, errs)
			}
		}
	}
}

// The file says which steps an agent never plays. Its row says so, too.
func TestAnAgentOfAMatrixCanBeDrivenWithoutAStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "agents.toml"), agentTable("a", scenario(t, "SERVE"), "without = [\"prompt\"]")+agentTable("b", scenario(t, "SERVE"), "without = [\"promt\"]"))
	out, _, status := runMatrix(t, dir)
	want := []string{
		"a 0 CONFORMANT with only initialize, session-new without prompt; initialize PASS; session-new PASS",
		`b 2 there is no step "promt"; did you mean "prompt"?`,
	}
	board := readScoreboard(t, dir)
	if got := board.told(); status != 2 || !slices.Equal(got, want) || !slices.Contains(inHTML(t, dir), want[0]) || !strings.Contains(out, "a: passed: CONFORMANT with only initialize, session-new without prompt\n") {
		t.Errorf("exit status %d, %q, %q\n%s", status, got, inHTML(t, dir), out)
	}
}

// An agent that answers nothing, and notes when it begins and ends.
const noting = "echo begin >>notes; trap 'echo end >>notes' EXIT; cat >/dev/null"

func TestAMatrixIsBounded(t *testing.T) {
	t.Parallel()
	t.Run("at a time", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		text := ""
		for i := range 5 {
			text += agentTable(fmt.Sprint("agent ", i), []string{"sh", "-c", noting}, "timeout = \"200ms\"")
		}
		write(t, filepath.Join(dir, "agents.toml"), text)
		_, errs, status := runMatrix(t, dir, "--at-once", "2")
		now, most := 0, 0
		for line := range strings.Lines(readFile(t, filepath.Join(dir, "notes"))) {
			if line == "begin\n" {
				now++
			} else {
				now--
			}
			most = max(most, now)
		}
		if most != 2 || now != 0 || status != 2 {
			t.Errorf("exit status %d, %d at a time, %d at the end\n%s", status, most, now, errs)
		}
	})
	t.Run("an agent", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "agents.toml"), agentTable("a", []string{"sh", "-c", noting}, "timeout = \"1m\"\ntotal = \"300ms\""))
		_, errs, status := runMatrix(t, dir)
		if b := readScoreboard(t, dir); status != 2 || b.Agents[0].Cut || !strings.Contains(b.Agents[0].Run.Steps[0].Text, "the run has taken 300ms") {
			t.Errorf("exit status %d\n%s%s", status, b.told(), errs)
		}
		if _, errs, _ := runMatrix(t, dir); !strings.Contains(errs, "(kept)") { // it was the agent's own time
			t.Error(errs)
		}
	})
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "agents.toml"), agentTable("a", []string{"sh", "-c", noting}, "timeout = \"1m\"")+agentTable("b", scenario(t, "SERVE"), ""))
		began := time.Now()
		_, errs, status := runMatrix(t, dir, "--at-once", "1", "--matrix-total", "300ms")
		b := readScoreboard(t, dir)
		if status != 2 || !b.Agents[0].Cut || b.Agents[1].Run != nil || !strings.Contains(b.Agents[1].Problem, "all agents together have taken 300ms") || time.Since(began) > patience.Soon {
			t.Errorf("exit status %d\n%s%s", status, b.told(), errs)
		}
		write(t, filepath.Join(dir, "agents.toml"), agentTable("a", scenario(t, "SERVE"), "")+agentTable("b", scenario(t, "SERVE"), ""))
		if _, errs, status := runMatrix(t, dir); status != 0 || strings.Contains(errs, "(kept)") {
			t.Errorf("exit status %d\n%s", status, errs)
		}
	})
}

func TestAMatrixThatIsInterruptedSaysSoAndKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "agents.toml"), agentTable("a", scenario(t, "SERVE"), "")+agentTable("b", []string{"sh", "-c", noting}, "timeout = \"10m\""))
	cmd := hermes(t, dir, slices.Concat([]string{"lint", "run", "--matrix", "agents.toml", "--at-once", "1"}, short)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	patience.True(t, "the second agent runs", func() bool { _, err := os.Stat(filepath.Join(dir, "notes")); return err == nil })
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != statusInterrupted || !strings.Contains(errs.String(), "interrupted") || out.Len() > 0 {
		t.Errorf("exit status %d\n%s%s", status, out.String(), errs.String())
	}
	if b := readScoreboard(t, dir); b.Agents[0].Run == nil || b.Agents[1].Run != nil {
		t.Errorf("%q", b.told())
	}
}

func TestMistakesInAMatrixAreToldBeforeAnAgentIsDriven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		file  string
		args  []string
		wants string
	}{
		{"a key that is not known", agentTable("a", []string{"cat"}, "colour = \"red\""), nil, "agents.toml:4: agent.colour: no such key: want "},
		{"no file", "", nil, "agents.toml: no such file"},
		{"a command, too", agentTable("a", []string{"cat"}, ""), []string{"--", "cat"}, "leave out the command after --"},
		{"a report of one", agentTable("a", []string{"cat"}, ""), []string{"--report", "x.html"}, "--report is for one agent"},
		{"none at a time", agentTable("a", []string{"cat"}, ""), []string{"--at-once", "0"}, "--at-once 0"},
		{"no time", agentTable("a", []string{"cat"}, ""), []string{"--matrix-total", "0s"}, "--matrix-total 0s is in the past"},
		{"a profile", agentTable("a", []string{"cat"}, ""), []string{"--profile", "loose"}, `profile "loose"`},
		{"a step that no agent has", agentTable("a", []string{"cat"}, ""), []string{"--step", "session-nwe"}, `there is no step "session-nwe"; did you mean "session-new"?`},
		{"no time for a step", agentTable("a", []string{"cat"}, ""), []string{"--timeout", "0s"}, "--timeout 0s is in the past"},
		{"other results", agentTable("a", []string{"cat"}, ""), []string{"--results", "other"}, "other/index.json: not a scoreboard"},
	} {
		dir := t.TempDir()
		if c.file != "" {
			write(t, filepath.Join(dir, "agents.toml"), c.file)
		}
		write(t, filepath.Join(dir, "other/index.json"), `{"name":"page"}`)
		out, errs, status := end(t, hermes(t, dir, append([]string{"lint", "run", "--matrix", "agents.toml"}, c.args...)...))
		if _, err := os.Stat(filepath.Join(dir, "scoreboard/index.json")); status != 2 || !strings.Contains(errs, c.wants) || err == nil {
			t.Errorf("%s: exit status %d, want %q\n%s%s", c.name, status, c.wants, out, errs)
		}
	}
	if _, errs, status := end(t, hermes(t, t.TempDir(), "lint", "run", "--again", "--", "cat")); status != 2 || !strings.Contains(errs, "--again is for --matrix") {
		t.Errorf("%d %s", status, errs)
	}
}

func TestAVersionCommandThatFailsIsTheReason(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "agents.toml"), agentTable("fails", []string{"cat"}, `version = ["sh", "-c", "echo no license >&2; exit 4"]`)+
		agentTable("hangs", []string{"cat"}, "timeout = \"200ms\"\nversion = [\"sleep\", \"1000\"]")+agentTable("silent", []string{"cat"}, `version = ["true"]`))
	_, errs, status := runMatrix(t, dir)
	b := readScoreboard(t, dir)
	for i, want := range []string{"sh, which prints the version: exit status 4: no license", "sleep has not printed the version in 200ms", "true has printed no version"} {
		if status != 2 || b.Agents[i].Problem != want || b.Agents[i].Status != 2 {
			t.Errorf("%d: %q, want %q\n%s", status, b.Agents[i].Problem, want, errs)
		}
	}
}

// Without a terminal the progress is whole lines. On one, the last line is written again.
func TestTheProgressIsALineOnATerminal(t *testing.T) {
	t.Parallel()
	var out, terminal bytes.Buffer
	for _, std := range []*stdio{{err: &out}, {err: &out, progress: &terminal}} {
		out.Reset()
		p := newProgress(std)
		p.begin(3)
		p.start("one")
		p.start("two\x1b[31m")
		p.step("one", "prompt")
		p.done("one", "failed: it hung", true, false)
		p.end()
		if want := "0/3 one: is driven\n0/3 two[31m: is driven\n1/3 one: failed: it hung (0s)\n"; out.String() != want {
			t.Errorf("the lines are %q, want %q", out.String(), want)
		}
	}
	drawn := strings.Split(terminal.String(), "\r\x1b[K")
	if want := "0 of 3 done, 0 not passed; one prompt, two[31m"; !slices.Contains(drawn, want) {
		t.Errorf("%q is not in %q", want, drawn)
	}
	if last := drawn[len(drawn)-1]; last != "" || slices.ContainsFunc(drawn, func(s string) bool { return len(s) > 79 || strings.ContainsAny(s, "\n\x1b") }) {
		t.Errorf("the terminal gets %q", drawn)
	}
}
