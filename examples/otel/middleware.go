package main

import (
	"context"
	"encoding/json"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// tracing makes a span of each request in either direction and measures how long it
// takes. The span's context travels in _meta, as the protocol reserves it for W3C trace
// context, so that the spans of both sides are one trace.
//
// See https://agentclientprotocol.com/protocol/extensibility.
func tracing(tracer trace.Tracer, meter metric.Meter) (rpc.Middleware, error) {
	took, err := meter.Float64Histogram("rpc.duration", metric.WithUnit("s"), metric.WithDescription("From a request to its answer."))
	if err != nil {
		return rpc.Middleware{}, err
	}
	t := &traced{tracer, took, propagation.TraceContext{}}
	return rpc.Middleware{
		Receive: func(next acp.Handler) acp.Handler { return tracedHandler{next, t} },
		Send:    func(next acp.Caller) acp.Caller { return tracedCaller{next, t} },
	}, nil
}

type traced struct {
	tracer      trace.Tracer
	took        metric.Float64Histogram
	propagation propagation.TextMapPropagator
}

// begin starts the span of a request; the function it returns ends it.
func (t *traced) begin(ctx context.Context, kind trace.SpanKind, method string) (context.Context, func(error)) {
	start := time.Now()
	about := attribute.String("rpc.method", method)
	ctx, span := t.tracer.Start(ctx, method, trace.WithSpanKind(kind), trace.WithAttributes(attribute.String("rpc.system", "jsonrpc"), about))
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
		t.took.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(about, attribute.String("kind", kind.String())))
	}
}

type tracedHandler struct {
	acp.Handler
	*traced
}

func (h tracedHandler) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	ctx, end := h.begin(h.propagation.Extract(ctx, carrier(params)), trace.SpanKindServer, method)
	result, err := h.Handler.HandleRequest(ctx, method, params)
	end(err)
	return result, err
}

type tracedCaller struct {
	acp.Caller
	*traced
}

func (c tracedCaller) Call(ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
	ctx, end := c.begin(ctx, trace.SpanKindClient, method)
	err := c.Caller.Call(ctx, method, c.inject(ctx, params), result)
	end(err)
	return err
}

// carrier returns the strings of the _meta of params.
func carrier(params []byte) propagation.MapCarrier {
	meta, _ := acp.Extra(params).Get("_meta")
	fields := propagation.MapCarrier{}
	for name, value := range acp.Extra(meta).All() {
		var text string
		if json.Unmarshal(value, &text) == nil {
			fields[name] = text
		}
	}
	return fields
}

// inject returns params with the context of the span in _meta, or as they are if they
// cannot be sent anyway.
func (t *traced) inject(ctx context.Context, params acp.Appender) acp.Appender {
	if params == nil {
		return nil
	}
	fields := propagation.MapCarrier{}
	t.propagation.Inject(ctx, fields)
	text := acp.Extra(params.AppendJSON(nil))
	before, _ := text.Get("_meta")
	meta := acp.Extra(append([]byte(nil), before...))
	for name, value := range fields {
		quoted, _ := json.Marshal(value) // strings always encode
		if meta.Set(name, quoted) != nil {
			return params
		}
	}
	if text.Set("_meta", json.RawMessage(meta)) != nil {
		return params
	}
	return acp.Raw(text)
}
