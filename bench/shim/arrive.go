package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/neovim/go-client/nvim"
)

// watch is what the Neovim of arrive runs: total asks for the number of pending files, again and
// again, and last is the last line of the buffer that it looks at.
const watch = `
local review = require("hermes").review
total = 0
local function ask()
  review.files({ open = true, from = 1e6, on_done = function(_, result)
    total = result and result.total or total
    vim.defer_fn(ask, 5)
  end })
end
ask()
function last() return vim.api.nvim_buf_get_lines(0, -2, -1, false)[1] end`

// arrive measures how long after the last of many writes a Neovim that has the project open knows
// them all, and how long after it the buffer that the user looks at shows the very last write.
func arrive(count, rounds int, hermes, root string) {
	var worked, shown, known []float64
	for range rounds {
		w, s, k := arriveOnce(count, hermes, root)
		worked, shown, known = append(worked, w), append(shown, s), append(known, k)
	}
	fmt.Printf("| %d files | %.0f ms | %.0f ms | %.0f ms |\n", count, median(worked), median(shown), median(known))
}

func arriveOnce(count int, hermes, root string) (worked, shown, known float64) {
	dir, err := os.MkdirTemp("", "hermes-bench-")
	check(err)
	defer os.RemoveAll(dir)
	project, stamp, looked := filepath.Join(dir, "project"), filepath.Join(dir, "stamp"), "looked"
	check(os.Mkdir(project, 0o755))
	run(project, []string{"git", "init", "-q"})
	check(os.WriteFile(filepath.Join(project, looked), []byte("first\n"), 0o644))
	env := append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_RUNTIME_DIR="+dir)
	v, err := nvim.NewChildProcess(nvim.ChildProcessArgs("--clean", "--embed", "--headless", "-n", "--cmd", "set rtp^="+root, looked),
		nvim.ChildProcessDir(project), nvim.ChildProcessEnv(env))
	check(err)
	defer v.Close()
	check(v.ExecLua(watch, nil))
	is := func(expression string, until func(value any) bool) time.Time {
		for {
			var value any
			check(v.ExecLua("return "+expression, &value))
			if until(value) {
				return time.Now()
			}
			time.Sleep(time.Millisecond)
		}
	}
	self, err := os.Executable()
	check(err)
	shim := exec.Command(hermes, "shim", "--root", project, "--", self, "arrive", strconv.Itoa(count), looked, stamp)
	shim.Dir, shim.Env = project, env
	begin := time.Now()
	output := strings.Builder{}
	shim.Stdout, shim.Stderr = &output, &output
	check(shim.Start())
	showed := is("last()", func(value any) bool { return value == "changed" })
	all := is("total", func(value any) bool { return fmt.Sprint(value) == strconv.Itoa(count+1) })
	if err := shim.Wait(); err != nil {
		check(fmt.Errorf("%w\n%s", err, &output))
	}
	text, err := os.ReadFile(stamp)
	check(err)
	nanoseconds, err := strconv.ParseInt(string(text), 10, 64)
	check(err)
	end := time.Unix(0, nanoseconds)
	since := func(t time.Time) float64 { return max(0, float64(t.Sub(end).Microseconds())/1000) }
	return float64(end.Sub(begin).Milliseconds()), since(showed), since(all)
}

// arriving writes the files, the one that is looked at last, and then when that was.
func arriving(count, looked, stamp string) {
	n, err := strconv.Atoi(count)
	check(err)
	check(os.Mkdir("made", 0o755))
	for i := range n {
		check(os.WriteFile("made/f"+strconv.Itoa(i), []byte(strings.Repeat("line "+strconv.Itoa(i)+"\n", 40)), 0o644))
	}
	check(os.WriteFile(looked, []byte("first\nchanged\n"), 0o644))
	check(os.WriteFile(stamp, []byte(strconv.FormatInt(time.Now().UnixNano(), 10)), 0o644))
}
