package launch_test

import (
	"context"
	"errors"
	"log"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// A client that keeps its agent running.
func ExampleSupervisor_Run() {
	s := launch.Supervise(launch.Command{Path: "gemini", Args: []string{"--acp"}}, launch.Restarts{})
	err := s.Run(context.Background(), func(ctx context.Context, p *launch.Process) error {
		agent, err := rpc.Open(ctx, p.Transport(), acp.UnimplementedClientHandler{}, nil, rpc.Options{})
		if err != nil {
			return err // when the agent died, Run starts it again
		}
		return agent.Wait(ctx)
	})
	var enough *launch.RestartError
	if errors.As(err, &enough) {
		log.Fatal(err) // how often it was tried, and how the agent ended last
	}
}
