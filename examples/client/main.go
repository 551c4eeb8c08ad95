// Command client asks an agent one question: client "what is this?" gemini --acp
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
)

type printer struct{ *services.Services }

func (p printer) SessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	if chunk, ok := n.Update.(*acp.AgentMessageChunk); ok {
		if text, ok := chunk.Content.(*acp.TextContent); ok {
			fmt.Print(text.Text)
		}
	}
	return p.Services.SessionUpdate(ctx, n)
}

// ask is where a client asks its user; this one says no to everything.
func ask(_ context.Context, q *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
	id, _ := permission.Select(q.Options, permission.Deny)
	return id, nil // anything that is not an option also counts as no
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: client PROMPT AGENT [ARGUMENT...]")
	}
	ctx, dir := context.Background(), must(os.Getwd())
	h := printer{services.New(services.Options{Ask: ask})} // reads and writes files in dir, and offers no terminals
	defer h.Close()
	process := must(launch.Start(ctx, launch.Command{Path: os.Args[2], Args: os.Args[3:], InheritEnv: true}))
	agent := must(rpc.Open(ctx, process.Transport(), h, &acp.InitializeRequest{
		ClientInfo: &acp.Implementation{Name: "client", Version: "1.0.0"}, ClientCapabilities: h.Capabilities(),
	}, rpc.Options{}))
	defer agent.Close() // ends the process

	session := must(h.NewSession(ctx, agent, &acp.NewSessionRequest{Cwd: dir}))
	end := must(agent.Session(session.SessionID).Prompt(ctx, acp.NewTextContent(os.Args[1])))
	fmt.Println("\n" + end)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
