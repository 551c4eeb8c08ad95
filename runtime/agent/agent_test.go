package agent

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hermes-nvim/hermes/runtime"
)

func TestSmoke(t *testing.T) {
	p, err := Start(context.Background(), Command{Path: "sh", Args: []string{"-c", "echo usage: agent; echo oops >&2; exit 3"}})
	if err != nil {
		t.Fatal(err)
	}
	c := runtime.NewConn(p.Transport(), nil, runtime.Options{})
	err = c.Call(context.Background(), "initialize", nil, new(json.RawMessage))
	t.Log(err)
	c.Close()
	_, err = Start(context.Background(), Command{Path: "nonesuch"})
	t.Log(err)
}
