package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// questions measures the permission questions of a client, asked by another
// process. If pinned is set, both processes share a processor. Otherwise the time
// is mostly that of a processor to wake up, which differs from turn to turn.
func questions(who string, pinned bool) (p50, p99 time.Duration, err error) {
	cmd, err := role("asker", who)
	if err != nil {
		return 0, 0, err
	}
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	run := cmd.Run
	if pinned {
		run = func() error { return onOneProcessor(cmd) }
	}
	if err := run(); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, told.Bytes())
	}
	_, err = fmt.Sscan(out.String(), &p50, &p99)
	return p50, p99, err
}

// ask is the process that asks.
func ask(who string) {
	p50, p99, err := askAll(who)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(int64(p50), int64(p99))
}

func askAll(who string) (p50, p99 time.Duration, err error) {
	c, err := startChild(who, "ask")
	if err != nil {
		return 0, 0, err
	}
	times := make([]time.Duration, 0, Questions)
	for i := range Questions + 500 {
		line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","title":"Edit"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`+"\n", i)
		began := time.Now()
		if _, err := c.in.Write(line); err != nil {
			return 0, 0, err
		}
		answer, err := c.out.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		if i >= 500 {
			times = append(times, time.Since(began))
		}
		if who != "echo" && !bytes.Contains(answer, []byte(`"optionId":"yes"`)) {
			return 0, 0, fmt.Errorf("answered %s", answer)
		}
	}
	slices.Sort(times)
	_, _, err = c.end()
	return times[len(times)/2], times[len(times)*99/100], err
}

// loop is a client that only answers permission questions: what is left without
// the engine.
func loop() {
	t := transport.Stdio()
	var line, answer []byte
	for {
		var err error
		if line, err = t.Read(line[:0]); err != nil {
			return
		}
		message := acp.Extra(line)
		id, _ := message.Get("id")
		params, _ := message.Get("params")
		var r acp.RequestPermissionRequest
		if err := r.UnmarshalJSON(params); err != nil {
			panic(err)
		}
		result, err := hermesPlayer{}.RequestPermission(context.Background(), &r)
		answer = append(answer[:0], `{"jsonrpc":"2.0","id":`...)
		answer = append(answer, id...)
		answer = append(answer, `,"result":`...)
		answer = append(result.AppendJSON(answer), '}')
		if err := errors.Join(err, t.Write(answer)); err != nil {
			panic(err)
		}
	}
}
