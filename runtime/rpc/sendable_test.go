package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// nested is an object with so many levels, padded with text that has brackets.
func nested(levels int) raw {
	return raw(strings.Repeat(`{"]}[{\"\\":["[{",`, levels/2) + "1" + strings.Repeat(`]}`, levels/2))
}

func TestMessagesTooDeepForOthersAreNotSent(t *testing.T) {
	t.Parallel()
	deep := &rpc.TooDeepError{}
	c, w := dial(t, handler{request: func(_ context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
		switch method {
		case "_fits":
			return nested(98), nil
		case "_deep":
			return nested(100), nil
		case "_error":
			return nil, &acp.Error{Code: 7, Message: "no", Data: json.RawMessage(nested(98))}
		}
		return nil, &acp.Error{Code: 7, Message: "no", Data: json.RawMessage(nested(100))}
	}}, rpc.Options{})

	// The message itself is a level.
	ctx := context.Background()
	if err := c.Call(ctx, "_x", nested(100), nil); !errors.As(err, &deep) || deep.Limit != 100 || !strings.HasPrefix(err.Error(), "_x: ") {
		t.Errorf("Call: %v", err)
	}
	if err := c.Notify(ctx, "_x", nested(100)); !errors.As(err, &deep) {
		t.Errorf("Notify: %v", err)
	}
	if err := c.Notify(ctx, "_x", nested(98)); err != nil {
		t.Error(err)
	}
	w.expect(`{"jsonrpc":"2.0","method":"_x","params":` + string(nested(98)) + `}`)

	w.ask("1", "_fits")
	w.expect(`{"jsonrpc":"2.0","id":1,"result":` + string(nested(98)) + `}`)
	w.ask("2", "_deep")
	w.verdict("2 -32603")
	w.ask("3", "_error")
	if got := w.hear(); !strings.Contains(got, `"data":`) {
		t.Error(got)
	}
	w.ask("4", "_deepError")
	w.expect(`{"jsonrpc":"2.0","id":4,"error":{"code":7,"message":"no"}}`)
}

func TestTheDepthOfWhatIsSentCanBeSet(t *testing.T) {
	t.Parallel()
	c, _ := dial(t, nil, rpc.Options{Limits: rpc.Limits{SendDepth: 3}})
	if err := c.Notify(context.Background(), "_x", raw(`{"a":[1]}`)); err != nil {
		t.Error(err)
	}
	if err := c.Notify(context.Background(), "_x", raw(`{"a":[[1]]}`)); err == nil {
		t.Error("sent")
	}
}
