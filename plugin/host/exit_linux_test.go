package host

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testagent"
)

// However Neovim ends, eight busy agents, half of which ignore the end of their
// input and TERM, and what they run in terminals are soon gone.
func TestNothingOutlivesNeovim(t *testing.T) {
	d, _ := time.ParseDuration(os.Getenv("HERMES_SOAK")) // none: once
	endInEveryWay(t)
	for end := time.Now().Add(d); time.Now().Before(end) && !t.Failed(); {
		endInEveryWay(t)
	}
}

func endInEveryWay(t *testing.T) {
	for how, end := range map[string]func(e *editor, pid int){
		"quit":   func(e *editor, _ int) { go e.v.Command("qall!") },
		"killed": func(_ *editor, pid int) { syscall.Kill(pid, syscall.SIGKILL) },
		"hup":    func(_ *editor, pid int) { syscall.Kill(pid, syscall.SIGHUP) },
	} {
		t.Run(how, func(t *testing.T) {
			inEveryNeovim(t, func(t *testing.T, e *editor) {
				e.script("busy_agents")
				e.until(`(function() for i = 1, 8 do if not done["busy" .. i] then return false end end return true end)()`)
				e.until(`#of("AgentTextMessage") == 6`)
				pid, err := strconv.Atoi(e.json(`vim.fn.getpid()`))
				if err != nil {
					t.Fatal(err)
				}
				var all []int
				patience.True(t, "the host, the agents and two commands run", func() bool {
					all = descendants(t, pid)
					return len(all) >= 1+8+2
				})
				t.Cleanup(func() {
					for _, p := range all {
						if t.Failed() {
							syscall.Kill(p, syscall.SIGKILL)
						}
					}
				})
				began := time.Now()
				end(e, pid)
				for _, p := range all {
					name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p))
					patience.True(t, fmt.Sprintf("the end of process %d, %q", p, name), func() bool { return gone(p) })
				}
				t.Logf("%d processes were gone after %v", len(all), time.Since(began).Round(time.Millisecond))
			})
		})
	}
}

// Commands that leave the process group and the session of their agent, lose
// their parent and ignore signals are soon gone, whichever of Neovim, the host,
// the agent and the connection ends in the middle of them, and however it does.
func TestNoCommandOutlivesItsTurn(t *testing.T) {
	for how, end := range map[string]func(t *testing.T, e *editor, host, agent int){
		"quit":          func(_ *testing.T, e *editor, _, _ int) { go e.v.Command("qall!") },
		"neovim killed": func(t *testing.T, e *editor, _, _ int) { kill(t, e.pid()) },
		"host killed":   func(t *testing.T, _ *editor, host, _ int) { kill(t, host) },
		"agent killed":  func(t *testing.T, _ *editor, _, agent int) { kill(t, agent) },
		"disconnected":  func(_ *testing.T, e *editor, _, _ int) { e.lua(`hermes.disconnect("tester")`) },
		"cancelled, left": func(_ *testing.T, e *editor, _, _ int) {
			e.lua(`assert(next(hermes.state().sessions)) for id in pairs(hermes.state().sessions) do hermes.cancel(id) end hermes.disconnect("tester")`)
		},
	} {
		t.Run(how, func(t *testing.T) {
			inEveryNeovim(t, func(t *testing.T, e *editor) {
				e.lua(`hermes.on_request("PermissionRequest", function() return "allow" end)`)
				e.open()
				commands := make(map[string][]string)
				for what, script := range map[string]string{
					"ended by a careful agent": "OWN sleep %s",
					"in a session of its own":  "LOOSE sleep %s\nWAIT",
					"ignores signals":          "LOOSE trap '' TERM HUP INT; sleep %s\nWAIT",
					"orphaned":                 "LOOSE trap '' TERM HUP; setsid sleep %s & true\nWAIT",
					"of a terminal":            "RUN sleep %s",
					"orphaned, of a terminal":  "RUN setsid sleep %s & sleep 600",
					// It has left the group of the command before that ends.
					"orphaned, of an ended command": "RUN trap '' TERM HUP; setsid sh -c '>up.%[1]s; exec setsid sleep %[1]s' >/dev/null 2>&1 & until [ -e up.%[1]s ]; do sleep 0.01; done\nWAIT 10m",
				} {
					seconds := fmt.Sprintf("600.%d", unique.Add(1)+int64(os.Getpid())*1000)
					commands[what] = []string{"sleep", seconds}
					e.lua(`
local script = ...
hermes.create_session({ cwd = vim.fn.getcwd(), on_done = function(err, r)
  hermes.prompt(r.sessionId, script)
  _G.s = r.sessionId
end })`, fmt.Sprintf(script, seconds))
				}
				t.Cleanup(func() {
					for _, args := range commands {
						for _, pid := range running(t, args...) {
							syscall.Kill(pid, syscall.SIGKILL)
						}
					}
				})
				// A process of an ended command may be gone already; its file shows that it
				// ran.
				dir, _ := e.lua("return vim.fn.getcwd()").(string)
				seen := map[string]bool{}
				patience.True(t, "all commands run", func() bool {
					for what, args := range commands {
						if !seen[what] {
							_, err := os.Stat(filepath.Join(dir, "up."+args[1]))
							seen[what] = err == nil || len(running(t, args...)) == 1
						}
					}
					return !slices.Contains(slices.Collect(maps.Values(seen)), false)
				})
				host := e.hostPID()
				agents := programs(descendants(t, host), testagent.Env)
				if len(agents) != 1 {
					t.Fatalf("agents: %v", agents)
				}
				end(t, e, host, agents[0])
				for what, args := range commands {
					patience.True(t, what+": the end of the command", func() bool { return len(running(t, args...)) == 0 })
				}
			})
		})
	}
}

var unique atomic.Int64

func (e *editor) pid() int {
	e.t.Helper()
	pid, err := strconv.Atoi(e.json(`vim.fn.getpid()`))
	if err != nil {
		e.t.Fatal(err)
	}
	return pid
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// running are the processes with these arguments.
func running(t *testing.T, args ...string) []int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	for _, name := range names {
		b, _ := os.ReadFile(name)
		if string(b) != strings.Join(args, "\x00")+"\x00" {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pid)
	}
	return list
}

// programs returns those of the processes that a variable made a host or an
// agent.
func programs(pids []int, variable string) []int {
	var list []int
	for _, pid := range pids {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(env), variable+"=") && strings.Count(string(args), "\x00") == 1 {
			list = append(list, pid)
		}
	}
	return list
}

// Neovim waits for the host, but not for long, and does not kill it: a host that stands
// still is still there when Neovim is gone, and then ends its agents.
func TestNeovimDoesNotWaitLongForTheHost(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		nvim, host := e.pid(), e.hostPID()
		agents := childrenOf(t, host)
		if err := syscall.Kill(host, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		go e.v.Command("qall!")
		waitGone(t, nvim)
		if gone(host) {
			t.Error("Neovim has killed the host")
		}
		syscall.Kill(host, syscall.SIGCONT)
		for _, pid := range append(agents, host) {
			waitGone(t, pid)
		}
	})
}

// descendants are the processes that a process started, and that those did.
func descendants(t *testing.T, pid int) []int {
	t.Helper()
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
		return nil
	}
	var all []int
	for _, child := range childrenOf(t, pid) {
		all = append(append(all, child), descendants(t, child)...)
	}
	return all
}

// gone reports whether a process has ended; one that only waits to be reaped by
// whoever adopted it has.
func gone(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ")
}

func TestAgentsEndWithNeovim(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		host := e.hostPID()
		children := childrenOf(t, host)
		if len(children) == 0 {
			t.Fatal("the host has no agent")
		}
		e.v.Close()
		for _, pid := range append(children, host) {
			waitGone(t, pid)
		}
	})
}

// Quitting in the middle of a turn shows and logs no errors.
func TestQuittingInATurnLogsNoError(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.prompt(s, "SAY on\nWAIT 1m")`)
		e.until(`said() == "on"`)
		logs := []string{e.log, strings.Replace(e.log, "hermes-host", "hermes", 1)}
		host := e.hostPID()
		go e.v.Command("qall!")
		waitGone(t, host)
		for _, path := range logs {
			b, err := os.ReadFile(path)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			for _, bad := range []string{"ERROR", "context canceled", "closed by this side"} {
				if strings.Contains(string(b), bad) {
					t.Errorf("%s: %s is in\n%s", path, bad, b)
				}
			}
		}
	})
}
