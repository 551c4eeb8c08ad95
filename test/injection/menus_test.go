package injection

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// offers checks what a command line completes to.
func (e *editor) offers(line string) {
	e.t.Helper()
	var words []string
	if err := json.Unmarshal([]byte(e.json(fmt.Sprintf("vim.fn.getcompletion(%q, 'cmdline')", line))), &words); err != nil || len(words) == 0 {
		e.t.Errorf("%s: nothing is offered: %v", line, err)
	}
	for _, word := range words {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			e.t.Errorf("%s: %q is offered", line, word)
		}
	}
}

// menu types keys that lead to a menu, and answers it and those that follow.
func (e *editor) menu(keys, answer string) {
	e.t.Helper()
	e.press(keys)
	menus, answered := 0, time.Now()
	for deadline := time.Now().Add(patience.Turn); ; {
		select {
		case <-e.asked:
			menus++
			answered = time.Now()
			e.press(answer)
			continue
		case <-time.After(5 * time.Millisecond):
		}
		switch mode := e.mode(); {
		case mode.Mode[0] == 'r': // "press enter"
			e.press("<CR>")
		case menus > 0 && mode.Mode == "c" && time.Since(answered) > time.Second: // the list was longer than the screen
			answered = time.Now()
			e.press("<Esc>")
		case menus == 0 && mode.Mode == "n" && time.Since(answered) > 2*time.Second: // a message was in the way when the list came
			answered = time.Now()
			e.press(keys)
		case menus > 0 && !mode.Blocking && mode.Mode == "n":
			return
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("%s does not end after %d menus, mode %v", keys, menus, e.mode())
		}
	}
}

// menus goes through the menus of :Hermes for every session, and through the
// status window, whose names and titles are all vectors.
func (e *editor) menus() {
	e.t.Helper()
	intact := func(when string) {
		e.t.Helper()
		if marked := e.json("editor.marked()"); marked != "[]" {
			e.t.Fatalf("%s left %s", when, marked)
		}
		if alarms := e.json("editor.alarms()"); alarms != "[]" {
			e.t.Fatalf("%s: %s", when, alarms)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, bad := range e.screens {
			e.t.Errorf("%s: the screen got %s", when, bad)
		}
		e.screens = nil
	}
	for i := 1; e.lua("return editor.enter_session(...)", i) == true; i++ {
		for _, name := range []string{"mode", "config"} {
			e.menu(":Hermes "+name+"<CR>", []string{"<Esc>", "1<CR>"}[i%2])
			intact(fmt.Sprintf("%s of session %d", name, i))
		}
	}
	e.lua("editor.enter_session(0)")
	for _, name := range []string{"sessions", "sessions", "close"} {
		e.sent["\x03"]++ // Neovim takes <Esc> at "-- More --", which follows a long list, for an interrupt
		e.menu(":Hermes "+name+"<CR>", "<Esc>")
		intact(name)
	}
	for _, line := range []string{"Hermes close ", "Hermes fork ", "Hermes prompt ", "Hermes mode ", "Hermes config ", "Hermes traffic "} {
		e.offers(line)
	}
	e.command(":Hermes status<CR>")
	if n := e.json("vim.fn.line('$')"); !strings.Contains(e.json("vim.fn.getline(1, '$')"), "session ") || len(n) < 2 {
		e.t.Errorf("the status window has %s lines", n)
	}
	for range len(vectors) {
		e.press("j")
	}
	e.press("g?g?q")
	e.inMode("n")
	intact("status")
	e.command(":Hermes log hostile<CR>")
	if log := e.json("vim.fn.getline(1, '$')"); !strings.Contains(log, "set textwidth=7") {
		e.t.Errorf("the agent's log does not have what it said: %s", log)
	}
	e.press("q")
	e.inMode("n")
	intact("log")
}
