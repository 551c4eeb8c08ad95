package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/sockdir"
)

// ways are ways out of a sandbox, as lines of a shell that succeed when they lead
// out. {OUT} is a folder that is not for the agent, {HOST} and {NVIM} are processes
// that are not its own, {SERVER} is the socket of Neovim, and {SELF} is the program
// that confines.
var ways = []string{
	"echo x > {OUT}/new", "echo x >> {OUT}/file", ": > {OUT}/file", "truncate -s 0 {OUT}/file", "mkdir {OUT}/dir",
	"ln file {OUT}/hard", "ln {OUT}/file hard.$$", "ln -s x {OUT}/soft", "cp file {OUT}/copy", "mkfifo {OUT}/fifo",
	"ln -sfn {OUT} way.$$ && echo x > way.$$/linked", "cd {OUT} && echo x > there",
	"echo x > /proc/self/root{OUT}/root", "echo x > /proc/$PPID/root{OUT}/parent", "echo x > /proc/{HOST}/root{OUT}/host",
	"setsid -w sh -c 'echo x > {OUT}/daemon'", "TMPDIR={OUT} sh -c 'echo x > {OUT}/temporary'", "cat {OUT}/.ssh/id", "HOME=/ cat {OUT}/.ssh/id",
	"cp {OUT}/.ssh/id stolen.$$", "cat /proc/{HOST}/environ", "kill -0 {HOST}", "kill -0 {NVIM}",
	"python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{SERVER}')\"",
	"{SELF} confine --rules '{\"write\":[\"/\"],\"net\":true,\"sockets\":true}' -- /bin/sh -c 'echo x > {OUT}/again'",
	"mv {OUT}/file stolen.file.$$", "rm {OUT}/other",
}

// confiner is the program of testLauncher.
func confiner(t *testing.T) string {
	t.Helper()
	program, err := filepath.EvalSymlinks(testLauncher()[0])
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// outside makes a folder that is not for agents, and returns the script that tries to
// reach it by each way. It prints the number of each that works, then "tried".
func outside(t *testing.T, e *editor, dir, name string) (folder, script string) {
	t.Helper()
	folder, script = filepath.Join(dir, name), filepath.Join(dir, "work", name+".sh")
	for path, text := range map[string]string{".ssh/id": "SECRET", "file": "theirs", "other": "theirs"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server, _ := e.lua("return vim.v.servername").(string)
	fill := strings.NewReplacer("{OUT}", folder, "{HOST}", strconv.Itoa(e.hostPID()), "{NVIM}", e.json("vim.fn.getpid()"),
		"{SERVER}", server, "{SELF}", confiner(t))
	var b strings.Builder
	for i, way := range ways {
		fmt.Fprintf(&b, "(%s) > /dev/null 2>&1 && echo \"way %d\"\n", fill.Replace(way), i)
	}
	b.WriteString("echo x > inside && echo \"inside\"\necho x > $TMPDIR/t && echo \"temporary\"\necho tried\n")
	if err := os.WriteFile(script, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder, script
}

// inSandboxes runs test in each Neovim, in the folder dir/work, with dir/tmp as the
// temporary folder.
func inSandboxes(t *testing.T, test func(t *testing.T, e *editor, dir string)) {
	t.Helper()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		if os.Getenv("CI") != "" {
			t.Fatal(lacks)
		}
		t.Skip(lacks)
	}
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		dir, err := filepath.EvalSymlinks(sockdir.New(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []string{"work", "tmp", "other"} {
			if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(dir+"/work/file", []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		e.lua(`
_G.dir = ...
vim.env.TMPDIR = dir .. "/tmp"
vim.api.nvim_set_current_dir(dir .. "/work")`, dir)
		test(t, e, dir)
	})
}

func TestAConfinedAgentAndItsCommandsStayInside(t *testing.T) {
	inSandboxes(t, func(t *testing.T, e *editor, dir string) {
		e.lua(`
function _G.try(name, agent, session)
  hermes.prompt(session, "RUN sh " .. name .. ".sh\nLOOSE sh " .. name .. ".sh > " .. name .. ".out; mv " .. name .. ".out " .. name .. ".done", { agent = agent, on_done = finish(name) })
end
hermes.connect("second")
hermes.create_session({ agent = "second", on_done = finish("free") })`)
		e.until("done.free")
		e.is("done.free.err == nil and hermes.connections()[1].sandbox == nil", true)

		// Without a sandbox most of the ways lead out, or this test proves nothing.
		_, script := outside(t, e, dir, "control")
		e.lua(`try("control", "second", done.free.result.sessionId)`)
		e.until("done.control and vim.uv.fs_stat('control.done')")
		if text := said(e) + readText(t, strings.TrimSuffix(script, "sh")+"done"); strings.Count(text, "way ") < len(ways) {
			t.Errorf("too few ways lead out without a sandbox:\n%s", text)
		}

		folder, script := outside(t, e, dir, "guarded")
		e.lua(`
seen = {}
hermes.connect("tester", { sandbox = { hide = { dir .. "/guarded/.ssh" } } })
hermes.create_session({ agent = "tester", on_done = finish("boxed") })`)
		e.until("done.boxed")
		e.is("done.boxed.err", nil)
		before := treeOf(t, folder)
		e.lua(`try("guarded", "tester", done.boxed.result.sessionId)`)
		e.until("done.guarded and vim.uv.fs_stat('guarded.done')")
		for what, text := range map[string]string{"command": said(e), "agent": readText(t, strings.TrimSuffix(script, "sh")+"done")} {
			if strings.Contains(text, "way ") || strings.Count(text, "tried") != 1 || !strings.Contains(text, "inside") || !strings.Contains(text, "temporary") {
				t.Errorf("%s: %s", what, text)
			}
			for _, line := range strings.Split(strings.ReplaceAll(text, `\n`, "\n"), "\n") {
				if n, ok := strings.CutPrefix(line, "way "); ok {
					i, _ := strconv.Atoi(n)
					t.Errorf("%s: %s", what, ways[i])
				}
			}
		}
		if after := treeOf(t, folder); after != before {
			t.Errorf("it changed something outside:\n%s\nwas\n%s", after, before)
		}
	})
}

func said(e *editor) string {
	text, _ := e.lua("return said()").(string)
	return text
}

func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// treeOf is what is in a folder.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %q\n", path, text)
		return err
	})
	return b.String()
}

func TestTheSandboxOfAnAgentIsShown(t *testing.T) {
	inSandboxes(t, func(t *testing.T, e *editor, dir string) {
		e.lua(`
hermes.setup({ sandbox = { net = { 443 }, write = { dir .. "/other" } }, agents = { second = { sandbox = false } } })
hermes.connect("tester", { on_done = finish("tester") })
hermes.connect("second", { on_done = finish("second") })`)
		e.until("done.tester and done.second")
		e.is("{ done.tester.err == nil, done.second.err == nil }", []bool{true, true})
		e.is("hermes.state().agents.second.sandbox", nil)
		e.is("hermes.state().agents.tester.sandbox.write", []string{dir + "/other", dir + "/tmp", dir + "/work"})
		e.is("hermes.connections()[2].sandbox.net", []int{443})
		e.is(`vim.tbl_filter(function(d) return d.agent == "tester" and d.to == "starting" end, of("StateChanged"))[1].sandbox.sockets`, false)
		e.lua(`vim.cmd("Hermes status")`)
		e.is(`vim.tbl_filter(function(l) return l:find("confined", 1, true) ~= nil end, vim.api.nvim_buf_get_lines(0, 0, -1, false))`,
			[]string{fmt.Sprintf("  confined: may change %[1]s/other, %[1]s/tmp, %[1]s/work; read all but secrets; network ports 443", dir)})
	})
}

func TestASandboxThatCannotBeIsAnError(t *testing.T) {
	inSandboxes(t, func(t *testing.T, e *editor, dir string) {
		fail := func(agent, opts, kind, want string) {
			t.Helper()
			e.lua(`done = {}; hermes.connect(` + agent + `, vim.tbl_extend("keep", { on_done = finish("it") }, ` + opts + `))`)
			e.until("done.it")
			if got, _ := e.lua("return (done.it.err or {}).message").(string); !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", opts, got, want)
			}
			e.is("(done.it.err or {}).kind", kind)
		}
		fail(`"tester"`, `{ sandbox = { write = { dir .. "/missing" } } }`, "sandbox", `agent "tester" cannot be confined: sandbox: lstat `+dir+`/missing: no such file or directory`)
		fail(`"tester"`, `{ sandbox = { "no-such-wrapper" } }`, "sandbox", `"no-such-wrapper": executable file not found`)
		fail(`"tester"`, `{ sandbox = { hide = { dir .. "/work/file" } } }`, "sandbox", "cannot be hidden inside of "+dir+"/work")
		const elsewhere = "runs elsewhere, where Hermes cannot confine it: confine it there, or set its sandbox to false"
		fail(`"far"`, `{ protocol = "socket", path = dir .. "/missing", sandbox = true }`, "sandbox", elsewhere)
		fail(`"far"`, `{ command = "ssh", sandbox = true }`, "sandbox", elsewhere)
		fail(`"far"`, `{ command = "docker", sandbox = function() return true end }`, "sandbox", elsewhere)
		e.lua("hermes.setup({ sandbox = true })")
		fail(`"far"`, `{ protocol = "socket", path = dir .. "/missing" }`, "start", "cannot be reached") // the general one is for others
		e.is(`{ pcall(hermes.connect, "tester", { sandbox = function() error("oops", 0) end }) }`, []any{false, "hermes.connect: the function sandbox failed: oops"})
		e.is(`{ pcall(hermes.connect, "tester", { sandbox = function() return 7 end }) }`,
			[]any{false, "hermes.connect: the function sandbox must be true, false, a table, a list of strings or a function, not 7"})
	})
}

func TestASessionElsewhereNeedsAWiderSandbox(t *testing.T) {
	inSandboxes(t, func(t *testing.T, e *editor, dir string) {
		e.lua(`
hermes.connect("tester", { sandbox = true })
local before = dir .. "/other"
hermes.create_session({ cwd = before, on_done = finish("elsewhere") })
hermes.create_session({ additional_directories = { before }, on_done = finish("more") })
hermes.create_session({ cwd = before, force = true, on_done = finish("forced") })
hermes.create_session({ on_done = finish("here") })`)
		e.until("done.elsewhere and done.more and done.forced and done.here")
		for _, name := range []string{"elsewhere", "more"} {
			e.is("{ done."+name+".err.kind, done."+name+".err.message }", []string{"sandbox", fmt.Sprintf(
				`agent "tester" is confined and cannot change %[1]s/other: add it to the write of its sandbox and connect again (it may change %[1]s/tmp, %[1]s/work)`, dir)})
		}
		e.is("{ done.forced.err == nil, done.here.err == nil }", []bool{true, true})
		// Folders that the project's defaults add belong to the sandbox.
		e.lua(`
hermes.disconnect("tester")
hermes.setup({ session_defaults = { additional_directories = { dir .. "/other" } } })
hermes.connect("tester", { sandbox = true })
hermes.create_session({ on_done = finish("default") })`)
		e.until("done.default")
		e.is("done.default.err == nil", true)
	})
}

// status is what the kernel says of a process that is confined: by seccomp, and
// without new privileges.
const status = `sh -c "grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status | tr -d '\t\n'"`

const inABox = "NoNewPrivs:1Seccomp:2"

func TestARestartedAgentIsConfined(t *testing.T) {
	inSandboxes(t, func(t *testing.T, e *editor, _ string) {
		e.lua(`
hermes.connect("tester", { sandbox = true, reconnect = true })
hermes.create_session({ on_done = finish("session") })`)
		e.until("done.session")
		for i := range 2 {
			e.lua(`
done.turn, seen = nil, {}
hermes.prompt(done.session.result.sessionId, ..., { on_done = finish("turn") })`, "LOOSE "+status+" > own; mv own ready\nRUN "+status)
			e.until("done.turn and vim.uv.fs_stat('ready')")
			if text := said(e); !strings.Contains(text, inABox) {
				t.Errorf("%d: the command: %s", i, text)
			}
			e.is(`vim.fn.readfile("ready")[1]`, inABox)
			e.lua(`vim.uv.fs_unlink("ready")`)
			if i == 0 {
				e.lua(`seen = {}; hermes.prompt(done.session.result.sessionId, "HANGUP")`)
				e.until(`vim.iter(of("StateChanged")):any(function(d) return d.to == "ready" end)`)
			}
		}
		e.is(`hermes.state().agents.tester.sandbox ~= nil`, true)
	})
}

// A program in place of rules gets the command lines of the agent and its commands.
func TestAWrapperConfinesInItsOwnWay(t *testing.T) {
	inSandboxes(t, func(t *testing.T, e *editor, _ string) {
		e.lua(`
_G.names = {}
hermes.setup({ agents = { own = {
  command = "sh", args = { "-c", 'echo "agent ${WRAPPED:-not} wrapped" >&2; exec "$0"', ... }, env = agent(serving).env,
  sandbox = function(name) names[#names + 1] = name; return { "env", "WRAPPED=is" } end,
} } })
hermes.connect("own")
hermes.create_session({ on_done = finish("session") })`, testAgent(t))
		e.until(`done.session and #of("AgentStderr") > 0`)
		e.is("names", []string{"own"})
		e.is(`of("AgentStderr")[1].line`, "agent is wrapped")
		e.is("hermes.connections()[1].sandbox.wrapper[2]", "WRAPPED=is")
		e.lua(`hermes.prompt(done.session.result.sessionId, "RUN echo command ${WRAPPED:-not} wrapped", { on_done = finish("turn") })`)
		e.until("done.turn")
		if text := said(e); !strings.Contains(text, "command is wrapped") {
			t.Error(text)
		}
	})
}

// Neovim starts the program of a login, not the host.
func TestTheLoginOfAConfinedAgentIsConfined(t *testing.T) {
	program := filepath.Join(t.TempDir(), "agent")
	script := "#!/bin/sh\nif [ \"$LOGIN\" = yes ]; then " + status + "; read answer; exit $answer; fi\nexec \"$AGENT\"\n"
	if err := gobuild.Write(program, script); err != nil {
		t.Fatal(err)
	}
	inSandboxes(t, func(t *testing.T, e *editor, _ string) {
		e.script("sandboxed_login", testAgent(t), program)
		e.until(`#of("TerminalLogin") == 2`)
		e.lua(`
function _G.shown(name)
  local login = vim.iter(of("TerminalLogin")):find(function(d) return d.agent == name end)
  return { channel = vim.bo[login.bufnr].channel, command = vim.list_slice(login.command, 2), text = vim.api.nvim_buf_get_lines(login.bufnr, 0, 1, false)[1] }
end`)
		e.until(`shown("tui").text ~= "" and shown("free").text ~= ""`)
		e.is(`{ shown("tui").command, shown("tui").text }`, []any{[]string{"first", "login"}, inABox})
		if text := e.json(`shown("free").text`); strings.Contains(text, inABox) {
			t.Errorf("confined without a sandbox: %s", text)
		}
		e.lua(`for _, name in ipairs({ "tui", "free" }) do vim.api.nvim_chan_send(shown(name).channel, "0\r") end`)
		e.until("done.tui and done.free")
		e.is("{ done.tui.err == nil, done.free.err == nil }", []bool{true, true})
	})
}
