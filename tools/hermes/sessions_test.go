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
	permission := func(session string) string {
		return ask("session/request_permission", fmt.Sprintf(permissionFor, session))
	}
	testAgents["speaks in three sessions"] = turnOf(
		say("mine", "A"), say("other", "B1"), say("", "B2"),
		updateOf("other", `{"sessionUpdate":"tool_call","toolCallId":"x","title":"Not yours","status":"completed"}`),
		permission("mine"), say("mine", "C"), permission("mine"),
	)
	testAgents["asks in sessions nobody opened"] = turnOf(
		permission("mine"), say("mine", "mine: $ANSWER\n"), permission("other"), say("mine", "other: $ANSWER\n"),
		permission(""), say("mine", "none: $ANSWER\n"),
	)
	testAgents["speaks early"] = steps(
		"TALK session/new", say("mine", "1"), say("other", "x"), say("mine", "2"), "REPLY session/new", turnOf(say("mine", "3")),
	)
	testAgents["repeats the past"] = steps(
		"TALK session/load", say("mine", "past 1"), say("mine", "past 2"), "REPLY session/load", turnOf(say("mine", "3")),
	)
	for name, n := range earlyTexts {
		testAgents["speaks early and at length: "+name] = steps(
			"TALK session/new", fmt.Sprint("FLOOD ", n, " ", strings.TrimPrefix(say("mine", "$x32768"), "LINE ")), "REPLY session/new", "TALK",
		)
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
	for approve, want := range map[string][]string{
		"all":   {`"optionId":"y"`, `"code":-32002`, `"code":-32002`},
		"reads": {`"optionId":"n"`, `"code":-32002`, `"code":-32002`},
		"none":  {`"optionId":"n"`, `"code":-32002`, `"code":-32002`},
	} {
		out, errs, status := end(t, hermes(t, t.TempDir(), agentArgs(t, "asks in sessions nobody opened", "--approve", approve)...))
		answers := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		same := slices.EqualFunc(answers, want, strings.Contains)
		if status != statusDenied || !same {
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
		agent := "speaks early"
		if strings.Contains(flags, "--session") {
			agent = "repeats the past"
		}
		out, errs, _ := end(t, hermes(t, t.TempDir(), agentArgs(t, agent, strings.Fields(flags)...)...))
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
