package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// found lists the rules of the findings in a JSON report, with who broke them.
func found(t *testing.T, text string) string {
	t.Helper()
	var list []string
	summaries := 0
	for line := range strings.Lines(text) {
		var l struct {
			Finding *struct{ Rule, By, Severity string }
			Summary *struct{ Messages int }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if l.Finding != nil {
			list = append(list, l.Finding.Severity+" "+l.Finding.Rule+" "+l.Finding.By)
		} else if l.Summary != nil {
			summaries++
		}
	}
	if summaries == 0 {
		t.Fatalf("no summary: %s", text)
	}
	return strings.Join(list, ", ")
}

// timelines lists what the timelines of an HTML report show: methods, and other kinds of
// lines.
func timelines(t *testing.T, file string) (list []string) {
	t.Helper()
	for _, part := range strings.Split(readFile(t, file), `class="capture">`)[1:] {
		text, _, _ := strings.Cut(part, "</script>")
		var data struct {
			Rows []struct{ K, M string }
		}
		if err := json.Unmarshal([]byte(text), &data); err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, r := range data.Rows {
			shown = append(shown, strings.TrimSpace(r.K+" "+r.M))
		}
		list = append(list, strings.Join(shown, ", "))
	}
	return list
}

func TestAProxyChangesNoByteAndKeepsItsReportOffTheLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	input := "no JSON\n\xff\xfe raw\r\n\n" + strings.Repeat("x", 200_000) + "\n{\"password\":\"hunter22\"}\nno end"
	cmd := hermes(t, dir, "lint", "proxy", "--out", "r.jsonl", "--report", "report.jsonl", "--", "sh", "-c", "cat; printf 'to stderr' >&2; exit 7")
	cmd.Stdin = strings.NewReader(input)
	out, errs, status := end(t, cmd)
	if status != 7 || out != input || errs != "to stderr" {
		t.Errorf("%d, %d bytes, %q", status, len(out), errs)
	}
	if got := found(t, readFile(t, filepath.Join(dir, "report.jsonl"))); !strings.Contains(got, "error TR02 agent") || !strings.Contains(got, " client") {
		t.Errorf("found %s", got)
	}
	if text := readFile(t, filepath.Join(dir, "r.jsonl")); strings.Contains(text, "hunter22") || !strings.Contains(text, "200000") && len(text) < 400_000 {
		t.Errorf("the recording has %d bytes", len(text))
	}
}

// The findings decide the exit status only if the agent has succeeded.
func TestAProxyEndsAsTheAgentOrWithItsFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent  string
		flags  []string
		status int
		says   string
	}{
		{"cat", nil, 2, "there is nothing to judge"},
		{"echo noise; cat", nil, 1, "error TR02"},
		{"echo noise; cat", []string{"--fail-on", "never"}, 0, "error TR02"},
		{"echo noise; cat; exit 5", nil, 5, "error TR02"},
		{"kill -TERM $$", nil, -1, "no findings"},
		{"", []string{"--profile", "loose"}, 2, `profile "loose"`},
		{"", []string{"--report", "x.pdf"}, 2, `".pdf"`},
		{"", []string{"--fault", "break:n=1"}, 2, "drop, duplicate, delay, cut, half-close, reorder, restart, truncate"},
		{"", []string{"--fault", "drop:n=5-2"}, 2, `"n=5-2"`},
		{"", []string{"--fault", "drop:time=1s"}, 2, `"time=1s"`},
		{"", []string{"--fault", "drop:from=nobody"}, 2, `"from=nobody"`},
		{"", []string{"--fault", "drop:kind=batch"}, 2, `"kind=batch"`},
		{"", []string{"--fault", "restart:time=1s"}, 2, `"time=1s"`},
		{"", []string{"--fault", "truncate:from=agent"}, 2, "truncate is about what session/load, or session/resume with replayFrom, replays, so it has only n"},
	} {
		cmd := hermes(t, t.TempDir(), append(append([]string{"lint", "proxy"}, c.flags...), "--", "sh", "-c", c.agent)...)
		out, errs, status := end(t, cmd)
		if status != c.status || !strings.Contains(errs, c.says) || strings.Contains(out, "TR02") {
			t.Errorf("%s %v: status %d, want %d and %q\n%s%s", c.agent, c.flags, status, c.status, c.says, out, errs)
		}
	}
	if _, errs, status := end(t, hermes(t, t.TempDir(), "lint", "proxy", "--", "no-such-agent")); status != 127 || !strings.Contains(errs, "cannot start no-such-agent") {
		t.Errorf("%d, %s", status, errs)
	}
}

// A conforming pair has no findings, and the recording says that the client left first.
func TestAProxyBetweenOurOwnSidesFindsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := append(demo("--approve", "all", "go"), "--", self(t), "lint", "proxy", "--out", "r.jsonl", "--report", "report.jsonl", "--report", "page.html", "--", self(t), "demo-agent")
	if out, errs, status := end(t, hermes(t, dir, args...)); status != 0 || out != toured {
		t.Fatalf("%d\n%s%s", status, out, errs)
	}
	if got := found(t, readFile(t, filepath.Join(dir, "report.jsonl"))); strings.Contains(got, "error ") {
		t.Errorf("found %s", got)
	}
	if shown := timelines(t, filepath.Join(dir, "page.html")); len(shown) != 1 || !strings.HasPrefix(shown[0], "request initialize, answer initialize, request session/new, ") || !strings.HasSuffix(shown[0], ", end, end") {
		t.Errorf("the timeline is %q", shown)
	}
	var ends []trace.Direction
	for _, r := range readRecording(t, filepath.Join(dir, "r.jsonl")).Records {
		if r.End != "" {
			ends = append(ends, r.End)
		}
	}
	if len(ends) != 2 || ends[0] != trace.ToAgent || ends[1] != trace.ToClient {
		t.Errorf("the ends are %q", ends)
	}
	if out, errs, status := end(t, hermes(t, dir, "lint", "--profile", "strict", "--format", "json", "r.jsonl")); status != 0 || !strings.Contains(out, `"TR18":"pass"`) {
		t.Errorf("the recording: %d\n%s%s", status, out, errs)
	}
}

func TestWhoEndedTheConnectionIsRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent string
		end   func(kill func(syscall.Signal), in interface{ Close() error })
		want  string
	}{
		"the agent exits":           {"exit 3", nil, "agent->client"},
		"the agent crashes":         {"kill -SEGV $$", nil, "agent->client"},
		"somebody kills the agent":  {"kill -KILL $$", nil, ""},
		"the client closes":         {"cat", func(_ func(syscall.Signal), in interface{ Close() error }) { in.Close() }, "client->agent agent->client"},
		"the client sends a signal": {"trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done", func(kill func(syscall.Signal), _ interface{ Close() error }) { kill(syscall.SIGTERM) }, "client->agent agent->client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := hermes(t, dir, "record", "--out", "r.jsonl", "--", "sh", "-c", c.agent)
			in, out := begin(t, cmd)
			if strings.Contains(c.agent, "ready") {
				answer(t, out)
			}
			if c.end != nil {
				c.end(func(s syscall.Signal) { cmd.Process.Signal(s) }, in)
			}
			cmd.Wait()
			var ends []string
			for _, r := range readRecording(t, filepath.Join(dir, "r.jsonl")).Records {
				if r.End != "" {
					ends = append(ends, string(r.End))
				}
			}
			if got := strings.Join(ends, " "); got != c.want {
				t.Errorf("the ends are %q, want %q", got, c.want)
			}
		})
	}
}

// The agent says again what it hears, so each line passes the proxy twice.
func TestFaultsBreakTheLineWhereTheyAreToldTo(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}`,
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"sessions":[]}}`,
		`{"jsonrpc":"2.0","method":"_x/y","params":[3]}`,
	}
	for fault, want := range map[string]string{
		"drop:from=client,n=2":                    "134",
		"drop:from=agent,kind=notification":       "13",
		"drop:method=session/*,kind=request":      "234",
		"drop:from=agent,n=2-3":                   "14",
		"drop:from=agent,n=3-":                    "12",
		"drop:from=client,kind=answer":            "124",
		"duplicate:from=client,method=_x/y":       "12344",
		"reorder:from=client,n=1":                 "2134",
		"reorder:from=agent,n=4":                  "1234",
		"delay:from=agent,n=1,time=300ms":         "1234",
		"cut:from=agent,n=2":                      "1" + lines[1][:(len(lines[1])+1)/2],
		"half-close:from=agent,n=2":               "12",
		"half-close:from=client,n=2":              "12",
		"cut:from=client,n=2":                     "1" + lines[1][:(len(lines[1])+1)/2],
		"drop:from=agent,method=session/list,n=2": "124", // its answer
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := hermes(t, dir, "lint", "proxy", "--out", "r.jsonl", "--report", "report.txt", "--fault", fault, "--", "cat")
			cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
			began := time.Now()
			out, errs, _ := end(t, cmd)
			for i, line := range lines {
				out = strings.ReplaceAll(out, line+"\n", string(rune('1'+i)))
			}
			if out != want {
				t.Errorf("out comes %q, want %q\n%s", out, want, errs)
			}
			if strings.HasPrefix(fault, "delay") && time.Since(began) < 300*time.Millisecond {
				t.Error("nothing was delayed")
			}
			if text := readFile(t, filepath.Join(dir, "r.jsonl")); !strings.Contains(text, `"text":"fault: `+fault+`: the message before (`) {
				t.Errorf("the recording does not say it:\n%s", text)
			}
		})
	}
}

// A side is judged by what reached it. On one line for both, a second request with the
// same id and two answers to it would be faults of the client and of the agent.
func TestNobodyIsBlamedForTheFaultsOfTheLine(t *testing.T) {
	t.Parallel()
	agent := append([]string{"--"}, scenario(t, steps(answering("session/list", `{"sessions":[]}`), "TALK"))...)
	for fault, answers := range map[string][]int{
		"duplicate:from=client,method=session/list,n=1": {1, 1, 2, 1},
		"duplicate:from=agent,method=session/new":       {1, 2, 1, 1},
		"drop:from=agent,method=session/list,n=1":       {1, 1, 0, 1},
		"drop:from=client,method=session/list,n=1":      {1, 1, 0, 1},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := hermes(t, dir, append([]string{"lint", "proxy", "--report", "report.jsonl", "--report", "page.html", "--fail-on", "never", "--fault", fault}, agent...)...)
			in, out := begin(t, cmd)
			for i, line := range []string{
				`"id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"c","version":"1"}}`,
				`"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}`,
				`"id":2,"method":"session/list","params":{}`,
				`"id":3,"method":"session/list","params":{}`,
			} {
				fmt.Fprintf(in, `{"jsonrpc":"2.0",%s}`+"\n", line)
				for range answers[i] {
					answer(t, out)
				}
			}
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if shown := timelines(t, filepath.Join(dir, "page.html")); len(shown) != 2 || strings.Contains(fault, "from=client") == (strings.Count(shown[0], "request session/list") == strings.Count(shown[1], "request session/list")) {
				t.Errorf("the timelines are %q", shown)
			}
			for one := range strings.SplitSeq(found(t, readFile(t, filepath.Join(dir, "report.jsonl"))), ", ") {
				if strings.Contains(one, " RPC") {
					t.Errorf("found %s", one)
				}
			}
		})
	}
}

// scenario is the command of an agent that plays a scenario of package testagent.
func scenario(t *testing.T, text string) []string {
	t.Helper()
	return []string{"env", "-u", asHermes, testagent.Env + "=" + text, self(t)}
}

// The configuration applies to everything that hermes lint judges.
func TestTheConfigurationHoldsForWhatHappensNow(t *testing.T) {
	t.Parallel()
	noisy := []string{"sh", "-c", "echo noise; exec \"$0\" \"$@\"", self(t), "demo-agent"}
	for name, args := range map[string][]string{
		"proxy":             append([]string{"lint", "proxy", "--"}, noisy...),
		"proxy with faults": append([]string{"lint", "proxy", "--fault", "delay:n=1,time=1ms", "--"}, noisy...),
		"run":               append([]string{"lint", "run", "--step", "initialize", "--step", "session-new", "--"}, noisy...),
		"agent":             {"lint", "agent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			status := func() int {
				cmd := hermes(t, dir, args...)
				cmd.Stdin = strings.NewReader("noise\n")
				_, _, status := end(t, cmd)
				return status
			}
			if got := status(); got != 1 {
				t.Errorf("without a configuration: exit status %d", got)
			}
			write(t, filepath.Join(dir, ".hermes-lint.toml"), "[severity]\nTR02 = \"info\"\nTR03 = \"info\"\n")
			want := 0
			if name == "agent" {
				want = statusUsage // nobody shook hands, so the verdict is open
			}
			if got := status(); got != want {
				t.Errorf("with a configuration: exit status %d", got)
			}
		})
	}
}
