package sinks

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// luaClockExcuses says why Lua of tests in some files waits for a time, or judges by one.
var luaClockExcuses = map[string]string{
	"processor time, of which the speed of the machine is known": "test/pace.lua test/budget_spec.lua test/frames_spec.lua test/hermes_chat_spec.lua " +
		"test/printed_spec.lua test/review_held_spec.lua test/state_spec.lua test/terminals_spec.lua test/host/traffic_longest.lua",
	"somebody is slow, or acts at one of many moments": "test/buffer_spec.lua test/chat_screen_spec.lua test/confined_agent_spec.lua test/doc_race_spec.lua " +
		"test/events_spec.lua test/exec_spec.lua test/lists_play.lua test/message_screens_spec.lua test/review_typing_spec.lua test/scripted_agent.lua",
	"it can only fail to notice what must not happen": "test/chat_spec.lua test/questions_play_spec.lua test/questions_spec.lua test/setup_spec.lua test/e2e/review.lua",
	"at least that long, and longer does no harm": "test/mentions_spec.lua test/question_screens.lua test/screens_spec.lua test/typing_spec.lua " +
		"test/e2e/codex_screen.lua",
}

// luaClock is a wait that ends with a time alone, or a look at a clock. A clock also names folders
// and seeds, and a time of day is none.
var luaClock = regexp.MustCompile(`uv\.sleep\(|vim\.wait\([^,()]*\)|os\.clock\(|getrusage\(|[-+<>] *(?:vim\.)?uv\.(?:hrtime|now)\(|(?:hrtime|now)\(\)\)? *[-<>]`)

// What Lua waits for is a condition; run.lua makes such waits longer on a slow machine. See
// TestNoTestJudgesByTheClock for Go.
func TestNoLuaOfTestsJudgesByTheClock(t *testing.T) {
	t.Parallel()
	excused := map[string]bool{} // whether a file needs it
	for _, files := range luaClockExcuses {
		for _, name := range strings.Fields(files) {
			excused[name] = false
		}
	}
	read := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".lua" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		name := "test/" + strings.TrimPrefix(filepath.ToSlash(path), "../")
		use := luaClock.FindString(string(text))
		if _, ok := excused[name]; ok {
			excused[name] = use != ""
		} else if use != "" {
			t.Errorf("%s: %s; wait for a condition, or see test/pace.lua", name, use)
		}
		return nil
	})
	if err != nil || read < 90 {
		t.Fatal(read, err)
	}
	for name, needed := range excused {
		if !needed {
			t.Errorf("%s needs no excuse", name)
		}
	}
}

func TestWhatLuaDoesByTheClockIsFound(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"vim.uv.sleep(200)": true, "uv.sleep(n)": true, "vim.wait(100)": true, "vim.wait(ms)": true, "vim.wait(60000, function()": false, "vim.wait(60000, is_drawn, 5)": false,
		"local now = os.clock()": true, "vim.uv.getrusage()": true, "vim.uv.hrtime() - began < limit": true, "(vim.uv.hrtime() - last) / 1e6": true, "began + vim.uv.now()": true,
		`dir .. "/" .. vim.uv.hrtime()`: false, "local seed = vim.uv.hrtime() % 1e6": false, "os.time() + 10": false,
	} {
		if luaClock.MatchString(code) != want {
			t.Errorf("%s: %v", code, !want)
		}
	}
}
