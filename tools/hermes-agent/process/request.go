package process

import (
	"context"
	"fmt"
	"time"
)

// The bounds of a Request.
const (
	defaultLines = 200
	defaultWait  = time.Minute
	maxWait      = 10 * time.Minute
)

// Request is what the model asks of the process tool.
type Request struct {
	Action  string  // start, list, poll, log, wait, kill, write, submit
	Command Command // to start
	ID      string
	Data    string // to write or to submit
	Offset  *int   // of log: the first line, from the end if negative; nil: the last lines
	Limit   int    // of log: lines
	Timeout int    // of wait: seconds
}

// Do answers a Request with something to be encoded as JSON.
func (r *Registry) Do(ctx context.Context, q Request) (any, error) {
	switch q.Action {
	case "start":
		return r.Start(ctx, q.Command)
	case "list":
		return r.List(), nil
	case "poll":
		return r.Poll(q.ID)
	case "log":
		limit := q.Limit
		if limit <= 0 {
			limit = defaultLines
		}
		from := -limit
		if q.Offset != nil {
			from = *q.Offset
		}
		return r.Log(q.ID, from, limit)
	case "wait":
		timeout := time.Duration(q.Timeout) * time.Second
		if timeout <= 0 {
			timeout = defaultWait
		}
		waiting, cancel := context.WithTimeout(ctx, min(timeout, maxWait))
		defer cancel()
		return r.Wait(waiting, q.ID)
	case "kill":
		return r.Kill(q.ID)
	case "write", "submit":
		if q.Action == "submit" {
			q.Data += "\n"
		}
		if err := r.Write(ctx, q.ID, q.Data, q.Command.Approve); err != nil {
			return nil, err
		}
		return map[string]int{"bytes": len(q.Data)}, nil
	}
	return nil, fmt.Errorf("there is no action %q; the actions are start, list, poll, log, wait, kill, write, submit", q.Action)
}
