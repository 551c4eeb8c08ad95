package rpc_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// worker is an agent of version 2: it accepts prompts at once and works on them
// afterwards, under contexts of its own.
type worker struct {
	v2.UnimplementedAgentHandler
	conn *rpc.Conn

	mu   sync.Mutex
	stop map[v2.SessionID]context.CancelFunc
}

func newWorker(c *rpc.Conn) *worker {
	return &worker{conn: c, stop: map[v2.SessionID]context.CancelFunc{}}
}

func (w *worker) Prompt(ctx context.Context, p *v2.PromptRequest) (*v2.PromptResponse, error) {
	work, stop := context.WithCancel(context.Background()) // ctx ends with the answer
	w.mu.Lock()
	w.stop[p.SessionID] = stop
	w.mu.Unlock()
	rpc.AfterResponse(ctx, func() { go w.work(work, p) })
	return &v2.PromptResponse{MessageID: "question-1"}, nil
}

func (w *worker) work(ctx context.Context, p *v2.PromptRequest) {
	say := func(u v2.SessionUpdate) {
		v2.Client{Conn: w.conn}.SessionUpdate(context.Background(), &v2.UpdateSessionNotification{SessionID: p.SessionID, Update: u})
	}
	question := v2.NewUserMessage("question-1")
	question.Content = acp.Set(p.Prompt)
	say(question)
	say(&v2.RunningStateUpdate{})
	say(v2.NewAgentMessageChunk("answer-1", v2.NewTextContent("one moment")))
	<-ctx.Done() // the model thinks until the user has had enough
	say(&v2.IdleStateUpdate{Variant: &v2.IdleStateUpdateCancelled{}})
}

func (w *worker) Cancel(_ context.Context, p *v2.CancelSessionNotification) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if stop := w.stop[p.SessionID]; stop != nil {
		stop()
	}
	return nil
}

// watcher is its client.
type watcher struct {
	v2.UnimplementedClientHandler
	idle chan v2.IdleStateUpdateVariant
	said chan struct{}
}

func (w *watcher) SessionUpdate(_ context.Context, n *v2.UpdateSessionNotification) error {
	switch u := n.Update.(type) {
	case *v2.AgentMessageChunk:
		fmt.Printf("%s: %s\n", u.MessageID, u.Content.(*v2.TextContent).Text)
		close(w.said)
	case *v2.RunningStateUpdate:
		fmt.Println("running")
	case *v2.IdleStateUpdate:
		w.idle <- u.Variant
	}
	return nil
}

// A turn of version 2 outlives the prompt that began it: the answer only says
// that the prompt was accepted, and state updates tell the rest.
func ExampleAfterResponse() {
	near, far := transport.Pair()
	agent := rpc.Connect(far, func(c *rpc.Conn) acp.Handler {
		return early{v2.AgentSide(newWorker(c))} // no initialize here
	}, rpc.Options{Server: true})
	defer agent.Close()
	w := &watcher{idle: make(chan v2.IdleStateUpdateVariant, 1), said: make(chan struct{})}
	conn := rpc.NewConn(near, v2.ClientSide(w), rpc.Options{})
	defer conn.Close()

	ctx, a := context.Background(), v2.Agent{Conn: conn}
	accepted, err := a.Prompt(ctx, &v2.PromptRequest{SessionID: "s", Prompt: []v2.ContentBlock{v2.NewTextContent("Why?")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	<-w.said
	a.Cancel(ctx, &v2.CancelSessionNotification{SessionID: "s"})
	_, cancelled := (<-w.idle).(*v2.IdleStateUpdateCancelled)
	fmt.Println(accepted.MessageID, "is over; cancelled:", cancelled)
	// Output:
	// running
	// answer-1: one moment
	// question-1 is over; cancelled: true
}

// An agent of version 2 serves the client that started it.
func ExampleConnect() {
	conn := rpc.Connect(transport.Stdio(), func(c *rpc.Conn) acp.Handler {
		return v2.AgentSide(newWorker(c))
	}, rpc.Options{})
	if err := conn.Wait(context.Background()); err != nil {
		log.Fatal(err)
	}
}
