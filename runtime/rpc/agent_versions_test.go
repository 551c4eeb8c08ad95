package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// agent1 and agent2 are the two sides of an agent; they note what they get.
type agent1 struct {
	acp.UnimplementedAgentHandler
	got *acp.InitializeRequest
}

func (a *agent1) Initialize(_ context.Context, p *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	a.got = p
	return &acp.InitializeResponse{ProtocolVersion: p.ProtocolVersion}, nil
}

func (a *agent1) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "one"}, nil
}

type agent2 struct {
	v2.UnimplementedAgentHandler
	got *v2.InitializeRequest
}

func (a *agent2) Initialize(_ context.Context, p *v2.InitializeRequest) (*v2.InitializeResponse, error) {
	a.got = p
	return &v2.InitializeResponse{ProtocolVersion: p.ProtocolVersion, Info: v2.Implementation{Name: "two", Version: "1"}}, nil
}

func (a *agent2) NewSession(context.Context, *v2.NewSessionRequest) (*v2.NewSessionResponse, error) {
	return &v2.NewSessionResponse{SessionID: "two"}, nil
}

// versions is an agent that speaks some of the versions 1 and 2.
type versions struct {
	*rpc.AgentVersions
	one *agent1
	two *agent2
}

func speaking(numbers ...int) versions {
	a := versions{one: &agent1{}, two: &agent2{}}
	var list []rpc.AgentVersion
	for _, n := range numbers {
		if n == 1 {
			list = append(list, rpc.AgentVersion{Protocol: acp.V1, Handler: acp.AgentSide(a.one)})
		} else {
			list = append(list, rpc.AgentVersion{Protocol: v2.V2, Handler: v2.AgentSide(a.two)})
		}
	}
	a.AgentVersions = rpc.NewAgentVersions(list...)
	return a
}

func (a versions) dial(t *testing.T) *wire {
	_, w := dial(t, a.AgentVersions, rpc.Options{})
	return w
}

const info = `"info":{"name":"c","version":"1"}`

// C103.
func TestAnAgentChoosesTheVersion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		speaks []int
		asked  int
		want   string // the version, or the code and the data
	}{
		{[]int{1}, 0, "1"}, {[]int{1}, 1, "1"}, {[]int{1}, 2, "1"}, {[]int{1}, 65535, "1"},
		{[]int{1, 2}, 0, `-32022 {"requested":0,"supported":[1,2]}`},
		{[]int{2, 1}, 1, "1"}, {[]int{1, 2}, 2, "2"}, {[]int{1, 2}, 3, "2"}, {[]int{2, 1}, 65535, "2"},
		{[]int{2}, 0, `-32022 {"requested":0,"supported":[2]}`},
		{[]int{2}, 1, `-32022 {"requested":1,"supported":[2]}`},
		{[]int{2}, 2, "2"}, {[]int{2}, 9, "2"},
	} {
		t.Run(fmt.Sprint(test.speaks, " asked for ", test.asked), func(t *testing.T) {
			a := speaking(test.speaks...)
			w := a.dial(t)
			w.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%d,%s}}`, test.asked, info)
			var m struct {
				Result struct{ ProtocolVersion int }
				Error  *acp.Error
			}
			if err := json.Unmarshal([]byte(w.hear()), &m); err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(m.Result.ProtocolVersion)
			if m.Error != nil {
				got = fmt.Sprintf("%d %s", m.Error.Code, m.Error.Data)
			}
			if got != test.want {
				t.Fatalf("got %s, want %s", got, test.want)
			}
			if m.Error != nil {
				if a.Agreed() != nil {
					t.Error("a refused version is agreed on")
				}
				return
			}
			if a.Agreed().Version() != m.Result.ProtocolVersion {
				t.Errorf("agreed on %v", a.Agreed())
			}
			w.say(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
			if got, want := w.hear(), map[string]string{"1": `"one"`, "2": `"two"`}[test.want]; !strings.Contains(got, want) {
				t.Errorf("session/new reached the wrong handler: %s", got)
			}
		})
	}
}

// C102.
func TestABadProtocolVersionIsInvalidParams(t *testing.T) {
	t.Parallel()
	for _, params := range []string{
		`{}`, `{"protocolVersion":null}`, `{"protocolVersion":"1"}`, `{"protocolVersion":1.5}`, `{"protocolVersion":-1}`,
		`{"protocolVersion":65536}`, `{"protocolVersion":[1]}`, `{"protocolVersion":true}`, `{"PROTOCOLVERSION":1}`, `[1]`, `null`,
	} {
		w := speaking(1, 2).dial(t)
		w.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":%s}`, params)
		if got := w.hear(); verdict(got) != "1 -32602" || !strings.Contains(got, "protocolVersion") {
			t.Errorf("%s: %s", params, got)
		}
	}
}

func TestParamsOfTheChosenVersionAreChecked(t *testing.T) {
	t.Parallel()
	w := speaking(1, 2).dial(t)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2}}`)
	w.verdict("1 -32602") // info is missing
	w.say(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":2,%s}}`, info)
	w.verdict("2 ok")
}

func TestWhatANewerClientWroteAndDoesNotFitIsDropped(t *testing.T) {
	t.Parallel()
	a := speaking(1, 2)
	w := a.dial(t)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":3,"info":[7],"capabilities":{"elicitation":{"form":{}}},"_meta":{"k":1}}}`)
	w.verdict("1 ok")
	got := a.two.got
	if got.ProtocolVersion != 2 || got.Info.Name != "unknown" || got.Capabilities.Elicitation.Form == nil || string(got.Meta) != `{"k":1}` {
		t.Errorf("version 2 got %+v", got)
	}

	a = speaking(1)
	w = a.dial(t)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,%s,"capabilities":{"elicitation":{"url":{}},"auth":{"terminal":{}}}}}`, info)
	w.verdict("1 ok")
	one := a.one.got
	if one.ProtocolVersion != 1 || one.ClientInfo.Name != "c" || one.ClientCapabilities.Elicitation.URL == nil ||
		!one.ClientCapabilities.Auth.Terminal || one.ClientCapabilities.Fs != nil || one.ClientCapabilities.Terminal {
		t.Errorf("version 1 got %+v", one)
	}

	// One capability that does not fit does not cost the others.
	a = speaking(1)
	w = a.dial(t)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,%s,"capabilities":{"elicitation":{"url":{}},"auth":7}}}`, info)
	w.verdict("1 ok")
	if can := a.one.got.ClientCapabilities; can == nil || can.Elicitation == nil || can.Elicitation.URL == nil || can.Auth != nil {
		t.Errorf("version 1 got %+v", can)
	}
}

func TestARepeatStaysWithTheVersion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		first, second int
		want          string
	}{{1, 2, "2 ok"}, {2, 2, "2 ok"}, {2, 3, "2 ok"}, {2, 1, "2 -32600"}} {
		a := speaking(1, 2)
		w := a.dial(t)
		w.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%d,%s}}`, test.first, info)
		w.verdict("1 ok")
		w.say(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":%d,%s}}`, test.second, info)
		w.verdict(test.want)
		if got := a.Agreed().Version(); got != test.first {
			t.Errorf("%v: version %d is spoken now", test, got)
		}
	}
}

func TestAHandlerThatAnswersWithAnotherVersionIsAnError(t *testing.T) {
	t.Parallel()
	a := rpc.NewAgentVersions(rpc.AgentVersion{Protocol: acp.V1, Handler: handler{
		request: func(context.Context, string, json.RawMessage) (acp.Appender, error) { return agreed(7), nil },
	}})
	_, w := dial(t, a, rpc.Options{Server: true})
	w.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	w.verdict("1 -32603")
	w.ask("2", "session/list")
	w.verdict("2 -32600")
}

func TestVersionsMustBeGivenOnce(t *testing.T) {
	t.Parallel()
	for _, f := range []func(){
		func() { speaking() },
		func() { speaking(1, 1) },
		func() { rpc.NewClientVersions() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			f()
		}()
	}
}

// client1 and client2 count updates.
func clientSpeaking(ran *journal, numbers ...int) *rpc.ClientVersions {
	var list []rpc.ClientVersion
	for _, n := range numbers {
		v := rpc.ClientVersion{Handler: handler{notify: func(context.Context, string, json.RawMessage) error {
			ran.add("update of %d", n)
			return nil
		}}}
		if n == 1 {
			v.Protocol = acp.V1
			v.Params = &acp.InitializeRequest{ClientCapabilities: &acp.ClientCapabilities{Terminal: true}, Meta: json.RawMessage(`{"v":1}`)}
		} else {
			v.Protocol = v2.V2
			v.Params = &v2.InitializeRequest{Info: v2.Implementation{Name: "c", Version: "1"}, Meta: json.RawMessage(`{"v":2}`)}
		}
		list = append(list, v)
	}
	return rpc.NewClientVersions(list...)
}

func TestAClientAndAnAgentFindTheirBestVersion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		client, agent []int
		want          int // 0: none
	}{
		{[]int{1}, []int{1}, 1}, {[]int{1, 2}, []int{1}, 1}, {[]int{1, 2}, []int{1, 2}, 2}, {[]int{2, 1}, []int{2}, 2},
		{[]int{1}, []int{1, 2}, 1}, {[]int{2}, []int{1, 2}, 2},
		{[]int{2}, []int{1}, 0}, {[]int{1}, []int{2}, 0},
	} {
		t.Run(fmt.Sprint(test.client, " with ", test.agent), func(t *testing.T) {
			client, agent := clientSpeaking(new(journal), test.client...), speaking(test.agent...)
			near, far := transport.Pair()
			c := rpc.NewConn(near, client, rpc.Options{})
			defer c.Close()
			defer rpc.NewConn(far, agent.AgentVersions, rpc.Options{}).Close()
			p, answer, err := client.Initialize(t.Context(), c)
			if test.want == 0 {
				var none *rpc.VersionError
				if !errors.As(err, &none) || fmt.Sprint(none.Offered, none.Agent) != fmt.Sprint(test.client, test.agent) || client.Agreed() != nil {
					t.Fatalf("got %v, %v, %v", p, answer, err)
				}
				return
			}
			if err != nil || p.Version() != test.want || client.Agreed() != p || agent.Agreed() != p {
				t.Fatal(p, err)
			}
			switch answer := answer.(type) {
			case *acp.InitializeResponse:
				if test.want != 1 || answer.ProtocolVersion != 1 || !agent.one.got.ClientCapabilities.Terminal {
					t.Error(answer, agent.one.got)
				}
			case *v2.InitializeResponse:
				if test.want != 2 || answer.Info.Name != "two" || agent.two.got.Info.Name != "c" || string(agent.two.got.Meta) != `{"v":2}` {
					t.Error(answer, agent.two.got)
				}
			default:
				t.Errorf("%T", answer)
			}
		})
	}
}

func TestARefusedVersionIsReplacedByTheBestOfTheAgents(t *testing.T) {
	t.Parallel()
	client := clientSpeaking(new(journal), 1, 2)
	c, w := dial(t, client, rpc.Options{})
	done := make(chan error, 1)
	go func() { _, _, err := client.Initialize(context.Background(), c); done <- err }()
	w.expect(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"},"_meta":{"v":2},"clientCapabilities":{"terminal":true}}}`)
	w.say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"requested":2,"supported":[0,1]}}}`)
	w.expect(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":true},"_meta":{"v":1}}}`)
	w.say(`{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":1}}`)
	if err := receive(t, "answer", done); err != nil || client.Agreed().Version() != 1 {
		t.Error(err)
	}
}

// C105.
func TestAnswersToInitializeThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`"result":{"protocolVersion":3}`:     "this client speaks 2 and 1, the agent 3",
		`"result":{"protocolVersion":65535}`: "the agent 65535",
		`"result":{}`:                        "protocolVersion is missing",
		`"result":null`:                      "protocolVersion is missing",
		`"result":[]`:                        "protocolVersion is missing",
		`"result":{"protocolVersion":"1"}`:   "protocolVersion is missing",
		`"result":{"protocolVersion":2}`:     "info",
		`"error":{"code":-32022,"message":"too old","data":{"supported":[7,8,"x"]}}`: "no common protocol version",
		`"error":{"code":-32022,"message":"too old","data":{"supported":[8,7]}}`:     "the agent 8 and 7: too old",
		`"error":{"code":-32022,"message":"too old","data":{"supported":[2,1]}}`:     "too old", // it lies: never ask twice
		`"error":{"code":-32022,"message":"too old"}`:                                "no common protocol version",
		`"error":{"code":-32603,"message":"broken"}`:                                 "broken",
	} {
		client := clientSpeaking(new(journal), 1, 2)
		c, w := dial(t, client, rpc.Options{})
		done := make(chan error, 1)
		go func() { _, _, err := client.Initialize(context.Background(), c); done <- err }()
		w.hear()
		w.say(`{"jsonrpc":"2.0","id":1,%s}`, answer)
		if err := receive(t, "error", done); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", answer, err, want)
		}
	}
}

func TestWhatFollowsTheAnswerToInitializeReachesTheAgreedVersion(t *testing.T) {
	t.Parallel()
	for range 50 {
		ran := new(journal)
		client := clientSpeaking(ran, 1, 2)
		c, w := dial(t, client, rpc.Options{})
		done := make(chan error, 1)
		go func() { _, _, err := client.Initialize(context.Background(), c); done <- err }()
		w.hear()
		w.say(`{"jsonrpc":"2.0","method":"session/update","params":{}}`) // too early
		w.say(`{"jsonrpc":"2.0","id":9,"method":"fs/read_text_file","params":{}}`)
		w.verdict("9 -32600")
		w.say(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`)
		w.say(`{"jsonrpc":"2.0","method":"session/update","params":{}}`)
		if err := receive(t, "answer", done); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the update is handled", func() bool { return ran.String() == "update of 1" })
	}
}

func TestInitializeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	client := clientSpeaking(new(journal), 1)
	c, w := dial(t, client, rpc.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, _, err := client.Initialize(ctx, c); done <- err }()
	w.hear()
	cancel()
	if err := receive(t, "end", done); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
