package browser

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// markup are texts that leave a mark, make a request or open something if a page takes
// them for markup, a script, a style or an address.
var markup = []string{
	`<script>marked=1</script>`,
	`</script><script>marked=1</script>`,
	`--></script><script>marked=1</script>`,
	`<!--<script>`,
	`]]></script><svg onload=marked=1>`,
	`<img src=x onerror=marked=1>`,
	`"><img src=x onerror="marked=1">`,
	`' onmouseover='marked=1`,
	`<svg/onload=marked=1>`,
	`<iframe srcdoc="<script>parent.marked=1</script>"></iframe>`,
	`<object data="data:text/html,<script>opener.marked=1</script>"></object>`,
	`<link rel=stylesheet href=//127.0.0.1:9/x.css>`,
	`<style>@import '//127.0.0.1:9/x.css';</style>`,
	`</style><script>marked=1</script>`,
	`<meta http-equiv=refresh content="0;url=//127.0.0.1:9/">`,
	`<base href=//127.0.0.1:9/>`,
	`<form action=//127.0.0.1:9/><input autofocus onfocus=marked=1>`,
	`<details open ontoggle=marked=1>`,
	`<a href=javascript:marked=1>x</a>`,
	`javascript:marked=1`,
	`data:text/html,<script>marked=1</script>`,
	`url(//127.0.0.1:9/x)`,
	`;background:url(//127.0.0.1:9/x)`,
	`{{constructor.constructor('marked=1')()}}`,
	"${marked=1}",
	"`;marked=1;`",
	`";marked=1;"`,
	`\";marked=1;//`,
	`\u003c/script>\u003cscript>marked=1\u003c/script>`,
	"\u2028marked=1\u2029",
	"*/marked=1/*",
	`__proto__`,
	`constructor`,
	`toString`,
	`hasOwnProperty`,
	"\u202emarked=1",
	"\x00<script>marked=1</script>",
	strings.Repeat("W", 3000),
}

// typed are the texts that must not act in Neovim, from test/injection.
func typed(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../injection/vectors_test.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, text)
		}
		return true
	})
	if len(list) < 50 {
		t.Fatalf("only %d texts in test/injection", len(list))
	}
	return list
}

// attack writes a capture in which both sides say the texts wherever a side can.
func attack(t *testing.T, name string, texts []string) (messages int) {
	t.Helper()
	var b strings.Builder
	line := func(v map[string]any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
		messages++
	}
	type m = map[string]any
	say := func(dir string, msg m) {
		msg["jsonrpc"] = "2.0"
		line(m{"dir": dir, "t": messages, "msg": msg})
	}
	say("c2a", m{"id": 0, "method": "initialize", "params": m{"protocolVersion": 1, "clientInfo": m{"name": texts[0], "version": "1"}}})
	say("a2c", m{"id": 0, "result": m{"protocolVersion": 1, "agentInfo": m{"name": texts[0], "version": "1"}}})
	for i, x := range texts {
		say("c2a", m{"id": fmt.Sprint("new", i, x), "method": "session/new", "params": m{"cwd": x, "mcpServers": []any{}, x: x}})
		say("a2c", m{"id": fmt.Sprint("new", i, x), "result": m{"sessionId": x, "modes": m{"currentModeId": x}}})
		say("c2a", m{"id": i, "method": "session/prompt", "params": m{"sessionId": x, "prompt": []m{{"type": "text", "text": x}, {"type": x}}}})
		for range 2 {
			say("a2c", m{"method": "session/update", "params": m{"sessionId": x, "update": m{"sessionUpdate": "agent_message_chunk", "content": m{"type": "text", "text": x}}}})
		}
		say("a2c", m{"method": "session/update", "params": m{"sessionId": x, "update": m{"sessionUpdate": "tool_call", "toolCallId": x, "title": x, "kind": x, "status": x}}})
		say("a2c", m{"method": "session/update", "params": m{"sessionId": x, "update": m{"sessionUpdate": x, x: m{x: x}}}})
		say("a2c", m{"id": x, "method": x, "params": m{"sessionId": x, "path": x}})
		say("a2c", m{"id": x + "f", "method": "fs/read_text_file", "params": m{"sessionId": x, "path": x, "line": x}})
		say("c2a", m{"id": x + "f", "error": m{"code": x, "message": x, "data": x}})
		say("a2c", m{"id": i, "result": m{"stopReason": x}})
		line(m{"dir": "err", "t": messages, "raw": x})
		line(m{"dir": "a2c", "t": messages, "raw": x})
		line(m{"dir": "a2c", "t": messages, "base64": base64.StdEncoding.EncodeToString([]byte("\xff" + x))})
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return messages
}

func TestNothingThatASideSaysActsInAReport(t *testing.T) {
	t.Parallel()
	texts := append(markup, typed(t)...)
	name := filepath.Join(t.TempDir(), "<img src=x onerror=marked=1>.jsonl")
	messages := attack(t, name, texts)
	tab := open(t, name)
	const census = `JSON.stringify(["script","style","img","iframe","object","embed","svg","link","base","form","meta","input","details"].map((n) => document.querySelectorAll(n).length))`
	before := js[string](t, tab, census)
	// Every message and every finding is shown once, opened, and looked at.
	js[any](t, tab, `foldAll(); showTab("message")`)
	shown := js[int](t, tab, `(() => {
		const seen = new Set();
		for (let top = 0; top < visible.length * height; top += list.clientHeight) {
			list.scrollTop = top;
			draw();
			for (const e of rowsBox.children) {
				e.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
				seen.add(Number(e.dataset.at));
			}
		}
		let n = 0;
		for (const i of seen) {
			showMessage(visible[i]);
			if (visible[i] > 0) n++;
		}
		for (const b of document.querySelectorAll("#findings button")) b.click();
		return n;
	})()`)
	if shown != messages {
		t.Errorf("%d messages of %d were shown", shown, messages)
	}
	for _, id := range []string{"method", "session", "rule"} {
		js[any](t, tab, fmt.Sprintf(`(() => { const e = document.getElementById(%q); for (const o of e.options) { e.value = o.value; applyFilter(); } clearFilter(); })()`, id))
	}
	for _, x := range texts[:20] {
		q, _ := json.Marshal(x)
		js[any](t, tab, fmt.Sprintf(`search.value = %s; applyFilter(); location.hash = %s; clearFilter()`, q, q))
	}
	if after := js[string](t, tab, census); after != before {
		t.Errorf("the page had %s elements, now %s", before, after)
	}
	if js[bool](t, tab, `"marked" in window || "marked" in Object.prototype`) {
		t.Error("a text was executed")
	}
	if bad := js[string](t, tab, `[...document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href")).filter((h) => !/^(#[\w-]+|https:\/\/[\w./-]+)$/.test(h)).join()`); bad != "" {
		t.Errorf("links to %s", bad)
	}
	if on := js[string](t, tab, `[...document.querySelectorAll("*")].flatMap((e) => [...e.attributes]).filter((a) => a.name.startsWith("on")).map((a) => a.name).join()`); on != "" {
		t.Errorf("handlers in markup: %s", on)
	}
	// The texts are there, as text.
	for _, x := range markup[:20] {
		js[any](t, tab, fmt.Sprintf("search.value = %q; applyFilter()", lint.Visible([]byte(x), 100)[:10]))
		if got := text(t, tab, "#count"); strings.HasPrefix(got, "0 ") {
			t.Errorf("%q is not found", x)
		}
	}
}

// The policy is a second wall: even a script of the page could not fetch or evaluate.
func TestThePolicyOfAReportHoldsInABrowser(t *testing.T) {
	t.Parallel()
	browser, err := chromium()
	if err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := Write(t.Context(), file, asked); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, script string }{
		{"an inline script", `const s = document.createElement("script"); try { s.textContent = "marked=1" } catch {}; document.body.append(s)`},
		{"markup", `try { document.body.innerHTML = "<img src=x onerror=marked=1>" } catch {}`},
		{"a handler", `try { document.body.setAttribute("onclick", "marked=1") } catch {} document.body.click()`},
		{"a request", `fetch("http://127.0.0.1:9/").catch(() => {})`},
		{"an image", `new Image().src = "http://127.0.0.1:9/x.png"`},
		{"a style", `const s = document.createElement("style"); s.textContent = "body{display:none}"; document.head.append(s)`},
		{"a frame", `const f = document.createElement("iframe"); f.src = "http://127.0.0.1:9/"; document.body.append(f)`},
		{"a socket", `try { new WebSocket("ws://127.0.0.1:9/") } catch {}`},
	} {
		tab, cancel, err := Open(browser, file)
		if err != nil {
			t.Fatal(err)
		}
		js[any](t, tab, "(() => {"+c.script+"})()")
		// The browser says in its log what the policy stopped.
		stopped := func() bool {
			for _, f := range tab.Faults() {
				if strings.Contains(f, "Content Security Policy") || strings.Contains(f, "TrustedScript") || strings.Contains(f, "TrustedHTML") {
					return true
				}
			}
			return false
		}
		for end := time.Now().Add(patience.Soon); !stopped(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s was not stopped: %q", c.what, tab.Faults())
			}
		}
		if js[bool](t, tab, `"marked" in window || getComputedStyle(document.body).display === "none"`) {
			t.Errorf("%s works", c.what)
		}
		cancel()
	}
}
