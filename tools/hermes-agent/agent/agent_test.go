package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/unstable"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

const work = `THINK let me see
CALL todo {"items":[{"content":"edit","status":"in_progress"},{"content":"check","status":"pending"}]}
CALL read {"path":"a.txt"}
CALL edit {"path":"a.txt","old":"two","new":"2"}
CALL write {"path":"new.txt","content":"new\n"}
CALL terminal {"command":"cat a.txt new.txt"}
SAY that is it.`

const workShown = `thought: let me see
call Update the plan: think pending
  in_progress
plan: edit in_progress check pending
  completed 2 steps, 2 left
call Read a.txt: read pending
  in_progress
  completed one
two
call Edit a.txt: edit pending
  diff a.txt "one\ntwo\n" "one\n2\n"
  in_progress
  completed
call Write new.txt: edit pending
  diff new.txt "" "new\n"
  in_progress
  completed
call cat a.txt new.txt: execute pending
  in_progress
  terminal
  completed
agent: that is it.Done. one
2
new`

func TestATurnWorksThroughTheClient(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	e.file("a.txt", "one\ntwo\n")
	id := e.open()
	if got := e.play(id, work, acp.StopReasonEndTurn); got != workShown {
		t.Errorf("shown:\n%s\nwant:\n%s", got, workShown)
	}
	if a, b := e.content("a.txt"), e.content("new.txt"); a != "one\n2\n" || b != "new\n" {
		t.Errorf("the files have %q and %q", a, b)
	}
	if len(e.asked) != 2 || e.ran != 1 || len(e.read) != 3 {
		t.Errorf("%d questions, %d terminals, files read: %v", len(e.asked), e.ran, e.read)
	}
	if e.usage == nil || e.usage.Used != 20 || e.usage.Size != 1000 || len(e.titles) != 1 || !strings.Contains(e.titles[0], "THINK let me see") {
		t.Errorf("usage %v, titles %v", e.usage, e.titles)
	}
}

func TestWhatTheClientDoesNotOfferIsDoneOnTheMachine(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.can = func(c *acp.ClientCapabilities) { c.Fs, c.Terminal = nil, false }
	e.start()
	e.file("a.txt", "one\ntwo\n")
	got := e.play(e.open(), work, acp.StopReasonEndTurn)
	if !strings.HasSuffix(got, "agent: that is it.Done. one\n2\nnew") || e.content("a.txt") != "one\n2\n" {
		t.Errorf("shown:\n%s", got)
	}
	if e.ran != 0 || len(e.read) != 0 || len(e.asked) != 2 {
		t.Errorf("%d questions, %d terminals, files read: %v", len(e.asked), e.ran, e.read)
	}
}

func TestWhatIsNotAllowedIsNotDone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		mode   acp.SessionModeID
		choose func(*acp.RequestPermissionRequest) (acp.PermissionOptionID, error)
		asked  int
		said   string
	}{
		{"denied", modeAsk, choose(agentkit.OptionReject), 2, "denied"},
		{"an option that was not offered", modeAsk, choose("sudo"), 2, "denied"},
		{"an error", modeAsk, func(*acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
			return "", errors.New("no screen")
		}, 2, "denied"},
		{"plan only", modePlan, choose(agentkit.OptionOnce), 0, "the mode is plan only"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.choose = test.choose
			e.start()
			id := e.open()
			if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: test.mode}); err != nil {
				t.Fatal(err)
			}
			got := e.play(id, "CALL write {\"path\":\"new.txt\",\"content\":\"x\"}\nCALL terminal {\"command\":\"rm -rf old\"}\nSAY well.", acp.StopReasonEndTurn)
			if strings.Count(got, "  failed") != 2 || !strings.Contains(got, test.said) || !strings.Contains(got, "agent: well.") {
				t.Errorf("shown:\n%s", got)
			}
			if text := e.content("new.txt"); !strings.Contains(text, "no such file") {
				t.Errorf("new.txt has %q", text)
			}
			if len(e.asked) != test.asked {
				t.Errorf("%d questions", len(e.asked))
			}
		})
	}
}

func TestAnAnswerForTheSessionAsksOnce(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.choose = func(p *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
		for _, o := range p.Options {
			if o.Kind == acp.PermissionOptionKindAllowAlways {
				return o.OptionID, nil
			}
		}
		return "", errors.New("nothing is offered for the session")
	}
	e.start()
	id := e.open()
	got := e.play(id, `CALL write {"path":"a","content":"1"}
CALL write {"path":"a","content":"2"}
CALL terminal {"command":"rm -rf hi"}
CALL terminal {"command":"rm -rf hi","timeout":9}
CALL terminal {"command":"rm -rf other"}`, acp.StopReasonEndTurn)
	if len(e.asked) != 3 || !strings.Contains(got, "mode: accept-edits") || e.content("a") != "2" {
		t.Errorf("%d questions; shown:\n%s", len(e.asked), got)
	}
}

func TestCancellingEndsATurnAnywhere(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, script, at string }{
		{"while the model answers", "SLOW 600", "tick 1"},
		{"while a command runs", "CALL terminal {\"command\":\"echo started; sleep 600\"}\nSAY no", "terminal"},
		{"while the user is asked", "CALL write {\"path\":\"a\",\"content\":\"1\"}\nSAY no", "diff"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.rude = true
			hold := make(chan struct{})
			defer close(hold)
			e.choose = func(p *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
				if len(p.ToolCall.Content) > 0 { // an edit
					<-hold
				}
				return agentkit.OptionOnce, nil
			}
			e.start()
			id := e.open()
			ended := make(chan acp.StopReason, 2)
			send := func(script string) {
				reason, err := e.prompt(id, acp.NewTextContent(script))
				if err != nil {
					reason = acp.StopReason(err.Error())
				}
				ended <- reason
			}
			go send(test.script)
			patience.True(t, test.at, func() bool { return strings.Contains(e.shown(), test.at) })
			go send("SLOW 600") // waits, and is cancelled, too
			patience.True(t, "both prompts", func() bool {
				e.mu.Lock()
				defer e.mu.Unlock()
				return e.sent == 2
			})
			if err := e.agent.Cancel(t.Context(), &acp.CancelNotification{SessionID: id}); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if reason := patience.Value(t, "end of the turn", ended); reason != acp.StopReasonCancelled {
					t.Errorf("the turn ended with %q", reason)
				}
			}
			// The second prompt may have begun; the model must not take up its script again.
			e.play(id, "/reset", acp.StopReasonEndTurn)
			if got := e.play(id, "SAY still here", acp.StopReasonEndTurn); !strings.HasPrefix(got, "agent: still here") {
				t.Errorf("shown:\n%s", got)
			}
			if text := e.content("a"); !strings.Contains(text, "no such file") {
				t.Errorf("a was written: %q", text)
			}
		})
	}
}

// recorder is a model that keeps what it was asked.
type recorder struct {
	hold     chan struct{}
	requests chan model.Request
}

func (r *recorder) Complete(ctx context.Context, q model.Request, on func(model.Delta)) (model.Reply, error) {
	r.requests <- q
	select {
	case <-r.hold:
	case <-ctx.Done():
		return model.Reply{}, context.Cause(ctx)
	}
	on(model.Delta{Text: "ok"})
	return model.Reply{Message: model.Message{Role: model.Assistant, Text: "ok"}}, nil
}

func TestAPromptWithNothingInItIsRefused(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.rude = true
	e.start()
	id := e.open()
	for _, block := range []acp.ContentBlock{acp.NewTextContent(" \n"), acp.NewAudioContent("UklGRg==", "audio/wav")} {
		if _, err := e.prompt(id, block); err == nil || !strings.Contains(err.Error(), "there is no text, file or picture in it") {
			t.Errorf("%T: %v", block, err)
		}
	}
	e.play(id, "SAY still here", acp.StopReasonEndTurn)
}

func TestPromptsDuringATurnWaitWithAllTheirBlocks(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	r := &recorder{hold: make(chan struct{}), requests: make(chan model.Request, 9)}
	e.model, e.rude = r, true
	e.start()
	id := e.open()
	ended := make(chan error, 3)
	send := func(blocks ...acp.ContentBlock) {
		go func() {
			_, err := e.prompt(id, blocks...)
			ended <- err
		}()
	}
	send(acp.NewTextContent("first"))
	patience.Value(t, "request", r.requests)
	file := acp.NewEmbeddedResource(&acp.TextResourceContents{URI: "file:///w/b.go", Text: "package b"})
	send(acp.NewTextContent("second"), acp.NewImageContent("QUJD", "image/png"), acp.NewResourceLink("a.go", "file:///w/a.go"), file)
	r.hold <- struct{}{}
	q := patience.Value(t, "request", r.requests)
	close(r.hold)
	said := q.Messages[len(q.Messages)-1]
	if said.Text != "second\n@/w/a.go\n<file path=\"/w/b.go\">\npackage b\n</file>" || len(said.Images) != 1 || said.Images[0].Data != "QUJD" {
		t.Errorf("the model got %+v", said)
	}
	for range 2 {
		if err := patience.Value(t, "end of a turn", ended); err != nil {
			t.Error(err)
		}
	}
}

func TestSessionsSurviveTheAgent(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	e.file("a.txt", "one\ntwo\n")
	id := e.open()
	e.play(id, work, acp.StopReasonEndTurn)
	e.start() // another agent process
	e.take()
	load := &acp.LoadSessionRequest{SessionID: id, Cwd: e.dir}
	if _, err := e.LoadSession(t.Context(), e.agent, load); err != nil {
		t.Fatal(err)
	}
	want := "user: " + work + `
thought: let me see
plan: edit in_progress check pending
call Update the plan: think completed 2 steps, 2 left
call Read a.txt: read completed one
two

call Edit a.txt: edit completed diff a.txt "one\ntwo\n" "one\n2\n"
call Write new.txt: edit completed diff new.txt "" "new\n"
call cat a.txt new.txt: execute completed one
2
new
agent: that is it.Done. one
2
new`
	if got := e.take(); got != want {
		t.Errorf("replayed:\n%s\nwant:\n%s", got, want)
	}
	// The model knows it all, too: the script goes on where it was.
	if got := e.play(id, "/context", acp.StopReasonEndTurn); got != "agent: 12 messages of 1000" {
		t.Errorf("%q", got)
	}

	var fork acp.NewSessionResponse
	err := e.agent.Conn.Call(t.Context(), unstable.MethodSessionFork, &unstable.ForkSessionRequest{SessionID: unstable.SessionID(id), Cwd: e.dir}, &fork)
	if err != nil || fork.SessionID == id || fork.SessionID == "" {
		t.Fatalf("%+v, %v", fork, err)
	}
	if got := e.play(fork.SessionID, "/context", acp.StopReasonEndTurn); got != "agent: 12 messages of 1000" {
		t.Errorf("the fork has %q", got)
	}
	if got := e.play(fork.SessionID, "/reset", acp.StopReasonEndTurn) + e.play(fork.SessionID, "/context", acp.StopReasonEndTurn); !strings.Contains(got, "agent: 0 messages") {
		t.Errorf("the fork has %q", got)
	}

	list, err := e.agent.ListSessions(t.Context(), &acp.ListSessionsRequest{Cwd: acp.Some(e.dir)})
	if err != nil || len(list.Sessions) != 2 || list.Sessions[1].Title.V != "THINK let me see" {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := e.agent.ListSessions(t.Context(), &acp.ListSessionsRequest{Cwd: acp.Some("/elsewhere")}); err != nil || len(list.Sessions) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := e.agent.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id}); err != nil {
		t.Error(err)
	}
	e.take()
	if _, err := e.ResumeSession(t.Context(), e.agent, &acp.ResumeSessionRequest{SessionID: id, Cwd: e.dir}); err != nil || e.take() != "" {
		t.Error("resuming replays", err)
	}
	if got := e.play(id, "SAY hi", acp.StopReasonEndTurn); !strings.HasPrefix(got, "agent: hi") {
		t.Errorf("shown:\n%s", got)
	}
	if _, err := e.agent.DeleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: id}); err != nil {
		t.Error(err)
	}
	for _, unknown := range []acp.SessionID{id, "../../etc/passwd", ""} {
		if _, err := e.agent.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: unknown, Cwd: e.dir}); err == nil {
			t.Errorf("session %q was loaded", unknown)
		}
	}
}

// witness is a model that remembers the system prompt of the last request.
type witness struct {
	model.Model
	system atomic.Pointer[string]
}

func (w *witness) Complete(ctx context.Context, r model.Request, on func(model.Delta)) (model.Reply, error) {
	w.system.Store(&r.Messages[0].Text)
	return w.Model.Complete(ctx, r, on)
}

func TestASessionInAnotherFolderWorksByItsInstructions(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	w := &witness{Model: e.model}
	e.model = w
	e.start()
	for _, name := range []string{"one", "two"} {
		if err := os.MkdirAll(filepath.Join(e.dir, name, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		e.file(name+"/AGENTS.md", "rule "+name)
	}
	one, two := filepath.Join(e.dir, "one"), filepath.Join(e.dir, "two")
	answer, err := e.NewSession(t.Context(), e.agent, &acp.NewSessionRequest{Cwd: one})
	if err != nil {
		t.Fatal(err)
	}
	id := answer.SessionID
	// in says how a session is told to work, and whether it still knows what was said.
	in := func(id acp.SessionID) string {
		e.play(id, "SAY well", acp.StopReasonEndTurn)
		return *w.system.Load()
	}
	first := in(id)
	for _, test := range []struct {
		name string
		cwd  string
		open func(cwd string) (acp.SessionID, error)
	}{
		{"load", two, func(cwd string) (acp.SessionID, error) {
			_, err := e.LoadSession(t.Context(), e.agent, &acp.LoadSessionRequest{SessionID: id, Cwd: cwd})
			return id, err
		}},
		{"load again", two, func(cwd string) (acp.SessionID, error) {
			_, err := e.LoadSession(t.Context(), e.agent, &acp.LoadSessionRequest{SessionID: id, Cwd: cwd})
			return id, err
		}},
		{"resume", one, func(cwd string) (acp.SessionID, error) {
			_, err := e.ResumeSession(t.Context(), e.agent, &acp.ResumeSessionRequest{SessionID: id, Cwd: cwd})
			return id, err
		}},
		{"fork", two, func(cwd string) (acp.SessionID, error) {
			var fork acp.NewSessionResponse
			err := e.agent.Conn.Call(t.Context(), unstable.MethodSessionFork, &unstable.ForkSessionRequest{SessionID: unstable.SessionID(id), Cwd: cwd}, &fork)
			return fork.SessionID, err
		}},
	} {
		opened, err := test.open(test.cwd)
		if err != nil {
			t.Fatal(test.name, err)
		}
		before := e.play(opened, "/context", acp.StopReasonEndTurn)
		got, name := in(opened), filepath.Base(test.cwd)
		if !strings.Contains(got, "Working directory: "+test.cwd+"\n") || !strings.Contains(got, "rule "+name) || strings.Count(got, "rule ") != 1 {
			t.Errorf("%s in %s: %s", test.name, name, got)
		}
		if test.cwd == one && got != first {
			t.Errorf("%s: the prompt was\n%s\nand is\n%s", test.name, first, got)
		}
		if strings.HasPrefix(before, "agent: 0 messages") {
			t.Errorf("%s: the conversation is forgotten", test.name)
		}
	}
	e.file("one/AGENTS.md", "rule three")
	if got := in(id); got != first {
		t.Errorf("the prompt changes in the middle of a conversation:\n%s", got)
	}
	e.play(id, "/reset", acp.StopReasonEndTurn)
	if got := in(id); !strings.Contains(got, "rule three") {
		t.Errorf("after a reset, the prompt is\n%s", got)
	}
}

func TestFaultsOfTheModelEndTheTurnAndTheUserIsTold(t *testing.T) {
	t.Parallel()
	for notices, want := range map[bool]string{
		false: "thought: one moment\n\n\nagent: I was ab",
		true:  "notice: one moment\nagent: I was ab",
	} {
		e := newEditor(t)
		e.model = failing{errors.New("model at x: the answer was cut off")}
		e.can = func(c *acp.ClientCapabilities) {
			if notices {
				c.Session = &acp.ClientSessionCapabilities{Notices: &acp.NoticeCapabilities{}}
			}
		}
		e.start()
		id := e.open()
		var answer *acp.Error
		if _, err := e.prompt(id, acp.NewTextContent("hi")); !errors.As(err, &answer) || !strings.Contains(answer.Message, "model at x: the answer was cut off") {
			t.Errorf("%v", err)
		}
		if got := e.take(); got != want {
			t.Errorf("shown: %q", got)
		}
	}
}

type failing struct{ err error }

func (f failing) Complete(_ context.Context, _ model.Request, on func(model.Delta)) (model.Reply, error) {
	on(model.Delta{Notice: "one moment"})
	on(model.Delta{Text: "I was ab"})
	return model.Reply{Message: model.Message{Role: model.Assistant, Text: "I was ab"}}, f.err
}

func TestSettings(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	r := &recorder{hold: make(chan struct{}), requests: make(chan model.Request, 9)}
	close(r.hold)
	e.model = r
	e.rude = true // it sets what is not on offer
	e.start()
	id := e.open()
	set := func(option acp.SessionConfigID, value acp.SessionConfigValueID) (string, error) {
		answer, err := e.agent.SetSessionConfigOption(t.Context(), &acp.SetSessionConfigOptionRequest{
			SessionID: id, ConfigID: option, Variant: &acp.SetSessionConfigOptionRequestValueID{Value: value},
		})
		if err != nil {
			return "", err
		}
		var now []string
		for _, o := range answer.ConfigOptions {
			now = append(now, string(o.Variant.(*acp.SessionConfigSelect).CurrentValue))
		}
		return strings.Join(now, " "), nil
	}
	if now, err := set(optionModel, "other"); now != "ask other" {
		t.Errorf("%q, %v", now, err)
	}
	if now, err := set(optionMode, "plan"); now != "plan other" {
		t.Errorf("%q, %v", now, err)
	}
	for _, bad := range [][2]string{{"model", "none"}, {"mode", "yolo"}, {"pace", "fast"}} {
		if now, err := set(acp.SessionConfigID(bad[0]), acp.SessionConfigValueID(bad[1])); err == nil {
			t.Errorf("%v: %s", bad, now)
		}
	}
	e.play(id, "hi", acp.StopReasonEndTurn)
	if q := patience.Value(t, "request", r.requests); q.Model != "other" {
		t.Errorf("the request is for %q", q.Model)
	}
}
