package agents

import (
	"context"
	"errors"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// The next connection is made once the turn has ended, and the turn does not end while a cancel is
// being sent. So a cancel that waited for that connection would hang them both.
func TestACancelDoesNotWaitForTheNextConnection(t *testing.T) {
	t.Parallel()
	var ways []transport.Transport
	broken := make(chan struct{})
	client, err := redial.Connect(t.Context(), redial.Options{
		Dial: func(ctx context.Context) (transport.Transport, error) {
			if len(ways) > 0 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			here, there := transport.Pair()
			ways = append(ways, there)
			go new(testagent.Agent).Serve(t.Context(), there)
			return here, nil
		},
		Versions: []rpc.ClientVersion{{Protocol: acp.V1, Params: &acp.InitializeRequest{}, Handler: acp.ClientSide(acp.UnimplementedClientHandler{})}},
		OnEvent: func(e redial.Event) {
			if e.Kind == redial.Broken {
				close(broken)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c := &connection{ctx: t.Context(), wire: client}
	if err := c.Cancel("s"); err != nil {
		t.Errorf("with a connection: %v", err)
	}
	ways[0].Close()
	patience.Value(t, "the break", broken)
	if err := patience.Ends(t, "the cancel", func() error { return c.Cancel("s") }); !errors.Is(err, context.Canceled) {
		t.Errorf("without a connection: %v", err)
	}
}
