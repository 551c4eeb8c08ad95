package injection

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/test/editors"
)

// What a command prints goes to a terminal, and everything on the wire into a
// list: neither acts, and the window of the user stays as it was.
func TestNoTextOfAnAgentActsInTheViews(t *testing.T) {
	t.Parallel()
	programs := editors.All(t)
	for i, program := range programs {
		t.Run(program.Version, func(t *testing.T) {
			t.Parallel()
			part := partOf(t, i, len(programs))
			e := newEditor(t, program.Path, map[string]any{"place": "plain", "role": part.role()})
			e.lua("editor.open()")
			e.until("editor.session()")
			e.lua("editor.views()")
			before := e.lua("return editor.screen()")
			intact := func(when string) {
				t.Helper()
				if after := e.lua("return editor.screen()"); after != before {
					t.Errorf("%s: the window of the user shows\n%s\nin place of\n%s", when, after, before)
				}
				if alarms := e.json("editor.alarms()"); alarms != "[]" {
					t.Errorf("%s: %s", when, alarms)
				}
				if marked := e.json("editor.marked()"); marked != "[]" {
					t.Fatalf("%s left %s", when, marked)
				}
				e.keysAreTheUsers(when)
				e.mu.Lock()
				defer e.mu.Unlock()
				for _, bad := range e.screens {
					t.Errorf("%s: the screen got %s", when, bad)
				}
				e.screens = nil
			}
			for _, scene := range []string{"updates", "terminals", "strays"} {
				e.lua("editor.play(...)", scene)
				select {
				case <-e.ended:
				case <-time.After(patience.Turn):
					t.Fatalf("%s does not end, mode %v", scene, e.mode())
				}
				e.inMode("n")
				intact(scene)
			}
			var n int
			if err := json.Unmarshal([]byte(e.json("#hermes.terminals()")), &n); err != nil || n == 0 {
				t.Errorf("%d terminals, %v", n, err)
			}
			// The user reads: every message, both ends, filters by what agents chose.
			e.lua(`require("hermes.traffic").open()`)
			e.press("gg")
			for i := 0; e.lua("return editor.read_traffic()") == true && i < 3*part.len(); i++ {
				e.press("ojo")
				if i%10 == 0 {
					e.press("gdsscmmc")
				}
			}
			e.until(`editor.read_traffic() ~= nil`)
			intact("traffic")
			// Each command by its title, then how each ended.
			e.lua(`commanding = true`)
			for _, keys := range []string{":Hermes terminal<CR>", "2<CR>"} {
				e.press(keys)
			}
			for range part.len() {
				e.press("]]")
			}
			e.inMode("nt")
			intact("terminals")
		})
	}
}
