// Package sinks checks that no Lua of the plugin can run or type what an agent
// wrote: the calls that would turn text into code, commands or keys are not
// there, or it is said why they are safe.
package sinks

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Functions below vim.fn that evaluate, expand, run or type an argument, or
// keep it for something that does.
var functions = strings.Fields(`
	input inputsecret inputdialog inputlist confirm feedkeys setcmdline complete complete_add
	prompt_setprompt prompt_setcallback prompt_setinterrupt
	execute win_execute eval luaeval py3eval pyeval pyxeval perleval rubyeval call exists
	map mapnew filter foreach reduce sort uniq substitute searchpair searchpairpos
	expand expandcmd glob globpath findfile finddir getcompletion
	system systemlist jobstart termopen rpcstart chansend libcall libcallnr sockconnect serverstart
	bufadd bufload bufnr setreg histadd mapset setqflist setloclist
	setbufvar setwinvar settabwinvar`)

// Functions of the API that do.
var api = strings.Fields(`
	nvim_exec nvim_exec2 nvim_command nvim_command_output nvim_cmd nvim_parse_cmd nvim_parse_expression
	nvim_eval nvim_eval_statusline nvim_exec_lua nvim_execute_lua nvim_call_function nvim_call_dict_function nvim_call_atomic
	nvim_feedkeys nvim_input nvim_paste nvim_put nvim_replace_termcodes nvim_open_term nvim_chan_send nvim_ui_send
	nvim_set_keymap nvim_buf_set_keymap nvim_create_user_command nvim_buf_create_user_command
	nvim_create_autocmd nvim_exec_autocmds nvim_load_context nvim_get_runtime_file nvim_buf_set_name
	nvim_set_option_value nvim_set_option nvim_buf_set_option nvim_win_set_option`)

// Members of vim that do, at any depth, and those of the standard library.
var members = strings.Fields(`
	vim.ui.input vim.ui.select vim.ui.open vim.paste vim.system vim.uv.spawn uv.spawn vim.loop.spawn
	vim.uri_to_bufnr vim.snippet.expand vim.keymap.set vim.treesitter vim.filetype vim.lsp.util vim.secure
	io.popen os.execute package.loadlib`)

// Globals that do.
var globals = strings.Fields(`load loadstring loadfile dofile`)

// Options that Neovim evaluates, runs or picks files by.
var options = strings.Fields(`
	statusline winbar tabline titlestring iconstring rulerformat statuscolumn quickfixtextfunc
	foldexpr foldtext indentexpr includeexpr formatexpr diffexpr patchexpr charconvert
	completefunc omnifunc tagfunc operatorfunc thesaurusfunc findfunc
	formatprg equalprg grepprg makeprg keywordprg shell shellcmdflag shellpipe shellredir errorformat
	filetype syntax modeline`)

// A finding is a use of a sink with something that is not constant.
type finding struct {
	line int
	sink string
}

// find lists the uses of sinks in Lua code.
func find(text string) (list []finding) {
	code := scan(text)
	for i, t := range code {
		if t.kind == 's' && strings.Trim(t.text, `"'`) == runner {
			list = append(list, finding{t.line, runner})
		}
		if t.kind == 'n' {
			if sink := sinkAt(code, i); sink != "" {
				list = append(list, finding{t.line, sink})
			}
		}
	}
	return list
}

// path is the chain of names that ends at i, such as vim.fn.input.
func path(code []token, i int) string {
	name := code[i].text
	for at(code, i-1).is(".") && at(code, i-2).kind == 'n' {
		i -= 2
		name = code[i].text + "." + name
	}
	return name
}

// sinkAt names the sink that the token i uses unsafely, if it does.
func sinkAt(code []token, i int) string {
	name, full := code[i].text, path(code, i)
	member := at(code, i-1).is(".") || at(code, i-1).is(":")
	args, called := arguments(code, i+1)
	safe := called && !slices.ContainsFunc(args, func(arg []token) bool { return !constant(arg) })
	switch {
	case !member && slices.Contains(globals, name) && !at(code, i+1).is("="):
		return name
	case !member && name == "require":
		if !safe {
			return "require"
		}
	case full == "vim.ui.input" || full == "vim.fn.input" || full == "fn.input":
		// Neovim types what stands on the line at the start.
		if len(args) > 0 && (has(args[0], "default") || has(args[0], "completion")) || full != "vim.ui.input" && len(args) > 1 {
			return "default of " + full
		}
		if !safe {
			return full
		}
	case full == "vim.keymap.set" && called:
		if len(args) < 3 || !constant(args[0]) || !constant(args[1]) || !constant(args[2]) {
			return full
		}
	case strings.HasSuffix(name, "_create_autocmd") || strings.HasSuffix(name, "_exec_autocmds"):
		if called && strings.HasPrefix(name, "nvim_") && (len(args) == 0 || !constant(args[0]) || len(args) > 1 && (has(args[1], "command") || has(args[1], "pattern"))) {
			return name
		}
	case strings.HasSuffix(name, "_create_user_command"):
		if called && (len(args) < 2 || !constant(args[:len(args)-1][0]) || !constant(args[len(args)-2])) {
			return name
		}
	case slices.Contains(api, name):
		if !safe {
			return name
		}
	case member && at(code, i-2).is("fn") && slices.Contains(functions, name):
		if !safe {
			return "vim.fn." + name
		}
	case slices.ContainsFunc(members, func(m string) bool { return full == m || strings.HasPrefix(full, m+".") }):
		if !safe && !at(code, i+1).is(".") {
			return full
		}
	case full == "vim.cmd" || strings.HasPrefix(full, "vim.cmd."):
		if !safe && !at(code, i+1).is(".") {
			return "vim.cmd"
		}
	case full == "vim.fn" || full == "vim.api":
		if !at(code, i+1).is(".") && !(full == "vim.api" && isAlias(code, i)) {
			return full + " as a value"
		}
	case full == "vim.call" || full == "vim" && !at(code, i+1).is("."):
		return full
	case member && slices.Contains(options, name):
		if isOption(code, i-2) && !assignsConstant(code, i+1) {
			return "option " + name
		}
	case isScope(code, i) && at(code, i+1).is("["):
		return indexed(code, i)
	}
	return ""
}

// has reports whether a table has a member that is not constant.
func has(table []token, name string) bool {
	for i, t := range table {
		if t.is(name) && at(table, i+1).is("=") {
			end := i + 2
			for end < len(table) && !table[end].is(",") && !table[end].is("}") {
				end++
			}
			if !constant(table[i+2 : end]) {
				return true
			}
		}
	}
	return false
}

// isAlias reports whether the value at i is given a name. That hides nothing:
// the functions of the API are known by theirs.
func isAlias(code []token, i int) bool {
	for k := i - 1; k >= 0 && code[k].line == code[i].line; k-- {
		if code[k].is("local") {
			return true
		}
	}
	return false
}

var scopes = []string{"o", "bo", "wo", "go", "opt", "opt_local", "opt_global"}

// isScope reports whether i ends vim.o, vim.bo and so on.
func isScope(code []token, i int) bool {
	return slices.Contains(scopes, at(code, i).text) && at(code, i-1).is(".") && at(code, i-2).is("vim")
}

// isOption reports whether what ends at i is vim.o or vim.bo[…].
func isOption(code []token, i int) bool {
	if at(code, i).is("]") {
		for depth := 0; i >= 0; i-- {
			if code[i].is("]") {
				depth++
			} else if code[i].is("[") {
				if depth--; depth == 0 {
					i--
					break
				}
			}
		}
	}
	return isScope(code, i)
}

// indexed names an option that is picked by an expression.
func indexed(code []token, i int) string {
	if slices.Contains([]string{"bo", "wo"}, code[i].text) { // of a buffer or window
		end := closing(code, i+1)
		if !at(code, end+1).is("[") {
			return ""
		}
		i = end
	}
	end := closing(code, i+1)
	name := code[i+2 : min(end, len(code))]
	if constant(name) && !slices.Contains(options, name[0].text) || at(code, end+1).is("=") && assignsConstant(code, end+1) && constant(name) {
		return ""
	}
	return "option by name"
}

// assignsConstant reports whether the option before i is only read, or set to
// constants.
func assignsConstant(code []token, i int) bool {
	if at(code, i).is(":") { // vim.opt.name:append()
		args, called := arguments(code, i+2)
		return !called || !slices.ContainsFunc(args, func(arg []token) bool { return !constant(arg) })
	}
	for ; at(code, i).is(",") || at(code, i).is(".") || at(code, i).kind == 'n' || at(code, i).is("["); i++ {
		if i > 0 && at(code, i).kind == 'n' && !at(code, i-1).is(",") && !at(code, i-1).is(".") {
			return true // another statement
		}
		if at(code, i).is("[") {
			i = closing(code, i)
		}
	}
	if !at(code, i).is("=") {
		return true
	}
	for value := true; ; value = !value {
		i++
		t := at(code, i)
		if !value {
			if t.is(",") {
				continue
			}
			return !t.is("..") && !t.is("or") && !t.is("and") && !t.is(".") && !t.is(":") && !t.is("(")
		}
		if t.is("{") {
			end := closing(code, i)
			if !constant(code[i:min(end+1, len(code))]) {
				return false
			}
			i = end
		} else if !constant([]token{t}) {
			return false
		}
	}
}

// meant are uses of a sink that are safe, with the reason: the file and line.
var meant = map[string]string{
	`lua/hermes/command/agents.lua: or vim.fn.getcompletion(lead, #before == 1 and "shellcmd" or "file")`:                        "the user types it",
	`lua/hermes/command/views.lua: or vim.fn.getcompletion(lead, #before == 1 and "shellcmd" or "file")`:                         "the user types it",
	`lua/hermes/command/views.lua: return vim.fn.getcompletion(lead, "file")`:                                                    "the user types it",
	`lua/hermes/command/sessions.lua: local list = vim.fn.getcompletion(lead, "dir")`:                                            "the user types it",
	`lua/hermes/view/logs.lua: local buf = vim.fn.bufadd(path)`:                                                                  "a file of Hermes",
	`lua/hermes/view/choose.lua: vim.ui.select(items, {`:                                                                         "choices are shown, by text.line",
	`lua/hermes/view/status.lua: vim.keymap.set("n", key.key, function()`:                                                        "keys of a constant table",
	`lua/hermes/view/pane.lua: pcall(vim.api.nvim_buf_set_name, buf, "hermes://" .. topic)`:                                      "a constant, or the name of an agent, which the user gave it",
	`lua/hermes/maps.lua: vim.api.nvim_set_keymap(mode, begin .. name .. ")", command, {})`:                                      "constants of the lines below",
	`lua/hermes/command/host.lua: return vim.fn.getcompletion(lead, "file")`:                                                     "the user types it",
	`lua/hermes/core/host.lua: vim.system(cmd, { cwd = root, text = true, env = { CGO_ENABLED = "0" } }, function(out)`:          "builds the host, no shell",
	`lua/hermes/core/host.lua: vim.system({ "go", "env", "GOVERSION" }, { cwd = root, text = true }, function(out)`:              "asks Go for its version, no shell",
	`lua/hermes/core/exec.lua: local ok, problem = pcall(vim.system, argv, options(opts.cwd, opts.stdin), function(out)`:         "a list, no shell, from the modules that are excused here",
	`lua/hermes/core/exec.lua: return vim.system(argv, options(opts and opts.cwd)):wait()`:                                       "a list, no shell, from the modules that are excused here",
	`lua/hermes/core/host.lua: require("hermes.core.exec").start(cmd, opts, function(out)`:                                       "asks git and the host for their versions, no shell",
	`lua/hermes/core/install_task.lua: handle, problem = vim.uv.spawn(cmd[1], {`:                                                 "curl, tar and the verified host, no shell",
	`lua/hermes/core/host.lua: local out = require("hermes.core.exec").wait({ program, ... }, { cwd = M.root() })`:               "asks the host and the agent that setup names, no shell",
	`lua/hermes/channel.lua: local ok, ch = pcall(vim.fn.jobstart, cmd, {`:                                                       "a list: the host that setup names, no shell",
	`lua/hermes/core/job.lua: return vim.fn.jobstart(command, opts)`:                                                             "a list, no shell: the program, the agent or the login that the user asked for",
	`lua/hermes/core/job.lua: return vim.fn.termopen(command, opts)`:                                                             "a list, no shell: the program, the agent or the login that the user asked for",
	`lua/hermes/program/process.lua: local out = require("hermes.core.exec").wait({ "ps", "-o", columns, "-p", tostring(pid) })`: "a number, a list, no shell",
	`lua/hermes/program/tmux.lua: require("hermes.core.exec").start(argv, { stdin = stdin }, function(out)`:                      "tmux and ps, a list, no shell; the words and the text are the user's",
	`lua/hermes/program/buffer.lua: vim.api.nvim_chan_send(program.job, bytes)`:                                                  "goes to the program of the terminal: keys that the user sends",
	`lua/hermes/program/buffer.lua: vim.api.nvim_put(vim.split(bytes, "\n"), "c", false, false)`:                                 "goes to the program of the terminal: a text that the user sends, without control characters",

	`lua/hermes/session/attention.lua: pcall(vim.api.nvim_chan_send, vim.v.stderr, "\7")`:                         "a constant",
	`lua/hermes/session/attention.lua: vim.o.titlestring = "%{v:lua.require'hermes.session.attention'._title()}"`: "counts before what the user has set",
	`lua/hermes/session/attention.lua: vim.o.titlestring = vim.o.titlestring -- evaluated now`:                    "what the user has set",

	`lua/hermes/doc/replace.lua: return vim.cmd(all)`:                                                 "a table without texts",
	`lua/hermes/doc/write.lua: vim.cmd({`:                                                             "a table without texts: writes the current buffer",
	`lua/hermes/doc/write.lua: vim.cmd({ cmd = "doautocmd", args = args, mods = { silent = true } })`: "one of two events, written beside it",
	`lua/hermes/doc/write.lua: vim.cmd({ cmd = "wundo", args = { undo }, mods = { silent = true } })`: "the escaped name of Neovim's own undo file",
	`lua/hermes/doc/show.lua: vim.cmd(quietly .. vim.fn.fnameescape(copy))`:                           "the name of a file of our own",

	`lua/hermes/doc/refresh.lua: pcall(vim.cmd, "silent! unsilent lua require('hermes.doc.refresh')._announce()")`:                       "a constant",
	`lua/hermes/core/user_autocmds.lua: pcall(vim.api.nvim_command, "silent! unsilent lua require('hermes.core.user_autocmds')._run()")`: "a constant",
	`lua/hermes/core/user_autocmds.lua: ok, err = pcall(vim.fn.exists, "")`:                                                              "a constant",
	`lua/hermes/core/user_autocmds.lua: if vim.fn.exists(other.pattern) == 1 then`:                                                       "the name of an event",

	`lua/hermes/ask/dialog.lua: local ok, line = pcall(vim.fn.input, { prompt = prompt, cancelreturn = vim.NIL })`: "a prompt is shown, the line begins empty",
	`lua/hermes/ask/dialog.lua: return vim.ui.input({ prompt = prompt }, function(typed)`:                          "a prompt is shown, the line begins empty",
	`lua/hermes/ask/dialog.lua: local ok, problem = pcall(vim.ui.select, items, {`:                                 "choices are shown, by text.line",
	`lua/hermes/ask/dialog.lua: vim.api.nvim_create_autocmd("WinClosed", {`:                                        "the number of a window",
	`lua/hermes/ask/question_window.lua: vim.keymap.set("n", tostring(digit), function()`:                          "a digit",
	`lua/hermes/ask/elicitation.lua: local ok, _, problem = pcall(vim.ui.open, url)`:                               "a web page the user has seen the address of, no shell",

	`lua/hermes/chat.lua: vim.ui.select(vim.list_slice(views), {`:                                                                 "titles are shown, by text.line",
	`lua/hermes/chat.lua: vim.ui.select(list, {`:                                                                                  "titles are shown, by text.line",
	`lua/hermes/view/chat/keys.lua: vim.keymap.set(mode, ("<Plug>(hermes-chat-%s)"):format(name), act, opts)`:                     "a name of the chat's own, a function",
	`lua/hermes/view/chat/keys.lua: vim.keymap.set(mode, key, act, opts)`:                                                         "the user's key, a function",
	`lua/hermes/view/chat/keys.lua: vim.cmd.Hermes({ args = { "login", chat.agent } })`:                                           "an argument, the user's name of an agent",
	`lua/hermes/view/chat/keys.lua: vim.keymap.set("n", tostring(digit), function()`:                                              "a digit, which it returns",
	`lua/hermes/view/chat/keys.lua: vim.keymap.set("n", key, close, { buffer = buf, nowait = true })`:                             "keys of a constant list",
	`lua/hermes/view/chat/view.lua: api.nvim_create_autocmd(events, { group = self.group, buffer = buf, callback = callback })`:   "constants, a function",
	`lua/hermes/view/chat/markdown.lua: local ok = pcall(vim.treesitter.start, buf, "markdown")`:                                  "the number of a buffer",
	`lua/hermes/view/chat/markdown.lua: vim.treesitter.language.register("markdown", vim.bo[buf].filetype)`:                       "the filetype of the transcript",
	`lua/hermes/view/chat/markdown.lua: done(ok and vim.treesitter.get_parser(buf) or nil)`:                                       "the number of a buffer",
	`lua/hermes/view/chat/markdown.lua: pcall(vim.treesitter.query.get, piece[1], piece[2])`:                                      "languages and queries of a constant list",
	`lua/hermes/view/chat/blocks.lua: vim.cmd({ cmd = "fold", range = { first + 1, last } })`:                                     "the numbers of lines",
	`lua/hermes/view/chat/blocks.lua: vim.cmd({ cmd = "foldopen", range = { first + 1, last } })`:                                 "the numbers of lines",
	`lua/hermes/view/chat/view.lua: api.nvim_buf_set_name(self.transcript_buf, ("hermes://chat/%d"):format(self.transcript_buf))`: "the number of a buffer",
	`lua/hermes/view/chat/view.lua: api.nvim_buf_set_name(self.prompt_buf, ("hermes://prompt/%d"):format(self.transcript_buf))`:   "the number of a buffer",
	`lua/hermes/complete.lua: vim.fn.complete(lead.col + 1, M.words(items))`:                                                      "words that hide nothing, inserted when the user picks them",

	`lua/hermes/terminals.lua: local ok, channel = pcall(api.nvim_open_term, buf, { force_crlf = false })`:          "without on_input, so nothing is typed or answered",
	`lua/hermes/view/terminals/drawing.lua: pcall(api.nvim_chan_send, view.channel, bytes)`:                         "what core/escapes.lua lets through",
	`lua/hermes/terminals.lua: api.nvim_buf_set_name(buf, ("hermes://terminal/%d"):format(numbered))`:               "a number",
	`lua/hermes/terminals.lua: vim.ui.select(newest, {`:                                                             "choices are shown, by text.line",
	`lua/hermes/terminals.lua: vim.keymap.set("n", plug, function()`:                                                "the name of an action",
	`lua/hermes/terminals.lua: vim.keymap.set("n", insert, function()`:                                              "a constant",
	`lua/hermes/terminals.lua: vim.keymap.set("n", its.key, plug, vim.tbl_extend("force", opts, { remap = true }))`: "constants",
	`lua/hermes/traffic.lua: api.nvim_buf_set_name(buf, "hermes://message")`:                                        "a constant",
	`lua/hermes/view/traffic/list.lua: api.nvim_buf_set_name(buf, "hermes://traffic")`:                              "a constant",
	`lua/hermes/traffic.lua: vim.keymap.set("n", plug, its.run, opts)`:                                              "the name of an action",
	`lua/hermes/traffic.lua: vim.keymap.set("n", its.key, plug, vim.tbl_extend("force", opts, { remap = true }))`:   "constants",

	`lua/hermes/review.lua: bufnr = vim.fn.bufadd(hunk.path),`:                                                           "the absolute path of a file under review, nothing is expanded",
	`lua/hermes/view/review/view.lua: api.nvim_create_autocmd("WinClosed", {`:                                            "the number of a window",
	`lua/hermes/review.lua: vim.fn.setqflist({}, " ", { title = title or "Review", items = items })`:                     "texts are shown, by text.line",
	`lua/hermes/doc/show.lua: vim.bo[buf].modeline = modeline`:                                                           "what it was",
	`lua/hermes/doc/show.lua: local buf = vim.fn.bufadd(path)`:                                                           "the absolute path of a file that the user chose from a list, nothing is expanded",
	`lua/hermes/view/review/lists.lua: vim.keymap.set("n", "q", close, { buffer = buf, nowait = true, desc = "Close" })`: "a constant, a function",

	`README.md: vim.cmd.sbuffer(buf)`:                                                   "the number of a buffer",
	`doc/hermes.txt: vim.cmd.sbuffer(buf)`:                                              "the number of a buffer",
	`doc/hermes.txt: vim.keymap.set("n", key, function()`:                               "the number of an option, or q",
	`doc/hermes.txt: vim.system({ "notify-send", "--app-name=Neovim", "--", summary })`: "an argument after --, no shell",
}

// sources are the Lua files and examples that users run, by name.
func sources(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, pattern := range []string{"lua/hermes/*.lua", "lua/hermes/*/*.lua", "lua/hermes/*/*/*.lua", "plugin/*.lua", "examples/*.lua"} {
		list, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(list) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range list {
			name, err := filepath.Rel("../..", file)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = read(name)
		}
	}
	for name, example := range map[string]*regexp.Regexp{
		"README.md":             regexp.MustCompile("(?s)```lua\n(.*?)```"),
		"docs/remote.md":        regexp.MustCompile("(?s)```lua\n(.*?)```"),
		"doc/hermes.txt":        regexp.MustCompile(`(?ms)>lua$(.*?)^\S`),
		"doc/hermes-events.txt": regexp.MustCompile(`(?ms)>lua$(.*?)^\S`),
	} {
		found := example.FindAllStringSubmatch(read(name), -1)
		if len(found) == 0 {
			t.Errorf("%s has no examples", name)
		}
		for i, m := range found {
			all[fmt.Sprintf("%s, example %d", name, i+1)] = m[1]
		}
	}
	return all
}

// T32 to T37 of the conformance list.
func TestNoTextOfAnAgentIsRun(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for name, text := range sources(t) {
		file, _, _ := strings.Cut(name, ",")
		lines := strings.Split(text, "\n")
		for _, f := range find(text) {
			line := strings.TrimSpace(lines[f.line-1])
			key := file + ": " + line
			used[key] = true
			if meant[key] == "" {
				t.Errorf("%s uses %s: %s", name, f.sink, line)
			}
		}
	}
	for key, why := range meant {
		if !used[key] {
			t.Errorf("nothing is excused by %q (%s)", key, why)
		}
	}
}

// Views are built as users build theirs, and can be left out. Only their messages
// are shown by the module that shows all others.
func TestViewsStandOnThePublicAPI(t *testing.T) {
	t.Parallel()
	required := regexp.MustCompile(`(?:require\(?\s*|v:lua\.require)["']([\w.]+)["']`)
	// A question that stands in a chat is one of the queue, and has its rule of what was read from there.
	// The options of the chat are in the configuration.
	more := map[string][]string{
		"lua/hermes/view/chat/asks.lua":        {"hermes.ask.questions", "hermes.ask.reading", "hermes.core.text"},
		"lua/hermes/chat.lua":                  {"hermes.ask.permission"},
		"lua/hermes/view/chat/keys.lua":        {"hermes.ask.reading"},
		"lua/hermes/view/chat/options.lua":     {"hermes.core.config"},
		"lua/hermes/view/review/mini_diff.lua": {"hermes.review"},
	}
	views := 0
	for name, text := range sources(t) {
		view := regexp.MustCompile(`^lua/hermes/(?:view/)?(chat|complete|review)(?:\.lua|/.*\.lua)$`).FindStringSubmatch(name)
		if view == nil || strings.HasPrefix(name, "lua/hermes/review") { // the public module and its parts
			continue
		}
		views++
		for _, m := range required.FindAllStringSubmatch(text, -1) {
			own := m[1] == "hermes" || m[1] == "hermes.complete" || m[1] == "hermes.core.log" || view[1] != "review" && m[1] == "hermes."+view[1] ||
				strings.HasPrefix(m[1], "hermes.view."+view[1]+".")
			if strings.HasPrefix(m[1]+".", "hermes.") && !own && !slices.Contains(more[name], m[1]) {
				t.Errorf("%s requires %s, which is not public", name, m[1])
			}
		}
	}
	if views < 8 {
		t.Errorf("only %d files of views", views)
	}
}

func TestTheCheckFindsEachSink(t *testing.T) {
	t.Parallel()
	caught := []string{
		`require(name)`, `pcall(require, name)`, `require("a" .. name)`,
		`vim.ui.input({ prompt = "Name: ", default = property.default }, done)`, `vim.ui.input({ default = tostring(x) }, function() end)`,
		`vim.fn.input("Name: ", text)`, `vim.fn.input({ prompt = "Name: ", default = text })`,
		`vim.ui.input(opts, done)`, `pcall(vim.ui.input, opts, done)`, "vim.ui.input({\n  prompt = p,\n}, function() end)",
		`vim.cmd("edit " .. name)`, `vim.cmd(name)`, `vim.cmd.edit(name)`, `vim.cmd.tabnew({ args = { name } })`, `vim.cmd([[edit ]] .. name)`, `pcall(vim.cmd, x)`,
		`vim.cmd(("edit %s"):format(name))`, "vim.cmd(\n  'normal! ' .. keys\n)", `vim.cmd.normal({ keys, bang = true })`, `vim.cmd.doautocmd(name)`, `vim.cmd.iabbrev(word)`,
		`vim.fn["system"](x)`, `vim.fn[name](x)`, `local fn = vim.fn`, `vim.api[name](x)`, `pick(vim.api)`, `vim.call("system", x)`, `local v = vim`, `vim["cmd"](x)`,
		`vim.keymap.set("n", "x", text)`, `vim.keymap.set("ia", word, "y")`, `vim.keymap.set(mode, "x", "y")`,
		`vim.api.nvim_create_autocmd(name, { callback = f })`, `vim.api.nvim_create_autocmd("User", { pattern = name })`, `vim.api.nvim_create_autocmd("User", { command = text })`,
		`vim.api.nvim_create_user_command(name, function() end, {})`, `vim.api.nvim_create_user_command("X", text, {})`,
		`vim.wo.winbar = "%{" .. title .. "}"`, `vim.o.statusline = title`, `vim.wo[win].winbar = title`, `vim.wo.linebreak, vim.wo.winbar = true, title`, `vim.opt.statusline:append(title)`,
		`vim.o[name] = x`, `vim.bo[buf][name] = x`, `vim.wo[win]["winbar"] = x`, `vim.o["titlestring"] = x`, `vim.bo.filetype = lang or "text"`, `vim.o.titlestring = ("%s"):format(x)`,
		`vim.api.nvim_set_option_value("winbar", title, {})`, `vim.fn.setwinvar(0, "&statusline", x)`,
		`vim.fn.system(cmd) -- vim.cmd("ok")`, `local x = "--" vim.fn.system(x)`,
		`local s = [[ -- ]] vim.fn.system(s)`, "--[[ a\n]] vim.fn.system(s)", `f(function() vim.fn.system(s) end)`, `vim.cmd(function() return x end, y)`,
	}
	for _, name := range functions {
		caught = append(caught, "vim.fn."+name+"(x)", "fn."+name+"(x)", "pcall(vim.fn."+name+", x)", `vim.fn.`+name+`("a" .. x)`)
	}
	for _, name := range api {
		if !strings.HasSuffix(name, "_autocmd") && !strings.HasSuffix(name, "_autocmds") && !strings.HasSuffix(name, "_user_command") {
			caught = append(caught, "pcall(vim.api."+name+", x)")
		}
		caught = append(caught, "vim.api."+name+"(x)", "api."+name+"(x, y)")
	}
	for _, name := range members {
		caught = append(caught, name+"(x, y, z)", name+".f(x, y, z)")
	}
	for _, name := range globals {
		caught = append(caught, name+"(x)", name+`("return " .. x)()`, "pcall("+name+", x)", name+" (x)")
	}
	for _, name := range options {
		caught = append(caught, "vim.o."+name+" = x", "vim.bo[buf]."+name+` = "a" .. x`, "vim.opt_local."+name+" = { x }")
	}
	for _, code := range caught {
		if len(find(code)) == 0 {
			t.Errorf("not found: %s", code)
		}
	}
	for _, code := range []string{
		`vim.cmd("botright vnew")`, `vim.cmd({ cmd = "edit", args = { "a" }, magic = { file = false } })`, `vim.cmd.redraw()`, `vim.cmd.redrawstatus({ bang = true })`,
		`-- loadstring(x)`, "--[==[\nvim.fn.system(x)\n]==]", `local s = "vim.fn.system(x)"`, `local s = 'it\'s load(x)'`, `self.payload(x)`, `self.load(x)`, `{ load = x }`,
		`vim.wo.winbar = "%{get(b:, 'hermes_chat', '')}"`, `vim.wo.linebreak, vim.wo.winbar = true, "%f"`, "vim.bo.filetype = 'lua'\nlocal x = y", `if vim.bo.filetype == x then f() end`,
		`local ft = vim.bo[buf].filetype`, `local api = vim.api`, `require("hermes")`, `require "hermes"`, `vim.fn.expand("%:p")`, `vim.bo[buf].modifiable = x`, `data.filetype = x`,
		`vim.keymap.set("n", "q", "<Cmd>bwipeout!<CR>", { buffer = buf })`, `vim.keymap.set("n", "q", function() return x end, { buffer = buf })`,
		`vim.api.nvim_create_autocmd("User", { pattern = "Prompted", callback = function(args) f(args) end })`, `vim.api.nvim_create_user_command("X", function(a) f(a) end, { nargs = "?" })`,
		`vim.ui.input({ prompt = "Ask: " }, function(x) f(x) end)`, `vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)`, `vim.notify(text)`,
	} {
		if list := find(code); len(list) != 0 {
			t.Errorf("found %s in: %s", list[0].sink, code)
		}
	}
}

// Every text travels to Neovim as an argument of one constant piece of Lua.
func TestTheHostSendsNoCode(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../plugin/*/*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	calls := regexp.MustCompile(`"(nvim_\w+)"|go-client/(nvim)"`)
	var used []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range calls.FindAllSubmatch(code, -1) {
			used = append(used, string(m[1])+string(m[2]))
		}
	}
	slices.Sort(used)
	// The first is what Neovim calls.
	if want := []string{"nvim_error_event", "nvim_exec_lua"}; !slices.Equal(used, want) {
		t.Errorf("the host names %v, want %v", used, want)
	}
}
