package neovim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// roleEnv makes this program the agent that both clients start.
const roleEnv = "HERMES_BENCH_AGENT"

// Role plays the agent if a client has started this program for that, and
// reports whether it did.
func Role() bool {
	if os.Getenv(roleEnv) == "" {
		return false
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// request is what a client sends.
type request struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Prompt []struct{ Text string }
	}
}

// serve answers requests until in ends. It writes prepared lines as fast as the
// client takes them, so the agent is never the bottleneck.
func serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		var r request
		if err == nil {
			err = json.Unmarshal(line, &r)
		}
		result := `{}`
		if err == nil {
			switch r.Method {
			case "initialize":
				result = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`
			case "session/new":
				result = `{"sessionId":"` + sessionID + `"}`
			case "session/load":
				_, err = out.Write(history(historyBytes))
			case "session/prompt":
				result = `{"stopReason":"end_turn"}`
				err = play(out, r.Params.Prompt[0].Text)
			}
		}
		if err == nil && len(r.ID) > 0 {
			_, err = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
		}
		if err != nil {
			return fmt.Errorf("agent: %w", err)
		}
	}
}

const (
	sessionID    = "sess_01JABCDEF0123456789"
	historyBytes = 10 << 20
)

// play runs a script of one line: "flood N SIZE" writes N messages with SIZE
// bytes of text at once, "trickle N PAUSE" writes N short ones, a pause before
// each, whose text begins with the time in microseconds.
func play(out io.Writer, script string) error {
	var n, size int
	var word, pause string
	if _, err := fmt.Sscanf(script, "flood %d %d", &n, &size); err == nil {
		_, err := out.Write(bytes.Repeat(chunk("agent_message_chunk", prose(size)), n))
		return err
	}
	if _, err := fmt.Sscanf(script, "trickle %d %s", &n, &pause); err != nil {
		return fmt.Errorf("script %q %s: %w", script, word, err)
	}
	every, err := time.ParseDuration(pause)
	next := time.Now()
	for ; err == nil && n > 0; n-- {
		next = next.Add(every)
		time.Sleep(time.Until(next))
		_, err = out.Write(chunk("agent_message_chunk", fmt.Sprintf("%d %s", time.Now().UnixMicro(), prose(60))))
	}
	return err
}

func chunk(kind, text string) []byte {
	return update(`"sessionUpdate":"` + kind + `","content":{"type":"text","text":"` + text + `"}`)
}

func update(members string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + sessionID + `","update":{` + members + "}}}\n")
}

// prose is text of n bytes with some characters that JSON escapes.
func prose(n int) string {
	const line = `The test in \"internal/rpc\" waits for the reply; it looks at the lock first. `
	return strings.TrimRight(strings.Repeat(line, n/len(line)+1)[:n], `\`)
}

// history is a session of about n bytes: questions, thoughts, answers, and tool
// calls with their output and a diff.
func history(n int) []byte {
	var b bytes.Buffer
	for call := 0; b.Len() < n; call++ {
		b.Write(chunk("user_message_chunk", prose(200)))
		b.Write(chunk("agent_thought_chunk", prose(1000)))
		b.Write(update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":"call_%d","title":"Edit conn.go","kind":"edit","status":"pending","rawInput":{"path":"/workspace/conn.go"},"locations":[{"path":"/workspace/conn.go","line":%d}]`, call, call+1)))
		b.Write(update(fmt.Sprintf(`"sessionUpdate":"tool_call_update","toolCallId":"call_%d","status":"completed","rawOutput":{"exitCode":0},"content":[{"type":"content","content":{"type":"text","text":"%s"}},{"type":"diff","path":"/workspace/conn.go","oldText":"%s","newText":"%s"}]`, call, prose(3000), prose(1500), prose(1500))))
		for range 4 {
			b.Write(chunk("agent_message_chunk", prose(500)))
		}
	}
	return b.Bytes()
}
