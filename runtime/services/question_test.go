package services

import (
	"context"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/elicitation"
)

func formFor(scope acp.ElicitationFormModeVariant) *acp.CreateElicitationRequest {
	return &acp.CreateElicitationRequest{Message: "Name?", Variant: &acp.ElicitationFormMode{
		RequestedSchema: acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{"n": &acp.StringPropertySchema{}}},
		Variant:         scope,
	}}
}

func pageFor(id acp.ElicitationID, url string) *acp.CreateElicitationRequest {
	return &acp.CreateElicitationRequest{Message: "Sign in", Variant: &acp.ElicitationURLMode{
		ElicitationID: id, URL: url, Variant: &acp.ElicitationSessionScope{SessionID: "s"},
	}}
}

func action(r *acp.CreateElicitationResponse) string {
	switch r.Variant.(type) {
	case *acp.ElicitationAcceptAction:
		return "accept"
	case *acp.CreateElicitationResponseDecline:
		return "decline"
	case *acp.CreateElicitationResponseCancel:
		return "cancel"
	}
	return "?"
}

// C133.
func TestElicitationsOverAConnection(t *testing.T) {
	t.Parallel()
	done := make(chan acp.ElicitationID, 4)
	b := newBench(t, Options{
		Elicit: func(_ context.Context, q *elicitation.Question) (elicitation.Answer, error) {
			if q.URL != nil {
				return &acp.ElicitationAcceptAction{}, nil
			}
			return &acp.ElicitationAcceptAction{Content: elicitation.Content{"n": acp.ElicitationContentValueString(q.Message)}}, nil
		},
		ElicitComplete: func(_ context.Context, id acp.ElicitationID) { done <- id },
	})
	if can := b.Capabilities().Elicitation; can == nil || can.Form == nil || can.URL == nil {
		t.Error("elicitation is not offered")
	}
	for _, scope := range []acp.ElicitationFormModeVariant{
		&acp.ElicitationSessionScope{SessionID: "s"}, &acp.ElicitationRequestScope{RequestID: acp.NumberID(1)},
	} {
		r, err := b.agent.CreateElicitation(t.Context(), formFor(scope))
		must(t, err)
		a, ok := r.Variant.(*acp.ElicitationAcceptAction)
		if !ok || a.Content["n"] != acp.ElicitationContentValueString("Name?") {
			t.Errorf("%T: %s", scope, r.AppendJSON(nil))
		}
	}
	r, err := b.agent.CreateElicitation(t.Context(), pageFor("e", "https://example.com/"))
	must(t, err)
	if action(r) != "accept" {
		t.Errorf("%s", r.AppendJSON(nil))
	}
	for _, id := range []acp.ElicitationID{"unknown", "e", "e"} {
		must(t, b.agent.CompleteElicitation(t.Context(), &acp.CompleteElicitationNotification{ElicitationID: id}))
	}
	if id := <-done; id != "e" {
		t.Errorf("completed %s", id)
	}
	_, err = b.agent.CreateElicitation(t.Context(), pageFor("f", "file:///etc/passwd"))
	if code(err) != acp.ErrorCodeInvalidParams {
		t.Error(err)
	}
	if len(done) != 0 {
		t.Error("a page completes twice")
	}
}

func TestElicitationsNobodyAnswersAreCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	if b.Capabilities().Elicitation != nil {
		t.Error("elicitation is offered without anybody to ask")
	}
	r, err := b.agent.CreateElicitation(t.Context(), formFor(&acp.ElicitationSessionScope{SessionID: "s"}))
	must(t, err)
	if action(r) != "cancel" {
		t.Errorf("%s", r.AppendJSON(nil))
	}
}

func TestOpenElicitationsEndWithTheirTurnOrTheirServices(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scope acp.ElicitationFormModeVariant
		end   func(*bench)
	}{
		"cancel":        {&acp.ElicitationSessionScope{SessionID: "s"}, func(b *bench) { acp.Agent{Conn: b.conn}.Session("s").Cancel(context.Background()) }},
		"without Conn":  {&acp.ElicitationSessionScope{SessionID: "s"}, func(b *bench) { b.Cancel("s") }},
		"close session": {&acp.ElicitationSessionScope{SessionID: "s"}, func(b *bench) { b.CloseSession("s") }},
		"close":         {&acp.ElicitationRequestScope{RequestID: acp.NumberID(1)}, func(b *bench) { b.Services.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan struct{})
			opts := Options{Elicit: func(ctx context.Context, _ *elicitation.Question) (elicitation.Answer, error) {
				close(asked)
				<-ctx.Done()
				return &acp.ElicitationAcceptAction{}, nil
			}}
			b := newBench(t, opts)
			answer := make(chan string, 1)
			go func() {
				r, err := b.agent.CreateElicitation(context.Background(), formFor(test.scope))
				if err != nil {
					answer <- err.Error()
					return
				}
				answer <- action(r)
			}()
			<-asked
			if st := b.State("s"); name == "cancel" && (st == nil || len(st.Snapshot().Requests) != 1) {
				t.Error("the open question is not part of the state")
			}
			test.end(b)
			select {
			case got := <-answer:
				if got != "cancel" {
					t.Error(got)
				}
			case <-time.After(patience.Soon):
				t.Fatal("the question stays open")
			}
		})
	}
}
