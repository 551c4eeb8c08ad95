package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// A cancel needs no word that the prompt was written: Start has put it in line.
func TestACancelAfterStartFollowsTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, w := dial(t, nil, rpc.Options{})
		n := jam(t, c)
		k, err := c.Start(t.Context(), acp.MethodSessionPrompt, &acp.PromptRequest{SessionID: "s"})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Notify(t.Context(), acp.MethodSessionCancel, &acp.CancelNotification{SessionID: "s"}); err != nil {
			t.Fatal(err)
		}
		methods := heard(w, n+2)
		if at, want := index(methods, acp.MethodSessionCancel), index(methods, acp.MethodSessionPrompt); want < 0 || at < want {
			t.Error(methods)
		}
		w.say(`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"cancelled"}}`)
		var r acp.PromptResponse
		if err := k.Wait(t.Context(), &r); err != nil || r.StopReason != acp.StopReasonCancelled {
			t.Error(r, err)
		}
	})
}

func TestAnAnswerThatCameBeforeWaitIsNotLost(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	k, err := c.Start(t.Context(), "_m", raw("{}"))
	if err != nil {
		t.Fatal(err)
	}
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"no"}}`)
	w.ask("1", "_later") // it has been read when this is answered
	w.hear()
	if err := k.Wait(t.Context(), nil); !errors.Is(err, &acp.Error{Code: 7}) {
		t.Error(err)
	}
}

func TestEndingTheContextOfWaitSendsCancelRequest(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	k, err := c.Start(t.Context(), "_m", raw("{}"))
	if err != nil {
		t.Fatal(err)
	}
	w.hear()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Wait(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w.expect(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
}

// illegible are params that say which session they are about, in text that names
// another one and is not JSON.
type illegible struct{ *acp.PromptRequest }

func (illegible) AppendJSON(b []byte) []byte {
	return append(b, `{"sessionId":"another","prompt":["`...)
}

func TestTheSessionOfTypedParamsIsNotReadFromTheirText(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var log journal
	c, w := dial(t, handler{notify: func(context.Context, string, json.RawMessage) error {
		<-release
		log.add("update")
		return nil
	}}, rpc.Options{})
	k, err := c.Start(t.Context(), acp.MethodSessionPrompt, illegible{&acp.PromptRequest{SessionID: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	w.hear()
	w.update("s", 1)
	w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	done := make(chan error, 1)
	go func() {
		err := k.Wait(t.Context(), nil)
		log.add("answer")
		done <- err
	}()
	w.ask("1", "_later") // the answer has been read when this is answered
	w.hear()
	close(release)
	if err := receive(t, "answer", done); err != nil || log.String() != "update answer" {
		t.Errorf("%v: %s", err, log.String())
	}
}
