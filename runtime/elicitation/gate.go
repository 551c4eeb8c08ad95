package elicitation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/question"
)

// DefaultMaxOpen is how many questions of one connection may be open at once,
// and how many web pages are remembered for elicitation/complete.
const DefaultMaxOpen = question.DefaultMaxOpen

// Answer is what the user did: *acp.ElicitationAcceptAction with the content of
// the form, *acp.CreateElicitationResponseDecline, or
// *acp.CreateElicitationResponseCancel for a question closed without an answer.
type Answer = acp.CreateElicitationResponseVariant

// Gate answers the elicitations of one connection. Its exported members must
// not be changed while it is in use.
type Gate struct {
	// Ask puts the question to the user. It must return when the context ends.
	// If it is nil, fails, or returns an answer that does not fit the form, the
	// answer is cancel.
	Ask func(context.Context, *Question) (Answer, error)
	// Complete is called once when the user is done with a web page that was
	// shown and not declined.
	Complete func(context.Context, acp.ElicitationID)
	// Timeout bounds each question; 0 means no bound.
	Timeout time.Duration
	// MaxOpen bounds the open questions; further ones are cancelled. 0 means
	// DefaultMaxOpen.
	MaxOpen int
	// Decided is called with the end of each question, for a log. err says why
	// the question was cancelled, if not by the user. The answer holds what the
	// user filled in, which may be secret.
	Decided func(*acp.CreateElicitationRequest, Answer, error)

	open atomic.Int64

	mu    sync.Mutex
	pages []acp.ElicitationID // of questions for web pages, the oldest first
}

// Reasons for a cancelled question that the user did not cancel.
var (
	ErrNobodyToAsk = question.ErrNobodyToAsk
	ErrTimeout     = question.ErrTimeout
	ErrTooMany     = question.ErrTooMany
	ErrAnswer      = errors.New("not an answer to the question")
)

// Answer answers a request. It fails only for a question that must not be asked
// at all (see Describe). After any other failure the answer is cancel.
func (g *Gate) Answer(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	q, err := Describe(req)
	if err != nil {
		return nil, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: acp.MethodElicitationCreate + ": " + err.Error()}
	}
	if q.URL != nil {
		g.remember(q.ID)
	}
	ask := question.Asker[*Question, Answer]{Ask: g.Ask, Fits: fits, Timeout: g.Timeout, MaxOpen: g.MaxOpen}
	answer, err := ask.Put(ctx, &g.open, q)
	if err != nil {
		answer = &acp.CreateElicitationResponseCancel{}
	}
	if _, accepted := answer.(*acp.ElicitationAcceptAction); !accepted && q.URL != nil {
		g.forget(q.ID)
	}
	if g.Decided != nil {
		g.Decided(req, answer, err)
	}
	return &acp.CreateElicitationResponse{Variant: answer}, nil
}

// fits checks that an answer fits the question.
func fits(q *Question, answer Answer) error {
	switch a := answer.(type) {
	case *acp.CreateElicitationResponseDecline, *acp.CreateElicitationResponseCancel:
		return nil
	case *acp.ElicitationAcceptAction:
		switch {
		case a == nil:
		case q.Form != nil:
			return CheckForm(q.Form, a.Content)
		case len(a.Content) == 0:
			return nil
		default:
			return fmt.Errorf("%w: a web page has no content", ErrAnswer)
		}
	}
	return fmt.Errorf("%w: %T", ErrAnswer, answer)
}

func (g *Gate) max() int {
	if g.MaxOpen == 0 {
		return DefaultMaxOpen
	}
	return g.MaxOpen
}

func (g *Gate) remember(id acp.ElicitationID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.pages, id) {
		return
	}
	if len(g.pages) >= g.max() {
		g.pages = slices.Delete(g.pages, 0, 1)
	}
	g.pages = append(g.pages, id)
}

func (g *Gate) forget(id acp.ElicitationID) (known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.pages, id)
	if i >= 0 {
		g.pages = slices.Delete(g.pages, i, i+1)
	}
	return i >= 0
}

// Completed handles elicitation/complete. Pages that were not shown to the user
// are ignored, as the protocol demands.
func (g *Gate) Completed(ctx context.Context, id acp.ElicitationID) {
	if g.forget(id) && g.Complete != nil {
		g.Complete(ctx, id)
	}
}
