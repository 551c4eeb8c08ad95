package servicesv2

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/elicitation"
	"github.com/hermes-nvim/hermes/runtime/history"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// agent opens sessions, and replays a message of theirs.
type agent struct {
	v2.UnimplementedAgentHandler
	conn *rpc.Conn
}

func (agent) Initialize(context.Context, *v2.InitializeRequest) (*v2.InitializeResponse, error) {
	return &v2.InitializeResponse{ProtocolVersion: 2, Info: v2.Implementation{Name: "a", Version: "1"}}, nil
}

func (agent) NewSession(context.Context, *v2.NewSessionRequest) (*v2.NewSessionResponse, error) {
	return &v2.NewSessionResponse{SessionID: "s", AvailableCommands: []v2.AvailableCommand{v2.NewCommand("web", "d")}}, nil
}

func (a agent) ResumeSession(ctx context.Context, p *v2.ResumeSessionRequest) (*v2.ResumeSessionResponse, error) {
	if p.SessionID != "s" {
		return nil, &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: "unknown"}
	}
	if p.ReplayFrom != nil {
		v2.Client{Conn: a.conn}.SessionUpdate(ctx, &v2.UpdateSessionNotification{SessionID: "s", Update: v2.NewAgentMessageChunk("m", v2.NewTextContent("again"))})
	}
	return &v2.ResumeSessionResponse{}, nil
}

// Prompt does what the text says, step by step: report a state, or answer.
func (a agent) Prompt(ctx context.Context, p *v2.PromptRequest) (*v2.PromptResponse, error) {
	say := func(step string) {
		u, err := v2.DecodeSessionUpdate([]byte(`{"sessionUpdate":"state_update","state":` + step + `}`))
		if err == nil {
			v2.Client{Conn: a.conn}.SessionUpdate(context.Background(), &v2.UpdateSessionNotification{SessionID: "s", Update: u})
		}
	}
	before, after, accepted := strings.Cut(p.Prompt[0].(*v2.TextContent).Text, "accept")
	for _, step := range strings.Fields(before) {
		say(step)
	}
	if !accepted {
		return nil, acp.InvalidParams("session/prompt", errors.New("refused"))
	}
	rpc.AfterResponse(ctx, func() {
		for _, step := range strings.Fields(after) {
			if step == "die" {
				go a.conn.Close()
				return
			}
			say(step)
		}
	})
	return &v2.PromptResponse{MessageID: "m"}, nil
}

// bench is a connection with both versions on offer, and a session "s".
type bench struct {
	*services.Services
	two   *Services
	ours  v2.Agent  // what the client calls
	agent v2.Client // what the agent calls
}

func newBench(t *testing.T, opts services.Options) *bench {
	t.Helper()
	b := &bench{Services: services.New(opts)}
	b.two = New(b.Services)
	near, far := transport.Pair()
	versions := rpc.NewClientVersions(
		rpc.ClientVersion{Protocol: acp.V1, Params: &acp.InitializeRequest{ClientCapabilities: b.Capabilities()}, Handler: acp.ClientSide(b.Services)},
		rpc.ClientVersion{Protocol: v2.V2, Params: &v2.InitializeRequest{Info: v2.Implementation{Name: "c", Version: "1"}, Capabilities: b.two.Capabilities()}, Handler: v2.ClientSide(b.two)},
	)
	conn := rpc.NewConn(near, versions, rpc.Options{})
	peer := rpc.Connect(far, func(c *rpc.Conn) acp.Handler {
		return rpc.NewAgentVersions(rpc.AgentVersion{Protocol: v2.V2, Handler: v2.AgentSide(agent{conn: c})})
	}, rpc.Options{})
	t.Cleanup(func() { must(t, b.Services.Close()); conn.Close(); peer.Close() })
	p, _, err := versions.Initialize(t.Context(), conn)
	if err != nil || p != v2.V2 {
		t.Fatal(p, err)
	}
	b.ours, b.agent = v2.Agent{Conn: conn}, v2.Client{Conn: peer}
	_, err = b.two.NewSession(t.Context(), b.ours, &v2.NewSessionRequest{Cwd: "/w"})
	must(t, err)
	return b
}

// update sends updates and waits until they are handled.
func (b *bench) update(t *testing.T, updates ...string) {
	t.Helper()
	for _, text := range updates {
		u, err := v2.DecodeSessionUpdate([]byte(text))
		must(t, err)
		must(t, b.agent.SessionUpdate(t.Context(), &v2.UpdateSessionNotification{SessionID: "s", Update: u}))
	}
	_, err := b.agent.CreateElicitation(t.Context(), form("s"))
	must(t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func code(err error) acp.ErrorCode {
	if e := (*acp.Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func form(id v2.SessionID) *v2.CreateElicitationRequest {
	return &v2.CreateElicitationRequest{Message: "Name?", Variant: &v2.ElicitationFormMode{
		RequestedSchema: v2.ElicitationSchema{Type: v2.ElicitationSchemaTypeObject, Properties: map[string]v2.ElicitationPropertySchema{"n": &v2.StringPropertySchema{}}},
		Variant:         v2.NewElicitationSessionScope(id),
	}}
}

var options = []v2.PermissionOption{
	{OptionID: "a", Name: "Allow", Kind: v2.PermissionOptionKindAllowOnce}, {OptionID: "r", Name: "Reject", Kind: v2.PermissionOptionKindRejectOnce},
}

func (b *bench) ask(t *testing.T, id v2.SessionID, subject string) string {
	t.Helper()
	req := &v2.RequestPermissionRequest{SessionID: id, Title: "May I?", Description: acp.Some("why"), Options: options}
	if subject != "" {
		var err error
		req.Subject, err = v2.DecodeRequestPermissionSubject([]byte(subject))
		must(t, err)
	}
	resp, err := b.agent.RequestPermission(t.Context(), req)
	must(t, err)
	if o, ok := resp.Outcome.(*v2.SelectedPermissionOutcome); ok {
		return string(o.OptionID)
	}
	return "cancelled"
}

func TestRulesAnswerPermissionRequestsOfVersion2(t *testing.T) {
	t.Parallel()
	const always = permission.Always
	allow := func(kind acp.ToolKind, path string, command ...string) permission.Rule {
		return permission.Rule{Action: permission.Allow, Scope: always, Kind: kind, Path: path, Command: command}
	}
	deny := func(kind acp.ToolKind, path string, command ...string) permission.Rule {
		return permission.Rule{Action: permission.Deny, Scope: always, Kind: kind, Path: path, Command: command}
	}
	call := func(members string) string {
		return `{"type":"tool_call","toolCall":{"toolCallId":"c"` + members + `}}`
	}
	diff := func(change string) string {
		return call(`,"kind":"edit","locations":[{"path":"/w/a"}],"content":[{"type":"diff","changes":[` + change + `]}]`)
	}
	const told = `{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"read","locations":[{"path":"/w/a"}]}`
	const unasked = "cancelled"
	for name, c := range map[string]struct {
		rules   []permission.Rule
		told    string
		subject string
		want    string
	}{
		"no subject":                        {[]permission.Rule{allow("", "")}, "", "", unasked},
		"no subject, everything denied":     {[]permission.Rule{deny("", "")}, "", "", "r"},
		"unknown subject":                   {[]permission.Rule{allow("", "")}, "", `{"type":"_new","kind":"read"}`, unasked},
		"reported before":                   {[]permission.Rule{allow("read", "/w/**")}, told, call(""), "a"},
		"changed by the request":            {[]permission.Rule{allow("read", "/w/**")}, told, call(`,"locations":[{"path":"/etc/passwd"}]`), unasked},
		"kind cleared":                      {[]permission.Rule{allow("read", "")}, told, call(`,"kind":null`), unasked},
		"no kind is other":                  {[]permission.Rule{allow("other", "")}, "", call(""), "a"},
		"diff inside":                       {[]permission.Rule{allow("edit", "/w/**")}, "", diff(`{"operation":"add","path":"/w/b"}`), "a"},
		"diff outside":                      {[]permission.Rule{allow("edit", "/w/**")}, "", diff(`{"operation":"delete","path":"/etc/b"}`), unasked},
		"moved out":                         {[]permission.Rule{allow("edit", "/w/**")}, "", diff(`{"operation":"move","oldPath":"/w/a","path":"/etc/b"}`), unasked},
		"copied from outside":               {[]permission.Rule{allow("edit", "/w/**")}, "", diff(`{"operation":"copy","oldPath":"/etc/a","path":"/w/b"}`), unasked},
		"denied in a diff":                  {[]permission.Rule{allow("edit", ""), deny("edit", ".env")}, "", diff(`{"operation":"modify","path":"/w/.env"}`), "r"},
		"unknown operation":                 {[]permission.Rule{allow("edit", "/w/**")}, "", diff(`{"operation":"_link","path":"/w/b","oldPath":"/etc/a"}`), unasked},
		"unknown member of one":             {[]permission.Rule{allow("edit", "/w/**")}, "", diff(`{"operation":"_link","path":"/w/b","linkTo":"/etc/a"}`), unasked},
		"members of another type":           {[]permission.Rule{allow("edit", "/w/**")}, "", diff(`{"operation":"_link","path":"/w/b","more":["/etc/a"]}`), unasked},
		"command":                           {[]permission.Rule{allow("execute", "", "git", "status")}, "", `{"type":"command","command":"git status -s","cwd":"/w"}`, "a"},
		"another command":                   {[]permission.Rule{allow("execute", "", "git", "status")}, "", `{"type":"command","command":"git status; rm x","cwd":"/w"}`, unasked},
		"denied command":                    {[]permission.Rule{allow("execute", ""), deny("", "", "rm")}, "", `{"type":"command","command":"sudo rm x","cwd":"/w"}`, "r"},
		"command of a call reported before": {[]permission.Rule{allow("read", "")}, told, `{"type":"command","command":"rm x","cwd":"/w","toolCallId":"c"}`, unasked},
	} {
		policy, err := permission.Open("")
		must(t, err)
		for _, r := range c.rules {
			must(t, policy.Add(t.Context(), r))
		}
		b := newBench(t, services.Options{Policy: policy})
		if c.told != "" {
			b.update(t, c.told)
		}
		if got := b.ask(t, "s", c.subject); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if c.told == "" {
			if got := b.ask(t, "nobody opened it", c.subject); got != c.want {
				t.Errorf("%s, in an unknown session: %s, want %s", name, got, c.want)
			}
		}
	}
}

func TestAskingForPermissionInVersion2(t *testing.T) {
	t.Parallel()
	asked := make(chan *acp.RequestPermissionRequest, 1)
	hang := make(chan struct{}, 1)
	b := newBench(t, services.Options{Ask: func(ctx context.Context, q *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
		asked <- q
		if len(hang) > 0 {
			<-ctx.Done()
		}
		return "a", nil
	}})
	if got := b.ask(t, "s", `{"type":"tool_call","toolCall":{"toolCallId":"c","title":"T","kind":"edit","content":[{"type":"diff","changes":[{"operation":"add","path":"/w/b"}]}]},"own":1}`); got != "a" {
		t.Error(got)
	}
	q := <-asked
	subject, _ := q.Extra.Get("subject")
	why, _ := q.Extra.Get("description")
	if q.ToolCall.Title.V != "May I?" || q.ToolCall.Locations[0].Path != "/w/b" || len(q.Options) != 2 || string(why) != `"why"` || !strings.Contains(string(subject), `"own":1`) {
		t.Errorf("%s", q.AppendJSON(nil))
	}
	if c := b.State("s").ToolCall("c"); c == nil || c.Title != "T" || len(c.Locations) != 0 {
		t.Errorf("the request is not part of the state: %+v", c)
	}
	if got := b.ask(t, "s", `{"type":"command","command":"ls \"x\"","cwd":"/w","terminalId":"t"}`); got != "a" {
		t.Error(got)
	}
	if q := <-asked; string(q.ToolCall.RawInput) != `{"command":"ls \"x\"","cwd":"/w"}` || q.ToolCall.Kind.V != acp.ToolKindExecute {
		t.Errorf("%s", q.AppendJSON(nil))
	}
	hang <- struct{}{}
	go func() {
		<-asked
		if n := len(b.State("s").Snapshot().Requests); n != 1 {
			t.Errorf("%d pending requests", n)
		}
		must(t, b.ours.Cancel(t.Context(), &v2.CancelSessionNotification{SessionID: "s"}))
	}()
	if got := b.ask(t, "s", ""); got != "cancelled" {
		t.Error(got)
	}
	_, err := b.agent.RequestPermission(t.Context(), &v2.RequestPermissionRequest{SessionID: "s", Title: "t", Options: append(options, options[0])})
	if code(err) != acp.ErrorCodeInvalidParams {
		t.Error(err)
	}
}

// A tool call that is too large to keep must not be mistaken for its kept part.
func TestRulesDoNotTrustPartsOfAToolCall(t *testing.T) {
	t.Parallel()
	policy, err := permission.Open("")
	must(t, err)
	must(t, policy.Add(t.Context(), permission.Rule{Action: permission.Allow, Scope: permission.Always, Kind: acp.ToolKindEdit, Path: "/w/**"}))
	must(t, policy.Add(t.Context(), permission.Rule{Action: permission.Allow, Scope: permission.Always, Kind: acp.ToolKindRead}))
	must(t, policy.Add(t.Context(), permission.Rule{Action: permission.Allow, Scope: permission.Always, Kind: acp.ToolKindExecute}))
	for kind, want := range map[string]string{"edit": "cancelled", "read": "cancelled", "execute": "cancelled"} {
		b := newBench(t, services.Options{Policy: policy, Limits: history.Limits{Bytes: 10_000}})
		got := b.ask(t, "s", `{"type":"tool_call","toolCall":{"toolCallId":"c","kind":"`+kind+`","locations":[{"path":"/w/a"}],"content":[{"type":"diff","changes":[{"operation":"add","path":"/etc/b"}]},{"type":"content","content":{"type":"text","text":"`+strings.Repeat("x", 9000)+`"}}]}}`)
		if got != want || !b.State("s").ToolCall("c").Truncated {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

func TestElicitationsOfVersion2(t *testing.T) {
	t.Parallel()
	done := make(chan acp.ElicitationID, 1)
	b := newBench(t, services.Options{
		Elicit: func(_ context.Context, q *elicitation.Question) (elicitation.Answer, error) {
			if q.URL != nil {
				return &acp.ElicitationAcceptAction{}, nil
			}
			if q.Session == "" {
				return &acp.CreateElicitationResponseDecline{}, nil
			}
			return &acp.ElicitationAcceptAction{Content: elicitation.Content{"n": acp.ElicitationContentValueString(q.Message)}}, nil
		},
		ElicitComplete: func(_ context.Context, id acp.ElicitationID) { done <- id },
	})
	if can := b.two.Capabilities().Elicitation; can == nil || can.Form == nil || can.URL == nil {
		t.Error("elicitation is not offered")
	}
	if can := New(services.New(services.Options{})).Capabilities(); can.Elicitation != nil {
		t.Error("elicitation is offered without anybody to ask")
	}
	r, err := b.agent.CreateElicitation(t.Context(), form("s"))
	must(t, err)
	if got := string(r.AppendJSON(nil)); got != `{"action":"accept","content":{"n":"Name?"}}` {
		t.Error(got)
	}
	f := form("s")
	f.Variant.(*v2.ElicitationFormMode).Variant = v2.NewElicitationRequestScope(acp.NumberID(1))
	r, err = b.agent.CreateElicitation(t.Context(), f)
	must(t, err)
	if got := string(r.AppendJSON(nil)); got != `{"action":"decline"}` {
		t.Error(got)
	}
	page := func(url string) error {
		_, err := b.agent.CreateElicitation(t.Context(), &v2.CreateElicitationRequest{Message: "m", Variant: &v2.ElicitationURLMode{
			ElicitationID: "e", URL: url, Variant: v2.NewElicitationSessionScope("s"),
		}})
		return err
	}
	must(t, page("https://example.com/"))
	must(t, b.agent.CompleteElicitation(t.Context(), &v2.CompleteElicitationNotification{ElicitationID: "e"}))
	if id := <-done; id != "e" {
		t.Error(id)
	}
	if err := page("file:///etc/passwd"); code(err) != acp.ErrorCodeInvalidParams {
		t.Error(err)
	}
}

func TestSessionsOfVersion2(t *testing.T) {
	t.Parallel()
	policy, err := permission.Open("")
	must(t, err)
	var updates []string
	b := newBench(t, services.Options{Policy: policy})
	b.two.Updated = func(_ context.Context, n *v2.UpdateSessionNotification) error {
		updates = append(updates, string(n.SessionID))
		return nil
	}
	if n := b.State("s").Snapshot(); len(n.Commands) != 1 {
		t.Errorf("%+v", n)
	}
	b.update(t, `{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"one"}}`, `{"sessionUpdate":"state_update","state":"running"}`)
	text := func() string {
		n := b.State("s").Snapshot()
		if len(n.Timeline) != 1 {
			return ""
		}
		return n.Timeline[0].(*history.Message).Text()
	}
	if text() != "one" || b.State("s").Snapshot().Activity.Idle() || strings.Join(updates, "") != "ss" {
		t.Error(text(), updates)
	}
	_, err = b.two.ResumeSession(t.Context(), b.ours, &v2.ResumeSessionRequest{SessionID: "s", Cwd: "/w"})
	if err != nil || text() != "one" {
		t.Error(text(), err)
	}
	_, err = b.two.ResumeSession(t.Context(), b.ours, &v2.ResumeSessionRequest{SessionID: "s", Cwd: "/w", ReplayFrom: &v2.ReplayFromStart{}})
	if err != nil || text() != "again" {
		t.Error(text(), err)
	}
	_, err = b.two.ResumeSession(t.Context(), b.ours, &v2.ResumeSessionRequest{SessionID: "gone", Cwd: "/w"})
	if code(err) != acp.ErrorCodeResourceNotFound || b.State("gone") != nil {
		t.Error(err)
	}
	must(t, policy.Add(t.Context(), permission.Rule{Action: permission.Allow, Scope: permission.Session, Session: "s"}))
	must(t, b.Close())
	if len(policy.Rules()) != 0 || b.State("s") != nil {
		t.Error("the session outlives its services")
	}
}

// C062.
func TestAPromptOfVersion2EndsWhenTheSessionIsIdleAgain(t *testing.T) {
	t.Parallel()
	const running, waiting = ` "running" `, ` "requires_action" `
	idle := func(why string) string { return ` "idle","stopReason":"` + why + `" ` }
	for name, c := range map[string]struct {
		before string // what the session is doing
		script string
		want   string // stop reason
	}{
		"the usual way":              {"", "accept" + running + idle("end_turn"), "end_turn"},
		"it waits for the user":      {"", "accept" + waiting + running + waiting + idle("refusal"), "refusal"},
		"begun before the answer":    {"", running + "accept" + idle("end_turn"), "end_turn"},
		"done before the answer":     {"", running + idle("max_tokens") + "accept", "max_tokens"},
		"idle before the prompt":     {idle("cancelled"), "accept" + running + idle("end_turn"), "end_turn"},
		"idle is repeated":           {idle("cancelled"), idle("cancelled") + "accept" + idle("cancelled") + running + idle("end_turn"), "end_turn"},
		"at work already":            {running, "accept" + idle("cancelled"), "cancelled"},
		"at work, then at the next":  {running, idle("cancelled") + running + "accept" + running + idle("end_turn"), "end_turn"},
		"a reason nobody knows":      {"", "accept" + running + idle("_new"), "_new"},
		"it dies with the last word": {"", "accept" + running + idle("end_turn") + " die", "end_turn"},
	} {
		b := newBench(t, services.Options{})
		if c.before != "" {
			b.update(t, `{"sessionUpdate":"state_update","state":`+c.before+`}`)
		}
		resp, activity, err := b.two.Prompt(t.Context(), b.ours, &v2.PromptRequest{SessionID: "s", Prompt: []v2.ContentBlock{v2.NewTextContent(c.script)}})
		if err != nil || string(activity.StopReason) != c.want || resp.MessageID != "m" {
			t.Errorf("%s: %+v, %v", name, activity, err)
		}
	}
}

func TestAPromptOfVersion2EndsWithWhateverEndsFirst(t *testing.T) {
	t.Parallel()
	gaveUp := errors.New("gave up")
	var closed *rpc.ClosedError
	for name, c := range map[string]struct {
		script string
		end    func(b *bench, cancel context.CancelCauseFunc)
		is     func(error) bool
	}{
		"refused":    {"no", nil, func(err error) bool { return code(err) == acp.ErrorCodeInvalidParams }},
		"connection": {`accept "running" die`, nil, func(err error) bool { return errors.As(err, &closed) }},
		"context":    {`accept "running"`, func(_ *bench, cancel context.CancelCauseFunc) { cancel(gaveUp) }, func(err error) bool { return errors.Is(err, gaveUp) }},
		"session":    {`accept "running"`, func(b *bench, _ context.CancelCauseFunc) { b.CloseSession("s") }, func(err error) bool { return strings.Contains(err.Error(), "session s: closed") }},
		"services":   {`accept "running"`, func(b *bench, _ context.CancelCauseFunc) { b.Services.Close() }, func(err error) bool { return strings.Contains(err.Error(), "session s: closed") }},
	} {
		b := newBench(t, services.Options{})
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() {
			_, _, err := b.two.Prompt(ctx, b.ours, &v2.PromptRequest{SessionID: "s", Prompt: []v2.ContentBlock{v2.NewTextContent(c.script)}})
			done <- err
		}()
		if c.end != nil {
			now, changed := b.State("s").Activity()
			for late := time.After(patience.Soon); now.State != "running"; now, changed = b.State("s").Activity() {
				select {
				case <-changed:
				case <-late:
					t.Fatalf("%s: not at work", name)
				}
			}
			c.end(b, cancel)
		}
		if err := <-done; err == nil || !c.is(err) {
			t.Errorf("%s: %v", name, err)
		}
		cancel(nil)
	}
}

func TestAPromptAfterTheEndOfTheServicesEndsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, services.Options{})
	must(t, b.Services.Close())
	_, _, err := b.two.Prompt(t.Context(), b.ours, &v2.PromptRequest{SessionID: "s", Prompt: []v2.ContentBlock{v2.NewTextContent(`accept "running"`)}})
	if err == nil || !strings.Contains(err.Error(), "session s: closed") {
		t.Error(err)
	}
}
