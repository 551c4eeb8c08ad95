package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const permissionFor = `{"sessionId":%q,"toolCall":{"toolCallId":"c","title":"Touch","kind":"execute"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}`

func init() {
	testAgents["speaks in three sessions"] = func(w *agentWire) {
		w.serve(during(func() {
			w.say("mine", "A")
			w.say("other", "B1")
			w.say("", "B2")
			w.update("other", `{"sessionUpdate":"tool_call","toolCallId":"x","title":"Not yours","status":"completed"}`)
			w.ask("session/request_permission", fmt.Sprintf(permissionFor, "mine"))
			w.say("mine", "C")
			w.ask("session/request_permission", fmt.Sprintf(permissionFor, "mine"))
		}))
	}
	testAgents["asks in sessions nobody opened"] = func(w *agentWire) {
		w.serve(during(func() {
			for _, session := range []string{"mine", "other", ""} {
				answer := w.ask("session/request_permission", fmt.Sprintf(permissionFor, session))
				switch {
				case strings.Contains(answer, `"optionId":"y"`):
					w.say("mine", "allowed ")
				case strings.Contains(answer, `"code":-32002`):
					w.say("mine", "unknown ")
				default:
					w.say("mine", "denied ")
				}
			}
		}))
	}
	testAgents["speaks early"] = func(w *agentWire) {
		w.serve(answers{
			"session/new": func(json.RawMessage) (string, string) {
				w.say("mine", "1")
				w.say("other", "x")
				w.say("mine", "2")
				return "result", `{"sessionId":"mine"}`
			},
			"session/load": func(json.RawMessage) (string, string) {
				w.say("mine", "past 1")
				w.say("mine", "past 2")
				return "result", "{}"
			},
			"session/prompt": func(json.RawMessage) (string, string) {
				w.say("mine", "3")
				return "result", `{"stopReason":"end_turn"}`
			},
		})
	}
	for name, n := range earlyTexts {
		testAgents["speaks early and at length: "+name] = func(w *agentWire) {
			w.serve(answers{"session/new": func(json.RawMessage) (string, string) {
				for range n {
					w.say("mine", strings.Repeat("x", 32<<10))
				}
				return "result", `{"sessionId":"mine"}`
			}})
		}
	}
}

// earlyTexts are texts of 32 KiB that come before the session is known. The
// connection holds a quarter of maxWaiting.
var earlyTexts = map[string]int{"held": 4, "too much": 32}

// updates returns what a run in the format json printed: the text of each update,
// by event and session.
func updates(t *testing.T, out string) (events []string, last jsonLine) {
	t.Helper()
	for line := range strings.Lines(out) {
		last = jsonLine{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		text := last.Event
		if len(last.Update) > 0 {
			var u struct {
				SessionUpdate string
				Content       struct{ Text string }
			}
			if err := json.Unmarshal(last.Update, &u); err != nil {
				t.Fatal(err)
			}
			text += fmt.Sprintf(" %s %s", last.SessionID, u.Content.Text)
			if last.Replay {
				text += " (past)"
			}
		}
		events = append(events, text)
	}
	return events, last
}

func TestOnlyItsOwnSessionIsShown(t *testing.T) {
	t.Parallel()
	const lost = `2 piece(s) of text for other sessions were not shown ("`
	for _, format := range []string{"text", "quiet"} {
		out, errs, status := end(t, hermes(t, t.TempDir(), agentArgs(t, "speaks in three sessions", "--approve", "all", "--format", format)...))
		if status != statusIncomplete || out != "A\nC\n" && out != "AC\n" || strings.Contains(errs, "Not yours") || !strings.Contains(errs, lost) ||
			!strings.Contains(errs, `1 update(s) of other sessions were not shown ("other")`) {
			t.Errorf("%s: %d\n%q\n%s", format, status, out, errs)
		}
	}
	out, errs, status := end(t, hermes(t, t.TempDir(), agentArgs(t, "speaks in three sessions", "--approve", "all", "--format", "json")...))
	events, last := updates(t, out)
	var mine, foreign []string
	for _, e := range events {
		if strings.HasPrefix(e, "update ") {
			mine = append(mine, e)
		} else if strings.HasPrefix(e, "foreign ") {
			foreign = append(foreign, e)
		}
	}
	slices.Sort(foreign) // sessions do not wait for each other
	if want := []string{"update mine A", "update mine C"}; !slices.Equal(mine, want) {
		t.Errorf("%q", mine)
	}
	if want := []string{"foreign  B2", "foreign other ", "foreign other B1"}; !slices.Equal(foreign, want) {
		t.Errorf("%q", foreign)
	}
	if status != statusIncomplete || *last.ExitStatus != statusIncomplete || !strings.Contains(last.Error, lost) || !strings.Contains(errs, lost) {
		t.Errorf("%d\n%s\n%s", status, out, errs)
	}
}

func TestQuestionsOfUnopenedSessionsAreRefused(t *testing.T) {
	t.Parallel()
	for approve, want := range map[string]string{"all": "allowed unknown unknown \n", "reads": "denied unknown unknown \n", "none": "denied unknown unknown \n"} {
		out, errs, status := end(t, hermes(t, t.TempDir(), agentArgs(t, "asks in sessions nobody opened", "--approve", approve)...))
		if status != statusDenied || out != want {
			t.Errorf("--approve %s: %d\n%q\n%s", approve, status, out, errs)
		}
	}
}

func TestTheSessionIsNamedBeforeItsUpdates(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string][]string{
		"--format json":                {"session", "update mine 1", "update mine 2", "update mine 3", "end"},
		"--format json --session mine": {"session", "update mine past 1 (past)", "update mine past 2 (past)", "update mine 3", "end"},
	} {
		out, errs, _ := end(t, hermes(t, t.TempDir(), agentArgs(t, "speaks early", strings.Fields(flags)...)...))
		events, _ := updates(t, out)
		// Sessions do not wait for each other, so the foreign update may have any
		// place after the line that names the session.
		foreign := slices.Index(events, "foreign other x")
		if strings.Contains(flags, "--session") != (foreign < 0) || foreign == 0 {
			t.Errorf("%s: the foreign update has the place %d", flags, foreign)
		} else if foreign > 0 {
			events = slices.Delete(events, foreign, foreign+1)
		}
		if !slices.Equal(events, want) {
			t.Errorf("%s: %q\n%s", flags, events, errs)
		}
	}
	out, errs, status := end(t, hermes(t, t.TempDir(), agentArgs(t, "speaks early")...))
	if out != "123\n" || status != statusIncomplete {
		t.Errorf("%d %q\n%s", status, out, errs)
	}
}

func TestUpdatesThatComeTooEarlyAreHeldWithinABound(t *testing.T) {
	t.Parallel()
	for name, n := range earlyTexts {
		out, errs, status := end(t, hermes(t, t.TempDir(), agentArgs(t, "speaks early and at length: "+name)...))
		want, shown, said := 0, n*32<<10+1, ""
		if name == "too much" {
			want, shown, said = statusIncomplete, 0, fmt.Sprintf("%d update(s) that came before the answer to session/new were lost", n)
		}
		if status != want || len(out) != shown || !strings.Contains(errs, said) {
			t.Errorf("%s: %d, %d bytes\n%s", name, status, len(out), errs)
		}
	}
}
