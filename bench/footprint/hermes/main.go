// Command hermes is the smallest useful client on Hermes, built to be weighed:
// it starts the agent it is given, prompts once and prints the answer.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

type client struct{ acp.UnimplementedClientHandler }

func (client) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	if u, ok := n.Update.(*acp.AgentMessageChunk); ok {
		if c, ok := u.Content.(*acp.TextContent); ok {
			fmt.Print(c.Text)
		}
	}
	return nil
}

func (client) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return &acp.RequestPermissionResponse{Outcome: &acp.RequestPermissionOutcomeCancelled{}}, nil
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer cmd.Process.Kill()
	agent, err := rpc.Open(ctx, transport.NewStream(out, in), client{}, nil, rpc.Options{})
	if err != nil {
		return err
	}
	defer agent.Close()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	s, err := agent.NewSession(ctx, &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		return err
	}
	_, err = agent.Session(s.SessionID).Prompt(ctx, acp.NewTextContent("Hello"))
	return err
}
