package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/neovim/go-client/msgpack/rpc"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// desk is a client of the host like Neovim, whose buffers the test plays.
type desk struct {
	t     testing.TB
	ep    *rpc.Endpoint
	root  string
	state string
	stop  func()

	mu      sync.Mutex
	moved   chan struct{} // closed when something arrives
	items   []deskItem
	done    map[string]map[string]any
	ops     int
	barrier func()
	respond func(ask map[string]any) any // nil: leaves it to the host
	session string
	agent   string
}

type deskItem struct {
	kind string
	data map[string]any
}

func newDesk(t testing.TB, review bool) *desk {
	t.Helper()
	dir := t.TempDir()
	d := &desk{t: t, root: filepath.Join(dir, "project"), state: filepath.Join(dir, "state"), agent: "tester"}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		d.root = filepath.Join(real, "project")
	}
	if err := os.Mkdir(d.root, 0o755); err != nil {
		t.Fatal(err)
	}
	d.start(review)
	return d
}

// startProcess starts the host as a program of its own, in a role such as "host",
// and returns what kills it.
func (d *desk) startProcess(role string) (kill func()) {
	d.t.Helper()
	d.reset()
	exe, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	in, err := cmd.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	served := d.serve(out, in)
	kill = sync.OnceFunc(func() {
		cmd.Process.Kill()
		<-served
		cmd.Wait()
	})
	d.t.Cleanup(kill)
	d.setup(true)
	return kill
}

func (d *desk) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ep, d.moved, d.items, d.done = nil, make(chan struct{}), nil, make(map[string]map[string]any)
}

// serve speaks with a host until it is gone.
func (d *desk) serve(from io.Reader, to io.WriteCloser) (served chan struct{}) {
	d.t.Helper()
	ep, err := rpc.NewEndpoint(from, to, to)
	if err == nil {
		err = ep.Register("nvim_exec_lua", func(_ string, params []any) (float64, error) { return d.receive(ep, params) })
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.mu.Lock()
	d.ep = ep
	d.mu.Unlock()
	served = make(chan struct{})
	go func() { defer close(served); ep.Serve() }()
	return served
}

func (d *desk) start(review bool) {
	d.t.Helper()
	d.reset()
	hostIn, toHost := io.Pipe()
	fromHost, hostOut := io.Pipe()
	served, ended := d.serve(fromHost, toHost), make(chan struct{})
	go func() {
		defer close(ended)
		log := slog.New(slog.NewTextHandler(d.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
		if err := Serve(context.Background(), hostIn, hostOut, Options{Version: "test", Logger: log}); err != nil {
			d.t.Error(err)
		}
	}()
	d.stop = sync.OnceFunc(func() {
		toHost.Close()
		<-ended
		hostOut.Close()
		<-served
	})
	d.t.Cleanup(d.stop)
	d.setup(review)
}

func (d *desk) setup(review bool) {
	d.t.Helper()
	config := args{}
	if review {
		config["review"] = args{"enabled": true, "dir": filepath.Join(d.state, "review")}
	}
	d.configure(config)
}

// configure sends a configuration with the agents of the desk.
func (d *desk) configure(config args) {
	d.t.Helper()
	agent := map[string]any{"command": testAgent(d.t), "env": map[string]string{testagent.Env: "SERVE " + usual}}
	config["agents"] = args{"tester": agent, "second": agent}
	d.send("setup", "", config)
}

func (d *desk) send(op, id string, payload any) {
	d.t.Helper()
	// A host that is killed reads nothing; what a test waits for does not come then.
	if err := notify(d.ep, op, id, payload); err != nil && !errors.Is(err, os.ErrClosed) && !errors.Is(err, syscall.EPIPE) {
		d.t.Fatal(err)
	}
}

func notify(ep *rpc.Endpoint, op, id string, payload any) error {
	return ep.Notify("hermes", op, id, string(wire.Encode(payload)))
}

// receive takes a batch. Messages of a host that was killed are dropped.
func (d *desk) receive(from *rpc.Endpoint, params []any) (float64, error) {
	var batch []json.RawMessage
	text, _ := params[0].([]byte)
	if s, ok := params[0].(string); ok {
		text = []byte(s)
	}
	if err := json.Unmarshal(text, &batch); err != nil {
		return 0, err
	}
	for i := 0; i+1 < len(batch); i += 2 {
		var it deskItem
		json.Unmarshal(batch[i], &it.kind)
		json.Unmarshal(batch[i+1], &it.data)
		d.mu.Lock()
		f, respond := d.barrier, d.respond
		d.mu.Unlock()
		if it.kind == reviews.KindBarrier {
			if f != nil {
				f()
			}
			if err := notify(from, "review.barrier", "", args{"id": it.data["id"]}); err != nil {
				return 0, err
			}
		}
		if it.kind == wire.KindAsk {
			var answer any = map[string]any{"default": true}
			if respond != nil {
				answer = respond(it.data)
			}
			if answer != nil {
				if err := notify(from, "respond", it.data["requestId"].(string), answer); err != nil {
					return 0, err
				}
			}
		}
		d.mu.Lock()
		if d.ep != from {
			d.mu.Unlock()
			return 0, nil
		}
		d.items = append(d.items, it)
		if it.kind == wire.KindDone {
			d.done[it.data["id"].(string)] = it.data
		}
		close(d.moved)
		d.moved = make(chan struct{})
		d.mu.Unlock()
	}
	return 0, nil
}

// until waits until is is true of what has arrived.
func (d *desk) until(what string, is func() bool) {
	d.t.Helper()
	timeout := time.After(patience.Soon)
	for {
		d.mu.Lock()
		ok, moved := is(), d.moved
		d.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-moved:
		case <-timeout:
			d.t.Fatalf("no %s; got %v", what, d.items)
		}
	}
}

// call does an operation and returns its result, or the kind of its error.
func (d *desk) call(op string, payload any) (result map[string]any, kind string) {
	d.t.Helper()
	d.ops++
	id := fmt.Sprint("op", d.ops)
	d.send(op, id, payload)
	var data map[string]any
	d.until("answer to "+op, func() bool { data = d.done[id]; return data != nil })
	if e, ok := data["error"].(map[string]any); ok {
		return e, e["kind"].(string)
	}
	result, _ = data["result"].(map[string]any)
	return result, ""
}

func (d *desk) must(op string, payload any) map[string]any {
	d.t.Helper()
	r, kind := d.call(op, payload)
	if kind != "" {
		d.t.Fatalf("%s %v: %v", op, payload, r)
	}
	return r
}

type args = map[string]any

func (d *desk) review(do string, more args) map[string]any {
	d.t.Helper()
	return d.must("review."+do, more)
}

// tell sends an operation that has no answer.
func (d *desk) tell(do string, more args) {
	d.t.Helper()
	d.send("review."+do, "", more)
}

func (d *desk) open() {
	d.t.Helper()
	d.openIn(d.root)
}

func (d *desk) openIn(folder string) {
	d.t.Helper()
	d.must("connect", args{"agent": d.agent})
	r := d.must("request", args{"agent": d.agent, "method": "session/new", "params": args{"cwd": folder, "mcpServers": []any{}}})
	d.session = r["sessionId"].(string)
}

func (d *desk) prompt(script string) {
	d.t.Helper()
	d.must("request", args{"agent": d.agent, "method": "session/prompt", "params": args{
		"sessionId": d.session, "prompt": []any{args{"type": "text", "text": script}}}})
}

func (d *desk) of(kind string) (list []map[string]any) {
	for _, it := range d.items {
		if it.kind == kind {
			list = append(list, it.data)
		}
	}
	return list
}

func (d *desk) seen(kind string) []map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.of(kind)
}

// settle waits until the looks are done that were asked for: a checkpoint comes
// after them.
func (d *desk) settle() {
	d.t.Helper()
	n := len(d.seen(events.CheckpointCreated))
	d.prompt("SAY so")
	d.until("checkpoint", func() bool { return len(d.of(events.CheckpointCreated)) > n })
}

func (d *desk) path(name string) string { return filepath.Join(d.root, name) }

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(d.path(name), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// disk is the text of a file, or "absent".
func (d *desk) disk(name string) string {
	d.t.Helper()
	text, err := os.ReadFile(d.path(name))
	if os.IsNotExist(err) {
		return "absent"
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// pending are the hunks: path, old, new.
func (d *desk) pending() (list []string) {
	d.t.Helper()
	for _, h := range d.review("hunks", args{})["hunks"].([]any) {
		h := h.(map[string]any)
		text := func(key string) string {
			var b strings.Builder
			lines, _ := h[key].([]any)
			for _, l := range lines {
				b.WriteString(l.(string))
			}
			return strings.TrimSpace(b.String())
		}
		list = append(list, strings.TrimPrefix(h["path"].(string), d.root+"/")+" "+text("old")+">"+text("new"))
	}
	return list
}

func (d *desk) is(what string, got, want any) {
	d.t.Helper()
	if g, w := string(wire.Encode(got)), string(wire.Encode(want)); g != w {
		d.t.Errorf("%s: %s, want %s", what, g, w)
	}
}

func TestEachChangeOfAnAgentIsToldOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	for _, name := range []string{"tool", "write", "command", "quiet", "gone"} {
		d.write(name, "a\nb\n")
	}
	d.open()
	d.prompt(strings.Join([]string{
		"EDIT " + d.path("tool") + ` a\nB\n`,
		"WRITE " + d.path("write") + ` a`,
		"RUN printf 'a\\nB\\n' > " + d.path("command"),
		"TOUCH " + d.path("quiet") + ` a\nB\nC\n`,
		"TOUCH " + d.path("new") + ` made\n`,
		"REMOVE " + d.path("gone"),
	}, "\n"))
	d.settle()
	got, changes := map[string]string{}, map[string]any{}
	for _, e := range d.seen(events.FileEdited) {
		name := strings.TrimPrefix(e["path"].(string), d.root+"/")
		changes[name] = e["change"]
		got[name] += fmt.Sprintf("%v %v +%v -%v %v;", e["source"], e["fidelity"], e["added"], e["removed"], e["toolCallId"])
		if e["agent"] != "tester" || e["sessionId"] != d.session || e["turn"] == nil || e["root"] != d.root || e["change"] == nil {
			t.Errorf("%v", e)
		}
	}
	d.is("told", got, map[string]string{
		"tool": "tool exact +1 -1 e1;", "write": "write exact +1 -2 <nil>;", "command": "disk inferred +1 -1 <nil>;",
		"quiet": "disk inferred +2 -1 <nil>;", "new": "disk inferred +1 -0 <nil>;", "gone": "disk inferred +0 -2 <nil>;",
	})
	files := d.review("files", args{})["files"].([]any)
	d.is("files", len(files), 6)
	d.until("ReviewUpdated", func() bool { return len(d.of(events.ReviewUpdated)) >= 6 })
	d.is("held", len(d.seen(reviews.KindHold)) >= 6, true)
	points := d.seen(events.CheckpointCreated)
	d.is("checkpoints", len(points), 2)
	d.is("name of a checkpoint", points[1]["name"], "SAY so")
	d.is("turn", len(d.review("turn", args{"sessionId": d.session})["paths"].([]any)), 0)
	c := d.review("change", args{"root": d.root, "change": changes["tool"]})
	d.is("change", []any{c["path"], c["before"].(map[string]any)["text"], c["after"].(map[string]any)["text"]}, []any{d.path("tool"), "a\nb\n", "a\nB\n"})
}

// A buffer that follows the disk shows what the disk had. By the time that the host
// gets the report, the file may be another one.
func TestABufferBehindTheDiskChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.write("f", "a\n")
	d.open()
	d.prompt("EDIT " + d.path("f") + ` b\n` + "\nEDIT " + d.path("f") + ` c\n`)
	d.settle()
	d.is("pending", d.pending(), []string{"f a>c"})
	told := len(d.seen(events.FileEdited))
	d.tell("changed", args{"path": d.path("f"), "agent": "tester", "sessionId": d.session, "toolCallId": "e1", "source": "tool", "before": "a\n", "text": "b\n", "tick": 1})
	d.settle()
	d.is("pending", d.pending(), []string{"f a>c"})
	d.is("told", len(d.seen(events.FileEdited)), told)
}

func TestAnAnswerRightAfterATurnHasWhatTheTurnLeft(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	for i := range 300 { // so that a look takes a moment
		d.write(fmt.Sprint("file", i), "x\n")
	}
	d.open()
	for i := range 5 {
		d.prompt("TOUCH " + d.path(fmt.Sprint("new", i)) + ` n\n`)
		d.is("files", len(d.review("files", args{})["files"].([]any)), i+1)
		d.prompt("TOUCH " + d.path(fmt.Sprint("new", i)) + ` n\nm\n`)
		d.is("hunk", d.pending()[i], fmt.Sprintf("new%d >n\nm", i))
		d.prompt("TOUCH " + d.path("new0") + fmt.Sprintf(` n\nm\n%d\n`, i))
		d.is("turn", d.review("turn", args{"sessionId": d.session})["paths"], []string{d.path("new0")})
		d.prompt("TOUCH " + d.path("new0") + ` n\nm\n`)
	}
}

func TestAPreviewShowsTheChangeOfEachFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.write("f", "a\nb\nc\n")
	d.write("large", strings.Repeat("x\n", 100))
	d.open()
	d.prompt(strings.Join([]string{
		"EDIT " + d.path("f") + ` a\nB\nc\n`, "EDIT " + d.path("made") + ` n\n`, "REMOVE " + d.path("large"),
		"EDIT " + d.path("long") + " " + strings.Repeat(`a line of some length\n`, 5000),
	}, "\n"))
	d.settle()
	diffs := map[string]string{}
	for _, f := range d.review("restore", args{"checkpoint": "1", "preview": true})["files"].([]any) {
		f := f.(map[string]any)
		diff := f["diff"].(string)
		name := strings.TrimPrefix(f["path"].(string), d.root+"/")
		_, diffs[name], _ = strings.Cut(diff, "\n@@")
		if cut, _ := f["cut"].(bool); cut != (name == "long") || len(diff) > reviews.MaxDiff || !strings.HasSuffix(diff, "\n") {
			t.Errorf("%s: %d bytes, cut %t", name, len(diff), cut)
		}
	}
	d.is("f", diffs["f"], " -1,3 +1,3 @@\n a\n-B\n+b\n c\n")
	d.is("made", diffs["made"], " -1,1 +0,0 @@\n-n\n")
	d.is("large", diffs["large"], " -0,0 +1,100 @@\n"+strings.Repeat("+x\n", 100))
}

func TestWithTheReviewOffNothingIsKeptOrTold(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	d.write("f", "a\n")
	d.open()
	d.prompt("EDIT " + d.path("f") + " b\nWRITE " + d.path("g") + " c")
	for _, kind := range []string{events.FileEdited, events.ReviewUpdated, events.CheckpointCreated, reviews.KindHold, reviews.KindHunks, reviews.KindLook, reviews.KindBarrier} {
		if list := d.seen(kind); len(list) > 0 {
			t.Errorf("%s: %v", kind, list)
		}
	}
	if _, err := os.Stat(d.state); !os.IsNotExist(err) {
		t.Errorf("the state is there: %v", err)
	}
	if e, kind := d.call("review.files", args{}); kind != "invalid" {
		t.Errorf("%v", e)
	}
	d.setup(true) // with a session
	d.prompt("SAY on")
	d.prompt("EDIT " + d.path("f") + " d")
	d.settle()
	d.is("pending", d.pending(), []string{"f b>d"})
	d.setup(false)
	d.prompt("EDIT " + d.path("f") + " e")
	d.setup(true)
	d.prompt("SAY on again")
	d.is("pending", d.pending(), []string{"f b>"}) // nobody knows who wrote e
}

func TestAPathOutsideOfTheFoldersIsNotRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	secret := filepath.Join(filepath.Dir(d.root), "secret")
	if err := os.WriteFile(secret, []byte("key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.open()
	d.prompt("EDIT " + secret + " changed\nEDIT " + d.root + "/../secret again")
	d.settle()
	d.is("told", d.seen(events.FileEdited), nil)
	d.is("pending", d.pending(), nil)
	var found []string
	filepath.WalkDir(d.state, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			text, _ := os.ReadFile(path)
			if strings.Contains(string(text), "key\n") {
				found = append(found, path)
			}
		}
		return nil
	})
	d.is("state with it", found, nil)
}

func TestDecisionsChangeTheDiskAndCanBeUndone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.write("f", "a\nb\nc\nd\ne\n")
	d.open()
	d.prompt("EDIT " + d.path("f") + ` A\nb\nc\nd\nE\n` + "\nTOUCH " + d.path("new") + ` n\n`)
	d.settle()
	hunks := d.review("hunks", args{"path": d.path("f")})["hunks"].([]any)
	d.is("hunks", len(hunks), 2)
	id := hunks[0].(map[string]any)["id"]
	r := d.review("accept", args{"path": d.path("f"), "hunk": id})
	d.is("accepted", r["files"].([]any)[0].(map[string]any)["path"], d.path("f"))
	d.review("reject", args{"sessionId": d.session})
	d.is("disk", []string{d.disk("f"), d.disk("new")}, []string{"A\nb\nc\nd\ne\n", "absent"})
	d.is("pending", d.pending(), nil)
	d.review("undo", args{})
	d.is("disk", []string{d.disk("f"), d.disk("new")}, []string{"A\nb\nc\nd\nE\n", "n\n"})
	d.review("undo", args{}) // of the first
	d.is("pending", d.pending(), []string{"f a>A", "f e>E", "new >n"})
	if e, kind := d.call("review.undo", args{}); kind != "nothing" {
		t.Errorf("%v", e)
	}
	preview := d.review("restore", args{"checkpoint": "1", "preview": true})["files"].([]any)
	d.is("preview", len(preview), 2)
	d.is("disk", d.disk("f"), "A\nb\nc\nd\nE\n")
	r = d.review("restore", args{"checkpoint": "1", "paths": []string{d.path("f")}})
	d.is("disk", []string{d.disk("f"), d.disk("new")}, []string{"a\nb\nc\nd\ne\n", "n\n"})
	d.review("restore", args{"checkpoint": r["checkpoint"], "everything": true})
	d.is("disk", []string{d.disk("f"), d.disk("new")}, []string{"A\nb\nc\nd\nE\n", "n\n"})
	d.stop()
	d.start(true)
	d.is("pending", len(d.review("files", args{"cwd": d.root})["files"].([]any)) > 0, true)
}

func TestABufferIsReviewedInsteadOfItsFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.write("f", "a\nb\nc\n")
	d.open()
	path := d.path("f")
	d.prompt("EDIT " + path + ` A\nb\nc\n`)
	d.settle()
	d.tell("hold", args{"path": path, "text": "A\nb\nc\n", "tick": 5})
	d.until("hunks", func() bool { return len(d.of(reviews.KindHunks)) == 1 })
	if h := d.seen(reviews.KindHunks)[0]; h["tick"] != 5.0 || len(h["hunks"].([]any)) != 1 {
		t.Errorf("%v", h)
	}
	d.tell("edited", args{"path": path, "edits": []any{args{"start": 1, "end": 2, "lines": []string{"mine\n", "b\n"}}, args{"start": 0, "end": 0, "lines": []string{"top\n"}}}, "tick": 7})
	// The agent edits the disk; Lua merges it into the buffer.
	d.prompt("EDIT " + path + ` A\nb\nC\n`)
	d.until("look", func() bool { return len(d.of(reviews.KindLook)) == 1 })
	if l := d.seen(reviews.KindLook)[0]; l["path"] != path || l["toolCallId"] != "e1" || l["sessionId"] != d.session {
		t.Errorf("%v", l)
	}
	d.tell("changed", args{"path": path, "agent": "tester", "sessionId": d.session, "toolCallId": "e1", "source": "tool", "text": "top\nA\nmine\nb\nC\n", "tick": 9})
	d.is("pending", d.pending(), []string{"f a>A", "f c>C"})
	d.is("told", len(d.seen(events.FileEdited)), 2)
	// A decision goes through the buffer.
	hunks := d.review("hunks", args{"path": path})["hunks"].([]any)
	answered := make(chan map[string]any)
	go func() { answered <- d.review("reject", args{"path": path, "hunk": hunks[1].(map[string]any)["id"]}) }()
	d.until("apply", func() bool { return len(d.of(reviews.KindApply)) == 1 })
	a := d.seen(reviews.KindApply)[0]
	d.is("edits", a["edits"], []any{args{"start": 4, "end": 5, "lines": []string{"c\n"}}})
	d.is("tick", a["tick"], 9)
	// The user has typed meanwhile.
	d.tell("edited", args{"path": path, "edits": []any{args{"start": 0, "end": 0, "lines": []string{"more\n"}}}, "tick": 10})
	d.tell("applied", args{"id": a["id"], "path": path, "stale": true, "tick": 10})
	d.until("second apply", func() bool { return len(d.of(reviews.KindApply)) == 2 })
	a = d.seen(reviews.KindApply)[1]
	d.is("edits", a["edits"], []any{args{"start": 5, "end": 6, "lines": []string{"c\n"}}})
	d.tell("applied", args{"id": a["id"], "path": path, "ok": true, "tick": 11})
	d.tell("edited", args{"path": path, "edits": []any{args{"start": 0, "end": 1, "lines": []string{}}}, "tick": 12})
	if f := (<-answered)["files"].([]any)[0].(map[string]any); f["error"] != nil {
		t.Errorf("%v", f)
	}
	d.is("pending", d.pending(), []string{"f a>A"})
	b := d.review("base", args{"path": path})
	d.is("current", b["current"].(map[string]any)["text"], "top\nA\nmine\nb\nc\n")
	d.is("base", b["base"].(map[string]any)["text"], "top\na\nmine\nb\nc\n")
	d.is("disk", d.disk("f"), "A\nb\nC\n")
	// An edit that does not fit.
	d.tell("edited", args{"path": path, "edits": []any{args{"start": 70, "end": 71, "lines": []string{"x\n"}}}, "tick": 13})
	d.until("again", func() bool {
		return slices.ContainsFunc(d.of(reviews.KindHold), func(h map[string]any) bool { return h["again"] == true })
	})
	// The user has written into a hunk.
	d.tell("hold", args{"path": path, "text": "top\nA!\nmine\nb\nc\n", "tick": 14})
	if e, kind := d.call("review.reject", args{"path": path}); kind != "touched" && kind != "nothing" {
		t.Errorf("%v", e)
	}
}

// The file of a buffer may lead out of the project by the time Lua answers.
func TestAnAnswerAboutABufferCountsWhereverItsPathLeads(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.write("f", "a\n")
	d.open()
	path, away := d.path("f"), filepath.Join(t.TempDir(), "away")
	d.prompt("EDIT " + path + ` A\n`)
	d.settle()
	d.tell("hold", args{"path": path, "text": "A\n", "tick": 5})
	answered := make(chan map[string]any)
	go func() { answered <- d.review("reject", args{"path": path}) }()
	d.until("apply", func() bool { return len(d.of(reviews.KindApply)) == 1 })
	if err := errors.Join(os.WriteFile(away, []byte("theirs\n"), 0o600), os.Remove(path), os.Symlink(away, path)); err != nil {
		t.Fatal(err)
	}
	d.tell("applied", args{"id": d.seen(reviews.KindApply)[0]["id"], "path": path, "error": "its name leads to another file now", "tick": 5})
	f := (<-answered)["files"].([]any)[0].(map[string]any)
	d.is("error", f["error"], "change f: its name leads to another file now")
}

func TestTheUsersSaveIsNotTheAgents(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.write("f", "a\n")
	d.open()
	d.mu.Lock()
	d.barrier = sync.OnceFunc(func() { d.send("review.wrote", "", args{"path": d.path("f")}) })
	d.mu.Unlock()
	d.prompt("TOUCH " + d.path("f") + ` mine\n` + "\nTOUCH " + d.path("g") + ` theirs\n`) // f by the user's hand
	d.settle()
	d.is("pending", d.pending(), []string{"g >theirs"})
}

// A change of a file under review is noticed even if no tool call or turn ends.
// While no turn runs, it is the user's.
func TestFilesUnderReviewAreWatched(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.write("f", "a\nb\n")
	d.open()
	d.prompt("TOUCH " + d.path("f") + ` a\nB\n`)
	d.settle()
	d.is("pending", d.pending(), []string{"f b>B"}) // which waits for the look at the end of the turn
	d.write("f", "mine\na\nB\n")
	for late := time.Now().Add(patience.Soon); ; time.Sleep(5 * time.Millisecond) {
		base, _ := d.review("base", args{"path": d.path("f")})["base"].(map[string]any)
		if base["text"] == "mine\na\nb\n" {
			break
		} else if time.Now().After(late) {
			t.Fatalf("the user's line is not noticed: %v", base)
		}
	}
	d.is("pending", d.pending(), []string{"f b>B"})
}

func TestALockedProjectIsSaidOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	other, err := project.Open(d.state, d.root, project.Options{Program: "Another"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	d.write("f", "a\n")
	d.open()
	d.prompt("EDIT " + d.path("f") + " b")
	d.prompt("EDIT " + d.path("f") + " c")
	d.until("notice", func() bool { return len(d.of(wire.KindNotice)) == 1 })
	if text := d.seen(wire.KindNotice)[0]["message"].(string); !strings.Contains(text, "Another") || !strings.Contains(text, fmt.Sprint(os.Getpid())) {
		t.Errorf("%q does not say who", text)
	}
	d.tell("changed", args{"path": d.path("f"), "agent": "tester", "sessionId": d.session, "source": "write", "before": "a\n", "text": "b\nc\n", "tick": 1})
	d.until("FileEdited", func() bool { return len(d.of(events.FileEdited)) == 1 })
	d.is("files", d.review("files", args{})["files"], []any{})
}

func TestTwoAgentsInOneFolder(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.write("f", "1\n2\n3\n")
	d.open()
	first := d.session
	d.prompt("EDIT " + d.path("f") + ` A\n2\n3\n`)
	d.agent = "second"
	d.open()
	d.prompt("EDIT " + d.path("f") + ` A\n2\nB\n`)
	d.settle()
	d.is("pending", d.pending(), []string{"f 1>A", "f 3>B"})
	d.review("reject", args{"agent": "tester", "sessionId": first})
	d.is("disk", d.disk("f"), "1\n2\nB\n")
	d.is("pending", d.pending(), []string{"f 3>B"})
}

// The host is killed while an agent writes: what it wrote is pending, and nothing
// of it is the user's.
func TestTheReviewSurvivesTheEndOfTheHost(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	d.stop()
	d.write("f", "base\n")
	for round := range 6 {
		kill := d.startProcess("host")
		d.open()
		var script []string
		for i := range 50 {
			script = append(script, fmt.Sprintf(`WRITE %s base\nround %d line %d`, d.path("f"), round, i))
		}
		text := strings.Join(append(script, "WAIT 10m"), "\n")
		d.send("request", "p", args{"agent": d.agent, "method": "session/prompt", "params": args{
			"sessionId": d.session, "prompt": []any{args{"type": "text", "text": text}}}})
		n := round * 8
		d.until("changes", func() bool { return len(d.of(events.FileEdited)) > n })
		kill()
		kill = d.startProcess("host")
		d.review("files", args{"cwd": d.root})
		d.open()
		d.settle()
		b := d.review("base", args{"path": d.path("f")})
		d.is("base", b["base"].(map[string]any)["text"], "base\n")
		d.is("current", b["current"].(map[string]any)["text"], d.disk("f"))
		kill()
	}
}

func BenchmarkReviewOf1000Files(b *testing.B) {
	d := newDesk(b, true)
	var script []string
	for i := range 1000 {
		name := fmt.Sprintf("dir%d/file%d.go", i%20, i)
		if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o755); err != nil {
			b.Fatal(err)
		}
		d.write(name, strings.Repeat("some line of code\n", 100))
		script = append(script, "TOUCH "+d.path(name)+" "+strings.Repeat(`some line of code\n`, 50)+"changed")
	}
	d.open()
	d.prompt(strings.Join(script, "\n"))
	d.settle()
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if n := len(d.review("files", args{})["files"].([]any)); n != 1000 {
				b.Fatal(n)
			}
		}
	})
	b.Run("open one", func(b *testing.B) {
		for b.Loop() {
			d.review("hunks", args{"path": d.path("dir3/file3.go")})
		}
	})
}

// The agent chooses how many files there are. All of them count, and none is left out
// without a word.
func TestListsComeInPagesAndCountEverything(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.write("first", "1\n")
	d.open()
	const files = 2*reviews.PageFiles + 1
	d.prompt(fmt.Sprintf(`RUN cd %s && for i in $(seq %d); do echo x > f$i; done`, d.root, files))
	d.settle()
	for what, page := range map[string]int{"files": reviews.PageFiles, "hunks": reviews.PageHunks} {
		from, seen := 0, make(map[string]bool)
		for {
			result := d.review(what, args{"from": from})
			list := result[what].([]any)
			for _, entry := range list {
				seen[entry.(map[string]any)["path"].(string)] = true
			}
			from += len(list)
			d.is("total", result["total"], float64(files))
			d.is("more", result["more"], float64(files-from))
			if len(list) > page || from == files || len(list) == 0 {
				break
			}
		}
		d.is(what, len(seen), files)
	}
	result := d.review("accept", args{})
	d.is("accepted", result["total"], float64(files))
	d.is("more", result["more"], float64(files-reviews.PageFiles))
}
