package sinks

import (
	"slices"
	"strings"
	"testing"
)

// An agent may change the names below a session's folders at any time, also while
// the sandbox keeps it from everything else. Whoever is not confined must not look
// at, open, write, list or run by such a name: it may lead elsewhere, never answer,
// or choose a program. One module of each language does that.

// diskModules are those in Lua, which take the identity of files into account.
var diskModules = []string{"lua/hermes/core/disk.lua", "lua/hermes/doc/show.lua", "lua/hermes/doc/write.lua"}

// Functions that look at, open or change files, or run programs in a folder.
var (
	fileFunctions = strings.Fields(`
		readfile writefile readblob filereadable filewritable isdirectory glob globpath findfile finddir readdir readdirex
		resolve getftype getfsize getftime getfperm setfperm delete rename mkdir filecopy
		system systemlist jobstart termopen bufload bufadd`)
	fileMembers = strings.Fields(`
		vim.system vim.uv.spawn uv.spawn vim.loop.spawn vim.fs.dir vim.fs.find vim.fs.root vim.fs.rm vim.secure.read
		io.open io.lines io.popen os.remove os.rename os.execute dofile loadfile`)
	fileCommands = strings.Fields(`
		write wall update saveas wq xit edit tabedit view read source drop find badd checktime
		diffpatch vimgrep grep make lcd tcd cd w wa x up e r so`)
)

// runner is the module that runs programs for others.
const runner = "hermes.core.exec"

// fileUses lists the names of what Lua code uses of these.
func fileUses(text string) (uses []string) {
	code := scan(text)
	for i, t := range code {
		full := ""
		if t.kind == 'n' {
			full = path(code, i)
		}
		member := at(code, i-1).is(".")
		switch {
		case t.kind == 's' && strings.Trim(t.text, `"'`) == runner:
			uses = append(uses, runner)
		case t.kind == 's' && at(code, i-1).is("[") && at(code, i-2).kind == 'n' && at(code, i+1).is("]"):
			name := strings.Trim(t.text, `"'`)
			if strings.HasPrefix(name, "fs_") || slices.Contains(fileFunctions, name) {
				uses = append(uses, name)
			}
		case t.kind != 'n' || at(code, i+1).is(".") && !strings.HasPrefix(full, "vim.cmd."):
		case member && strings.HasPrefix(t.text, "fs_") && (at(code, i-2).is("uv") || at(code, i-2).is("loop")):
			uses = append(uses, t.text)
		case member && at(code, i-2).is("fn") && slices.Contains(fileFunctions, t.text):
			uses = append(uses, "vim.fn."+t.text)
		case slices.Contains(fileMembers, full):
			uses = append(uses, full)
		case full == "vim.cmd":
			uses = append(uses, commandsIn(code, i+1)...)
		case strings.HasPrefix(full, "vim.cmd.") && slices.Contains(fileCommands, t.text):
			uses = append(uses, ":"+t.text)
		}
	}
	return uses
}

// commandsIn returns the commands with files that a call of vim.cmd runs.
func commandsIn(code []token, i int) (uses []string) {
	args, _ := arguments(code, i)
	for _, arg := range args {
		for _, t := range arg {
			for _, word := range strings.FieldsFunc(strings.Trim(t.text, `"'[]`), func(r rune) bool { return r == ' ' || r == '|' || r == '!' }) {
				if t.kind == 's' && slices.Contains(fileCommands, word) {
					uses = append(uses, ":"+word)
				}
			}
		}
	}
	return uses
}

// excuse is why the files that a module touches are nobody's but the user's.
type excuse struct{ why, uses string }

// elsewhere are the other modules that touch files or run programs. A use that is
// gone has to go here, too.
var elsewhere = map[string]excuse{
	"lua/hermes/view/chat/draft.lua":        {"prompts that were not sent, in the state folder of Neovim", "fs_close fs_open fs_rename fs_unlink fs_write io.open vim.fn.mkdir"},
	"lua/hermes/channel.lua":                {"runs the host, and makes the folder of its log", "vim.fn.jobstart vim.fn.mkdir"},
	"lua/hermes/view/logs.lua":              {"shows the logs of Hermes", ":checktime vim.fn.bufadd"},
	"lua/hermes/core/exec.lua":              {"runs what the modules name that use it, and these are excused here", "vim.system"},
	"lua/hermes/core/host.lua":              {"builds the host and asks for versions, in the folder of the plugin", "io.lines vim.system hermes.core.exec"},
	"lua/hermes/core/install.lua":           {"installs the host in the folder of the plugin, where its programs run", "fs_close fs_fchmod fs_fstat fs_fsync fs_lstat fs_mkdir fs_open fs_read fs_rename fs_stat fs_unlink fs_write io.open vim.fn.isdirectory vim.fs.dir"},
	"lua/hermes/core/install_task.lua":      {"installs the host in the folder of the plugin, where its programs run", "vim.uv.spawn"},
	"lua/hermes/core/job.lua":               {"runs what the user has opened in a terminal", "vim.fn.jobstart vim.fn.termopen"},
	"lua/hermes/core/log.lua":               {"the log, in the state folder of Neovim", "fs_close fs_open fs_rename fs_stat fs_unlink fs_write vim.fn.mkdir"},
	"lua/hermes/program/process.lua":        {"/proc, and ps where there is none", "io.open hermes.core.exec"},
	"lua/hermes/program/tmux.lua":           {"tmux and ps, which read nothing there", "hermes.core.exec"},
	"lua/hermes/session/project.lua":        {"what :trust has recorded, in the state folder of Neovim", "io.open"},
	"lua/hermes/review.lua":                 {"the number of a buffer for an entry of the quickfix list; nothing is loaded", "vim.fn.bufadd"},
	"lua/hermes/traffic.lua":                {"recordings in the state folder of Neovim", "vim.fn.mkdir"},
	"lua/hermes/view/traffic/recording.lua": {"recordings, at a path that the user names", "fs_close fs_open fs_write vim.fn.readfile"},
}

func TestOneLuaModuleTouchesTheFilesOfSessions(t *testing.T) {
	t.Parallel()
	used := map[string][]string{}
	for name, text := range sources(t) {
		if strings.HasPrefix(name, "lua/") || strings.HasPrefix(name, "plugin/") {
			used[name] = fileUses(text)
		}
	}
	for name, uses := range used {
		if slices.ContainsFunc(diskModules, func(m string) bool { return strings.HasPrefix(name, m) }) {
			continue
		}
		for _, use := range uses {
			if !slices.Contains(strings.Fields(elsewhere[name].uses), use) {
				t.Errorf("%s uses %s: an agent may control the name; lua/hermes/core/disk.lua is for the files of sessions", name, use)
			}
		}
	}
	for name, e := range elsewhere {
		for _, use := range strings.Fields(e.uses) {
			if !slices.Contains(used[name], use) {
				t.Errorf("%s does not use %s, which is excused (%s)", name, use, e.why)
			}
		}
	}
}

func TestTheCheckFindsEachUseOfFiles(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`vim.uv.fs_stat(p)`: "fs_stat", `local s = uv.fs_open`: "fs_open", `pcall(vim.uv.fs_realpath, p)`: "fs_realpath",
		`vim.fn.readfile(p)`: "vim.fn.readfile", `io.open(p, "rb")`: "io.open", `vim.cmd.write()`: ":write", `vim.cmd("silent write!")`: ":write",
		`vim.cmd({ cmd = "edit", args = { p } })`: ":edit", `vim.system(argv)`: "vim.system", `for n in vim.fs.dir(p) do end`: "vim.fs.dir",
		`vim.loop.fs_stat(p)`: "fs_stat", `vim.uv["fs_stat"](p)`: "fs_stat", `vim.fn['readfile'](p)`: "readfile", `vim.cmd("e " .. p)`: ":e",
		`vim.cmd.redraw()`: "", `t = { ["system"] = 1 }`: "", `vim.fs.joinpath(a, b)`: "", `config.fs_read_access`: "", `-- io.open(p)`: "", `self:write(x)`: "",
	} {
		if got := strings.Join(fileUses(code), " "); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
