package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/gobuild"
)

const (
	exactSchema = `{"type":"object","properties":{"z":{"type":"integer","default":9007199254740993},"a":{"enum":[1.10,"<"]}}}`
	exactResult = `{"z":1915883588174806058,"n":123456789012345678901234567890,"d":0.10,"e":1E400,"a":"<b>"}`
)

// exactAnswers are the results of a server that writes what Go's numbers cannot hold.
var exactAnswers = map[string]string{
	"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`,
	"tools/list": `{"tools":[{"name":"get","description":"d","inputSchema":` + exactSchema + `}]}`,
	"tools/call": `{"content":[],"structuredContent":` + exactResult + `}`,
}

func TestNumbersAndMembersStayAsTheServerWroteThem(t *testing.T) {
	t.Parallel()
	// answers serves over HTTP, with the body that write makes of a message.
	answers := func(kind string, write func(message string) string) acp.MCPServer {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var request struct {
				ID     json.RawMessage
				Method string
			}
			if r.Method != http.MethodPost {
				w.WriteHeader(http.StatusMethodNotAllowed)
			} else if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
				t.Error(err)
			} else if result := exactAnswers[request.Method]; request.ID == nil {
				w.WriteHeader(http.StatusAccepted)
			} else {
				message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result)
				if result == "" {
					message = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, request.ID)
				}
				w.Header().Set("Content-Type", kind)
				io.WriteString(w, write(message))
			}
		}))
		t.Cleanup(server.Close)
		return &acp.MCPServerHTTP{Name: "s", URL: server.URL}
	}
	program := t.TempDir() + "/server"
	text := "#!/bin/sh\nwhile read -r line; do\n\tid=$(printf %s \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n\tcase $line in\n"
	for method, result := range exactAnswers {
		text += "\t*'\"" + method + "\"'*) printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\\n' \"$id\" '" + result + "' ;;\n"
	}
	text += "\t*'\"id\":'*) printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"no\"}}\\n' \"$id\" ;;\n\tesac\ndone\n"
	if err := gobuild.Write(program, text); err != nil {
		t.Fatal(err)
	}
	event := func(message string) string { return ": hello\n\nevent: message\ndata: " + message + "\n\n" }
	for name, server := range map[string]acp.MCPServer{
		"a program": &acp.MCPServerStdio{Name: "s", Command: program},
		"HTTP":      answers("application/json", func(m string) string { return m }),
		"HTTP, indented": answers("application/json; charset=utf-8", func(m string) string {
			return strings.Replace(m, `"result":`, "\n\t\"result\": \n", 1)
		}),
		"events": answers("text/event-stream", event),
		"events of several lines": answers("text/event-stream", func(m string) string {
			return event(strings.Replace(m, `"result":`, "\ndata: \"result\":\ndata:", 1))
		}),
		"events with the line breaks of Windows": answers("text/event-stream", func(m string) string {
			return strings.ReplaceAll(event(m), "\n", "\r\n")
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var servers Servers
			tools, err := servers.Connect(t.Context(), t.TempDir(), []Server{{MCPServer: server}})
			if err != nil || len(tools) != 1 {
				t.Fatalf("%d tools, %v", len(tools), err)
			}
			defer servers.Close()
			if got := string(tools[0].Schema); got != exactSchema {
				t.Errorf("the schema is\n%s\nand not\n%s", got, exactSchema)
			}
			if got, err := use(t.Context(), tools[0]); err != nil || got != exactResult {
				t.Errorf("the result is\n%s, %v\nand not\n%s", got, err, exactResult)
			}
		})
	}
}

func TestOnlyTheExtensionDataOfAResultChanges(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{
		`{}`:                        `{}`,
		`null`:                      `null`,
		`{"structuredContent":`:     `{"structuredContent":`,
		`["structuredContent"]`:     `["structuredContent"]`,
		`{"inputSchema":{}}`:        `{"inputSchema":{}}`,
		`{"tools":"inputSchema"}`:   `{"tools":"inputSchema"}`,
		`{"structuredContent":1e3}`: `{"_meta":{"hermes.exact":"1e3"}}`,
		`{"structuredContent":{"a": 1},"_meta":{"x":1,"hermes.exact":"2"},"isError":true}`: `{"_meta":{"hermes.exact":"{\"a\":1}","x":1},"isError":true}`,
		`{"structuredContent":[],"_meta":null}`:                                            `{"_meta":{"hermes.exact":"[]"}}`,
		`{"tools":[{"inputSchema":{"b":1,"a":2}},null,{"name":"x"}],"nextCursor":"2"}`:     `{"nextCursor":"2","tools":[{"_meta":{"hermes.exact":"{\"b\":1,\"a\":2}"},"inputSchema":{"b":1,"a":2}},null,{"name":"x"}]}`,
	} {
		if got := string(withExact([]byte(result))); got != want {
			t.Errorf("%s became\n%s\nand not\n%s", result, got, want)
		}
	}
}

// A stream is the same events, whatever it is made of.
func FuzzEventsStayEvents(f *testing.F) {
	f.Add([]byte("data: {\"result\":{\"structuredContent\":1.0}}\n\nid: 1\ndata: x\ndata: y\n\n"))
	f.Add([]byte("data: \r\n\r\ndata:\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		var out bytes.Buffer
		if err := exactEvents(&out, bufio.NewReader(bytes.NewReader(stream))); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(stream, []byte("structuredContent")) && !bytes.Contains(stream, []byte("inputSchema")) && !bytes.Equal(out.Bytes(), stream) {
			t.Errorf("%q became %q", stream, out.Bytes())
		}
	})
}
