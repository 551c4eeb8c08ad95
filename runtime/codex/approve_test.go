package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

type approve = func(context.Context, *codex.Approval) (codex.Choice, error)

func choose(c codex.Choice) approve {
	return func(context.Context, *codex.Approval) (codex.Choice, error) { return c, nil }
}

// answerTo runs a turn that asks, and returns the answer that the app-server got.
func answerTo(t *testing.T, what string, opts codex.Options) string {
	t.Helper()
	server, _ := scripted(t, "plain")
	s := codex.NewSession(server, opts)
	r := s.RunTurn(t.Context(), text("ask "+what))
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	var m struct {
		Result json.RawMessage
		Error  *struct{ Code int }
	}
	if err := json.Unmarshal([]byte(r.FinalText), &m); err != nil {
		t.Fatalf("%v: %s", err, r.FinalText)
	}
	if m.Error != nil {
		return "error " + string(rune('0'-m.Error.Code-32600+1))
	}
	return string(m.Result)
}

const (
	denied    = `{"decision":{"denied":{"rejection":"denied by the user"}}}`
	emptyHand = `{"permissions":{},"scope":"turn"}`
)

// TestChoicesBecomeTheWordsOfEachMethod uses the words of the pinned schema.
func TestChoicesBecomeTheWordsOfEachMethod(t *testing.T) {
	t.Parallel()
	grant := func(scope string) string {
		return `{"permissions":{"fileSystem":{"write":["/outside"]}},"scope":"` + scope + `"}`
	}
	for what, words := range map[string]map[codex.Choice]string{
		"exec":  {"once": `{"decision":"accept"}`, "session": `{"decision":"acceptForSession"}`, "always": `{"decision":"acceptForSession"}`, "deny": `{"decision":"decline"}`, "cancel": `{"decision":"cancel"}`},
		"patch": {"once": `{"decision":"accept"}`, "session": `{"decision":"acceptForSession"}`, "always": `{"decision":"acceptForSession"}`, "deny": `{"decision":"decline"}`, "cancel": `{"decision":"cancel"}`},
		"exec-list": {"once": `{"decision":"accept"}`, "rule-1": `{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["touch","made"]}}}`, "accept": `{"decision":"accept"}`,
			"decline": `{"decision":"decline"}`, "cancel": `{"decision":"cancel"}`, "rule-9": `{"decision":"decline"}`, "acceptForSession": `{"decision":"decline"}`},
		"old-exec":    {"once": `{"decision":"approved"}`, "session": `{"decision":"approved_for_session"}`, "always": `{"decision":"approved_for_session"}`, "deny": denied, "cancel": `{"decision":"abort"}`, "accept": `{"decision":"approved"}`},
		"old-patch":   {"once": `{"decision":"approved"}`, "session": `{"decision":"approved_for_session"}`, "always": `{"decision":"approved_for_session"}`, "deny": denied, "cancel": `{"decision":"abort"}`, "decline": denied},
		"permissions": {"once": grant("turn"), "session": grant("session"), "always": grant("session"), "deny": emptyHand, "cancel": emptyHand},
	} {
		for choice, want := range words {
			t.Run(what+" "+string(choice), func(t *testing.T) {
				t.Parallel()
				if got := answerTo(t, what, codex.Options{Approve: choose(choice)}); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

// TestWhateverGoesWrongIsADenial has every way in which nobody has consented.
func TestWhateverGoesWrongIsADenial(t *testing.T) {
	t.Parallel()
	over := make(chan bool)
	t.Cleanup(func() { close(over) })
	forever := func(context.Context, *codex.Approval) (codex.Choice, error) { <-over; return codex.Once, nil }
	wrong := map[string]codex.Options{
		"no callback": {},
		"error": {Approve: func(context.Context, *codex.Approval) (codex.Choice, error) {
			return codex.Once, errors.New("the client is gone")
		}},
		"panic":          {Approve: func(context.Context, *codex.Approval) (codex.Choice, error) { panic("no") }},
		"unknown option": {Approve: choose("certainly")},
		"no option":      {Approve: choose("")},
		"timeout": {Approve: func(ctx context.Context, _ *codex.Approval) (codex.Choice, error) {
			<-ctx.Done()
			return codex.Once, nil
		}, ApproveWithin: 50 * time.Millisecond},
		"never returns":  {Approve: forever, ApproveWithin: 50 * time.Millisecond},
		"the other flag": {AutoPatch: true},
	}
	for name, opts := range wrong {
		for what, want := range map[string]string{
			"exec": `{"decision":"decline"}`, "patch": `{"decision":"decline"}`, "old-exec": denied, "old-patch": denied, "permissions": emptyHand,
		} {
			opts := opts
			if name == "the other flag" && strings.HasSuffix(what, "patch") {
				opts.AutoPatch, opts.AutoExec = false, true
			}
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				if got := answerTo(t, what, opts); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

func TestFlagsComeBeforeTheCallback(t *testing.T) {
	t.Parallel()
	opts := codex.Options{AutoExec: true, AutoPatch: true, Approve: choose(codex.Deny)}
	for what, want := range map[string]string{
		"exec": `{"decision":"accept"}`, "patch": `{"decision":"accept"}`,
		"old-exec": `{"decision":"approved"}`, "old-patch": `{"decision":"approved"}`,
		"permissions": emptyHand, // no flag gives these away
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if got := answerTo(t, what, opts); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestWhatNobodyAnswersIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{
		"unknown": "error 2", "tool": "error 2", // -32601
		"input": `{"answers":{}}`, "elicit": `{"action":"decline"}`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if got := answerTo(t, what, codex.Options{}); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestQuestionsGetTheirAnswers(t *testing.T) {
	t.Parallel()
	opts := codex.Options{
		Answer: func(_ context.Context, p *appserver.ToolRequestUserInputParams) (map[string][]string, error) {
			return map[string][]string{p.Questions[0].ID: {p.Questions[0].Options[0].Label}}, nil
		},
		Elicit: func(context.Context, *appserver.MCPServerElicitationRequestParams) (*appserver.MCPServerElicitationRequestResponse, error) {
			panic("no")
		},
	}
	if got := answerTo(t, "input", opts); got != `{"answers":{"q1":{"answers":["A"]}}}` {
		t.Errorf("got %s", got)
	}
	if got := answerTo(t, "elicit", opts); got != `{"action":"decline"}` {
		t.Errorf("got %s", got)
	}
}

func TestAnApprovalComesAfterItsItemAndTheFloodDoesNotDelayIt(t *testing.T) {
	t.Parallel()
	server, _ := scripted(t, "plain")
	var asked *codex.Approval
	s := codex.NewSession(server, codex.Options{Approve: func(_ context.Context, a *codex.Approval) (codex.Choice, error) {
		asked = a
		return codex.Once, nil
	}})
	r := s.RunTurn(t.Context(), text("flooded patch"))
	if !strings.Contains(r.FinalText, `"accept"`) {
		t.Fatalf("got %q, %v", r.FinalText, r.Err)
	}
	if asked.Item == nil || len(asked.Changes) != 1 || asked.Changes[0].Path != "/project/a" {
		t.Errorf("the approval came before its item: %+v", asked)
	}
}

func TestAnApprovalSaysWhatItIsAbout(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ what, want string }{
		{"exec", "exec c1 touch made /project why accept acceptForSession decline cancel"},
		{"exec-list", "exec c1 touch made   accept rule-1 decline cancel"},
		{"old-exec", "exec c1 touch made /project why accept acceptForSession decline cancel"},
		{"old-patch", "patch p1    accept acceptForSession decline cancel /project/a /project/b"},
	} {
		t.Run(test.what, func(t *testing.T) {
			t.Parallel()
			got := ""
			answerTo(t, test.what, codex.Options{Approve: func(_ context.Context, a *codex.Approval) (codex.Choice, error) {
				parts := []string{string(a.Subject), a.ItemID, a.Command, a.Dir, a.Reason}
				for _, o := range a.Options {
					parts = append(parts, string(o.ID))
				}
				for _, c := range a.Changes {
					parts = append(parts, c.Path)
				}
				got = strings.Join(slices.Clone(parts), " ")
				return codex.Deny, nil
			}})
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
