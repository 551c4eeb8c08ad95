package agent_test

import (
	"context"
	"errors"
	"log"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime"
	"github.com/hermes-nvim/hermes/runtime/agent"
)

// A client that keeps its agent running.
func ExampleSupervisor_Run() {
	s := agent.Supervise(agent.Command{Path: "gemini", Args: []string{"--acp"}}, agent.Restarts{})
	err := s.Run(context.Background(), func(ctx context.Context, p *agent.Process) error {
		conn := runtime.NewConn(p.Transport(), acp.ClientSide(acp.UnimplementedClientHandler{}), runtime.Options{})
		defer conn.Close()
		_, err := acp.Agent{Conn: conn}.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: 1})
		return err // when the agent died, Run starts it again
	})
	var enough *agent.RestartError
	if errors.As(err, &enough) {
		log.Fatal(err) // how often it was tried, and how the agent ended last
	}
}
