package plugin

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// However Neovim ends, eight busy agents, half of which ignore the end of their
// input and TERM, and what they run in terminals are gone in five seconds.
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
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			inEveryNeovim(t, func(t *testing.T, e *editor) {
				e.lua(`
local exe = ...
local agents = {}
for i = 1, 8 do
  agents["busy" .. i] = { command = exe, env = { HERMES_TEST_ROLE = "agent " .. (i % 2 == 0 and "stubborn" or "") } }
end
hermes.setup({ agents = agents })
hermes.on_request("PermissionRequest", function() return "allow" end)
for i = 1, 8 do
  local name = "busy" .. i
  hermes.connect(name, { on_done = finish("connect " .. name) })
  hermes.create_session({ agent = name, cwd = vim.fn.getcwd(), on_done = function(err, r)
    done[name] = { err = err }
    if not err then hermes.prompt(r.sessionId, i <= 2 and "RUN sleep 600" or "SAY on\nSLEEP 600000", { agent = name }) end
  end })
end`, exe)
				e.until(`(function() for i = 1, 8 do if not done["busy" .. i] then return false end end return true end)()`)
				e.until(`#of("AgentTextMessage") == 6`)
				pid, err := strconv.Atoi(e.json(`vim.fn.getpid()`))
				if err != nil {
					t.Fatal(err)
				}
				var all []int
				deadline := time.Now().Add(15 * time.Second)
				for len(all) < 1+8+2 { // the host, the agents, two commands
					if time.Now().After(deadline) {
						t.Fatalf("only %d processes run: %v", len(all), all)
					}
					all = descendants(t, pid)
				}
				began := time.Now()
				end(e, pid)
				for _, p := range all {
					name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p))
					if !gone(p, time.Until(began.Add(shutdownTime+time.Second))) {
						t.Errorf("process %d still runs: %q", p, name)
						syscall.Kill(p, syscall.SIGKILL)
					}
				}
				t.Logf("%d processes were gone after %v", len(all), time.Since(began).Round(time.Millisecond))
			})
		})
	}
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

// gone waits for the end of a process; one that only waits to be reaped by
// whoever adopted it has ended.
func gone(pid int, limit time.Duration) bool {
	for end := time.Now().Add(limit); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); strings.Contains(string(b), ") Z ") {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
	return true
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

// Whoever quits in the middle of a turn is not told of errors, nor is the log.
func TestQuittingInATurnLogsNoError(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.prompt(s, "SAY on\nSLEEP 60000")`)
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
