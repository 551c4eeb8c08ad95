package agents

import (
	"errors"
	"io"
	"strings"
	"unicode"

	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// cause is why the agent is gone if err says that, otherwise err.
func cause(err error) error {
	var restarts *launch.RestartError
	var gaveUp *redial.GaveUpError
	var closed *rpc.ClosedError
	switch {
	case errors.As(err, &restarts):
		return restarts
	case errors.As(err, &gaveUp):
		return gaveUp
	case !errors.As(err, &closed) || errors.Is(err, rpc.ErrClosed):
		return err
	case errors.Is(err, io.EOF):
		return &rpc.ClosedError{Cause: io.EOF}
	}
	return cause(closed.Cause) // the error of a client holds the error of its connection
}

// stderr returns the end of the agent's standard error; proc may be nil.
func stderr(proc *launch.Process) string {
	if proc == nil {
		return ""
	}
	return strings.TrimSpace(proc.Stderr())
}

// hint is the last line of the agent's output that is not blank, nil if there
// is none.
func hint(proc *launch.Process) error {
	if proc == nil || proc.Said() == "" {
		return nil
	}
	return errors.New(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\ufffd'
		}
		return r
	}, proc.Said()))
}

// disconnected is the data of the event; proc may be nil.
func disconnected(agent string, err error, proc *launch.Process) *wire.Object {
	o := new(wire.Object).Str("agent", agent).Str("reason", err.Error())
	if exit := (*launch.ExitError)(nil); errors.As(err, &exit) {
		if exit.Signal != "" {
			o.Str("signal", exit.Signal)
		} else {
			o.Num("code", int64(exit.Code))
		}
	}
	tail := stderr(proc)
	if tail == "" {
		return o.Strs("stderr_tail", nil)
	}
	return o.Strs("stderr_tail", strings.Split(tail, "\n"))
}
