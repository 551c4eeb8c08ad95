package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/hermes-nvim/hermes/internal/patience"
)

func TestMain(m *testing.M) {
	code := m.Run()
	stop()
	os.Exit(code)
}

// stop ends the browser of the tests.
var stop = func() {}

// chromium starts the browser of all tests.
var chromium = sync.OnceValues(func() (context.Context, error) {
	program, err := Find()
	if err != nil {
		return nil, err
	}
	browser, cancel, err := Start(context.Background(), program, 1280, 800)
	if err == nil {
		stop = cancel
	}
	return browser, err
})

// open writes a report of captures and opens it. At the end, the page must not have done
// anything but show it.
func open(t *testing.T, captures ...string) *Tab {
	t.Helper()
	browser, err := chromium()
	if errors.Is(err, ErrNone) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := Write(t.Context(), file, captures...); err != nil {
		t.Fatal(err)
	}
	tab, cancel, err := Open(browser, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range tab.Faults() {
			t.Error(f)
		}
		cancel()
	})
	return tab
}

// js evaluates an expression in the page.
func js[T any](t *testing.T, tab *Tab, expression string) T {
	t.Helper()
	v, err := chromedp.Run(tab, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for a condition in the page.
func until(t *testing.T, tab *Tab, condition string) {
	t.Helper()
	for end := time.Now().Add(patience.Soon); !js[bool](t, tab, condition); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never %s\n%s", condition, js[string](t, tab, "document.body.innerText"))
		}
	}
}

// do runs actions.
func do(t *testing.T, tab *Tab, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, patience.Soon)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, tab *Tab, selector string) string {
	t.Helper()
	return js[string](t, tab, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

const (
	cancelled = "../../runtime/trace/testdata/sdk-cancel.jsonl"
	rejected  = "../../runtime/trace/testdata/sdk-reject.jsonl"
	asked     = "../../runtime/trace/testdata/gemini-ask.jsonl"
)

// choose picks a value of a select as a user does.
func choose(id, value string) string {
	return fmt.Sprintf(`(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("change")); return e.value === %q; })()`, id, value, value)
}

func TestAReportShowsTheConversation(t *testing.T) {
	t.Parallel()
	tab := open(t, cancelled)
	for _, want := range []string{"68 messages", "1 error", "2 warnings"} {
		if got := text(t, tab, "#summary"); !strings.Contains(got, want) {
			t.Errorf("the summary is %q without %q", got, want)
		}
	}
	list := text(t, tab, "#rows")
	for _, want := range []string{"initialize", "sdk-peer", "session/prompt", "turn, 4 messages", "error CFG02", "warning CFG06", "829 ms"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in\n%s", want, list)
		}
	}
	if got := text(t, tab, "#lanes"); got != "client\n1\nagent" && got != "client1agent" {
		t.Errorf("the lanes are %q", got)
	}
	// Nothing overlaps the list, and nothing is wider than the window.
	if js[int](t, tab, "document.documentElement.scrollWidth") > js[int](t, tab, "innerWidth") {
		t.Error("the page is wider than the window")
	}
}

func TestAFindingIsALinkToItsPlace(t *testing.T) {
	t.Parallel()
	tab := open(t, asked, cancelled)
	if !js[bool](t, tab, choose("capture", "1")) {
		t.Fatal("there is no second capture")
	}
	do(t, tab, chromedp.Click(chromedp.ID("fold"))) // opens all
	do(t, tab, chromedp.Click(chromedp.ID("fold"))) // and closes all
	until(t, tab, `document.getElementById("fold").innerText === "Open all"`)
	// The finding is inside a tool call inside a turn.
	const link = `[...document.querySelectorAll("#findings li a")].find((a) => a.closest(".rule").querySelector(".id").textContent === "PER12")`
	number := js[string](t, tab, link+`.textContent.match(/message (\d+)/)[1]`)
	if js[bool](t, tab, `[...document.querySelectorAll("#rows .cell-n")].some((e) => e.textContent === "`+number+`")`) {
		t.Fatalf("message %s is not folded", number)
	}
	js[any](t, tab, link+".click()")
	until(t, tab, `!!document.querySelector(".row.finding.selected")`)
	if got := text(t, tab, ".row.selected"); !strings.Contains(got, "PER12") {
		t.Errorf("selected is %q", got)
	}
	if got := text(t, tab, "#message"); !strings.Contains(got, "Message "+number) || !strings.Contains(got, "PER12") {
		t.Errorf("the panel says %q", got)
	}
	if got := js[string](t, tab, "location.hash"); !strings.HasPrefix(got, "#2-f") {
		t.Errorf("the address ends in %q", got)
	}
	// What is wrong is marked in the message.
	js[any](t, tab, `[...document.querySelectorAll("#findings li a")].find((a) => a.closest(".rule").querySelector(".id").textContent === "CFG02").click()`)
	until(t, tab, `!!document.querySelector("#message mark")`)
	if got := js[string](t, tab, `document.querySelector("#message mark[title=CFG02]").textContent`); got != `"boolean"` {
		t.Errorf("marked is %q", got)
	}
	// Links work from outside, too.
	js[any](t, tab, `location.hash = "#m3"`)
	until(t, tab, `document.querySelector("#message h2").innerText.startsWith("Message 3:")`)
	if got := js[string](t, tab, `document.getElementById("capture").value`); got != "0" {
		t.Errorf("the capture is %s", got)
	}
}

func TestTheFilterShowsOnlyWhatMatches(t *testing.T) {
	t.Parallel()
	tab := open(t, rejected)
	all := text(t, tab, "#count")
	for _, c := range []struct{ set, want, not string }{
		{choose("method", "session/prompt"), "session/prompt", "session/new"},
		{choose("direction", "client"), "initialize", "↩ initialize"},
		{choose("rule", "CFG02"), "CFG02", "CFG06"},
		{`document.getElementById("only").click() || true`, "CFG06", "session/prompt"},
	} {
		js[any](t, tab, c.set)
		until(t, tab, `document.getElementById("count").textContent.includes(" of ")`)
		if got := text(t, tab, "#rows"); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%s: want %q and not %q in\n%s", c.set, c.want, c.not, got)
		}
		do(t, tab, chromedp.Click(chromedp.ID("clear")))
		if got := text(t, tab, "#count"); got != all {
			t.Fatalf("after %s the count is %q, before it was %q", c.set, got, all)
		}
	}
	do(t, tab, chromedp.SendKeys(chromedp.ID("search"), "PERMISSION"))
	until(t, tab, `document.getElementById("count").textContent.includes(" of ")`)
	if got := text(t, tab, "#rows"); !strings.Contains(got, "session/request_permission") || strings.Contains(got, "initialize") {
		t.Errorf("found\n%s", got)
	}
	do(t, tab, chromedp.SendKeys(chromedp.ID("search"), " no such thing"))
	until(t, tab, `document.getElementById("rows").innerText === "Nothing matches the filter."`)
}

func TestEverythingIsReachedByKeys(t *testing.T) {
	t.Parallel()
	tab := open(t, cancelled)
	heading := func(want string) {
		t.Helper()
		until(t, tab, fmt.Sprintf(`document.querySelector("#message h2").innerText.startsWith(%q)`, want))
	}
	press := func(keys string) { t.Helper(); do(t, tab, chromedp.KeyEvent(keys)) }
	press("j")
	heading("Message 2:")
	press("r")
	heading("Message 1:")
	press("n")
	heading("Message 4:")
	press(kb.End)
	heading("Message 68:")
	press(kb.Home)
	heading("Message 1:")
	for range 7 { // five messages and two findings
		press(kb.ArrowDown)
	}
	heading("Message 6:")
	until(t, tab, `document.querySelector(".row.selected").getAttribute("aria-expanded") === "true"`)
	press(kb.ArrowLeft)
	until(t, tab, `document.querySelector(".row.selected").getAttribute("aria-expanded") === "false"`)
	press("j")
	heading("Message 11:")
	press("k")
	press(kb.Enter)
	press("j")
	heading("Message 7:")
	press(kb.ArrowLeft)
	heading("Message 6:")
	press("f")
	until(t, tab, `document.getElementById("only").checked`)
	press(kb.Escape)
	until(t, tab, `!document.getElementById("only").checked`)
	press("/")
	until(t, tab, `document.activeElement.id === "search"`)
	press("jjj")
	until(t, tab, `document.getElementById("search").value.endsWith("jjj")`) // with / if keys come without a keyboard
	press(kb.Escape)
	until(t, tab, `document.getElementById("search").value === "" && document.activeElement.id === "list"`)
	press("?")
	until(t, tab, `document.getElementById("help").open`)
	press(kb.Escape)
	until(t, tab, `!document.getElementById("help").open`)
}

func TestAReportIsLightOrDarkAsTheSystemIs(t *testing.T) {
	t.Parallel()
	tab := open(t, asked)
	for scheme, want := range map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"} {
		if _, err := chromedp.Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
			t.Fatal(err)
		}
		until(t, tab, fmt.Sprintf("getComputedStyle(document.body).backgroundColor === %q", want))
		do(t, tab, chromedp.Click(chromedp.ID("theme")))
		until(t, tab, fmt.Sprintf("getComputedStyle(document.body).backgroundColor !== %q", want))
		js[any](t, tab, "delete document.documentElement.dataset.theme")
	}
}

func TestFiftyThousandMessagesAreReadable(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "long.jsonl")
	long(t, name, 50_000)
	began := time.Now()
	tab := open(t, name)
	if got := text(t, tab, "#count"); got != "50,000 lines" {
		t.Errorf("the count is %q", got)
	}
	t.Logf("judged, written and opened after %v", time.Since(began))
	for _, c := range []struct{ what, script string }{
		{"open all", `document.getElementById("fold").click()`},
		{"scroll to the middle", `list.scrollTop = list.scrollHeight / 2; draw()`},
		{"scroll to the end", `list.scrollTop = list.scrollHeight; draw()`},
		{"search", `search.value = "needle"; applyFilter()`},
		{"clear", `clearFilter()`},
	} {
		ms := js[float64](t, tab, "(() => { const began = performance.now(); "+c.script+"; document.body.offsetHeight; return performance.now() - began; })()")
		t.Logf("%s: %.0f ms", c.what, ms)
		if ms > 5000 { // a processor that is busy with other tests
			t.Errorf("%s took %.0f ms", c.what, ms)
		}
		if n := js[int](t, tab, `document.querySelectorAll("*").length`); n > 5000 {
			t.Errorf("after %s the page has %d elements", c.what, n)
		}
		if c.what == "search" {
			if got := text(t, tab, "#count"); got != "1 of 50,000 lines" {
				t.Errorf("the count is %q", got)
			}
		}
	}
	js[any](t, tab, `location.hash = "#m49999"`)
	until(t, tab, `document.querySelector("#message h2").innerText.startsWith("Message 49999:")`)
}

// long writes a capture of many messages.
func long(t *testing.T, name string, messages int) {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	n := 0
	say := func(dir, format string, args ...any) {
		if n < messages {
			fmt.Fprintf(w, `{"dir":%q,"t":%d,"msg":{"jsonrpc":"2.0",%s}}`+"\n", dir, n, fmt.Sprintf(format, args...))
			n++
		}
	}
	say("c2a", `"id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"e","version":"1"}}`)
	say("a2c", `"id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"}}`)
	for s := range 20 {
		say("c2a", `"id":"n%d","method":"session/new","params":{"cwd":"/repo","mcpServers":[]}`, s)
		say("a2c", `"id":"n%d","result":{"sessionId":"s%d"}`, s, s)
	}
	word := strings.Repeat("lorem ipsum ", 20)
	for turn := 0; n < messages; turn++ {
		s := turn % 20
		say("c2a", `"id":%d,"method":"session/prompt","params":{"sessionId":"s%d","prompt":[{"type":"text","text":"go on"}]}`, turn, s)
		for i := range 40 {
			update := `"method":"session/update","params":{"sessionId":"s%d","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}`
			chunk := word
			if turn == 700 && i == 7 {
				chunk = "needle"
			}
			say("a2c", update, s, chunk)
			if i%10 == 9 {
				call := `"method":"session/update","params":{"sessionId":"s%d","update":{"sessionUpdate":%q,"toolCallId":"c%d-%d","title":"Read","kind":"read","status":%q,"content":[{"type":"content","content":{"type":"text","text":"%s"}}]}}`
				say("a2c", call, s, "tool_call", turn, i, "pending", "")
				say("a2c", call, s, "tool_call_update", turn, i, "in_progress", word)
				say("a2c", call, s, "tool_call_update", turn, i, "completed", word)
			}
		}
		say("a2c", `"id":%d,"result":{"stopReason":"end_turn"}`, turn)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}
