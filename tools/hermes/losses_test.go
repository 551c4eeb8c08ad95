package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

// losing are turns in which something does not arrive.
var losing = map[string]struct {
	turn string
	said string // on standard error; empty when nothing is lost
	ok   bool   // the loss is not a reason to fail
}{
	"a message above the limit": {turn: fmt.Sprint("GIANT ", transport.DefaultMaxMessage+1<<20),
		said: "1 message(s) of the agent were lost (message"},
	"an update that does not decode": {turn: updateOf("mine", `{"sessionUpdate":"agent_message_chunk","content":5}`),
		said: "1 message(s) of the agent were lost (session/update: "},
	"an update without a session": {turn: notify("session/update", `{"update":{"sessionUpdate":"plan","entries":[]}}`),
		said: "1 message(s) of the agent were lost (session/update: "},
	"many updates without a session": {turn: strings.Replace(notify("session/update", `{"update":{"sessionUpdate":"plan","entries":[]}}`), "LINE", "FLOOD 300", 1),
		said: "300 message(s) of the agent were lost (session/update: "},
	"two messages that are torn": {turn: steps(`LINE {"jsonrpc":"2.0","method":"session/update","params":{"sess`, `LINE {"jsonrpc":"2.0","method":7}`),
		said: "2 message(s) of the agent were lost ("},
	"text of another session": {turn: say("other", "x"),
		said: `1 piece(s) of text for other sessions were not shown ("other")`},
	"news of another session": {turn: updateOf("other", `{"sessionUpdate":"current_mode_update","currentModeId":"m"}`),
		said: `1 update(s) of other sessions were not shown ("other")`, ok: true},
	"lines that are not messages": {turn: steps(
		"LINE Loading...", `LINE {"level":"info","text":"{}"}`, "LINE {",
		notify("_vendor/news", "{}"), updateOf("mine", `{"sessionUpdate":"of_tomorrow","x":1}`),
	), ok: true},
}

func init() {
	for name, c := range losing {
		for end, stop := range map[string]string{"": "end_turn", " and a limit": "max_tokens"} {
			testAgents["loses "+name+end] = steps(
				answering("session/prompt", `{"stopReason":"`+stop+`"}`),
				turnOf(say("mine", "before "), c.turn, say("mine", "after"), ask("session/request_permission", fmt.Sprintf(permissionFor, "mine"))),
			)
		}
	}
}

func TestLossesAreReportedAndAreNotASuccess(t *testing.T) {
	t.Parallel()
	for name, c := range losing {
		for _, format := range []string{"text", "quiet", "json"} {
			for _, test := range []struct {
				name   string
				agent  string
				flags  []string
				status int
			}{
				{"ends", "loses " + name, []string{"--approve", "all"}, statusIncomplete},
				{"is denied something", "loses " + name, nil, statusIncomplete},
				{"stops", "loses " + name + " and a limit", []string{"--approve", "all"}, statusStopped},
			} {
				if strings.Contains(name, "limit") && (format != "text" || test.name == "stops") {
					continue // one is enough of a large one
				}
				t.Run(name+" "+format+" "+test.name, func(t *testing.T) {
					t.Parallel()
					out, errs, status := end(t, hermes(t, t.TempDir(), agentArgs(t, test.agent, append(test.flags, "--format", format)...)...))
					want := test.status
					if c.ok {
						want = map[string]int{"ends": 0, "is denied something": statusDenied, "stops": statusStopped}[test.name]
					}
					if status != want || strings.Count(errs, c.said) != 1 && c.said != "" || c.said == "" && strings.Contains(errs, "lost") {
						t.Errorf("%d, want %d\n%.200s\n%s", status, want, out, errs)
					}
					if test.name == "is denied something" && !strings.Contains(errs, "were not allowed (--approve reads)") {
						t.Errorf("the refusal is not said: %s", errs)
					}
					switch format {
					case "json":
						if _, last := updates(t, out); *last.ExitStatus != want || want != 0 && !strings.Contains(last.Error, c.said) {
							t.Errorf("%s", out)
						}
					default:
						if strings.ReplaceAll(out, "\n", "") != "before after" {
							t.Errorf("%q", out)
						}
					}
				})
			}
		}
	}
}
