package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/creack/pty"

	"github.com/hermes-nvim/hermes/internal/testagent"
)

// evil is what agents, registries, recordings and peers say here: it sets the
// clipboard, begins sequences with C0 and C1, reverses the order of text, returns to
// the beginning of the line, and makes a line of its own.
const evil = "\x1b]52;c;ZXZpbA==\x07\u009b31m\u202e\r\x1b[2J\u2028\u2067\u061c\x7f\x08EVIL\nhermes run: all is well"

// evilLine is evil for a line of standard error, with bytes that are C1 to a
// terminal that does not expect UTF-8.
var evilLine = strings.ReplaceAll(evil, "\n", " ") + "\x9b31m\x90q\xc2"

func init() {
	e := quoted(evil)
	failure := func(code int) string {
		return fmt.Sprintf(`{"code":%d,"message":%s,"data":{"details":%s}}`, code, e, e)
	}
	for _, method := range []string{"initialize", "session/new", "session/load", "session/prompt"} {
		testAgents["evil error of "+method] = steps(refusing(method, failure(-32603)), "TALK")
	}
	testAgents["evil ways to log in"] = steps(
		answering("initialize", fmt.Sprintf(`{"protocolVersion":1,"authMethods":[{"id":%s,"name":%s,"description":%s},{"id":"t","name":%s,"type":"terminal"}]}`, e, e, e, e)),
		refusing("session/new", failure(-32000)), "TALK",
	)
	testAgents["evil offers"] = steps(answering("session/new", strings.Join(strings.Fields(strings.ReplaceAll(`{"sessionId":ID,
			"modes":{"currentModeId":ID,"availableModes":[{"id":ID,"name":ID}]},
			"models":{"currentModelId":ID,"availableModels":[{"modelId":ID,"name":ID}]},
			"configOptions":[{"id":ID,"name":ID,"type":"select","currentValue":"a","options":[{"value":"a","name":"a"}]},
				{"id":"o","name":"o","type":"select","currentValue":ID,"options":[{"value":ID,"name":"a"}]}]}`,
		"ID", e)), " ")), "TALK")
	testAgents["evil death"] = steps("TALK session/prompt", "ERR "+evilLine, "EXIT 3")
	testAgents["evil banner"] = steps("LINE "+evilLine, "ERR "+evilLine, "TALK")
	testAgents["evil silence"] = steps("LINE "+evilLine, "EOF")
	testAgents["evil version"] = steps(answering("initialize", fmt.Sprintf(`{"protocolVersion":%s}`, e)), "TALK")
	testAgents["evil stop reason"] = steps(answering("session/prompt", fmt.Sprintf(`{"stopReason":%s}`, e)), "TALK")
	turn := []string{
		"ERR " + evilLine, "LINE " + evilLine,
		fmt.Sprintf(`LINE {"jsonrpc":"2.0","method":%s,"params":{%s:1}}`, e, e), fmt.Sprintf(`LINE {"jsonrpc":"2.0",%s`, evilLine),
		say(evil, evil), say("another "+evil, evil),
		updateOf(evil, fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":%s}}`, e)),
		updateOf(evil, fmt.Sprintf(`{"sessionUpdate":%s,%s:"x"}`, e, e)),
		updateOf(evil, fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%[1]s,"title":%[1]s,"status":"completed","rawInput":{%[1]s:[%[1]s,`+"\t\r"+`"`+"\u009b\u202e\u200b\U000e0041"+`"]}}`, e)),
		updateOf(evil, fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%[1]s,"title":%[1]s,"status":"failed"}`, e)),
		updateOf(evil, fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%[1]s}`, e)),
	}
	for _, session := range []string{evil, "unknown " + evil} {
		turn = append(turn,
			ask("session/request_permission", fmt.Sprintf(`{"sessionId":%s,"toolCall":{"toolCallId":%[2]s,"title":%[2]s},"options":[{"optionId":%[2]s,"name":%[2]s,"kind":"allow_once"}]}`, quoted(session), e)),
			ask("fs/read_text_file", fmt.Sprintf(`{"sessionId":%s,"path":%s}`, quoted(session), e)),
			ask("fs/write_text_file", fmt.Sprintf(`{"sessionId":%s,"path":%s,"content":""}`, quoted(session), e)),
			ask("terminal/create", fmt.Sprintf(`{"sessionId":%s,"command":%s}`, quoted(session), e)))
	}
	testAgents["evil turn"] = steps(answering("session/new", fmt.Sprintf(`{"sessionId":%s}`, e)), turnOf(append(turn, ask(evil, "{}"))...))
}

// tame reports text that a terminal would obey or that is not UTF-8.
func tame(t *testing.T, name string, output []byte) {
	t.Helper()
	for i, r := range string(output) {
		broken := r == utf8.RuneError && !bytes.HasPrefix(output[i:], []byte("\ufffd"))
		if broken || unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			t.Errorf("%s: %U (byte %#x) in …%q…", name, r, output[i], output[max(0, i-80):min(len(output), i+80)])
			return
		}
	}
}

// onPTY runs a command with both outputs on a terminal and returns what reaches
// it, without the carriage returns that the terminal adds.
func onPTY(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	ours, theirs, err := pty.Open()
	if errors.Is(err, pty.ErrUnsupported) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	cmd.Stdout, cmd.Stderr = theirs, theirs
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	output, _ := io.ReadAll(ours) // ends with an error when the other end is closed
	cmd.Wait()
	return bytes.ReplaceAll(output, []byte("\r\n"), []byte("\n"))
}

// tamePaths are ways in which foreign text gets to the output of the program.
// The agent is one of testAgents.
var tamePaths = []struct {
	agent string
	args  string // of hermes run, or a whole command with AGENT for the agent
	stdin string
	exact bool // standard output belongs to a protocol, unless it is a terminal
	raw   bool // the same of standard error
	want  string
}{
	{agent: "evil error of initialize", want: "EVIL"},
	{agent: "evil error of session/new", want: "EVIL"},
	{agent: "evil error of session/load", args: "--session s", want: "EVIL"},
	{agent: "evil error of session/prompt", want: "EVIL"},
	{agent: "evil ways to log in", want: "log in to the agent first (its ways to log in: "},
	{agent: "evil offers", args: "--mode x", want: "the agent has the modes "},
	{agent: "evil offers", args: "--model x", want: "the agent has the models "},
	{agent: "evil offers", args: "--option x=y", want: "the agent has the config options "},
	{agent: "evil offers", args: "--option o=y", want: "the agent has the values "},
	{agent: "evil death", want: "exited with status 3; stderr: "},
	{agent: "evil banner", args: "--verbose"},
	{agent: "evil silence", args: "run --timeout 6s --env " + testagent.Env + " x -- AGENT", want: "the agent said: stdout: "},
	{agent: "evil version", want: "initialize"},
	{agent: "evil stop reason"},
	{agent: "evil turn", args: "--verbose", want: "EVIL"},
	{agent: "evil turn", args: "--verbose --approve all", want: "EVIL"},
	{agent: "evil turn", args: "--approve none --record r.jsonl", want: "EVIL"},
	{agent: "evil turn", args: "run --approve all --review - --env " + testagent.Env + " x -- AGENT", exact: true, want: "EVIL"},
	{args: "agents --registry evil.json", want: "EVIL"},
	{args: "run --registry evil.json evil-three x"},
	{args: "run EVIL x", want: "EVIL"},
	{args: "run --format EVIL demo x", want: "EVIL"},
	{args: "run --EVIL"},
	{args: "EVIL", want: "EVIL"},
	{args: "record EVIL"},
	{args: "record -- EVIL", want: "EVIL"},
	{args: "record --out EVIL/r -- x", want: "EVIL"},
	{agent: "evil turn", args: "record -- AGENT", stdin: prompts, exact: true, raw: true, want: "EVIL"},
	{args: "replay EVIL", want: "EVIL"},
	{args: "replay evil.jsonl", stdin: "EVIL\n" + `{"jsonrpc":"2.0","id":0,"method":"EVIL"}` + "\n", exact: true, want: "EVIL"},
	{args: "replay evil.jsonl", stdin: prompts, exact: true, want: "EVIL"},
	{agent: "evil banner", args: "replay --as client evil.jsonl -- AGENT", want: "EVIL"},
	{agent: "evil turn", args: "replay --as client --wait 5s client.jsonl -- AGENT", want: "EVIL"},
	{args: "review EVIL", want: "EVIL"},
	{args: "review --root EVIL", want: "EVIL"},
	{args: "review --socket EVIL tell write EVIL", want: "EVIL"},
	{args: "review tell EVIL"},
	{args: "review tell hook", stdin: "EVIL"},
	{args: "lint evil.jsonl", want: "EVIL"},
	{args: "lint --format json --profile strict evil.jsonl", want: "EVIL"},
	{args: "lint EVIL", want: "EVIL"},
	{args: "lint --explain EVIL", want: "EVIL"},
	{args: "lint -", stdin: evilLine + "\n" + `{"jsonrpc":"2.0","id":0,"method":"EVIL"}` + "\n" + prompts},
	{args: "lint --format markdown evil.jsonl", want: "EVIL"},
	{args: "lint diff evil.jsonl client.jsonl"},
	{args: "lint diff EVIL client.jsonl", want: "EVIL"},
	{agent: "evil turn", args: "lint run --timeout 2s --step prompt -- AGENT"},
	{agent: "evil death", args: "lint run --timeout 2s --step initialize -- AGENT"},
	{agent: "evil turn", args: "lint proxy -- AGENT", stdin: prompts, exact: true, raw: true, want: "EVIL"},
	{args: "lint agent EVIL", want: "EVIL"},
	{args: "confine EVIL"},
	{args: "confine --write EVIL -- true", want: "EVIL"},
	{args: "confine --net EVIL -- true", want: "EVIL"},
	{args: "confine -- EVIL", want: "EVIL"},
	{args: "demo-agent", stdin: evilLine + "\n" + `{"jsonrpc":"2.0","method":"EVIL"}` + "\n{" + evilLine + "\n" + prompts, exact: true},
	{args: "demo-agent EVIL"},
	{args: "codex-agent EVIL"},
	{args: "claude-hooks EVIL"},
	{args: "shim EVIL"},
	{args: "shim --root EVIL -- true", want: "EVIL"},
	{args: "shim -- EVIL", want: "EVIL"},
	{args: "codex-agent --mode EVIL", want: "EVIL"},
	{args: "codex-agent --wrapper EVIL", want: "EVIL"},
	{args: "host", stdin: evilLine, exact: true},
	{args: "host EVIL"},
	{args: "version EVIL"},
	{args: "serve --listen EVIL -- x", want: "EVIL"},
	{args: "serve --token-file EVIL -- x", want: "EVIL"},
	{args: "serve EVIL -- x"},
}

// prompts opens a session and sends a prompt, without waiting for answers.
const prompts = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
{"jsonrpc":"2.0","id":"a1","result":{}}
`

// evilFolder holds what the commands of tamePaths read.
func evilFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	e := quoted(evil)
	write(t, filepath.Join(dir, "evil.json"), fmt.Sprintf(`{"version":"1.0.0","agents":[{"id":"evil","name":%[1]s,"website":%[1]s,"distribution":{"npx":{"package":%[1]s}}},
		{"id":"evil-too","distribution":{"npx":{"package":"p","cmd":%[1]s,"args":[%[1]s]}}},{"id":%[1]s,"name":%[1]s,"distribution":{}},
		{"id":"evil-three","distribution":{"binary":{"linux-x86_64":{"archive":%[1]s,"cmd":%[1]s,"sha256":%[1]s},"linux-aarch64":{"archive":%[1]s,"cmd":%[1]s},"darwin-aarch64":{"archive":%[1]s,"cmd":%[1]s}}}}]}`, e))
	write(t, filepath.Join(dir, "evil.jsonl"), strings.Join([]string{
		fmt.Sprintf(`{"direction":"stderr","text":%s}`, e),
		fmt.Sprintf(`{"direction":"agent->client","text":%s}`, quoted(strings.ReplaceAll(evil, "\n", " "))),
		fromAgent(`"method":` + e),
		fromClient(`"id":0,"method":` + e),
		fromAgent(`"id":0,"error":{"code":1,"message":` + e + `}`),
	}, "\n")+"\n")
	write(t, filepath.Join(dir, "client.jsonl"), strings.Join([]string{
		fromClient(`"id":0,"method":"initialize","params":{"protocolVersion":1}`), fromAgent(`"id":0,"result":{"protocolVersion":1}`),
		fromClient(`"id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}`), fromAgent(`"id":1,"result":{"sessionId":"s"}`),
		fromClient(`"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}`), fromAgent(`"id":2,"result":{"stopReason":"end_turn"}`),
	}, "\n")+"\n")
	return dir
}

func TestTheProgramPrintsNothingThatATerminalObeys(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, p := range tamePaths {
		formats := []string{""}
		if p.args == "" || strings.HasPrefix(p.args, "--") {
			formats = []string{"--format text ", "--format quiet ", "--format json "}
		}
		for _, format := range formats {
			var args []string
			if format == "" {
				for _, word := range strings.Fields(p.args) {
					if word == "AGENT" {
						args = append(args, "env", "-u", asHermes, self(t))
						continue
					}
					args = append(args, strings.ReplaceAll(word, "EVIL", evil))
				}
			} else {
				args = agentArgs(t, p.agent, strings.Fields(format+p.args)...)
			}
			covered[args[0]] = true
			name := fmt.Sprintf("%s%s with %q", format, p.args, p.agent)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				prepare := func() *exec.Cmd {
					cmd := hermes(t, evilFolder(t), args...)
					cmd.Stdin = strings.NewReader(strings.ReplaceAll(p.stdin, "EVIL", strings.Trim(quoted(evil), `"`)))
					if format == "" && p.agent != "" {
						cmd.Env = append(cmd.Env, testagent.Env+"="+testAgents[p.agent])
					}
					return cmd
				}
				out, errs, _ := end(t, prepare())
				if !p.exact {
					tame(t, "standard output", []byte(out))
				}
				if !p.raw {
					tame(t, "standard error", []byte(errs))
				}
				if !strings.Contains(out+errs, p.want) {
					t.Errorf("no %q in\n%s%s", p.want, out, errs)
				}
				if strings.Contains(errs, "\nhermes run: all is well") {
					t.Errorf("a line that is not ours looks like it:\n%s", errs)
				}
				if seen := onPTY(t, prepare()); seen != nil {
					tame(t, "terminal", seen)
					if !bytes.Contains(seen, []byte(p.want)) {
						t.Errorf("no %q on the terminal:\n%s", p.want, seen)
					}
				}
			})
		}
	}
	for _, c := range commands {
		if !covered[c.name] {
			t.Errorf("no path of hermes %s is tried", c.name)
		}
	}
}

func TestTheLogsOfServeHoldNothingThatATerminalObeys(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"evil death", "evil banner"} {
		cmd := hermes(t, t.TempDir(), "serve", "--verbose", "--listen", "tcp:127.0.0.1:0", "--pass-env", testagent.Env, "--", self(t))
		cmd.Env = append(cmd.Env, testagent.Env+"="+testAgents[agent])
		log, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		until := func(mark string) string {
			line := []byte{}
			for b := make([]byte, 1); ; {
				if _, err := log.Read(b); err != nil {
					t.Fatalf("%v before %q:\n%s", err, mark, all.Bytes())
				}
				if all.Write(b); b[0] != '\n' {
					line = append(line, b[0])
				} else if _, rest, ok := strings.Cut(string(line), mark); ok {
					return rest
				} else {
					line = line[:0]
				}
			}
		}
		token := until("token of this run is ")
		address := until("listening on tcp:")
		for i, hello := range []string{evilLine + "\n", "hermes/1 " + token + "\n" + strings.ReplaceAll(prompts, `"s"`, `"mine"`)} {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(c, hello)
			until([]string{"connection refused", "EVIL"}[i])
			c.Close()
		}
		cmd.Process.Signal(syscall.SIGTERM)
		rest, _ := io.ReadAll(log)
		cmd.Wait()
		tame(t, agent, append(all.Bytes(), rest...))
	}
}

func TestTheJSONFormatLosesNothingToTheTerminal(t *testing.T) {
	t.Parallel()
	out, _, _ := end(t, hermes(t, t.TempDir(), agentArgs(t, "evil turn", "--format", "json", "--verbose")...))
	tame(t, "json", []byte(out))
	said, input, answered := false, false, false
	for line := range strings.Lines(out) {
		for _, r := range line {
			if unicode.Is(unicode.Cf, r) {
				t.Errorf("%U is not escaped in %s", r, line)
			}
		}
		var l struct {
			jsonLine
			Update struct {
				Content  struct{ Text string }
				RawInput json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		said = said || l.Event == "update" && l.SessionID == evil && l.Update.Content.Text == evil
		answered = answered || l.Event == "permission" && l.Title == evil
		var raw map[string][]string
		input = input || json.Unmarshal(l.Update.RawInput, &raw) == nil && len(raw[evil]) == 2 && raw[evil][0] == evil && raw[evil][1] == "\u009b\u202e\u200b\U000e0041"
	}
	if !said || !input || !answered {
		t.Errorf("said: %v, input: %v, answered: %v\n%s", said, input, answered, out)
	}
}

// Everything the program prints goes through stdio.
func TestNothingWritesToTheStandardStreamsDirectly(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			if i.Path.Value == `"log"` {
				t.Errorf("%s imports log, which writes to standard error", path)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			text := ""
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok {
					text = pkg.Name + "." + n.Sel.Name
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && f.Obj == nil {
					text = f.Name
				}
			}
			switch text {
			case "os.Stdout", "os.Stderr", "transport.Stdio":
				if seen++; path != "stdio.go" {
					t.Errorf("%s: %s", set.Position(n.Pos()), text)
				}
			case "fmt.Print", "fmt.Printf", "fmt.Println", "print", "println", "os.NewFile", "syscall.Write", "unix.Write", "slog.Default", "slog.Info", "slog.Warn", "slog.Error", "slog.Debug":
				t.Errorf("%s: %s", set.Position(n.Pos()), text)
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 3 {
		t.Errorf("%v; the streams are named %d times, there must be more", err, seen)
	}
}

func TestAPrinterSeesCharactersThatComeInPieces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\u009bb":               "ab",
		"ä€😀 \u202eok":           "ä€😀 ok",
		"\xc2\x9b\x9b31m":        "\ufffd31m",
		"\xe2\x80":               "",
		"\xe2\x80x":              "\ufffd\ufffdx",
		"\xff\xfe":               "\ufffd\ufffd",
		"tab\tand\r\nline\x00\n": "tab\tand\nline\n",
	} {
		for size := 1; size <= len(text); size++ {
			var out bytes.Buffer
			p := &printer{to: &out}
			for rest := []byte(text); len(rest) > 0; {
				n := min(size, len(rest))
				if wrote, err := p.Write(rest[:n]); wrote != n || err != nil {
					t.Fatal(wrote, err)
				}
				rest = rest[n:]
			}
			if out.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q", text, size, out.String(), want)
			}
		}
	}
}
