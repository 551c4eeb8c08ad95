package elicitation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

func request(t *testing.T, text string) *acp.CreateElicitationRequest {
	t.Helper()
	r := new(acp.CreateElicitationRequest)
	if err := r.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	form = `{"mode":"form","message":"Name?","sessionId":"s","toolCallId":"t","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}}`
	page = `{"mode":"url","message":"Sign in","requestId":7,"elicitationId":"e","url":"https://example.com/x"}`
)

var (
	accept  = &acp.ElicitationAcceptAction{}
	decline = &acp.CreateElicitationResponseDecline{}
	cancel  = &acp.CreateElicitationResponseCancel{}
	filled  = &acp.ElicitationAcceptAction{Content: Content{"n": acp.ElicitationContentValueString("x")}}
)

// C133.
func TestTheAnswerIsTheUsersOrCancel(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, test := range map[string]struct {
		question string
		ask      func(context.Context, *Question) (Answer, error)
		want     string
		why      error
	}{
		"form accepted":      {form, answering(filled), `{"action":"accept","content":{"n":"x"}}`, nil},
		"form declined":      {form, answering(decline), `{"action":"decline"}`, nil},
		"form closed":        {form, answering(cancel), `{"action":"cancel"}`, nil},
		"form not filled in": {form, answering(accept), `{"action":"cancel"}`, ErrForm},
		"page accepted":      {page, answering(accept), `{"action":"accept"}`, nil},
		"page declined":      {page, answering(decline), `{"action":"decline"}`, nil},
		"page with content":  {page, answering(filled), `{"action":"cancel"}`, ErrAnswer},
		"no answer":          {page, answering(nil), `{"action":"cancel"}`, ErrAnswer},
		"null answer":        {form, answering((*acp.ElicitationAcceptAction)(nil)), `{"action":"cancel"}`, ErrAnswer},
		"nobody":             {form, nil, `{"action":"cancel"}`, ErrNobodyToAsk},
		"error":              {form, func(context.Context, *Question) (Answer, error) { return filled, boom }, `{"action":"cancel"}`, boom},
		"panic":              {form, func(context.Context, *Question) (Answer, error) { panic("no") }, `{"action":"cancel"}`, errAny},
		"too late": {form, func(ctx context.Context, _ *Question) (Answer, error) {
			<-ctx.Done()
			return filled, nil
		}, `{"action":"cancel"}`, ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var why error
			told := 0
			g := &Gate{Ask: test.ask, Timeout: time.Minute, Decided: func(_ *acp.CreateElicitationRequest, _ Answer, err error) {
				told++
				why = err
			}}
			if name == "too late" {
				g.Timeout = time.Millisecond
			}
			r, err := g.Answer(t.Context(), request(t, test.question))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(r.AppendJSON(nil)); got != test.want || told != 1 {
				t.Errorf("answered %s, want %s; told %d times", got, test.want, told)
			}
			if test.why == errAny && why != nil {
				return
			}
			if !errors.Is(why, test.why) {
				t.Errorf("because of %v, want %v", why, test.why)
			}
		})
	}
}

var errAny = errors.New("any")

func answering(a Answer) func(context.Context, *Question) (Answer, error) {
	return func(context.Context, *Question) (Answer, error) { return a, nil }
}

func TestTheQuestionSaysWhoAsksForWhat(t *testing.T) {
	t.Parallel()
	q, err := Describe(request(t, form))
	if err != nil || q.Message != "Name?" || q.Session != "s" || q.ToolCall != "t" || q.URL != nil || len(q.Form.Properties) != 1 {
		t.Error(q, err)
	}
	q, err = Describe(request(t, page))
	if err != nil || q.Session != "" || q.Request != acp.NumberID(7) || q.Form != nil || q.URL.Host != "example.com" || q.ID != "e" {
		t.Error(q, err)
	}
}

func TestQuestionsThatMustNotBeAskedAreInvalidParams(t *testing.T) {
	t.Parallel()
	g := &Gate{Ask: func(context.Context, *Question) (Answer, error) { panic("asked") }}
	for text, want := range map[string]string{
		strings.Replace(page, "https", "file", 1):                "scheme",
		strings.Replace(page, "https://", "javascript:", 1):      "scheme",
		strings.Replace(page, "example.com", "a@example.com", 1): "user name",
		strings.Replace(page, "url", "telepathy", 1):             "telepathy",
	} {
		_, err := g.Answer(t.Context(), request(t, text))
		if e := (*acp.Error)(nil); !errors.As(err, &e) || e.Code != acp.ErrorCodeInvalidParams || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := g.Answer(t.Context(), &acp.CreateElicitationRequest{}); err == nil {
		t.Error("a request without a mode is asked")
	}
}

// T26.
func TestQuestionsAboveTheLimitAreCancelled(t *testing.T) {
	t.Parallel()
	release, asked := make(chan struct{}), make(chan struct{}, 2*DefaultMaxOpen)
	g := &Gate{Ask: func(context.Context, *Question) (Answer, error) {
		asked <- struct{}{}
		<-release
		return decline, nil
	}}
	var wg sync.WaitGroup
	for range DefaultMaxOpen {
		wg.Go(func() {
			if r, err := g.Answer(context.Background(), request(t, form)); err != nil || r.Variant != Answer(decline) {
				t.Error(r, err)
			}
		})
	}
	for range DefaultMaxOpen {
		<-asked
	}
	if r, err := g.Answer(t.Context(), request(t, form)); err != nil || string(r.AppendJSON(nil)) != `{"action":"cancel"}` {
		t.Error(r, err)
	}
	close(release)
	wg.Wait()
	if r, err := g.Answer(t.Context(), request(t, form)); err != nil || r.Variant != Answer(decline) {
		t.Error("the places are not free again", r, err)
	}
}

// C134.
func TestOnlyPagesThatWereShownCompleteAndOnce(t *testing.T) {
	t.Parallel()
	var done []acp.ElicitationID
	answer := Answer(accept)
	g := &Gate{
		Ask:      func(context.Context, *Question) (Answer, error) { return answer, nil },
		Complete: func(_ context.Context, id acp.ElicitationID) { done = append(done, id) },
	}
	show := func(id string) {
		t.Helper()
		if _, err := g.Answer(t.Context(), request(t, strings.Replace(page, `"e"`, `"`+id+`"`, 1))); err != nil {
			t.Fatal(err)
		}
	}
	show("a")
	show("a")
	answer = decline
	show("b")
	for _, id := range []acp.ElicitationID{"a", "a", "b", "never"} {
		g.Completed(t.Context(), id)
	}
	if fmt.Sprint(done) != "[a]" {
		t.Errorf("completed %v", done)
	}

	answer, done = accept, nil
	for i := range DefaultMaxOpen + 1 {
		show(fmt.Sprint(i))
	}
	for i := range DefaultMaxOpen + 1 {
		g.Completed(t.Context(), acp.ElicitationID(fmt.Sprint(i)))
	}
	if len(done) != DefaultMaxOpen || done[0] != "1" {
		t.Errorf("completed %d pages from %v", len(done), done[0])
	}
}
