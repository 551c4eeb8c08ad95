package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// files are two captures, one with findings.
func files(t *testing.T) []report.File {
	t.Helper()
	bad := lint.New(lint.Options{Profile: lint.Strict})
	for i, line := range []string{
		`>{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":true},"clientInfo":{"name":"e","version":"1"}}}`,
		"<\x1b[31mready", "<", "<noise", "<more noise",
		`<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"agentInfo":{"name":"a","version":"1"}}}`,
		`<{"jsonrpc":"2.0","id":0,"result":{}}`,
	} {
		from := lint.Client
		if line[0] == '<' {
			from = lint.Agent
		}
		bad.Add(lint.Record{From: from, Bytes: []byte(line[1:]), Line: i + 1})
	}
	return []report.File{
		{Name: "bad\n.jsonl", Report: bad.Report()},
		{Name: "empty.jsonl", Report: lint.New(lint.Options{Profile: lint.Strict}).Report()},
	}
}

func TestTextIsGroupedByFileAndRuleTheWorstFirst(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := report.Text(&out, report.Sum(files(t), lint.Error), report.TextOptions{Max: 2}); err != nil {
		t.Fatal(err)
	}
	rest := out.String()
	for _, want := range []string{
		`bad\n.jsonl: 7 messages, 4 errors, 1 remark` + "\n",
		"\n  error TR02  The agent writes nothing but protocol messages to its standard output. (3 times)\n        https://agentclientprotocol.com/protocol/v1/transports\n",
		"    agent, message 2, line 2: not a message: invalid JSON at byte 0: ", "\n        \\x1b[31mready\n",
		"    agent, message 4, line 4: ", "    and 1 more\n",
		"\n  error RPC07  A request gets one answer.\n", "    agent, message 7, line 7, /id: the request was answered before\n        see message 6\n        0\n",
		"\n  info  TR07  ", "a blank line\n",
		"empty.jsonl: 0 messages, no findings\n",
		"  not judged: there is nothing to judge in it\n", "4 errors, 1 remark in 2 captures. Rules: ", "Result: not judged: empty.jsonl: there is nothing to judge in it\n",
	} {
		at := strings.Index(rest, want)
		if at < 0 {
			t.Fatalf("no %q in the rest of\n%s", want, out.String())
		}
		rest = rest[at+len(want):]
	}
	if strings.ContainsAny(out.String(), "\x1b\r") {
		t.Errorf("a control character: %q", out.String())
	}
}

func TestJSONHasEveryFindingAndASummaryOfEachFile(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := report.JSON(&out, report.Sum(files(t), lint.Error)); err != nil {
		t.Fatal(err)
	}
	type line struct {
		File    string
		Finding *struct {
			Rule, Severity, By, Pointer, Text, Quote, Excerpt, Page string
			Message, Line                                           int
			Also                                                    []int
		}
		Summary *struct {
			Messages, Errors, Warnings, Infos int
			Rules                             map[string]string
		}
	}
	var lines []line
	for text := range strings.Lines(out.String()) {
		var l line
		d := json.NewDecoder(strings.NewReader(text))
		if err := d.Decode(&l); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		lines = append(lines, l)
	}
	if len(lines) != 8 {
		t.Fatalf("%d lines:\n%s", len(lines), out.String())
	}
	second := 0
	for _, l := range lines[:5] {
		if f := l.Finding; f != nil && f.Rule == "RPC07" {
			second++
			if f.Severity != "error" || f.By != "agent" || f.Message != 7 || f.Line != 7 || f.Pointer != "/id" || f.Quote != "0" || len(f.Also) != 1 ||
				!strings.HasPrefix(f.Excerpt, `{"jsonrpc"`) || f.Page != "https://www.jsonrpc.org/specification" {
				t.Errorf("the finding is %+v", f)
			}
		}
	}
	if second != 1 {
		t.Errorf("%d findings of RPC07", second)
	}
	s := lines[5].Summary
	if s == nil || s.Messages != 7 || s.Errors != 4 || s.Infos != 1 || s.Rules["TR02"] != "fail" || s.Rules["TR03"] != "pass" || s.Rules["FS03"] != "not exercised" {
		t.Errorf("the summary is %+v", s)
	}
	if lines[6].Summary == nil || lines[6].File != "empty.jsonl" {
		t.Errorf("the last line is %+v", lines[6])
	}
}
