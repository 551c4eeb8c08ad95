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

// waiter is a client of version 2 that asks, and waits until the agent has done its work.
type waiter struct {
	v2.UnimplementedClientHandler
	say    func(text string)
	worked bool // since it was idle; only updates of its session touch it
	idle   chan v2.IdleStateUpdateVariant
}

func (w *waiter) SessionUpdate(_ context.Context, n *v2.UpdateSessionNotification) error {
	switch u := n.Update.(type) {
	case *v2.AgentMessageChunk:
		if text, ok := u.Content.(*v2.TextContent); ok {
			w.say(text.Text)
		}
	case *v2.RunningStateUpdate:
		w.worked = true
	case *v2.IdleStateUpdate:
		if w.worked { // an idle state before the work ends nothing
			w.worked = false
			w.idle <- u.Variant
		}
	}
	return nil
}

// ask returns why the agent stopped. The end of ctx does not stop it: session/cancel does.
func (w *waiter) ask(ctx context.Context, conn *rpc.Conn, session v2.SessionID, text string) (v2.IdleStateUpdateVariant, error) {
	prompt := v2.NewPromptRequest(session, []v2.ContentBlock{v2.NewTextContent(text)})
	if _, err := (v2.Agent{Conn: conn}).Prompt(ctx, prompt); err != nil {
		return nil, err // it was not accepted
	}
	select {
	case why := <-w.idle:
		return why, nil
	case <-conn.Done():
		return nil, conn.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A turn of version 2 outlives the prompt that began it: the answer only says
// that the prompt was accepted, and state updates tell the rest.
func ExampleAfterResponse() {
	near, far := transport.Pair()
	agent := rpc.Connect(far, func(c *rpc.Conn) acp.Handler {
		return early{v2.AgentSide(newWorker(c))} // no initialize here
	}, rpc.Options{Server: true})
	defer agent.Close()
	ctx := context.Background()
	w := &waiter{idle: make(chan v2.IdleStateUpdateVariant, 1)}
	conn := rpc.NewConn(near, v2.ClientSide(w), rpc.Options{})
	defer conn.Close()
	w.say = func(text string) {
		fmt.Println(text)
		if err := (v2.Agent{Conn: conn}).Cancel(ctx, &v2.CancelSessionNotification{SessionID: "s"}); err != nil {
			fmt.Println(err)
		}
	}

	why, err := w.ask(ctx, conn, "s", "Why?")
	fmt.Println(v2.IdleStateUpdateVariantTag(why), err)
	// Output:
	// one moment
	// cancelled <nil>
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
