// Command otel asks an agent one question and prints the spans of the conversation to
// standard error: otel "what is this?" gemini --acp
//
// It is a module of its own, so that Hermes does not depend on OpenTelemetry.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: otel PROMPT AGENT [ARGUMENT...]")
	}
	if err := run(context.Background(), os.Args[1], launch.Command{Path: os.Args[2], Args: os.Args[3:], InheritEnv: true}); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, prompt string, cmd launch.Command) error {
	exporter, err := stdouttrace.New(stdouttrace.WithWriter(os.Stderr), stdouttrace.WithPrettyPrint())
	if err != nil {
		return err
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter))
	defer provider.Shutdown(ctx)
	middleware, err := tracing(provider.Tracer("otel"), noop.Meter{})
	if err != nil {
		return err
	}
	process, err := launch.Start(ctx, cmd)
	if err != nil {
		return err
	}
	agent, err := rpc.Open(ctx, process.Transport(), printer{}, nil, rpc.Options{Middleware: []rpc.Middleware{middleware}})
	if err != nil {
		return err
	}
	defer agent.Close()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	session, err := agent.NewSession(ctx, &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		return err
	}
	end, err := agent.Session(session.SessionID).Prompt(ctx, acp.NewTextContent(prompt))
	fmt.Println("\n" + end)
	return err
}

type printer struct{ acp.UnimplementedClientHandler }

func (printer) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	if chunk, ok := n.Update.(*acp.AgentMessageChunk); ok {
		if text, ok := chunk.Content.(*acp.TextContent); ok {
			fmt.Print(text.Text)
		}
	}
	return nil
}
