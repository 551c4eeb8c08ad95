// Package sinks checks that no Lua of the plugin can run what an agent wrote:
// the calls that would turn text into code, commands or keys are not there.
package sinks

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sinks are calls that run, expand or type their text. vim.cmd is one unless
// it gets a literal alone or a table; so are the options that Neovim evaluates.
var sinks = []*regexp.Regexp{
	regexp.MustCompile(`(^|[\s=(,{])(load|loadstring|loadfile|dofile)\s*[("'\[]`),
	regexp.MustCompile(`\bvim\.(fn|call)\.?(luaeval|eval|execute|expand|expandcmd|glob|globpath|feedkeys|system|systemlist|bufadd|bufload|termopen)\b`),
	regexp.MustCompile(`\bvim\.fn\[`),
	regexp.MustCompile(`\bvim\.(api\.)?nvim_(exec2?|command|eval|feedkeys|input|open_term|call_function|replace_termcodes|parse_cmd)\b`),
	regexp.MustCompile(`\bvim\.uri_to_bufnr\b`),
	regexp.MustCompile(`\bdoautocmd\b`),
	regexp.MustCompile(`\b(io\.popen|os\.execute)\b`),
	regexp.MustCompile(`\bvim\.cmd\s*\(\s*("[^"]*"|'[^']*')\s*\.\.`),
	regexp.MustCompile(`\bvim\.cmd\s*\(\s*[^"'{\s)]`),
	regexp.MustCompile(`\bvim\.cmd\.\w+\s*\(\s*[^)"'{\s]`),
	regexp.MustCompile(`\bvim\.cmd\.\w+\(\{[^}]*\bargs\s*=\s*\{\s*[^}"'v\s]`),
	regexp.MustCompile(`\b(statusline|winbar|tabline|titlestring)\s*=[^=].*\.\.`),
}

// meant are lines that match and are safe, with the reason.
var meant = map[string]string{
	`return vim.cmd(all)`: "a table",
}

func found(code string) (lines []string) {
	for line := range strings.Lines(code) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "--") || meant[line] != "" {
			continue
		}
		for _, s := range sinks {
			if s.MatchString(line) {
				lines = append(lines, line)
				break
			}
		}
	}
	return lines
}

// T32, T33, T34, T35 of the conformance list.
func TestNoTextOfAnAgentIsRun(t *testing.T) {
	t.Parallel()
	var files []string
	for _, glob := range []string{"../../lua/hermes/*.lua", "../../plugin/*.lua", "../../examples/*.lua"} {
		list, err := filepath.Glob(glob)
		if err != nil || len(list) == 0 {
			t.Fatal(glob, err)
		}
		files = append(files, list...)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range found(string(code)) {
			t.Errorf("%s: %s", file, line)
		}
	}
}

func TestTheCheckFindsEachSink(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`loadstring(text)()`, `load("return " .. x)`, `vim.fn.luaeval(x)`, `vim.fn.expand(name)`, `vim.fn.glob(name)`, `vim.fn.system(cmd)`,
		`vim.fn.feedkeys(x)`, `vim.fn["system"](x)`, `vim.api.nvim_command(x)`, `vim.api.nvim_exec2(x, {})`, `vim.api.nvim_open_term(0, {})`,
		`vim.cmd("edit " .. name)`, `vim.cmd(name)`, `vim.cmd.edit(name)`, `vim.cmd.tabnew({ args = { name } })`, `vim.cmd("doautocmd User x")`,
		`vim.uri_to_bufnr(uri)`, `vim.fn.bufadd(name)`, `io.popen(x)`, `vim.wo.winbar = "%{" .. title .. "}"`,
	} {
		if len(found(line)) != 1 {
			t.Errorf("not found: %s", line)
		}
	}
	for _, line := range []string{
		`vim.cmd("botright vnew")`, `vim.cmd({ cmd = "edit", args = { name }, magic = { file = false } })`, `vim.cmd.redraw()`, `vim.cmd.redrawstatus({ bang = true })`,
		`vim.cmd.tabnew({ args = { vim.fn.fnameescape(path) } })`, `-- loadstring(x)`, `vim.wo.winbar = "%{get(b:, 'hermes_chat', '')}"`, `self.payload(x)`,
	} {
		if len(found(line)) != 0 {
			t.Errorf("found: %s", line)
		}
	}
}
