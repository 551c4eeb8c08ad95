package permission

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/patience"
)

var allowCommands = Rule{Action: Allow, Kind: acp.ToolKindExecute}

func denyCommand(words ...string) Rule { return Rule{Action: Deny, Command: words} }

// run is a tool call that runs a command: a line or a list of words.
func run(t testing.TB, command any) *acp.ToolCallUpdate {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return call(acp.ToolKindExecute, string(raw))
}

func TestOtherSpellingsOfADeniedCommandAreAsked(t *testing.T) {
	t.Parallel()
	for _, command := range []any{
		// Quotes, escapes, expansions.
		`r\m x`, `r$()m x`, `$'\x72m' x`, `R=rm; $R x`, `{r,}m x`, `r?m x`, `/bin/r? x`, "r`true`m x", "r\\\nm x", `RM x`,
		`eval 'r''m x'`, `eval r'\m' x`, `. ./x`, `source x`, `alias l='r'"m"; l x`, `echo x | xargs r\m`, `x & y`, `(ls)`, `ls > x`,
		// Programs given by path may be anything.
		`/bin/rm x`, `./rm x`, `../rm x`, `x/y`, []string{"/bin/rm", "x"}, []string{"./x"}, []string{`C:\bin\rm.exe`, "x"}, `rm.exe x`,
		// Shells and other programs that interpret their arguments.
		`sh -c r\m`, []string{"sh", "-c", "r''m x"}, []string{"bash", "-lc", `r\m x`}, []string{"SH.EXE", "-c", "x"}, `busybox r''m`, []string{"toybox", "r", "m"},
		`python3 -c x`, `python3.12 x`, `perl -e x`, `node x.js`, `awk x`, `ruby x`, `lua5.4 x`,
		`git -c alias.x='!rm y' x`, []string{"git", "-c", `alias.x=!r""m y`, "x"}, []string{"git", "-c", "alias.x=!rm y", "x"},
		[]string{"find", ".", "-exec", `r\m`, "{}", ";"}, `xargs -a list`, []string{"nice", "sh -c rm"}, []string{"env", "-S", "r''m x"},
		[]string{"watch", "ls; rm x"}, `make X=rm`, []string{"ls rm"},
	} {
		if got := decide(t, run(t, command), allowCommands, denyCommand("rm")); got != Ask {
			t.Errorf("%q: %v", command, got)
		}
	}
	for _, input := range []string{
		`{"command":"ls","args":"r''m"}`, `{"command":"ls","args":{"a":"rm"}}`, `{"command":"ls","cmd":"r''m x"}`, `{"command":"ls","script":"x"}`,
		`{"cmd":"ls"}`, `{"input":{"command":"ls"}}`, `{"command":"ls","Command":"r''m"}`, `{"command":"ls","argv":["x"]}`, `{"command":["ls",1]}`,
		`{"command":"ls","stdin":"x"}`, `["ls"]`, `"ls"`, `{"command":"git push","args":[]}`, `{"command":"git","args":["-C",".","push"]}`,
	} {
		if got := decide(t, call(acp.ToolKindExecute, input), allowCommands, denyCommand("rm"), denyCommand("git", "push")); got != Ask && got != Denied {
			t.Errorf("%s: %v", input, got)
		}
	}
	for _, command := range []any{`git -C . push`, `git -c a=b push`, `git -c alias.p=push p`, []string{"git", "--no-pager", "push"}} {
		if got := decide(t, run(t, command), allowCommands, denyCommand("git", "push")); got != Ask {
			t.Errorf("%q: %v", command, got)
		}
	}
	for _, kind := range []acp.ToolKind{acp.ToolKindOther, acp.ToolKindRead} {
		if got := decide(t, call(kind, `{"path":"/w/a","script":"r''m x"}`), Rule{Action: Allow, Kind: kind}, denyCommand("rm")); got != Ask {
			t.Errorf("a script in a call of kind %s: %v", kind, got)
		}
	}
}

func TestADeniedCommandIsDeniedBehindProgramsThatRunOthers(t *testing.T) {
	t.Parallel()
	for _, command := range []any{
		`rm x`, `"rm" x`, `'rm' x`, `env rm x`, `nice rm x`, `timeout 5 rm x`, `busybox rm x`, `command rm x`, `xargs rm`, `nohup rm x`, `sudo -n rm x`,
		`find . -exec rm {} ;`, `r''m x`, `"r"m x`, `nice r''m x`, `timeout 5 "r"m x`, []string{"find", ".", "-exec", "rm", "{}", ";"}, []string{"nice", "-n5", "rm", "x"},
		`sh -c 'rm x'`, `ls; rm x`, `ls && rm x`, `$(rm x)`, "`rm x`",
	} {
		if got := decide(t, run(t, command), allowCommands, denyCommand("rm")); got != Denied {
			t.Errorf("%q: %v", command, got)
		}
	}
}

func TestAClearlyDifferentCommandIsNotDenied(t *testing.T) {
	t.Parallel()
	for _, command := range []any{
		`ls`, `ls -la src`, `go test ./...`, `go test -run '^TestX$' ./a/b`, `git status --short`, `npm run confirm`, `grep -rn "a b" src`, `cargo build --release`,
		[]string{"git", "log", "--format=%h %s"}, `git commit -m "Say what is wrong, and why (again)"`,
	} {
		if got := decide(t, run(t, command), allowCommands, denyCommand("rm"), denyCommand("git", "push")); got != Allowed {
			t.Errorf("%q: %v", command, got)
		}
	}
}

// speller writes commands that run rm in ways a shell understands.
type speller struct{ *rand.Rand }

func (s speller) one(of ...string) string { return of[s.IntN(len(of))] }

// spell hides letters in quotes, escapes and expansions that yield them.
func (s speller) spell(word string) string {
	var b strings.Builder
	for _, r := range word {
		c := string(r)
		b.WriteString(s.one(c, c, c, `\`+c, `'`+c+`'`, `"`+c+`"`, c+`''`, c+`""`, c+"$()", c+"``", c+`$none`, c+`${none}`, `"`+c+`"''`, c+"\\\n",
			`${none:-`+c+`}`, `"$(echo `+c+`)"`, "`echo "+c+"`", `$'\x`+hex(r)+`'`, `$'`+c+`'`, `{`+c+`,}`, `[`+c+`]`, `$(printf '\`+octal(r)+`')`))
	}
	return b.String()
}

const digits = "0123456789abcdef"

func hex(r rune) string { return string([]byte{digits[r>>4&15], digits[r&15]}) }

func octal(r rune) string { return string([]byte{digits[r>>6&7], digits[r>>3&7], digits[r&7]}) }

// quote makes one word of a text for a shell.
func (s speller) quote(text string) string {
	return s.one(`'`+strings.ReplaceAll(text, `'`, `'\''`)+`'`, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(text)+`"`)
}

// line returns a shell line that may run rm.
func (s speller) line(depth int) string {
	if depth > 0 {
		inner := s.line(depth - 1)
		switch s.IntN(16) {
		case 0:
			return "eval " + s.quote(inner)
		case 1:
			return s.one("sh", "env sh", "nice sh", "exec sh") + " -c " + s.quote(inner)
		case 2:
			return s.one("env", "nice", "timeout 5", "command", "exec", "nohup", "env -i PATH=\"$PATH\" MARK=\"$MARK\"", "find . -maxdepth 0 -exec") + " " + inner + s.one("", " ';'")
		case 3:
			return s.one("true", "false", "echo x", ":") + s.one("; ", " && ", " || ", " | ", " & ", "\n") + inner
		case 4:
			return s.one("( ", "{ ", "if true; then ", "for i in 1; do ", "! ", "A=1 ", "$(", "`") + inner + s.one("", " )", "; }", "; fi", "; done", ")", "`")
		case 5:
			return "git -c alias.x=" + s.quote("!"+inner) + " x"
		case 6:
			return "echo x | xargs " + inner
		case 7:
			return "f() { " + inner + "; }; f"
		}
	}
	program := s.spell("rm")
	switch s.IntN(8) {
	case 0:
		return s.one("R=", "export R=") + program + s.one("; ", " && ", "\n") + s.one("$R x", `"$R" x`, "${R} x", "eval $R x")
	case 1:
		return s.one("r?", "r*", "[r]m", "?m", "r[a-z]") + " x"
	case 2:
		return s.one("./", "$PWD/", "../*/") + program + " x"
	case 3:
		return "set -- " + program + " x; " + s.one(`"$@"`, "$*", "$1")
	}
	return program + " x"
}

// jail is a folder in which rm is a program that leaves a mark.
type jail struct{ dir, bin, mark string }

func newJail(t testing.TB) *jail {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	j := &jail{dir: filepath.Join(t.TempDir(), "w")}
	j.bin, j.mark = filepath.Join(j.dir, "bin"), filepath.Join(j.dir, "mark")
	must(t, os.MkdirAll(j.bin, 0o755))
	stub := "#!/bin/sh\n: > \"$MARK\"\n"
	must(t, gobuild.Write(filepath.Join(j.bin, "rm"), stub))
	must(t, gobuild.Write(filepath.Join(j.dir, "rm"), stub))
	for _, name := range strings.Fields("sh bash env nice timeout nohup find git xargs true false echo printf") {
		if path, err := exec.LookPath(name); err == nil {
			must(t, os.Symlink(path, filepath.Join(j.bin, name)))
		}
	}
	return j
}

// runs reports whether a command runs rm.
func (j *jail) runs(t testing.TB, argv ...string) bool {
	t.Helper()
	if err := os.Remove(j.mark); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	ctx := patience.Context(t, patience.Soon)
	path := filepath.Join(j.bin, argv[0])
	if strings.Contains(argv[0], "/") {
		path = filepath.Join(j.dir, argv[0])
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Dir = j.dir
	cmd.Env = []string{"PATH=" + j.bin, "MARK=" + j.mark, "HOME=" + j.dir, "GIT_CONFIG_NOSYSTEM=1"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // for what the line left in the background
	cmd.Run()
	_, err := os.Stat(j.mark)
	return err == nil
}

// T13. A real shell is the judge of what a line runs.
func TestNoSpellingOfADeniedCommandIsAllowed(t *testing.T) {
	t.Parallel()
	j := newJail(t)
	judge(t, j, speller{rand.New(rand.NewPCG(1, 2))}, 150)
}

func FuzzDeniedCommand(f *testing.F) {
	f.Add(uint64(3), uint64(4))
	j := newJail(f)
	f.Fuzz(func(t *testing.T, a, b uint64) { judge(t, j, speller{rand.New(rand.NewPCG(a, b))}, 1) })
}

// judge tries commands. Among many commands, some have to run rm.
func judge(t *testing.T, j *jail, s speller, tries int) {
	shells := []string{"sh"}
	if _, err := os.Stat(filepath.Join(j.bin, "bash")); err == nil {
		shells = append(shells, "bash")
	}
	ran := 0
	for range tries {
		line := s.line(s.IntN(3))
		shell := shells[s.IntN(len(shells))]
		var commands []any
		if fields := strings.Fields(line); s.IntN(4) == 0 && len(fields) > 1 && !strings.ContainsAny(fields[0], "'\"\\$`") {
			commands = []any{fields, map[string]any{"command": fields[0], "args": fields[1:]}}
			if _, err := os.Stat(filepath.Join(j.bin, fields[0])); err != nil || !j.runs(t, fields...) {
				continue
			}
		} else {
			commands = []any{line, []string{shell, "-c", line}, []string{"nice", shell, "-c", line}, []string{"git", "-c", "alias.x=!" + line, "x"}}
			if !j.runs(t, shell, "-c", line) {
				continue
			}
		}
		ran++
		for _, command := range commands {
			c := run(t, command)
			if m, ok := command.(map[string]any); ok {
				raw, err := json.Marshal(m)
				must(t, err)
				c.RawInput = raw
			}
			if decide(t, c, allowCommands, denyCommand("rm")) == Allowed {
				t.Errorf("allowed: %q", command)
			}
			if decide(t, c, Rule{Action: Allow, Command: []string{"git", "status"}}, Rule{Action: Allow, Command: []string{"echo"}}) == Allowed {
				t.Errorf("taken for a plain echo: %q", command)
			}
		}
	}
	if tries >= 100 && ran < tries/5 {
		t.Errorf("only %d of %d lines ran rm", ran, tries)
	}
}
