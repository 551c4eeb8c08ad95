package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// C168, C169 of the conformance list.
func TestTheFarSideAnswersThroughTheRecorder(t *testing.T) {
	t.Parallel()
	input := strings.Join([]string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"_meta":{"kept":[1.50]},"unknown":{"a":1}}}`,
		`{"jsonrpc":"2.0","id":"\u0061","method":"_nothing/like/that","params":{"x":1.0}}`,
		`{"jsonrpc":"2.0","method":"_nor/that"}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"session/prompt","params":{}}`,
		`{"jsonrpc":"2.0","id":5,"result":{"nobody":"asked"}}`,
		`no JSON`, ``}, "\n")
	var said [2]string
	for i, args := range [][]string{{"demo-agent"}, {"record", "--out", "r.jsonl", "--", self(t), "demo-agent"}} {
		cmd := hermes(t, t.TempDir(), args...)
		in, out := begin(t, cmd)
		for line := range strings.Lines(input) { // one at a time, so that the answers keep their order
			io.WriteString(in, line)
			if strings.Contains(line, `"id"`) && !strings.Contains(line, `"result"`) || strings.HasPrefix(line, "no ") {
				said[i] += answer(t, out)
			}
		}
		in.Close()
		rest, _ := io.ReadAll(out)
		said[i] += string(rest)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if said[0] != said[1] {
		t.Errorf("the agent says\n%s\nthrough the recorder\n%s", said[0], said[1])
	}
	if !strings.Contains(said[1], `"id":"\u0061","error":{"code":-32601`) && !strings.Contains(said[1], `"id":"a","error":{"code":-32601`) {
		t.Errorf("no answer to an unknown method: %s", said[1])
	}
}

// answer reads a line.
func answer(t *testing.T, r io.Reader) string {
	t.Helper()
	got := make(chan string, 1)
	go func() {
		var line []byte
		b := make([]byte, 1)
		for {
			if _, err := r.Read(b); err != nil || b[0] == '\n' {
				got <- string(line) + "\n"
				return
			}
			line = append(line, b[0])
		}
	}()
	select {
	case line := <-got:
		return line
	case <-time.After(patience.Soon):
		t.Fatal("no answer")
		return ""
	}
}

// C170 of the conformance list.
func TestTheEndOfEitherSideEndsTheRecorder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		agent  string
		closes bool // the client closes, otherwise the agent ends
		status int
		says   string
	}{
		"the agent ends":    {agent: "echo last; exit 7", status: 7, says: "last\n"},
		"the client closes": {agent: "cat; echo end of input; exit 3", closes: true, status: 3, says: "end of input\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := hermes(t, t.TempDir(), "record", "--out", "r.jsonl", "--", "sh", "-c", test.agent)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			var out strings.Builder
			cmd.Stdout = &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if test.closes {
				in.Close()
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case <-ended:
			case <-time.After(patience.Soon):
				t.Fatal("still running")
			}
			if cmd.ProcessState.ExitCode() != test.status || out.String() != test.says {
				t.Errorf("%v, %q", cmd.ProcessState, out.String())
			}
		})
	}
}
