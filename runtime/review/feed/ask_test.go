package feed

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
)

// A user who thinks about one change must not hold up what others report.
func TestAQuestionDelaysNobodyAndEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
	decide, gone := make(chan error), make(chan string, 2)
	r.Ask = func(ctx context.Context, q Report) error {
		select {
		case err := <-decide:
			return err
		case <-ctx.Done():
			gone <- q.Path
			return ctx.Err()
		}
	}
	question := Report{Kind: Write, Path: "/f", Phase: Ask}
	asked := make(chan error)
	asker := dial(t, r.path)
	ask := func(ctx context.Context) { asked <- asker.Tell(ctx, question) }
	other := dial(t, r.path)
	for _, want := range []error{nil, errors.New("no")} {
		go ask(t.Context())
		for range 3 {
			if err := other.Tell(t.Context(), Report{Kind: Remove, Path: "/b"}); err != nil {
				t.Fatal(err)
			}
		}
		decide <- want
		if err := <-asked; (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
			t.Errorf("%v, want %v", err, want)
		}
	}
	known := 0 // only what was allowed
	for _, report := range r.got() {
		if report.Phase == Ask {
			known++
		}
	}
	if known != 1 {
		t.Errorf("%d questions were handled: %+v", known, r.got())
	}
	// An answer has the id of its question, whatever came in between.
	c := raw(t, r.path)
	say := func(id, meta, want string) {
		t.Helper()
		io.WriteString(c, `{"jsonrpc":"2.0","id":"`+id+`","method":"fs/remove","params":{"path":"/a","_meta":{"hermes":{`+meta+`}}}}`+"\n")
		if want == "" {
			return
		}
		if got := line(t, c); got != `{"jsonrpc":"2.0","id":"`+want+`","result":{}}` {
			t.Error(got)
		}
	}
	say("first", `"phase":"ask"`, "")
	say("later", ``, "later")
	decide <- nil
	if got := line(t, c); got != `{"jsonrpc":"2.0","id":"first","result":{}}` {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go ask(ctx)
	cancel()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// The question that was cancelled above may not have been sent at all; this one is.
	say("last", `"phase":"ask"`, "")
	say("after", ``, "after")
	c.Close()
	for path := ""; path != "/a"; {
		path = patience.Value(t, "end of the question with its connection", gone)
	}
}

func TestAQuestionThatNobodyCanAnswerIsDenied(t *testing.T) {
	t.Parallel()
	r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
	if err := dial(t, r.path).Tell(t.Context(), Report{Kind: Write, Path: "/a", Phase: Ask}); err == nil || err.Error() != "nobody here is asked about changes" {
		t.Error(err)
	}
	c := raw(t, r.path)
	for _, bad := range []struct{ line, want string }{
		{notification("fs/remove", `{"path":"/a","_meta":{"hermes":{"phase":"ask"}}}`),
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"/id: missing, so the question cannot be answered","data":{"pointer":"/id"}}}`},
		{`{"jsonrpc":"2.0","id":1,"method":"fs/remove","params":{"path":"/a","_meta":{"hermes":{"phase":"ask","producer":"p","seq":1}}}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"/params/_meta/hermes: a question has no number","data":{"pointer":"/params/_meta/hermes"}}}`},
	} {
		io.WriteString(c, bad.line+"\n")
		if got := line(t, c); got != bad.want {
			t.Errorf("%s: %s", bad.line, got)
		}
	}
	if len(r.got()) != 0 {
		t.Errorf("%+v", r.got())
	}
}
