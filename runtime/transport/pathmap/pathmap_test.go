package pathmap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func mustParse(t *testing.T, rules ...string) []Rule {
	t.Helper()
	var all []Rule
	for _, s := range rules {
		r, err := Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "/a", "/a=", "=/b", "a=/b", "/a=b", "C:a=/b"} {
		if _, err := Parse(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
	if r := mustParse(t, `/home/me/=/w/`)[0]; r != (Rule{"/home/me", "/w"}) {
		t.Error(r)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	rules := mustParse(t, "/home/me/project=/workspace", "/home/me/project/vendor=/deps", "/=/host", `C:\code=/c`)
	for local, remote := range map[string]string{
		"/home/me/project":               "/workspace",
		"/home/me/project/a b.go":        "/workspace/a b.go",
		"/home/me/project/../secret":     "/workspace/../secret",
		"/home/me/project/vendor/x/y.go": "/deps/x/y.go",
		"/home/me/project-2/a":           "/host/home/me/project-2/a",
		"/etc/passwd":                    "/host/etc/passwd",
		`C:\code\a\b.go`:                 "/c/a/b.go",
		`D:\x`:                           `D:\x`,
		"relative/a":                     "relative/a",
		"":                               "",
	} {
		c := New(rules...)
		p := local
		c.out.path(&p)
		if p != remote {
			t.Errorf("%q out: %q, want %q", local, p, remote)
		}
		if c.in.path(&p); p != local {
			t.Errorf("%q and back: %q", local, p)
		}
	}
}

func TestFileURIs(t *testing.T) {
	t.Parallel()
	c := New(mustParse(t, "/home/me/project=/workspace", `C:\code=/c`)...)
	for local, remote := range map[string]string{
		"file:///home/me/project/a%20b%23c.go": "file:///workspace/a%20b%23c.go",
		"file:///home/me/project":              "file:///workspace",
		"file:///home/me/projects/a":           "file:///home/me/projects/a",
		"file:///C:/code/a.go":                 "file:///c/a.go",
		"https://x/home/me/project":            "https://x/home/me/project",
		"file://server/home/me/project/a":      "file://server/home/me/project/a",
		"not a uri \x7f":                       "not a uri \x7f",
	} {
		u := local
		c.out.uri(&u)
		if u != remote {
			t.Errorf("%q out: %q, want %q", local, u, remote)
		}
		if c.in.uri(&u); u != local {
			t.Errorf("%q and back: %q", local, u)
		}
	}
}

func same(t *testing.T, got []byte, want string) {
	t.Helper()
	var a, b any
	if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMessagesToTheAgent(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/l/a","additionalDirectories":["/l/b","/x"],"mcpServers":[],"own":1}}`: `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/r/a","additionalDirectories":["/r/b","/x"],"mcpServers":[],"own":1}}`,
		`{"jsonrpc":"2.0","id":"q","method":"session/load","params":{"sessionId":"s","cwd":"/l","mcpServers":[]}}`:                              `{"jsonrpc":"2.0","id":"q","method":"session/load","params":{"sessionId":"s","cwd":"/r","mcpServers":[]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"s","cwd":"/l/c"}}`:                                            `{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"s","cwd":"/r/c"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cwd":"/l/c"}}`:                                                              `{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cwd":"/r/c"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"see /l/a"},{"type":"resource_link","name":"a","uri":"file:///l/a"},{"type":"resource","resource":{"uri":"file:///l/b","text":"t"}},{"type":"image","data":"","mimeType":"image/png","uri":"file:///l/c"}]}}`: `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"see /l/a"},{"type":"resource_link","name":"a","uri":"file:///r/a"},{"type":"resource","resource":{"uri":"file:///r/b","text":"t"}},{"type":"image","data":"","mimeType":"image/png","uri":"file:///r/c"}]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"s","cwd":"/l/c","mcpServers":[{"type":"stdio","name":"n","command":"/l/bin/mcp","args":["/l/x"]}],"replayFrom":{"type":"start"}}}`:                                                                                                               `{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"s","cwd":"/r/c","mcpServers":[{"type":"stdio","name":"n","command":"/r/bin/mcp","args":["/l/x"]}],"replayFrom":{"type":"start"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"_own","params":{"cwd":"/l/a"}}`: `{"jsonrpc":"2.0","id":1,"method":"_own","params":{"cwd":"/l/a"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"path":"/l/a"}}`:                `{"jsonrpc":"2.0","id":1,"result":{"path":"/l/a"}}`,
	} {
		near, far := transport.Pair()
		c := Wrap(near, mustParse(t, "/l=/r")...)
		if err := c.Write([]byte(msg)); err != nil {
			t.Fatal(err)
		}
		got, err := far.Read(nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	}
}

func TestMessagesToTheClient(t *testing.T) {
	t.Parallel()
	const call = `"locations":[{"path":"/FOLDER/a","line":3}],"rawInput":{"path":"/r/raw"},"content":[{"type":"diff","path":"/FOLDER/a","oldText":"/r/old","newText":""},{"type":"content","content":{"type":"resource_link","name":"x","uri":"file:///FOLDER/x"}}]`
	const call2 = `"locations":[{"path":"/FOLDER/a"}],"rawInput":{"path":"/r/raw"},"content":[{"type":"diff","changes":[{"operation":"add","path":"/FOLDER/a"},{"operation":"copy","oldPath":"/FOLDER/a","path":"/FOLDER/b"}],"patch":{"format":"git","text":"--- /r/a"}},{"type":"content","content":{"type":"resource","resource":{"uri":"file:///FOLDER/x","text":"/r/t"}}}]`
	at := func(folder, s string) string { return strings.ReplaceAll(s, "FOLDER", folder) }
	for _, msg := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/FOLDER/a","line":2}}`,
		`{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"s","path":"/FOLDER/a","content":"/r/text"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"s","command":"ls","args":["/r/arg"],"cwd":"/FOLDER"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","options":[],"toolCall":{"toolCallId":"c",` + call + `}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"/r/title",` + call + `}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c",` + call + `}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","content":{"type":"resource_link","name":"x","uri":"file:///FOLDER/x"}}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"compaction_update","compactionId":"k","status":"completed","summary":[{"type":"resource_link","name":"x","uri":"file:///FOLDER/x"}]}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"unknown","path":"/r/x"}}}`,
		// Version 2:
		`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","title":"/r/title","options":[],"subject":{"type":"tool_call","toolCall":{"toolCallId":"c",` + call2 + `}}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","title":"t","options":[],"subject":{"type":"command","command":"cat /r/x","cwd":"/FOLDER"}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c",` + call2 + `}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"diff","changes":[{"operation":"move","oldPath":"/FOLDER/a","path":"/FOLDER/b"}]}}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"terminal_update","terminalId":"t","command":"cat /r/x","cwd":"/FOLDER/d"}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"/r/x"},{"type":"resource_link","name":"x","uri":"file:///FOLDER/x"}]}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"terminal_update","terminalId":"t","cwd":null}}}`,
		`{"jsonrpc":"2.0","id":7,"result":{"sessions":[]}}`,
		`not a message /r/x`,
	} {
		near, far := transport.Pair()
		c := Wrap(near, mustParse(t, "/l=/r")...)
		far.Write([]byte(at("r", msg)))
		got, err := c.Read(nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := at("l", msg); string(got) != want {
			same(t, got, want)
		}
	}
}

func TestListedSessionsAreMapped(t *testing.T) {
	t.Parallel()
	near, far := transport.Pair()
	c := Wrap(near, mustParse(t, "/l=/r")...)
	c.Write([]byte(`{"jsonrpc":"2.0","id":4,"method":"session/list","params":{}}`))
	far.Write([]byte(`{"jsonrpc":"2.0","id":3,"result":{"sessions":[{"sessionId":"s","cwd":"/r/x"}]}}`))
	far.Write([]byte(`{"jsonrpc":"2.0","id":4,"result":{"sessions":[{"sessionId":"s","cwd":"/r/x","additionalDirectories":["/r/y"]}]}}`))
	got, _ := c.Read(nil)
	same(t, got, `{"jsonrpc":"2.0","id":3,"result":{"sessions":[{"sessionId":"s","cwd":"/r/x"}]}}`)
	got, _ = c.Read(nil)
	same(t, got, `{"jsonrpc":"2.0","id":4,"result":{"sessions":[{"sessionId":"s","cwd":"/l/x","additionalDirectories":["/l/y"]}]}}`)
}

func TestBatchesAreMapped(t *testing.T) {
	t.Parallel()
	batch := [][]byte{
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cwd":"/l"}}`), []byte(`{"jsonrpc":"2.0","id":2,"method":"session/list","params":{"cwd":"/x"}}`),
	}
	const want = `{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cwd":"/r"}}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"session/list","params":{"cwd":"/x"}}` + "\n"
	var sent strings.Builder
	stream := transport.NewStream(strings.NewReader(""), &sent)
	for name, under := range map[string]transport.Transport{"batches": stream, "one by one": struct{ transport.Transport }{stream}} {
		sent.Reset()
		if err := Wrap(under, mustParse(t, "/l=/r")...).(transport.BatchWriter).WriteBatch(batch); err != nil || sent.String() != want {
			t.Errorf("%s: %q, %v", name, sent.String(), err)
		}
	}
}

func TestTheRestOfAMessageStaysByteForByte(t *testing.T) {
	t.Parallel()
	near, far := transport.Pair()
	c := Wrap(near, mustParse(t, "/l=/r")...)
	const msg = ` { "id" : 1e0 ,"jsonrpc":"2.0", "params" : {"b\u0061ck":"\/", "c\u0077d" : "%s" , "additionalDirectories":[[ "\u002f%s" , 1.0,null ,{"cwd":"/l"}]],"cwd" : null,"_meta":{"cwd":"/l"}},"own":[ ] ,"method":"session\/new" } `
	c.Write([]byte(fmt.Sprintf(msg, `\/l\/\u00e4\n`, "l")))
	if got, _ := far.Read(nil); string(got) != strings.Replace(fmt.Sprintf(msg, `/r/ä\n`, "l"), `"\u002fl"`, `"/r"`, 1) {
		t.Errorf("%s", got)
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/l/a","additionalDirectories":["/l/b"]}}`))
	f.Add([]byte(`{"method":"session/update","params":{"update":{"content":[{"content":{"uri":"file:///l/a"},"path":"/l/b","changes":[{"path":"\/l"}]}]}}}`))
	there, _ := Parse("/l=/r")
	c := New(there)
	f.Fuzz(func(t *testing.T, msg []byte) {
		if !json.Valid(msg) || !bytes.HasPrefix(bytes.TrimLeft(msg, " \t\r\n"), []byte("{")) {
			return
		}
		for _, table := range []map[string]object{toAgent, toClient} {
			for _, at := range table {
				if out := c.out.rewrite(msg, "params", at); !json.Valid(out) {
					t.Fatalf("%q became %q", msg, out)
				}
				if out := (mapping{{"/nowhere", "/x"}}).rewrite(msg, "params", at); !bytes.Contains(msg, []byte("nowhere")) && !bytes.Equal(out, msg) {
					t.Fatalf("%q became %q", msg, out)
				}
			}
		}
	})
}

func TestAMappedTransportReportsItsProgress(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	c := Wrap(transport.NewStream(r, io.Discard), mustParse(t, "/a=/b")...)
	p := c.(transport.Progress)
	before, inside := p.Received()
	if inside {
		t.Error("inside a message before there is any")
	}
	sent := p.Sent()
	if err := c.Write([]byte("{}")); err != nil || p.Sent() == sent {
		t.Error("what was sent does not count:", err)
	}
	ended := make(chan struct{})
	go func() {
		c.Read(nil)
		close(ended)
	}()
	w.Write([]byte(`{"jsonrpc":`))
	for end := time.Now().Add(patience.Soon); ; time.Sleep(time.Millisecond) {
		if after, inside := p.Received(); inside && after != before {
			break
		} else if time.Now().After(end) {
			t.Fatal(after, inside)
		}
	}
	w.Write([]byte("1}\n"))
	<-ended
	c.Close()
}
