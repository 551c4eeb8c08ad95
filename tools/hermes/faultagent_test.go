package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/runtime/trace"
)

// reply reads what an agent says until it has answered a request, and returns the answer.
func reply(t *testing.T, out io.Reader, id int) string {
	t.Helper()
	for {
		line := answer(t, out)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.Method == "" && string(m.ID) == fmt.Sprint(id) {
			return line
		}
	}
}

// An agent that is restarted has forgotten what it had in memory, and the line goes on: a
// client that begins anew is served. The answer to what was open is missing. The trace says
// what happened, and nobody is blamed for it.
func TestAnAgentThatIsRestartedBeginsAnew(t *testing.T) {
	t.Parallel()
	agents := map[string]func(*testing.T) []string{
		"demo": func(t *testing.T) []string { return []string{self(t), "demo-agent"} },
		"sdk":  sdkAgent,
	}
	for name, agent := range agents {
		for fault, lost := range map[string]bool{
			"restart:from=agent,method=session/new":     false, // its answer is the last that comes
			"restart:from=client,method=session/prompt": true,  // the request reaches only the old one
		} {
			t.Run(name+" "+fault, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				cmd := hermes(t, dir, append([]string{"lint", "proxy", "--out", "r.jsonl", "--report", "report.jsonl", "--report", "page.html", "--fail-on", "never", "--fault", fault, "--"}, agent(t)...)...)
				in, out := begin(t, cmd)
				say := func(id int, method, params string) {
					fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`+"\n", id, method, params)
				}
				open := func(id int) (session string) {
					say(id, "initialize", `{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
					reply(t, out, id)
					say(id+1, "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, dir))
					var a struct{ Result struct{ SessionID string } }
					json.Unmarshal([]byte(reply(t, out, id+1)), &a)
					return a.Result.SessionID
				}
				prompt := func(id int, session string) { // no agent ends this turn: its question gets no answer
					say(id, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"SAY busy\nRUN true"}]}`, session))
				}
				first := open(1)
				prompt(3, first)
				if !lost {
					if got := reply(t, out, 3); !strings.Contains(got, `"error"`) {
						t.Errorf("after the restart the old session is there: %s", got)
					}
				}
				second := open(4) // if an answer to 3 came, it would be skipped
				if second == "" {
					t.Fatal("there is no session after the restart")
				}
				say(6, "_nobody/knows", `{}`)
				if got := reply(t, out, 6); !strings.Contains(got, "-32601") {
					t.Errorf("the new one answers %s", got)
				}
				in.Close()
				rest, _ := io.ReadAll(out)
				if err := cmd.Wait(); err != nil {
					t.Errorf("%v\n%s", err, rest)
				}
				text := readFile(t, filepath.Join(dir, "r.jsonl"))
				if strings.Count(text, `"direction":"meta"`) != 2 || strings.Count(text, `"text":"fault: `+fault+`: the message before (`) != 1 || strings.Count(text, `"text":"signal: killed"`) != 1 {
					t.Errorf("the recording is\n%s", text)
				}
				if strings.Contains(text, `"id":3,"result"`) {
					t.Errorf("the old prompt has a result:\n%s", text)
				}
				for one := range strings.SplitSeq(found(t, readFile(t, filepath.Join(dir, "report.jsonl"))), ", ") {
					if strings.HasPrefix(one, "error ") {
						t.Errorf("found %s", one)
					}
				}
				if shown := timelines(t, filepath.Join(dir, "page.html")); len(shown) != 2 || strings.Contains(shown[0], "begin") || !strings.Contains(shown[1], "begin") {
					t.Errorf("the client sees one connection and the agent two, and the page shows %q", shown)
				}
			})
		}
	}
}

// The end of a client reaches the process of now, also while the agent is restarted.
func TestTheEndOfAClientReachesTheAgentThatWasRestarted(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(in io.Closer, kill func(syscall.Signal)){
		"its input":  func(in io.Closer, _ func(syscall.Signal)) { in.Close() },
		"its signal": func(_ io.Closer, kill func(syscall.Signal)) { kill(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := hermes(t, t.TempDir(), "lint", "proxy", "--fault", "restart:from=client", "--", "sh", "-c", "trap 'exit 7' TERM; echo ready; while read -r line; do echo $line; done; exit 7")
			in, out := begin(t, cmd)
			answer(t, out)
			io.WriteString(in, "one\n")
			for answer(t, out) != "ready\n" { // of the next process; the first may have echoed "one"
			}
			io.WriteString(in, "two\n")
			if got := answer(t, out); got != "two\n" {
				t.Errorf("the next one says %q", got)
			}
			end(in, func(s syscall.Signal) { cmd.Process.Signal(s) })
			if name == "its signal" {
				in.Close() // a shell that reads takes the signal afterwards
			}
			rest, _ := io.ReadAll(out)
			if cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
				t.Errorf("%v %q", cmd.ProcessState, rest)
			}
		})
	}
}

// A client that loads a session gets the rest of its history: our driver as the client, our
// demo as the agent. The trace has all messages of the agent.
func TestAReplayIsTruncatedAndNothingElse(t *testing.T) {
	t.Parallel()
	for fault, lost := range map[string]func(all int) int{
		"truncate":        func(all int) int { return all },
		"truncate:n=1-3":  func(int) int { return 3 },
		"truncate:n=5-":   func(all int) int { return all - 4 },
		"truncate:n=9999": func(int) int { return 0 },
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			proxied := []string{self(t), "lint", "proxy", "--out", "agent.jsonl", "--report", "report.jsonl", "--fault", fault, "--", self(t), "demo-agent"}
			out, errs, status := end(t, hermes(t, dir, append([]string{"lint", "run", "--out", "client.jsonl", "--step", "prompt", "--step", "session-load", "--"}, proxied...)...))
			if status != 0 || !strings.Contains(out, "PASS           CAPABILITY     session-load") {
				t.Errorf("%d\n%s%s", status, out, errs)
			}
			said, before := replayed(t, filepath.Join(dir, "agent.jsonl"))
			heard, live := replayed(t, filepath.Join(dir, "client.jsonl"))
			if want := lost(said); said < 5 || said-heard != want {
				t.Errorf("of %d updates %d arrive, want %d less", said, heard, want)
			}
			if before < 5 || before != live {
				t.Errorf("of %d updates before and after %d arrive", before, live)
			}
			if got := strings.Count(readFile(t, filepath.Join(dir, "agent.jsonl")), `"text":"fault: `+fault+`: the message before (agent->client)"`); got != said-heard {
				t.Errorf("the trace tells of %d losses, want %d", got, said-heard)
			}
			if got := found(t, readFile(t, filepath.Join(dir, "report.jsonl"))); strings.Contains(got, "error ") {
				t.Errorf("found %s", got)
			}
		})
	}
}

// replayed counts the updates between session/load and its answer in a recording, and the
// other ones.
func replayed(t *testing.T, file string) (in, other int) {
	t.Helper()
	load, inside := "", false
	for _, r := range readRecording(t, file).Records {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(r.Bytes, &m) != nil {
			continue
		}
		switch {
		case r.Direction == trace.ToAgent && m.Method == "session/load":
			load, inside = string(m.ID), true
		case r.Direction == trace.ToClient && m.Method == "" && string(m.ID) == load:
			inside = false
		case m.Method == "session/update" && inside:
			in++
		case m.Method == "session/update":
			other++
		}
	}
	return in, other
}

// The effect of each fault on an agent on the official SDK, as a client sees it: our
// driver, through the proxy. The trace of the proxy has the messages of the agent and the
// client, and the fault.
func TestAClientSeesEachFaultOfTheLine(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]map[string]string{
		"drop:from=agent,kind=answer,method=session/prompt,n=1": {"session-new": "PASS", "prompt": "FAIL session/prompt is not answered: "},
		"drop:from=client,method=session/new,n=1":               {"initialize": "PASS", "session-new": "FAIL session/new is not answered: ", "prompt": "not played"},
		"duplicate:from=agent,method=session/new,n=1":           {"initialize": "PASS"},
		"delay:from=agent,method=session/new,n=1,time=1s":       {"session-new": "PASS", "prompt": "PASS end_turn"},
		"cut:from=agent,method=session/new,n=1":                 {"session-new": "FAIL session/new is not answered: the other side has ended", "prompt": "not played"},
		"half-close:from=agent,method=session/new,n=1":          {"session-new": "PASS", "prompt": "FAIL "},
		"half-close:from=client,method=session/new,n=1":         {"session-new": "PASS", "prompt": "FAIL "},
		"restart:from=agent,method=session/new":                 {"session-new": "PASS", "prompt": `FAIL session/prompt is answered with the error -32600: "Invalid request: ACP connection must be initialized`},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			agent := sdkAgent(t)
			args := []string{"lint", "run", "--format", "json", "--fail-on", "never", "--out", "client.jsonl", "--timeout", "10s", "--prompt", "SAY hi", "--step", "initialize", "--step", "session-new", "--step", "prompt", "--",
				self(t), "lint", "proxy", "--fail-on", "never", "--out", "agent.jsonl", "--report", "report.jsonl", "--fault", fault, "--"}
			out, errs, _ := end(t, hermes(t, dir, append(args, agent...)...))
			r := readRun(t, out)
			for step, says := range want {
				if !strings.HasPrefix(r.steps[step], says) {
					t.Errorf("%s: %s, want %s\n%s", step, r.steps[step], says, errs)
				}
			}
			// The second answer may arrive when the next step has begun, and then fails that
			// one.
			if one := strings.HasPrefix(r.steps["session-new"], "FAIL") != strings.HasPrefix(r.steps["prompt"], "FAIL end_turn"); strings.HasPrefix(fault, "duplicate") && !one {
				t.Errorf("session-new: %s, prompt: %s; want that one of them fails", r.steps["session-new"], r.steps["prompt"])
			}
			if got := strings.Join(r.findings, ", "); strings.HasPrefix(fault, "duplicate") && !strings.HasPrefix(got, "RPC07 agent the request was answered before") {
				t.Errorf("found %s", got)
			}
			if strings.HasPrefix(fault, "delay") {
				var asked, answered trace.Record
				for _, one := range readRecording(t, filepath.Join(dir, "client.jsonl")).Records {
					switch {
					case strings.Contains(string(one.Bytes), `"method":"session/new"`):
						asked = one
					case answered.Bytes == nil && strings.Contains(string(one.Bytes), `"sessionId"`) && one.Direction == trace.ToClient:
						answered = one
					}
				}
				if took := answered.Time.Sub(asked.Time); took < time.Second {
					t.Errorf("the answer took %v", took)
				}
			}
			if text := readFile(t, filepath.Join(dir, "agent.jsonl")); strings.Count(text, `"text":"fault: `+fault+`: the message before (`) != 1 {
				t.Errorf("the trace is\n%s", text)
			}
		})
	}
}
