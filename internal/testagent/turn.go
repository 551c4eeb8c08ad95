package testagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// turn is the turn that steps in a prompt belong to.
type turn struct {
	*link
	id acp.SessionID
	p  *player
}

// Prompt runs the steps of a prompt. A cancel ends it after the current step.
func (l *link) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	if err := l.known(p.SessionID); err != nil {
		return nil, err
	}
	t := &turn{link: l, id: p.SessionID}
	t.p = &player{out: l.out, turn: t}
	var steps []string
	for _, b := range p.Prompt {
		switch b := b.(type) {
		case *acp.ResourceLink:
			steps = append(steps, "SAY LINK "+b.URI)
		case *acp.TextContent:
			steps = append(steps, strings.Split(b.Text, "\n")...)
		}
	}
	for _, step := range steps {
		err := t.p.do(ctx, step)
		if answer := (*acp.Error)(nil); ctx.Err() != nil && !errors.As(err, &answer) {
			return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

var turnVerbs = map[string]func(t *turn, ctx context.Context, rest string) error{
	"ASK":      (*turn).askTitle, // TITLE: ask about a tool call, and report the answer even after a cancel
	"ATCANCEL": (*turn).atCancel, // STEP: wait until the turn is cancelled, and do a step
	"BIG":      (*turn).big,      // SHAPE N: an update with the same thing in it N times
	"BIGASK":   (*turn).bigAsk,   // N: ask about a tool call with N bytes of arguments
	"BIGWRITE": (*turn).bigWrite, // PATH N: have the client write a file of N bytes
	"CALL":     (*turn).call,     // METHOD PARAMS: call any method of the client, and report its answer
	"COUNT":    (*turn).count,    // N: N numbered updates, sent or not
	"CUT":      (*turn).cut,      // HOW: announce a tool call that the client cannot keep whole, and ask about it
	"CWD":      (*turn).where,    // say where the session is
	"EDIT":     (*turn).edit,     // PATH TEXT: write a file as TOUCH does, and announce it as a tool call
	"ERROR":    (*turn).fail,     // JSON: answer the prompt with this error, even after a cancel
	"EXEC":     (*turn).exec,     // PROGRAM ARG...: run a program in a terminal of the client
	"FILL":     (*turn).fill,     // N SIZE: N updates of SIZE bytes
	"HANGUP":   (*turn).hangUp,   // close the connection
	"LEAVE":    (*turn).leave,    // METHOD PARAMS: call any method of the client, and do not wait for the answer
	"LOOSE":    (*turn).loose,    // SCRIPT: run a shell in a session of its own, and forget it
	"MAY":      (*turn).may,      // KIND PATH: announce a tool call, and ask about it by its id
	"MAYRUN":   (*turn).mayRun,   // TITLE: announce a tool call that executes, and ask about it by its id
	"NOTE":     (*turn).note,     // FILE: wait for the end of the turn, and write its cause to a file
	"NOTIFY":   (*turn).notify,   // METHOD PARAMS: send any notification
	"OWN":      (*turn).own,      // SCRIPT: run a shell in a session of its own, and kill it when the turn ends
	"READ":     (*turn).read,     // PATH: read a file of the client, and report its text
	"RUN":      (*turn).run,      // SCRIPT: run a shell in a terminal of the client
	"SAY":      (*turn).say,      // TEXT: an update with that text
	"SHELL":    (*turn).shell,    // LINE: run a line as if it were a program, as some agents do
	"SHOW":     (*turn).show,     // JSON: ask about a call that executes, with this raw input
	"TOOL":     (*turn).tool,     // a tool call and its end
	"WITHDRAW": (*turn).withdraw, // PATH: read a file of the client, and cancel that at once
	"WRITE":    (*turn).write,    // PATH TEXT: have the client write a file
}

// say remembers the text, sent or not.
func (t *turn) say(ctx context.Context, text string) error {
	ids := []acp.SessionID{t.id}
	t.mu.Lock()
	if t.is("mixed") {
		ids = slices.Clone(t.ids)
	}
	if _, ok := t.sessions[t.id]; ok {
		t.sessions[t.id] = append(t.sessions[t.id], text)
	}
	t.mu.Unlock()
	for _, id := range ids {
		if err := t.update(ctx, id, acp.NewAgentMessageChunk(acp.NewTextContent(text))); err != nil {
			return err
		}
	}
	return nil
}

// report says how a request to the client went.
func (t *turn) report(ctx context.Context, verb string, r acp.Appender, err error) error {
	if err != nil {
		return t.say(context.WithoutCancel(ctx), verb+" error: "+err.Error())
	}
	return t.say(context.WithoutCancel(ctx), verb+" "+string(r.AppendJSON(nil)))
}

var choices = map[acp.PermissionOptionID]acp.PermissionOption{
	"yes":    {OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce},
	"always": {OptionID: "always", Name: "Always", Kind: acp.PermissionOptionKindAllowAlways},
	"no":     {OptionID: "no", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
}

// ask asks about a tool call and reports the answer.
func (t *turn) ask(ctx context.Context, verb string, call acp.ToolCallUpdate, ids ...acp.PermissionOptionID) error {
	var options []acp.PermissionOption
	for _, id := range ids {
		options = append(options, choices[id])
	}
	r, err := t.client.RequestPermission(ctx, &acp.RequestPermissionRequest{SessionID: t.id, ToolCall: call, Options: options})
	return t.report(ctx, verb, r, err)
}

func (t *turn) askTitle(ctx context.Context, rest string) error {
	return t.ask(context.WithoutCancel(ctx), "ASK", acp.ToolCallUpdate{ToolCallID: "t1", Title: acp.Some(rest)}, "yes", "no")
}

func (t *turn) bigAsk(ctx context.Context, rest string) error {
	n, err := strconv.Atoi(rest)
	if err != nil {
		return err
	}
	input := json.RawMessage(`{"x":"` + strings.Repeat("x", n) + `"}`)
	return t.ask(ctx, "BIGASK", acp.ToolCallUpdate{ToolCallID: "t1", Title: acp.Some("Big"), RawInput: input}, "yes", "no")
}

func (t *turn) mayRun(ctx context.Context, rest string) error {
	err := t.update(ctx, t.id, &acp.ToolCall{ToolCallID: "t2", Title: rest, Kind: acp.Some(acp.ToolKindExecute)})
	if err != nil {
		return err
	}
	return t.ask(ctx, "MAYRUN", acp.ToolCallUpdate{ToolCallID: "t2"}, "yes")
}

func (t *turn) show(ctx context.Context, rest string) error {
	call := acp.ToolCallUpdate{ToolCallID: "t3", Kind: acp.Some(acp.ToolKindExecute), RawInput: json.RawMessage(rest)}
	return t.ask(ctx, "SHOW", call, "yes", "always", "no")
}

func (t *turn) may(ctx context.Context, rest string) error {
	kind, path, _ := strings.Cut(rest, " ")
	call := acp.ToolCallID("may " + rest)
	err := t.update(ctx, t.id, &acp.ToolCall{ToolCallID: call, Title: rest, Kind: acp.Some(acp.ToolKind(kind)), Locations: []acp.ToolCallLocation{{Path: path}}})
	if err != nil {
		return err
	}
	return t.ask(ctx, "MAY", acp.ToolCallUpdate{ToolCallID: call}, "yes", "no")
}

// cut announces a tool call that the client cannot keep whole, and asks about it
// by its id. The whole call does more than the kept part says.
func (t *turn) cut(ctx context.Context, how string) error {
	const asked = acp.ToolCallID("cut")
	question := acp.ToolCallUpdate{ToolCallID: asked}
	command := &acp.ToolCall{ToolCallID: asked, Title: how, Kind: acp.Some(acp.ToolKindRead), RawInput: json.RawMessage(`{"command":"rm -r /"}`)}
	var updates []acp.SessionUpdate
	switch how {
	case "delivery": // more than Neovim accepts at a time: the last file is left out
		call := &acp.ToolCall{ToolCallID: asked, Title: how, Kind: acp.Some(acp.ToolKindEdit), Locations: []acp.ToolCallLocation{{Path: "/w/a"}}}
		for range 8 {
			call.Content = append(call.Content, acp.NewContent(acp.NewTextContent(strings.Repeat("x", 1<<20))))
		}
		call.Content = append(call.Content, &acp.Diff{Path: "/etc/passwd", NewText: "x"})
		updates = append(updates, call)
	case "memory": // more than the host keeps of one call: the command is forgotten
		large := json.RawMessage(`"` + strings.Repeat("x", 1800<<10) + `"`)
		updates = append(updates, command, &acp.ToolCallUpdate{ToolCallID: asked, RawOutput: large},
			&acp.ToolCallUpdate{ToolCallID: asked, Content: []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(string(large)))}})
	case "number": // more calls than the host keeps
		updates = append(updates, command)
		for i := range 1100 {
			updates = append(updates, &acp.ToolCall{ToolCallID: acp.ToolCallID(strconv.Itoa(i)), Title: "Other"})
		}
		question.Kind = command.Kind
	default:
		return fmt.Errorf("no way to cut %q", how)
	}
	for _, u := range updates {
		if err := t.update(ctx, t.id, u); err != nil {
			return err
		}
	}
	return t.ask(ctx, "CUT", question, "yes", "no")
}

func (t *turn) atCancel(ctx context.Context, step string) error {
	<-ctx.Done()
	return t.p.do(ctx, step)
}

func (t *turn) note(ctx context.Context, path string) error {
	<-ctx.Done()
	return os.WriteFile(path, []byte(context.Cause(ctx).Error()), 0o600)
}

func (t *turn) fail(_ context.Context, rest string) error {
	e := new(acp.Error)
	if err := e.UnmarshalJSON([]byte(rest)); err != nil {
		return err
	}
	return e
}

func (t *turn) hangUp(ctx context.Context, _ string) error {
	t.way.Close()
	<-ctx.Done()
	return nil
}

func (t *turn) where(ctx context.Context, _ string) error {
	t.mu.Lock()
	cwd := t.cwd
	t.mu.Unlock()
	return t.say(ctx, "CWD "+cwd+"\n")
}

func (t *turn) count(ctx context.Context, rest string) error {
	n, err := strconv.Atoi(rest)
	for i := range n {
		t.say(ctx, fmt.Sprintf("%d of %d", i+1, n))
	}
	return err
}

func (t *turn) fill(ctx context.Context, rest string) error {
	var n, size int
	_, err := fmt.Sscan(rest, &n, &size)
	text := strings.Repeat("x", size)
	for i := 0; err == nil && i < n; i++ {
		err = t.say(ctx, text)
	}
	return err
}

func (t *turn) tool(ctx context.Context, _ string) error {
	err := t.update(ctx, t.id, &acp.ToolCall{ToolCallID: "t1", Title: "Look", Status: acp.Some(acp.ToolCallStatusPending), RawInput: json.RawMessage(`{"a":[1,null]}`)})
	if err != nil {
		return err
	}
	return t.update(ctx, t.id, &acp.ToolCallUpdate{ToolCallID: "t1", Status: acp.Some(acp.ToolCallStatusCompleted), Content: []acp.ToolCallContent{
		&acp.Diff{Path: "/a", NewText: "y", OldText: acp.Some("x")},
	}})
}

func (t *turn) edit(ctx context.Context, rest string) error {
	path, _, _ := strings.Cut(rest, " ")
	err := t.update(ctx, t.id, &acp.ToolCall{ToolCallID: "e1", Title: "Edit", Kind: acp.Some(acp.ToolKindEdit), Locations: []acp.ToolCallLocation{{Path: path}}})
	if err == nil {
		err = touch(ctx, t.p, rest)
	}
	if err != nil {
		return err
	}
	return t.update(ctx, t.id, &acp.ToolCallUpdate{ToolCallID: "e1", Status: acp.Some(acp.ToolCallStatusCompleted)})
}

func (t *turn) read(ctx context.Context, path string) error {
	r, err := t.client.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: t.id, Path: path})
	return t.report(ctx, "READ", r, err)
}

func (t *turn) withdraw(ctx context.Context, path string) error {
	short, stop := context.WithTimeout(ctx, 100*time.Millisecond)
	defer stop()
	_, err := t.client.ReadTextFile(short, &acp.ReadTextFileRequest{SessionID: t.id, Path: path})
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("want a timeout, got %v", err)
	}
	return nil
}

func (t *turn) write(ctx context.Context, rest string) error {
	path, text, _ := strings.Cut(rest, " ")
	r, err := t.client.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: t.id, Path: path, Content: text})
	return t.report(ctx, "WRITE", r, err)
}

func (t *turn) bigWrite(ctx context.Context, rest string) error {
	path, count, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	r, err := t.client.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: t.id, Path: path, Content: strings.Repeat("x", n)})
	return t.report(ctx, "BIGWRITE", r, err)
}

func (t *turn) call(ctx context.Context, rest string) error {
	method, params, _ := strings.Cut(rest, " ")
	var r acp.Raw
	err := t.conn.Call(ctx, method, verbatim(params), &r)
	return t.report(ctx, "CALL", r, err)
}

// verbatim is JSON text that is sent as it is. acp.Raw replaces half a surrogate pair.
type verbatim string

func (v verbatim) AppendJSON(b []byte) []byte { return append(b, v...) }

func (t *turn) leave(ctx context.Context, rest string) error {
	method, params, _ := strings.Cut(rest, " ")
	_, err := t.conn.Start(context.WithoutCancel(ctx), method, acp.Raw(params))
	return err
}

func (t *turn) notify(ctx context.Context, rest string) error {
	method, params, _ := strings.Cut(rest, " ")
	return t.conn.Notify(ctx, method, acp.Raw(params))
}

func (t *turn) exec(ctx context.Context, rest string) error {
	words := strings.Fields(rest)
	if len(words) == 0 {
		return errors.New("EXEC needs a program")
	}
	return t.command(ctx, words[0], words[1:]...)
}

func (t *turn) run(ctx context.Context, script string) error {
	return t.command(ctx, "sh", "-c", script)
}

func (t *turn) shell(ctx context.Context, line string) error { return t.command(ctx, line) }

func (t *turn) command(ctx context.Context, command string, args ...string) error {
	made, err := t.client.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: t.id, Command: command, Args: args})
	if err != nil {
		return t.report(ctx, "RUN", nil, err)
	}
	if _, err = t.client.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: t.id, TerminalID: made.TerminalID}); err != nil {
		return t.report(ctx, "RUN", nil, err)
	}
	out, err := t.client.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: t.id, TerminalID: made.TerminalID})
	if err == nil {
		_, err = t.client.ReleaseTerminal(ctx, &acp.ReleaseTerminalRequest{SessionID: t.id, TerminalID: made.TerminalID})
	}
	return t.report(ctx, "RUN", out, err)
}

func (t *turn) loose(_ context.Context, script string) error {
	return exec.Command("setsid", "sh", "-c", script).Start()
}

func (t *turn) own(ctx context.Context, script string) error {
	cmd := exec.Command("setsid", "sh", "-c", script)
	if err := cmd.Start(); err != nil {
		return err
	}
	<-ctx.Done()
	cmd.Process.Kill()
	cmd.Wait()
	return nil
}

func (t *turn) big(ctx context.Context, rest string) error {
	shape, count, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	update := Big(shape, n)
	if update == "" {
		return fmt.Errorf("no shape %q", shape)
	}
	return t.conn.Notify(ctx, acp.MethodSessionUpdate, acp.Raw(`{"sessionId":"`+string(t.id)+`","update":`+update+`}`))
}

// Shapes are those of [Big]: all that makes an update large.
var Shapes = []string{"text", "thought", "plan", "commands", "diff", "unknown", "rawInput", "rawOutput", "_meta", "content", "locations"}

// Big is an update that grows with n in one way; empty if the shape is unknown.
func Big(shape string, n int) string {
	list := func(item string) string { return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]" }
	switch shape {
	case "text":
		return `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("aä€😀\\n", n/12) + `"}}`
	case "thought": // with members that cannot be repeated in every piece
		return `{"sessionUpdate":"agent_thought_chunk","_meta":{"m":` + list("0") + `},"content":{"type":"text","text":"` + strings.Repeat("x", n) + `"}}`
	case "plan":
		return `{"sessionUpdate":"plan","entries":` + list(`{"content":"a","priority":"low","status":"pending"}`) + `}`
	case "commands":
		return `{"sessionUpdate":"available_commands_update","availableCommands":` + list(`{"name":"a","description":""}`) + `}`
	case "diff":
		return `{"sessionUpdate":"tool_call","toolCallId":"big","title":"t","content":[{"type":"diff","path":"/a","oldText":"` +
			strings.Repeat("x", n) + `","newText":"` + strings.Repeat(`\u00e4`, n) + `"}],"status":"pending"}`
	case "unknown":
		return `{"sessionUpdate":"news","of":` + list("{}") + `}`
	}
	value, ok := map[string]string{
		"rawInput": list("{}"), "rawOutput": list("[[[]]]"), "_meta": `{"m":` + list("1") + `}`, "content": list(`{"type":"content","content":{"type":"text","text":""}}`),
		"locations": list(`{"path":"/a"}`),
	}[shape]
	if !ok {
		return ""
	}
	return `{"sessionUpdate":"tool_call","toolCallId":"big","title":"t","` + shape + `":` + value + `,"status":"pending"}`
}
