package host

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// childrenOf lists the children of a process.
func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	for _, task := range tasks {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err != nil {
			t.Skipf("the kernel does not tell children: %v", err)
		}
		for _, f := range strings.Fields(string(b)) {
			n, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, n)
		}
	}
	return list
}

// peakMemory is the most memory a process has had, in KiB.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAFloodWaitsInTheAgentWhileNeovimIsBusy(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		host := e.hostPID()
		const n = 3000 // 30 MiB
		e.lua(`
_G.bytes = 0
seen = setmetatable({}, { __newindex = function(_, _, e) if e.event == "AgentTextMessage" then bytes = bytes + #e.text end end })
hermes.prompt(s, ..., { on_done = finish("turn") })`, fmt.Sprintf("FILL %d 10240", n))
		e.until("bytes > 0")
		e.lua("vim.uv.sleep(500)")
		e.until("done.turn")
		e.is("bytes", n*10<<10)
		if peak := peakMemory(t, host); peak > 80<<10 && !raceEnabled() {
			t.Errorf("the host took %d KiB", peak)
		} else {
			t.Logf("the host took %d KiB", peak)
		}
	})
}

// raceEnabled reports whether memory means nothing here.
func raceEnabled() bool {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" {
				return true
			}
		}
	}
	return false
}

// waitGone fails unless the process ends in time.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	patience.True(t, fmt.Sprintf("the end of process %d", pid), func() bool { return gone(pid) })
}
