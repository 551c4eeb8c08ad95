package host

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// editStep are steps of an agent that asks about a tool call with a diff, and then changes a
// file in its name.
type editStep struct {
	call     string
	path     string
	old, new string // of the diff
	writes   string // what the file becomes; empty: new
	asks     int    // how often it asks; 0: not at all
	client   bool   // the client writes the file for it
}

// scriptOf is a prompt for these steps in a session.
func scriptOf(session, root string, steps ...editStep) string {
	path := func(name string) string { return filepath.Join(root, name) }
	var lines []string
	update := func(kind, call, status string, content any) {
		u := args{"sessionUpdate": kind, "toolCallId": call, "status": status, "title": "Edit", "kind": "edit", "content": content}
		lines = append(lines, "NOTIFY session/update "+string(wire.Encode(args{"sessionId": session, "update": u})))
	}
	for _, s := range steps {
		diff := args{"type": "diff", "path": path(s.path), "newText": s.new}
		if s.old != "" {
			diff["oldText"] = s.old
		}
		content := []any{diff}
		update("tool_call", s.call, "pending", content)
		for range s.asks {
			lines = append(lines, "CALL session/request_permission "+string(wire.Encode(args{
				"sessionId": session, "toolCall": args{"toolCallId": s.call},
				"options": []any{
					args{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
					args{"optionId": "always", "name": "Always", "kind": "allow_always"},
					args{"optionId": "no", "name": "No", "kind": "reject_once"},
				},
			})))
		}
		text := s.writes
		if text == "" {
			text = s.new
		}
		if s.client {
			lines = append(lines, "CALL fs/write_text_file "+string(wire.Encode(args{"sessionId": session, "path": path(s.path), "content": text})))
		} else {
			lines = append(lines, "TOUCH "+path(s.path)+" "+strings.ReplaceAll(text, "\n", `\n`))
		}
		update("tool_call_update", s.call, "completed", content)
	}
	return strings.Join(lines, "\n")
}

func (d *desk) script(steps ...editStep) string { return scriptOf(d.session, d.root, steps...) }

// settles configures what ends a pending change.
func (d *desk) settles(by []string, rules ...any) {
	d.t.Helper()
	d.configure(args{
		"review":      args{"enabled": true, "dir": filepath.Join(d.state, "review"), "settle": by},
		"permissions": args{"rules": rules},
	})
}

// answering lets questions be answered with an option.
func answering(option, by string, seen bool) func(map[string]any) any {
	return func(ask map[string]any) any {
		if ask["name"] != "PermissionRequest" {
			return args{"default": true}
		}
		return args{"by": by, "seen": seen, "result": args{"outcome": args{"outcome": "selected", "optionId": option}}}
	}
}

// With settle = "approval" a change is accepted that the user has allowed with its diff in
// sight, and nothing else.
func TestAnApprovedDiffIsAccepted(t *testing.T) {
	t.Parallel()
	const old, now = "a\nb\nc\nd\ne\n", "a\nB\nc\nd\nE\n"
	edit := editStep{call: "c1", path: "f", old: old, new: now, asks: 1}
	with := func(change func(*editStep)) []editStep { s := edit; change(&s); return []editStep{s} }
	pending := []string{"f b>B", "f e>E"}
	for name, c := range map[string]struct {
		settle []string
		answer func(map[string]any) any
		steps  []editStep
		want   []string
	}{
		"allowed once":           {nil, answering("yes", "default", true), []editStep{edit}, nil},
		"allowed always":         {nil, answering("always", "default", true), []editStep{edit}, nil},
		"a part of the file":     {nil, answering("yes", "default", true), with(func(s *editStep) { s.old, s.new, s.writes = "b\nc", "B\nc", "a\nB\nc\nd\ne\n" }), nil},
		"a new file":             {nil, answering("yes", "default", true), with(func(s *editStep) { s.path, s.old = "made", "" }), nil},
		"the client writes":      {nil, answering("yes", "default", true), with(func(s *editStep) { s.client = true }), nil},
		"two files":              {nil, answering("yes", "default", true), []editStep{edit, {call: "c2", path: "g", old: "one\n", new: "ONE\n", asks: 1}}, nil},
		"with a commit":          {[]string{"approval", "commit"}, answering("yes", "default", true), []editStep{edit}, nil},
		"a formatter, too":       {nil, answering("yes", "default", true), with(func(s *editStep) { s.writes = "a\nB\nC\nd\nE\n" }), []string{"f b\nc>B\nC"}},
		"one byte of a hunk":     {nil, answering("yes", "default", true), with(func(s *editStep) { s.writes = "a\nB\nc\nd\ne \n" }), []string{"f e>e"}},
		"another file":           {nil, answering("yes", "default", true), append(with(func(s *editStep) { s.writes = old }), editStep{call: "c2", path: "g", old: "one\n", new: "ONE\n"}), []string{"g one>ONE"}},
		"another call":           {nil, answering("yes", "default", true), append(with(func(s *editStep) { s.writes = old }), editStep{call: "c2", path: "f", old: old, new: now, client: true}), pending},
		"the same id again":      {nil, answering("yes", "default", true), append(with(func(s *editStep) { s.writes = old }), editStep{call: "c1", path: "f", old: old, new: now, client: true}), pending},
		"not all seen":           {nil, answering("yes", "default", false), []editStep{edit}, pending},
		"refused, and done":      {nil, answering("no", "default", true), []editStep{edit}, pending},
		"a handler":              {nil, answering("yes", "handler", true), []editStep{edit}, pending},
		"a listener":             {nil, answering("yes", "respond", true), []editStep{edit}, pending},
		"never asked":            {nil, answering("yes", "default", true), with(func(s *editStep) { s.asks = 0 }), pending},
		"an empty old text":      {nil, answering("yes", "default", true), with(func(s *editStep) { s.old = "" }), pending},
		"old text that is twice": {nil, answering("yes", "default", true), with(func(s *editStep) { s.old, s.new, s.writes = "\n", "!\n", "a!\nb\nc\nd\ne\n" }), []string{"f a>a!"}},
		"settled by decisions":   {[]string{"decision"}, answering("yes", "default", true), []editStep{edit}, pending},
		"settled by commits":     {[]string{"commit"}, answering("yes", "default", true), []editStep{edit}, pending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, true)
			if c.settle == nil {
				c.settle = []string{"approval"}
			}
			d.settles(c.settle)
			d.write("f", old)
			d.write("g", "one\n")
			d.answers(c.answer)
			d.open()
			d.prompt(d.script(c.steps...))
			d.settle()
			d.is("pending", d.pending(), c.want)
		})
	}
}

// An approval is used once: a change that the user takes back, and that the same tool call
// makes again, is pending. One of an earlier turn is void.
func TestAnApprovalIsUsedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.settles([]string{"approval"})
	d.write("f", "a\n")
	yes := answering("yes", "default", true)
	d.answers(func(ask map[string]any) any {
		call, _ := ask["data"].(map[string]any)["toolCall"].(map[string]any)
		if call["toolCallId"] == "t1" { // while the agent waits for this, the user takes the change back
			d.write("f", "a\n")
			d.tell("wrote", args{"path": d.path("f")})
		}
		return yes(ask)
	})
	d.open()
	edit := editStep{call: "c1", path: "f", old: "a\n", new: "b\n", asks: 1, client: true}
	steps := strings.Split(d.script(edit), "\n") // begins, asks, writes, ends
	touch := "TOUCH " + d.path("f") + ` b\n`
	d.prompt(strings.Join([]string{steps[0], steps[1], steps[2], "ASK while the user works", "WAIT 300ms", touch, steps[3]}, "\n"))
	d.settle()
	d.is("pending", d.pending(), []string{"f a>b"})

	d.review("accept", args{})
	d.write("f", "a\n")
	d.prompt(strings.Join(steps[:2], "\n"))
	d.prompt(strings.Join([]string{steps[0], touch, steps[3]}, "\n"))
	d.settle()
	d.is("pending", d.pending(), []string{"f a>b"})
}

// A rule answers without anybody having seen the diff.
func TestARuleApprovesNoDiff(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.settles([]string{"approval"}, args{"action": "allow", "kind": "edit", "path": filepath.Join(d.root, "**")})
	d.write("f", "a\n")
	d.answers(answering("no", "default", true)) // is not asked
	d.open()
	d.prompt(d.script(editStep{call: "c1", path: "f", old: "a\n", new: "b\n", asks: 1}))
	d.settle()
	d.is("pending", d.pending(), []string{"f a>b"})
	d.is("answered by", d.seen(events.PermissionResolved)[0]["by"], "rule")
}

// In Neovim the user goes to the question, sees the diff and allows it.
func TestTheUserApprovesADiffOnTheScreen(t *testing.T) {
	inRepository(t, func(t *testing.T, open func() *editor, dir string) {
		e := open()
		screen := e.screen()
		e.lua(`require("hermes.ask.reading").too_soon_ms = 0`)
		e.open()
		session, _ := e.lua(`return s`).(string)
		text := content(t, filepath.Join(dir, "notes.txt"))
		for i, c := range []struct {
			style  string
			settle string
			hunks  int
		}{
			{"window", `{ "approval", "commit" }`, 0}, {"select", `"approval"`, 0}, {"window", `"decision"`, 1},
		} {
			e.lua(`hermes.setup({ review = { settle = ` + c.settle + ` }, questions = { style = "` + c.style + `" } })`)
			now := text + fmt.Sprintln("more", i)
			// A change on the disk that is noticed before its call has ended is inferred.
			step := editStep{call: fmt.Sprint("c", i), path: "notes.txt", old: text, new: now, asks: 1, client: true}
			e.lua(`done.turn = nil; hermes.prompt(s, ..., { on_done = finish("turn") })`, scriptOf(session, dir, step))
			e.until(`#require("hermes.ask.questions").list() == 1`)
			e.input(":Hermes respond<CR>")
			if c.style == "select" {
				e.wait("the list waits for keys, below the diff", func() bool {
					now := screen()
					return strings.Contains(now, fmt.Sprint("+more ", i)) && strings.Contains(now, "Number and <Enter>")
				})
				e.input("2<CR>")
			} else { // what was not drawn yet has not been in sight
				e.wait("the question has the keys", func() bool { return strings.Contains(screen(), " · q hides") })
				e.input("2")
				e.wait("the question has its answer", func() bool { // refused until Neovim has noted what it has drawn
					e.input("<CR>")
					return e.json(`#require("hermes.ask.questions").list()`) == "0"
				})
			}
			e.until(`done.turn`)
			e.until(fmt.Sprintf(`#of("FileEdited") == %d and vim.fn.getline("$") == "more %d"`, i+1, i))
			e.until(fmt.Sprintf(`hunks("notes.txt") == %d`, c.hunks))
			text = now
		}
	})
}

func (e *editor) input(keys string) {
	e.t.Helper()
	if _, err := e.v.Input(keys); err != nil {
		e.t.Fatal(err)
	}
}
