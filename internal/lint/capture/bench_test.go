package capture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// traffic are the kinds of recordings that are measured: one long session with the
// contents of files, one of ordinary talk, whose messages have 445 bytes on average, one of
// small chunks, and many short connections, as a test has them. Each function writes a
// recording of a size and returns what it has written.
var traffic = map[string]func(to io.Writer, size int) (int, error){"files": session, "chat": chat, "small": small, "short": short}

// small writes a recording of one long session in which the agent says a few words at a time.
func small(to io.Writer, size int) (written int, err error) {
	w := bufio.NewWriterSize(to, 1<<20)
	t := 0
	record := func(dir, format string, args ...any) {
		t += 5
		n, _ := fmt.Fprintf(w, `{"dir":"%s","t":%d,"msg":{"jsonrpc":"2.0",`, dir, t)
		m, _ := fmt.Fprintf(w, format+"}}\n", args...)
		written += n + m
	}
	const session = "0199f3a2-7c1e-7d53-9a40-5f6e8b1c2d3e"
	open(func(from, format string, args ...any) {
		record(map[string]string{"client": "c2a", "agent": "a2c"}[from], format, args...)
	}, session)
	words := strings.Fields("So the reader stops at the first empty line, and parse never sees the rest of the block.")
	for id := 2; written < size; id++ {
		record("c2a", `"id":%d,"method":"session/prompt","params":{"sessionId":"`+session+`","prompt":[{"type":"text","text":"go on"}]}`, id)
		for n := range 500 {
			record("a2c", `"method":"session/update","params":{"sessionId":"`+session+`","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":" %s"}}}`, words[n%len(words)])
		}
		record("a2c", `"id":%d,"result":{"stopReason":"end_turn"}`, id)
	}
	return written, w.Flush()
}

// short writes a recording of many connections of one turn each.
func short(to io.Writer, size int) (written int, err error) {
	w := bufio.NewWriterSize(to, 1<<20)
	seq := 0
	line := func(format string, args ...any) {
		seq++
		n, _ := fmt.Fprintf(w, `{"seq":%d,"time":"2026-11-21T%02d:%02d:%02d.%09dZ",`, seq, seq/3600_000%24, seq/60_000%60, seq/1000%60, seq%1000*1_000_000)
		m, _ := fmt.Fprintf(w, format+"}\n", args...)
		written += n + m
	}
	record := func(from, format string, args ...any) {
		to := map[string]string{"client": "client->agent", "agent": "agent->client"}[from]
		line(`"direction":"`+to+`","message":{"jsonrpc":"2.0",`+format+`}`, args...)
	}
	for written < size {
		line(`"direction":"meta","meta":{"format":1,"program":"hermes"}`)
		open(record, "s1")
		record("client", `"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"go on"}]}`)
		for n := range 10 {
			record("agent", `"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word %d"}}}`, n)
		}
		record("agent", `"id":2,"result":{"stopReason":"end_turn"}`)
	}
	return written, w.Flush()
}

// open records the begin of a connection with a session.
func open(record func(from, format string, args ...any), session string) {
	record("client", `"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"terminal":true},"clientInfo":{"name":"e","version":"1"}}`)
	record("agent", `"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"a","version":"1"}}`)
	record("client", `"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}`)
	record("agent", `"id":1,"result":{"sessionId":"`+session+`"}`)
}

// chat writes a recording of one long session in which the agent thinks, talks and works.
func chat(to io.Writer, size int) (written int, err error) {
	w := bufio.NewWriterSize(to, 1<<20)
	t := 0
	record := func(dir, format string, args ...any) {
		t += 40
		n, _ := fmt.Fprintf(w, `{"dir":"%s","t":%d,"msg":{"jsonrpc":"2.0",`, dir, t)
		m, _ := fmt.Fprintf(w, format+"}}\n", args...)
		written += n + m
	}
	const toAgent, toClient, session = "c2a", "a2c", "0199f3a2-7c1e-7d53-9a40-5f6e8b1c2d3e"
	update := func(format string, args ...any) {
		record(toClient, `"method":"session/update","params":{"sessionId":"`+session+`","update":{`+format+`}}`, args...)
	}
	record(toAgent, `"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"terminal":true},"clientInfo":{"name":"e","version":"1"}}`)
	record(toClient, `"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"a","version":"1"}}`)
	record(toAgent, `"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}`)
	record(toClient, `"id":1,"result":{"sessionId":"`+session+`"}`)
	text := strings.Repeat(`So the reader stops at the first empty line, and \"parse\" never sees the rest of the block.\n`, 20)
	for id := 2; written < size; id++ {
		record(toAgent, `"id":%d,"method":"session/prompt","params":{"sessionId":"`+session+`","prompt":[{"type":"text","text":"%s"}]}`, id, text[:475])
		for k := range 10 {
			for n := range 6 {
				update(`"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"%s"}`, text[:95*(1+n%3)])
			}
			for n := range 8 {
				update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}`, text[:95*(1+n%4)])
			}
			update(`"sessionUpdate":"tool_call","toolCallId":"call_%d_%d","title":"Read src/parse.go","kind":"read","status":"pending","rawInput":{"path":"/repo/src/parse.go","offset":10,"limit":200},"locations":[{"path":"/repo/src/parse.go","line":10}]`, id, k)
			update(`"sessionUpdate":"tool_call_update","toolCallId":"call_%d_%d","status":"in_progress"`, id, k)
			update(`"sessionUpdate":"tool_call_update","toolCallId":"call_%d_%d","status":"completed","content":[{"type":"content","content":{"type":"text","text":"%s"}}]`, id, k, text[:1235])
			update(`"sessionUpdate":"plan","entries":[{"content":"Find the loop","priority":"high","status":"completed"},{"content":"Write a test","priority":"medium","status":"in_progress"},{"content":"Mend it","priority":"medium","status":"pending"}]`)
		}
		record(toClient, `"id":%d,"result":{"stopReason":"end_turn"}`, id)
	}
	return written, w.Flush()
}

// session writes a recording of one long session: a little of everything, most of it
// small.
func session(to io.Writer, size int) (written int, err error) {
	w := bufio.NewWriterSize(to, 1<<20)
	seq := 0
	record := func(from, format string, args ...any) {
		seq++
		n, _ := fmt.Fprintf(w, `{"seq":%d,"time":"2026-11-21T05:%02d:%02d.%09dZ","direction":"%s","transport":"stdio","message":{"jsonrpc":"2.0",`, seq, seq/60_000%60, seq/1000%60, seq%1000*1_000_000, from)
		m, _ := fmt.Fprintf(w, format+"}}\n", args...)
		written += n + m
	}
	const toAgent, toClient = "client->agent", "agent->client"
	update := func(format string, args ...any) {
		record(toClient, `"method":"session/update","params":{"sessionId":"s1","update":{`+format+`}}`, args...)
	}
	record(toAgent, `"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"terminal":true},"clientInfo":{"name":"e","version":"1"}}`)
	record(toClient, `"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"a","version":"1"}}`)
	record(toAgent, `"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}`)
	record(toClient, `"id":1,"result":{"sessionId":"s1"}`)
	text := strings.Repeat(`the quick brown fox says \"hi\"\n`, 70)
	for id := 2; written < size; id++ {
		record(toAgent, `"id":%d,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"%s"}]}`, id, text[:330])
		for k := range 20 {
			for n := range 12 {
				update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}`, text[:33*(1+n%3)])
			}
			update(`"sessionUpdate":"tool_call","toolCallId":"c%d_%d","title":"Read a.go","kind":"read","status":"pending","rawInput":{"path":"/repo/a.go"},"locations":[{"path":"/repo/a.go","line":10}]`, id, k)
			record(toClient, `"id":"r%d_%d","method":"fs/read_text_file","params":{"sessionId":"s1","path":"/repo/a.go"}`, id, k)
			record(toAgent, `"id":"r%d_%d","result":{"content":"%s"}`, id, k, text)
			update(`"sessionUpdate":"tool_call_update","toolCallId":"c%d_%d","status":"completed","content":[{"type":"diff","path":"/repo/a.go","oldText":"%s","newText":"%s"}]`, id, k, text, text)
		}
		record(toClient, `"id":%d,"result":{"stopReason":"end_turn"}`, id)
	}
	return written, w.Flush()
}

func BenchmarkLint(b *testing.B) {
	for kind, write := range traffic {
		b.Run(kind, func(b *testing.B) { benchmarkLint(b, write) })
	}
}

func benchmarkLint(b *testing.B, write func(io.Writer, int) (int, error)) {
	var file bytes.Buffer
	if _, err := write(&file, 16<<20); err != nil {
		b.Fatal(err)
	}
	text := file.Bytes()
	for _, profile := range []lint.Profile{lint.Spec, lint.Recommended, lint.Strict} {
		b.Run(string(profile), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r, err := NewReader("capture", bytes.NewReader(text))
				if err != nil {
					b.Fatal(err)
				}
				l := lint.New(lint.Options{Profile: profile})
				if err := Each(context.Background(), r, l.Add); err != nil {
					b.Fatal(err)
				}
				if r := l.Report(); r.Errors+r.Warnings+r.Infos > 0 || r.Messages < 1000 {
					b.Fatalf("%d messages, %+v", r.Messages, r)
				}
			}
		})
	}
	// The cost of the same bytes in the standard library.
	b.Run("json.Valid", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			for line := range bytes.Lines(text) {
				if !json.Valid(line) {
					b.Fatal("not JSON")
				}
			}
		}
	})
}
