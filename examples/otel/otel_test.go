package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// asker is an agent that asks for permission in a turn.
type asker struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (asker) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (a asker) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	if _, err := a.client.Session(p.SessionID).Ask(ctx, acp.NewToolCallUpdate("c")); err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// never is a client that refuses to answer.
type never struct{ acp.UnimplementedClientHandler }

func (never) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return nil, errors.New("nobody is here")
}

// The spans of both sides are one trace, each below the one that caused it, and failures
// are marked.
func TestBothSidesAreOneTrace(t *testing.T) {
	spans, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	provider, meters := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)), metric.NewMeterProvider(metric.WithReader(reader))
	side := func(name string) rpc.Options {
		m, err := tracing(provider.Tracer(name), meters.Meter(name))
		if err != nil {
			t.Fatal(err)
		}
		return rpc.Options{Middleware: []rpc.Middleware{m}}
	}
	near, far := transport.Pair()
	served := make(chan error, 1)
	go func() {
		served <- rpc.Serve(t.Context(), far, func(c acp.Client) acp.AgentHandler { return asker{client: c} }, side("agent"))
	}()
	agent, err := rpc.Open(t.Context(), near, never{}, nil, side("client"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Session("s").Prompt(t.Context(), acp.NewTextContent("hi")); err == nil {
		t.Error("a turn without an answer ended well")
	}
	agent.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}

	names := map[string]string{} // of spans by id
	for _, s := range spans.Ended() {
		names[s.SpanContext().SpanID().String()] = fmt.Sprintf("%s %s %s", s.InstrumentationScope().Name, s.SpanKind(), s.Name())
	}
	var got []string
	for _, s := range spans.Ended() {
		line := names[s.SpanContext().SpanID().String()]
		if parent := names[s.Parent().SpanID().String()]; parent != "" {
			line += " below " + parent
		}
		if s.Status().Code == codes.Error {
			line += ", failed"
		}
		got = append(got, line)
	}
	slices.Sort(got)
	want := []string{
		"agent client session/request_permission below agent server session/prompt, failed",
		"agent server initialize below client client initialize",
		"agent server session/prompt below client client session/prompt, failed",
		"client client initialize",
		"client client session/prompt, failed",
		"client server session/request_permission below agent client session/request_permission, failed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}

	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	var measured uint64
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			for _, p := range m.Data.(metricdata.Histogram[float64]).DataPoints {
				measured += p.Count
			}
		}
	}
	if measured != uint64(len(want)) {
		t.Errorf("%d requests were measured, want %d", measured, len(want))
	}
}
