package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// scripted is an agent whose prompts are its script, a step a line. Mode is a
// fault of the whole program, empty for none.
type scripted struct {
	acp.UnimplementedAgentHandler
	client acp.Client
	conn   *rpc.Conn
	mode   string
	stdout *os.File // the connection's; what prints by mistake is led elsewhere

	mu       sync.Mutex
	sessions int
	cancels  int
	refusing bool // answers the cancelled turn with an error
	ids      []acp.SessionID
	cwd      string // of the last session
}

// refuse makes this program ignore every polite way to be ended.
func refuse() { signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE) }

func playAgent(mode string) int {
	switch mode {
	case "help":
		fmt.Println("Usage: agent [OPTIONS]")
		fmt.Println("  --help   print this")
		return 0
	case "exit":
		fmt.Fprintln(os.Stderr, "no licence found")
		return 3
	case "mute":
		time.Sleep(time.Hour)
	case "chatty": // takes its output for a terminal, and waits there for the user
		fmt.Println("Do you trust this folder? [yN] \x1b[31m\u202e" + strings.Repeat("x", 200))
		time.Sleep(time.Hour)
	case "once": // runs the first time only
		if os.Mkdir(os.Getenv("HERMES_TEST_ONCE"), 0o700) != nil {
			fmt.Fprintln(os.Stderr, "the database is damaged")
			return 4
		}
	case "stubborn":
		refuse()
		defer time.Sleep(time.Hour)
	}
	stdout := os.Stdout
	serveScripted(transport.Stdio(), mode, stdout)
	return 0
}

// serveScripted is the agent over any transport; it returns at the end of the
// connection.
func serveScripted(t transport.Transport, mode string, stdout *os.File) {
	a := &scripted{mode: mode, stdout: stdout}
	ready := make(chan struct{})
	a.conn = rpc.NewConn(t, gate{acp.AgentSide(a), ready, mode}, rpc.Options{Server: true})
	a.client = acp.Client{Conn: a.conn}
	close(ready)
	<-a.conn.Done()
}

// gate holds messages back until the agent is set up.
type gate struct {
	acp.Handler
	ready chan struct{}
	mode  string
}

// ownAnswer is the answer of the mode "own" to everything but session/new. It
// has members of its own under the names that Hermes uses.
const ownAnswer = `{"sessionId":"theirs","agent":"theirs","opId":"theirs","promptId":"theirs","methodId":"theirs","modeId":"theirs","configId":"theirs",
"cwd":"/theirs","seq":7,"replay":"theirs","value":["theirs"],"stopReason":"end_turn","sessions":[],"configOptions":[],"_meta":{"sessionId":"theirs"}}`

func (g gate) HandleRequest(ctx context.Context, m string, p json.RawMessage) (acp.Appender, error) {
	<-g.ready
	switch {
	case g.mode == "curt" && m == acp.MethodSessionSetConfigOption: // leaves the list to an update
		_, err := g.Handler.HandleRequest(ctx, m, p)
		return acp.Raw(`{}`), err
	case g.mode != "own" || m == acp.MethodInitialize || m == acp.MethodSessionNew:
	case m == "_list":
		return acp.Raw(`["theirs",2]`), nil
	default:
		return acp.Raw(ownAnswer), nil
	}
	return g.Handler.HandleRequest(ctx, m, p)
}

func (a *scripted) Initialize(_ context.Context, p *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	version := acp.ProtocolVersion(1)
	if a.mode == "version" {
		version = 9
	}
	caps, err := json.Marshal(p.ClientCapabilities)
	can := &acp.AgentCapabilities{LoadSession: a.mode != "forgetful"}
	if a.mode == "resume" {
		can.SessionCapabilities = &acp.SessionCapabilities{Resume: &acp.SessionResumeCapabilities{}}
	}
	return &acp.InitializeResponse{
		ProtocolVersion:   version,
		AgentInfo:         &acp.Implementation{Name: "scripted", Version: "1"},
		AgentCapabilities: can, AuthMethods: a.logins(),
		Meta: append(append([]byte(`{"caps":`), caps...), '}'),
	}, err
}

// logins are the ways to log in to an agent that wants that.
func (a *scripted) logins() []acp.AuthMethod {
	if a.mode != "locked" {
		return nil
	}
	return []acp.AuthMethod{
		&acp.AuthMethodAgent{ID: "oauth", Name: "Log in with a browser"},
		&acp.AuthMethodAgent{ID: "key", Name: "Use a key\x1b[2J"},
	}
}

func (a *scripted) Authenticate(_ context.Context, p *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	if p.MethodID != "key" {
		return nil, &acp.Error{Code: acp.ErrorCodeAuthenticationRequired, Message: "wrong key"}
	}
	return nil, nil
}

func (a *scripted) NewSession(ctx context.Context, p *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	if a.mode == "locked" {
		return nil, &acp.Error{Code: acp.ErrorCodeAuthenticationRequired, Message: "Authentication required"}
	}
	a.mu.Lock()
	a.sessions++
	id := acp.SessionID("s" + strconv.Itoa(a.sessions))
	if a.mode == "mixed" {
		id += acp.SessionID("-" + strconv.Itoa(os.Getpid()))
	}
	a.ids = append(a.ids, id)
	a.cwd = p.Cwd
	a.mu.Unlock()
	// Real agents tell their commands before the client knows the session.
	err := a.update(ctx, id, &acp.AvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{{Name: "plan", Description: "Plan"}}})
	if err != nil {
		return nil, err
	}
	switch a.mode {
	case "hung": // with the first session only
		if id == "s1" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	case "both":
		r := &acp.NewSessionResponse{SessionID: id, ConfigOptions: modelOptions("big")}
		text := append(bytes.TrimSuffix(r.AppendJSON(nil), []byte("}")), `,"models":{"currentModelId":"big[low]","availableModels":[{"modelId":"big[low]","name":"Big"},{"modelId":"small[low]","name":"Small"}]}}`...)
		return r, r.UnmarshalJSON(text)
	case "options", "curt":
		return &acp.NewSessionResponse{SessionID: id, ConfigOptions: modelOptions("big")}, nil
	case "plain":
		return &acp.NewSessionResponse{SessionID: id}, nil
	}
	r := new(acp.NewSessionResponse) // models are in no schema any more, but in many agents
	return r, r.UnmarshalJSON([]byte(`{"sessionId":"` + id + `","models":{"currentModelId":"big","availableModels":[]}}`))
}

// modelOptions offers models in the way that took the place of models.
func modelOptions(current acp.SessionConfigValueID) []acp.SessionConfigOption {
	return []acp.SessionConfigOption{{
		ID: "m", Name: "Model", Category: acp.Some(acp.SessionConfigOptionCategoryModel),
		Variant: &acp.SessionConfigSelect{CurrentValue: current, Options: acp.SessionConfigSelectOptionsGrouped{
			{Group: "g", Name: "All", Options: []acp.SessionConfigSelectOption{{Value: "big", Name: "Big"}, {Value: "small", Name: "Small"}}},
		}},
	}}
}

func (a *scripted) SetSessionConfigOption(ctx context.Context, p *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	value, ok := p.Variant.(*acp.SetSessionConfigOptionRequestValueID)
	if !ok || p.ConfigID != "m" {
		return nil, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: "no such option"}
	}
	if a.mode == "curt" { // "big": before the answer
		tell := func() {
			a.update(context.WithoutCancel(ctx), p.SessionID, &acp.ConfigOptionUpdate{ConfigOptions: modelOptions(value.Value)})
		}
		if value.Value == "big" {
			tell()
		} else {
			time.AfterFunc(200*time.Millisecond, tell)
		}
	}
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: modelOptions(value.Value)}, nil
}

func (a *scripted) LoadSession(ctx context.Context, p *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	if p.SessionID == "none" {
		return nil, &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: "no such session"}
	}
	err := a.update(ctx, p.SessionID, (*acp.UserMessageChunk)(&acp.ContentChunk{Content: &acp.TextContent{Text: "earlier"}}))
	return nil, err
}

func (a *scripted) ResumeSession(context.Context, *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return nil, nil
}

func (a *scripted) CloseSession(context.Context, *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return nil, nil
}

func (a *scripted) SetSessionMode(ctx context.Context, p *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	time.Sleep(50 * time.Millisecond)
	return nil, a.update(ctx, p.SessionID, &acp.CurrentModeUpdate{CurrentModeID: p.ModeID})
}

func (a *scripted) Cancel(context.Context, *acp.CancelNotification) error {
	a.mu.Lock()
	a.cancels++
	a.mu.Unlock()
	return nil
}

// ExtRequest answers "count" with what the agent has seen.
func (a *scripted) ExtRequest(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	switch method {
	case "_count":
	case methodSetModel:
		if a.mode == "both" && !strings.Contains(string(params), "[low]") {
			return nil, acp.MethodNotFound(method)
		}
		if a.mode == "both" {
			var p struct {
				SessionID acp.SessionID            `json:"sessionId"`
				ModelID   acp.SessionConfigValueID `json:"modelId"`
			}
			if err := json.Unmarshal(params, &p); err != nil {
				return nil, err
			}
			model, _, _ := strings.Cut(string(p.ModelID), "[")
			return json.RawMessage(`{}`), a.update(ctx, p.SessionID, &acp.ConfigOptionUpdate{ConfigOptions: modelOptions(acp.SessionConfigValueID(model))})
		}
		if !strings.Contains(string(params), `"modelId":"small"`) {
			return nil, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: "no such model"}
		}
		return json.RawMessage(`{}`), nil
	default:
		return nil, acp.MethodNotFound(method)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return json.RawMessage(fmt.Sprintf(`{"cancels":%d,"params":%s,"big":9007199254740993}`, a.cancels, params)), nil
}

func (a *scripted) ExtNotification(context.Context, string, json.RawMessage) error { return nil }

func (a *scripted) update(ctx context.Context, id acp.SessionID, u acp.SessionUpdate) error {
	return a.client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: id, Update: u})
}

func (a *scripted) say(ctx context.Context, id acp.SessionID, text string) error {
	if a.mode == "mixed" {
		a.mu.Lock()
		ids := slices.Clone(a.ids)
		a.mu.Unlock()
		for _, other := range ids {
			if err := a.update(ctx, other, (*acp.AgentMessageChunk)(&acp.ContentChunk{Content: &acp.TextContent{Text: text}})); err != nil {
				return err
			}
		}
		return nil
	}
	return a.update(ctx, id, (*acp.AgentMessageChunk)(&acp.ContentChunk{Content: &acp.TextContent{Text: text}}))
}

func (a *scripted) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	for _, b := range p.Prompt {
		if link, ok := b.(*acp.ResourceLink); ok {
			if err := a.say(ctx, p.SessionID, "LINK "+link.URI); err != nil {
				return nil, err
			}
		}
		t, ok := b.(*acp.TextContent)
		if !ok {
			continue
		}
		for _, line := range strings.Split(t.Text, "\n") {
			verb, rest, _ := strings.Cut(line, " ")
			err := a.step(ctx, p.SessionID, verb, rest)
			a.mu.Lock()
			refusing := a.refusing
			a.mu.Unlock()
			if refusing {
				return nil, &acp.Error{Code: acp.ErrorCodeInternalError, Message: "Internal error", Data: json.RawMessage(`"aborted"`)}
			}
			if ctx.Err() != nil {
				return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (a *scripted) step(ctx context.Context, id acp.SessionID, verb, rest string) error {
	switch verb {
	case "SAY":
		return a.say(ctx, id, rest)
	case "MANY":
		n, err := strconv.Atoi(rest)
		for i := 0; err == nil && i < n; i++ {
			err = a.say(ctx, id, strconv.Itoa(i)+"\n")
		}
		return err
	case "FLOOD": // updates of 10 KiB
		n, err := strconv.Atoi(rest)
		text := strings.Repeat("x", 10<<10)
		for i := 0; err == nil && i < n; i++ {
			err = a.say(ctx, id, text)
		}
		return err
	case "TOOL":
		err := a.update(ctx, id, &acp.ToolCall{ToolCallID: "t1", Title: "Look", Status: acp.Some(acp.ToolCallStatusPending), RawInput: json.RawMessage(`{"a":[1,null]}`)})
		if err == nil {
			err = a.update(ctx, id, &acp.ToolCallUpdate{ToolCallID: "t1", Status: acp.Some(acp.ToolCallStatusCompleted), Content: []acp.ToolCallContent{
				&acp.Diff{Path: "/a", NewText: "y", OldText: acp.Some("x")},
			}})
		}
		return err
	case "EDIT": // path text: writes the disk itself and tells afterwards
		path, text, _ := strings.Cut(rest, " ")
		call := &acp.ToolCall{ToolCallID: "e1", Title: "Edit", Kind: acp.Some(acp.ToolKindEdit), Locations: []acp.ToolCallLocation{{Path: path}}}
		if err := a.update(ctx, id, call); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, `\n`, "\n")), 0o644); err != nil {
			return err
		}
		return a.update(ctx, id, &acp.ToolCallUpdate{ToolCallID: "e1", Status: acp.Some(acp.ToolCallStatusCompleted)})
	case "TOUCH": // path text: writes the disk itself and says nothing of it
		path, text, _ := strings.Cut(rest, " ")
		return os.WriteFile(path, []byte(strings.ReplaceAll(text, `\n`, "\n")), 0o644)
	case "REMOVE":
		return os.Remove(rest)
	case "BIG": // shape n: an update with n times the same thing in it
		shape, count, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			return err
		}
		return a.conn.Notify(ctx, "session/update", acp.Raw(`{"sessionId":"`+string(id)+`","update":`+big(shape, n)+`}`))
	case "BIGASK": // n: asks about a tool call with n bytes of arguments
		n, err := strconv.Atoi(rest)
		if err != nil {
			return err
		}
		r, err := a.client.RequestPermission(ctx, &acp.RequestPermissionRequest{
			SessionID: id, ToolCall: acp.ToolCallUpdate{ToolCallID: "t1", Title: acp.Some("Big"), RawInput: json.RawMessage(`{"x":"` + strings.Repeat("x", n) + `"}`)},
			Options: []acp.PermissionOption{
				{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce},
				{OptionID: "no", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
			},
		})
		return a.report(ctx, id, "BIGASK", r, err)
	case "BIGWRITE": // path n: writes a file of n bytes
		path, count, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			return err
		}
		r, err := a.client.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: id, Path: path, Content: strings.Repeat("x", n)})
		return a.report(ctx, id, "BIGWRITE", r, err)
	case "RAW": // an update as it is
		return a.conn.Notify(ctx, "session/update", acp.Raw(strings.ReplaceAll(rest, "$ID", string(id))))
	case "BROKEN":
		a.stdout.WriteString(rest + "\n")
		return nil
	case "HUGE":
		n, err := strconv.Atoi(rest)
		if err == nil {
			a.stdout.WriteString(`{"jsonrpc":"2.0","method":"session/update","params":"` + strings.Repeat("x", n) + "\"}\n")
		}
		return err
	case "ERR":
		fmt.Fprintln(os.Stderr, rest)
		time.Sleep(20 * time.Millisecond)
		return nil
	case "DIE":
		time.Sleep(50 * time.Millisecond) // what was said before is on its way
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(7)
	case "FAIL":
		return &acp.Error{Code: 400, Message: rest, Data: json.RawMessage(`{"hint":"later"}`)}
	case "ERROR": // as it is
		e := new(acp.Error)
		if err := e.UnmarshalJSON([]byte(rest)); err != nil {
			return err
		}
		return e
	case "SLEEP":
		ms, err := strconv.Atoi(rest)
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
		case <-ctx.Done():
		}
		return err
	case "IGNORE": // takes its time over a cancel
		ms, err := strconv.Atoi(rest)
		if err != nil {
			ms = 300
		}
		time.Sleep(time.Duration(ms) * time.Millisecond)
		return nil
	case "REFUSE", "PERISH": // what a cancel makes of the turn
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
		if verb == "PERISH" {
			os.Exit(9)
		}
		a.mu.Lock()
		a.refusing = true
		a.mu.Unlock()
		return nil
	case "ASK":
		r, err := a.client.RequestPermission(context.WithoutCancel(ctx), &acp.RequestPermissionRequest{
			SessionID: id, ToolCall: acp.ToolCallUpdate{ToolCallID: "t1", Title: acp.Some(rest)},
			Options: []acp.PermissionOption{
				{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce},
				{OptionID: "no", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
			},
		})
		return a.report(ctx, id, "ASK", r, err)
	case "READ":
		r, err := a.client.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: id, Path: rest})
		return a.report(ctx, id, "READ", r, err)
	case "WRITE":
		path, text, _ := strings.Cut(rest, " ")
		r, err := a.client.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: id, Path: path, Content: text})
		return a.report(ctx, id, "WRITE", r, err)
	case "RUN":
		return a.command(ctx, id, "sh", "-c", rest)
	case "NOTE": // how the turn is ended, in a file
		<-ctx.Done()
		return os.WriteFile(rest, []byte(context.Cause(ctx).Error()), 0o600)
	case "OWN": // a command of the agent in a session of its own, ended with the turn
		return detached(ctx, rest, true)
	case "LOOSE": // the same, left alone
		return detached(ctx, rest, false)
	case "LINE": // a whole shell line in place of a command, as some agents send it
		return a.command(ctx, id, rest)
	case "MAYRUN": // asks about a call that was announced as one that executes
		err := a.update(ctx, id, &acp.ToolCall{ToolCallID: "t2", Title: rest, Kind: acp.Some(acp.ToolKindExecute)})
		if err != nil {
			return err
		}
		r, err := a.client.RequestPermission(ctx, &acp.RequestPermissionRequest{
			SessionID: id, ToolCall: acp.ToolCallUpdate{ToolCallID: "t2"},
			Options: []acp.PermissionOption{{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}},
		})
		return a.report(ctx, id, "MAYRUN", r, err)
	case "SHOW": // asks about a call that executes, with its raw input
		r, err := a.client.RequestPermission(ctx, &acp.RequestPermissionRequest{
			SessionID: id, ToolCall: acp.ToolCallUpdate{ToolCallID: "t3", Kind: acp.Some(acp.ToolKindExecute), RawInput: json.RawMessage(rest)},
			Options: []acp.PermissionOption{
				{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce},
				{OptionID: "always", Name: "Always", Kind: acp.PermissionOptionKindAllowAlways},
				{OptionID: "no", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
			},
		})
		return a.report(ctx, id, "SHOW", r, err)
	case "CALL": // any method with any params
		method, params, _ := strings.Cut(rest, " ")
		var r acp.Raw
		err := a.conn.Call(ctx, method, acp.Raw(params), &r)
		return a.report(ctx, id, "CALL", acp.Raw(r), err)
	case "NOTIFY":
		method, params, _ := strings.Cut(rest, " ")
		return a.conn.Notify(ctx, method, acp.Raw(params))
	case "EXEC": // a program with arguments
		words := strings.Fields(rest)
		return a.command(ctx, id, words[0], words[1:]...)
	case "MAY": // kind path: announces a tool call and asks about it by its id
		kind, path, _ := strings.Cut(rest, " ")
		call := acp.ToolCallID("may " + rest)
		err := a.update(ctx, id, &acp.ToolCall{ToolCallID: call, Title: rest, Kind: acp.Some(acp.ToolKind(kind)), Locations: []acp.ToolCallLocation{{Path: path}}})
		if err != nil {
			return err
		}
		r, err := a.client.RequestPermission(ctx, &acp.RequestPermissionRequest{
			SessionID: id, ToolCall: acp.ToolCallUpdate{ToolCallID: call},
			Options: []acp.PermissionOption{
				{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce},
				{OptionID: "no", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
			},
		})
		return a.report(ctx, id, "MAY", r, err)
	case "CWD": // says where it thinks the session is
		a.mu.Lock()
		cwd := a.cwd
		a.mu.Unlock()
		return a.say(ctx, id, "CWD "+cwd+"\n")
	case "CUT": // how: announces a tool call that is not kept whole, and asks about it
		return a.cut(ctx, id, rest)
	case "EXT":
		var r acp.Raw
		err := a.conn.Call(ctx, rest, acp.Raw(`{"x":1}`), &r)
		return a.report(ctx, id, "EXT", acp.Raw(r), err)
	case "WITHDRAW": // asks, then no longer wants to know
		short, stop := context.WithTimeout(ctx, 100*time.Millisecond)
		defer stop()
		_, err := a.client.ReadTextFile(short, &acp.ReadTextFileRequest{SessionID: id, Path: rest})
		if !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("want a timeout, got %v", err)
		}
		return nil
	}
	return fmt.Errorf("no step %q", verb)
}

// cut announces a tool call of which the client loses a part, and asks about it
// by its id. The whole call is about more than the rest of it says.
func (a *scripted) cut(ctx context.Context, id acp.SessionID, how string) error {
	const asked = acp.ToolCallID("cut")
	question := acp.ToolCallUpdate{ToolCallID: asked}
	command := &acp.ToolCall{ToolCallID: asked, Title: how, Kind: acp.Some(acp.ToolKindRead), RawInput: json.RawMessage(`{"command":"rm -r /"}`)}
	var updates []acp.SessionUpdate
	switch how {
	case "delivery": // more than Neovim takes at a time: the last file is left out
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
	}
	for _, u := range updates {
		if err := a.update(ctx, id, u); err != nil {
			return err
		}
	}
	r, err := a.client.RequestPermission(ctx, &acp.RequestPermissionRequest{
		SessionID: id, ToolCall: question,
		Options: []acp.PermissionOption{
			{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce},
			{OptionID: "no", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
		},
	})
	return a.report(ctx, id, "CUT", r, err)
}

// big is an update that grows with n in one way.
func big(shape string, n int) string {
	list := func(item string) string { return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]" }
	switch shape {
	case "text":
		return `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("aä€😀\\n", n/12) + `"}}`
	case "thought": // with what cannot be repeated in every piece
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
	return `{"sessionUpdate":"tool_call","toolCallId":"big","title":"t","` + shape + `":` + map[string]string{
		"rawInput": list("{}"), "rawOutput": list("[[[]]]"), "_meta": `{"m":` + list("1") + `}`, "content": list(`{"type":"content","content":{"type":"text","text":""}}`),
		"locations": list(`{"path":"/a"}`),
	}[shape] + `,"status":"pending"}`
}

func (a *scripted) command(ctx context.Context, id acp.SessionID, command string, args ...string) error {
	t, err := a.client.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: id, Command: command, Args: args})
	if err != nil {
		return a.report(ctx, id, "RUN", nil, err)
	}
	if _, err = a.client.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: id, TerminalID: t.TerminalID}); err != nil {
		return a.report(ctx, id, "RUN", nil, err)
	}
	out, err := a.client.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: id, TerminalID: t.TerminalID})
	if err == nil {
		_, err = a.client.ReleaseTerminal(ctx, &acp.ReleaseTerminalRequest{SessionID: id, TerminalID: t.TerminalID})
	}
	return a.report(ctx, id, "RUN", out, err)
}

// detached runs a command as agents do that have no use for terminals.
func detached(ctx context.Context, script string, careful bool) error {
	cmd := exec.Command("setsid", "sh", "-c", script)
	if err := cmd.Start(); err != nil {
		return err
	}
	<-ctx.Done()
	if careful {
		cmd.Process.Kill()
		cmd.Wait()
	}
	return nil
}

// report says how a request to the client went.
func (a *scripted) report(ctx context.Context, id acp.SessionID, verb string, r acp.Appender, err error) error {
	if err != nil {
		return a.say(context.WithoutCancel(ctx), id, verb+" error: "+err.Error())
	}
	return a.say(context.WithoutCancel(ctx), id, verb+" "+string(r.AppendJSON(nil)))
}
