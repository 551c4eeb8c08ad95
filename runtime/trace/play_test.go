package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func recording(t *testing.T, name string) *Recording {
	t.Helper()
	rec, err := ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// The recordings are of real agents and a client. Both sides of each are played
// against each other, and neither finds a difference.
func TestBothSidesOfRealTrafficPlayAgainstEachOther(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			rec := recording(t, filepath.Base(file))
			here, there := transport.Pair()
			played := make(chan error, 1)
			different := func(text string) { t.Error(text) }
			go func() {
				played <- Play(t.Context(), there, rec, PlayOptions{Wait: 10 * time.Second, OnDifference: different})
			}()
			dir := t.TempDir()
			err := Play(t.Context(), here, rec, PlayOptions{Side: Client, Wait: 10 * time.Second, Cwd: dir, OnDifference: different})
			if err := errors.Join(err, <-played); err != nil {
				t.Error(err)
			}
		})
	}
}

// watcher is a client that opens files below its own folder.
type watcher struct {
	acp.UnimplementedClientHandler
	updates int
	paths   []string
}

func (w *watcher) SessionUpdate(context.Context, *acp.SessionNotification) error {
	w.updates++
	return nil
}

func (w *watcher) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return &acp.RequestPermissionResponse{Outcome: &acp.RequestPermissionOutcomeCancelled{}}, nil
}

func (w *watcher) ReadTextFile(_ context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	w.paths = append(w.paths, p.Path)
	return &acp.ReadTextFileResponse{}, nil
}

func (w *watcher) WriteTextFile(_ context.Context, p *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	w.paths = append(w.paths, p.Path)
	return &acp.WriteTextFileResponse{}, nil
}

// A client of today, with ids and a folder of its own, talks to the recording
// of an agent.
func TestAPlayedAgentServesALiveClient(t *testing.T) {
	t.Parallel()
	rec := recording(t, "gemini-missing_empty.jsonl")
	here, there := transport.Pair()
	played := make(chan error, 1)
	go func() { played <- Play(t.Context(), there, rec, PlayOptions{Wait: 10 * time.Second}) }()
	w := &watcher{}
	conn := rpc.NewConn(here, acp.ClientSide(w), rpc.Options{})
	ctx := t.Context()
	if err := conn.Call(ctx, "session/list", acp.Raw("{}"), nil); err == nil {
		t.Error("the play answered what is not in the recording")
	}
	var mismatch *MismatchError
	err := <-played
	if !errors.As(err, &mismatch) || mismatch.Line != 2 || !strings.Contains(err.Error(), "gemini-missing_empty.jsonl:2: expected the request initialize, but the client sent the request session/list") {
		t.Error(err)
	}
	conn.Close()

	here, there = transport.Pair()
	go func() { played <- Play(t.Context(), there, rec, PlayOptions{Wait: 10 * time.Second}) }()
	conn = rpc.NewConn(here, acp.ClientSide(w), rpc.Options{})
	agent := acp.Agent{Conn: conn}
	init, err := agent.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: 1})
	if err != nil || init.AgentInfo == nil {
		t.Fatal(init, err)
	}
	s, err := agent.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/home/me/live"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range script(rec.Records, Agent) {
		if c.Method == "session/prompt" {
			if _, err := agent.Prompt(ctx, &acp.PromptRequest{SessionID: s.SessionID, Prompt: []acp.ContentBlock{acp.NewTextContent("x")}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	conn.Close()
	if err := <-played; err != nil {
		t.Error(err)
	}
	if w.updates == 0 || len(w.paths) == 0 {
		t.Errorf("%+v", w)
	}
	for _, p := range w.paths {
		if !strings.HasPrefix(p, "/home/me/live/") {
			t.Errorf("%s is not in the live session", p)
		}
	}
}

const (
	initReq = `{"direction":"client->agent","message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}}`
	initOK  = `{"direction":"agent->client","message":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}`
	newReq  = `{"direction":"client->agent","message":{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"/w"}}}`
	newOK   = `{"direction":"agent->client","message":{"jsonrpc":"2.0","id":"n","result":{"sessionId":"old"}}}`
	prompt  = `{"direction":"client->agent","message":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"old"}}}`
	ask     = `{"direction":"agent->client","message":{"jsonrpc":"2.0","id":0,"method":"terminal/create","params":{"sessionId":"old"}}}`
	askOK   = `{"direction":"client->agent","message":{"jsonrpc":"2.0","id":0,"result":{"terminalId":"t-old"}}}`
	release = `{"direction":"agent->client","message":{"jsonrpc":"2.0","id":1,"method":"terminal/release","params":{"terminalId":"t-old"}}}`
	stderr  = `{"direction":"stderr","text":"warming up"}`
	banner  = `{"direction":"agent->client","text":"Welcome!"}`
	cancel  = `{"direction":"client->agent","message":{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"old"}}}`
	late    = `{"direction":"agent->client","time":"2026-01-01T00:01:00Z","message":{"jsonrpc":"2.0","method":"session/update","params":{}}}`
)

// step is what the live end does: it sends, or it reads and compares.
type step struct{ send, want string }

func TestAPlayFollowsTheRecording(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		record []string
		side   Side
		steps  []step
		err    string // of the play; empty when it goes well
	}{
		"ids are those of the live client": {
			record: []string{initReq, stderr, banner, initOK},
			steps:  []step{{send: `{"jsonrpc":"2.0","id":"a7","method":"initialize"}`}, {want: "Welcome!"}, {want: `{"jsonrpc":"2.0","id":"a7","result":{"protocolVersion":1}}`}},
		},
		"the terminals of the live client are used": {
			record: []string{ask, askOK, release},
			steps: []step{{want: `{"jsonrpc":"2.0","id":0,"method":"terminal/create","params":{"sessionId":"old"}}`},
				{send: `{"id":0,"result":{"terminalId":"t-new"}}`}, {want: `{"jsonrpc":"2.0","id":1,"method":"terminal/release","params":{"terminalId":"t-new"}}`}},
		},
		"independent requests may come in another order": {
			record: []string{initReq, newReq, newOK, initOK},
			steps: []step{{send: `{"id":1,"method":"session/new","params":{"cwd":"/w"}}`}, {send: `{"id":2,"method":"initialize"}`},
				{want: `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"old"}}`}, {want: `{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":1}}`}},
		},
		"a request may not overtake what it depended on": {
			record: []string{initReq, initOK, newReq, newOK},
			steps:  []step{{send: `{"id":1,"method":"session/new","params":{"cwd":"/w"}}`}, {want: `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"r:1: expected the request initialize, but the client sent the request session/new"}}`}},
			err:    "r:1: expected the request initialize, but the client sent the request session/new",
		},
		"a client that disconnects early gets an error with the expected message": {
			record: []string{initReq, initOK, newReq},
			steps:  []step{{send: `{"id":1,"method":"initialize"}`}, {want: `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`}},
			err:    "r:3: expected the request session/new, but the client is gone: EOF",
		},
		"nothing may follow the end": {
			record: []string{initReq, initOK},
			steps:  []step{{send: `{"id":1,"method":"initialize"}`}, {want: `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`}, {send: `{"method":"session/cancel"}`}},
			err:    "r: the recording has ended, but the client sent the notification session/cancel",
		},
		"a notification is expected as well": {
			record: []string{prompt, cancel},
			steps:  []step{{send: `{"id":1,"method":"session/prompt"}`}, {send: `{"method":"$/cancel_request","params":{}}`}, {send: `what?`}, {send: `{"method":"session/cancel"}`}},
		},
		"a played client uses the session it is given": {
			side:   Client,
			record: []string{newReq, newOK, prompt, ask, askOK},
			steps: []step{{want: `{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"/w"}}`}, {send: `{"id":"n","result":{"sessionId":"new"}}`},
				{want: `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"new"}}`}, {send: `{"method":"session/update"}`},
				{send: `{"id":77,"method":"terminal/create"}`}, {want: `{"jsonrpc":"2.0","id":77,"result":{"terminalId":"t-old"}}`}},
		},
		"a played client minds an error": {
			side:   Client,
			record: []string{initReq, initOK},
			steps:  []step{{want: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`}, {send: `{"id":0,"error":{"code":-32603,"message":"no"}}`}},
			err:    `r:2: expected the answer to initialize to be the result {"protocolVersion":1}, but the answer to initialize is the error {"code":-32603,"message":"no"}`,
		},
		"silence is not waited for forever": {
			side:   Client,
			record: []string{initReq, initOK},
			steps:  []step{{want: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`}, {want: "timeout"}},
			err:    `r:2: expected the answer to initialize to be the result {"protocolVersion":1}, but nothing came for 100ms`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec, err := ReadAll("r", strings.NewReader(strings.Join(c.record, "\n")))
			if err != nil {
				t.Fatal(err)
			}
			live, end := transport.Pair()
			defer live.Close()
			played := make(chan error, 1)
			var said []byte
			o := PlayOptions{Side: c.side, OnStderr: func(line []byte) { said = append(said, line...) }}
			if c.steps[len(c.steps)-1].want == "timeout" {
				o.Wait = 100 * time.Millisecond
			}
			go func() { played <- Play(t.Context(), end, rec, o) }()
			for _, s := range c.steps {
				switch {
				case s.send != "":
					if err := live.Write([]byte(s.send)); err != nil {
						t.Fatal(err)
					}
				case s.want == "timeout":
					live.Read(nil)
				default:
					if got, err := live.Read(nil); err != nil || string(got) != s.want {
						t.Fatalf("%s, %v\nwant %s", got, err, s.want)
					}
				}
			}
			if c.side == Agent {
				live.Close()
			}
			err = <-played
			if m := (*MismatchError)(nil); errors.As(err, &m) && (m.Want == "" || m.Got == "") {
				t.Errorf("want %q, got %q", m.Want, m.Got)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || err.Error() != c.err) {
				t.Errorf("%v\nwant %s", err, c.err)
			}
			if strings.Contains(fmt.Sprint(c.record), "warming") != bytes.Contains(said, []byte("warming up")) {
				t.Errorf("stderr: %q", said)
			}
		})
	}
}

func TestAPlayKeepsTheRequestedSpeed(t *testing.T) {
	t.Parallel()
	rec, err := ReadAll("r", strings.NewReader(strings.Replace(prompt, "{", `{"time":"2026-01-01T00:00:00Z",`, 1)+"\n"+late))
	if err != nil {
		t.Fatal(err)
	}
	for speed, want := range map[float64]time.Duration{0: 0, 600: 100 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			live, end := transport.Pair()
			played := make(chan error, 1)
			go func() { played <- Play(t.Context(), end, rec, PlayOptions{Speed: speed}) }()
			begin := time.Now()
			live.Write([]byte(`{"id":1,"method":"session/prompt"}`))
			if _, err := live.Read(nil); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took != want {
				t.Errorf("speed %v took %v, want %v", speed, took, want)
			}
			live.Close()
			if err := <-played; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAPlayEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rec, err := ReadAll("r", strings.NewReader(initReq))
		if err != nil {
			t.Fatal(err)
		}
		live, end := transport.Pair()
		defer live.Close()
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, stop)
		if err := Play(ctx, end, rec, PlayOptions{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func FuzzPlay(f *testing.F) {
	f.Add([]byte(initReq+"\n"+initOK), []byte(`{"id":"x","method":"initialize"}`), false)
	f.Add([]byte(ask+"\n"+askOK+"\n"+release), []byte(`{"id":0,"result":{"terminalId":"x"}}`), true)
	f.Fuzz(func(t *testing.T, recorded, msg []byte, client bool) {
		rec, err := ReadAll("r", bytes.NewReader(recorded))
		if err != nil {
			return
		}
		for i := range rec.Records {
			rec.Records[i].Time = time.Time{}
		}
		synctest.Test(t, func(t *testing.T) {
			live, end := transport.Pair()
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
			defer stop()
			go func() {
				live.Write(msg)
				live.Write(msg)
				for {
					if _, err := live.Read(nil); err != nil {
						return
					}
				}
			}()
			o := PlayOptions{Wait: time.Millisecond}
			if client {
				o.Side = Client
			} else {
				time.AfterFunc(2*time.Millisecond, func() { live.Close() })
			}
			Play(ctx, end, rec, o)
			live.Close()
		})
	})
}
