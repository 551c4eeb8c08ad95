package host

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// inCall is a script of an agent whose tool call names a file while the steps run.
func (s *screen) inCall(steps ...string) string {
	s.t.Helper()
	session, _ := s.lua("return s").(string)
	update := func(members string) string {
		return fmt.Sprintf(`NOTIFY session/update {"sessionId":%q,"update":{"toolCallId":"c",%s}}`, session, members)
	}
	begin := update(fmt.Sprintf(`"sessionUpdate":"tool_call","title":"Edit","kind":"edit","status":"in_progress","locations":[{"path":%q}]`, s.path))
	return strings.Join(append(append([]string{begin}, steps...), update(`"sessionUpdate":"tool_call_update","status":"completed"`)), "\n")
}

// isHeld makes the file in the window one that is under review already.
func (s *screen) isHeld() {
	s.t.Helper()
	s.prompt("EDIT " + s.path + ` alpha\nbeta\nGamma\n`)
	s.decided("accept")
}

// decided makes a decision about everything.
func (s *screen) decided(verb string) {
	s.t.Helper()
	s.lua(`done.files = nil; hermes.review.files({ on_done = finish("files") })`)
	s.until(`done.files`)
	s.lua(`done.decided = nil; hermes.review[...]("all", { on_done = finish("decided") })`, verb)
	s.until(`done.decided`)
	s.is(`done.decided.err`, nil)
}

// pending waits until these are all pending changes: the name of the file, and the lines.
func (s *screen) pending(want ...string) {
	s.t.Helper()
	for deadline := time.Now().Add(s.patience); ; time.Sleep(20 * time.Millisecond) {
		s.lua(`done.pending = nil; hermes.review.pending({ on_done = finish("pending") })`)
		s.until(`done.pending`)
		got, _ := s.lua(`return table.concat(vim.tbl_map(function(h)
  return ("%s %s>%s"):format(vim.fs.basename(h.path), table.concat(h.old, "|"), table.concat(h.new, "|"))
end, done.pending.result.hunks), "; ")`).(string)
		if got == strings.Join(want, "; ") {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("pending %q, not %q", got, want)
		}
	}
}

// A save of the user while a tool call runs does not settle the changes of the call on the disk,
// whether somebody has seen them by then or not.
func TestASaveDuringACallSettlesNothing(t *testing.T) {
	const on = `vim.cmd([[autocmd TextChanged,TextChangedI,InsertLeave * %s]])`
	saves := map[string]string{
		"write":  "",
		"update": fmt.Sprintf(on, "lua vim.schedule(function() vim.cmd('silent update') end)"),
		"wall":   fmt.Sprintf(on, "++nested silent! wall"),
	}
	for save, autocmd := range saves {
		for _, held := range []bool{false, true} {
			after := time.Duration(rand.IntN(800)) * time.Millisecond
			if rand.IntN(2) == 0 {
				after = 0
			}
			t.Run(fmt.Sprint(save, " held ", held, " after ", after), func(t *testing.T) {
				inEveryScreen(t, func(t *testing.T, s *screen) {
					if held {
						s.isHeld()
					}
					gamma := map[bool]string{false: "gamma", true: "Gamma"}[held]
					s.lua(autocmd)
					changed, saved := filepath.Join(t.TempDir(), "changed"), filepath.Join(t.TempDir(), "saved")
					s.lua(`done.turn = nil; hermes.prompt(s, ..., { on_done = finish("turn") })`,
						s.inCall("TOUCH "+s.path+` alpha\nBETA\n`+gamma+`\n`, "TOUCH "+changed+" x", "UNTIL "+saved))
					s.exists(changed)
					time.Sleep(after)
					s.keys("x")
					if save == "write" {
						s.keys(":w<CR>")
					}
					s.until(`not vim.bo.modified and vim.fn.getline(1) == "lpha"`)
					if err := os.WriteFile(saved, nil, 0o600); err != nil {
						t.Fatal(err)
					}
					s.until(`done.turn`)
					s.pending("hello.txt beta>BETA")
					if got, want := s.disk(), "lpha\nBETA\n"+gamma+"\n"; got != want {
						t.Errorf("the disk has %q, not %q", got, want)
					}
					s.decided("reject")
					s.pending()
					if got, want := s.disk(), "lpha\nbeta\n"+gamma+"\n"; got != want {
						t.Errorf("the disk has %q, not %q", got, want)
					}
				})
			})
		}
	}
}

// exists waits for a file.
func (s *screen) exists(path string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience.Soon); ; time.Sleep(time.Millisecond) {
		if _, err := os.Lstat(path); err == nil {
			return
		} else if time.Now().After(deadline) {
			s.t.Fatal(err)
		}
	}
}

// An agent changes a file on the disk and then writes it by the editor, in one call: both is the
// agent's, also in a buffer with unsaved lines.
func TestWhatAnAgentWritesOnTheDiskAndThenByTheEditorIsPending(t *testing.T) {
	for _, held := range []bool{false, true} {
		for _, unsaved := range []bool{false, true} {
			t.Run(fmt.Sprint("held ", held, " unsaved ", unsaved), func(t *testing.T) {
				inEveryScreen(t, func(t *testing.T, s *screen) {
					gamma := "gamma"
					if held {
						s.isHeld()
						gamma = "Gamma"
					}
					mine := ""
					if unsaved {
						s.keys("ggOmine<Esc>")
						mine = "mine\n"
					}
					session, _ := s.lua("return s").(string)
					write, err := json.Marshal(map[string]string{"sessionId": session, "path": s.path, "content": "alpha\nBETA\n" + gamma + " too\n"})
					if err != nil {
						t.Fatal(err)
					}
					s.prompt(s.inCall("TOUCH "+s.path+` alpha\nBETA\n`+gamma+`\n`, "CALL fs/write_text_file "+string(write)))
					s.pending("hello.txt beta|" + gamma + ">BETA|" + gamma + " too")
					s.decided("reject")
					s.pending()
					s.lua(`vim.cmd.write()`)
					if got, want := s.disk(), mine+"alpha\nbeta\n"+gamma+"\n"; got != want {
						t.Errorf("the disk has %q, not %q", got, want)
					}
				})
			})
		}
	}
}
