package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

func explain(err error) string {
	var answer *acp.Error
	var exit *launch.ExitError
	var closed *rpc.ClosedError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &answer): // the agent said no
		return fmt.Sprintf("the agent refused: %s", answer.Message)
	case errors.As(err, &exit): // the agent died
		return fmt.Sprintf("the agent ended with status %d: %s", exit.Code, exit.Stderr)
	case errors.As(err, &closed): // the connection is over for another reason
		return fmt.Sprintf("no agent any more: %v", closed.Cause)
	}
	return err.Error() // the context, too large, malformed, ...
}

// An error says who has failed: the agent that answered, its process, the connection, or
// this side.
func ExampleClosedError() {
	for _, err := range []error{
		&acp.Error{Code: acp.ErrorCodeInvalidParams, Message: "there is no session s1"},
		&rpc.ClosedError{Cause: &launch.ExitError{Command: "my-agent --acp", Code: 1, Stderr: "no API key"}},
		&rpc.ClosedError{Cause: io.EOF},
		context.DeadlineExceeded,
	} {
		fmt.Println(explain(err))
	}
	// Output:
	// the agent refused: there is no session s1
	// the agent ended with status 1: no API key
	// no agent any more: EOF
	// context deadline exceeded
}
