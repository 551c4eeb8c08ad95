package main

import (
	"encoding/json"
	"encoding/xml"
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// written are the reports that a test asks for, and what each says about the exit status.
var written = map[string]func(out string) int{
	"x.txt": func(out string) int {
		return resultWord(regexp.MustCompile(`(?m)^Result: (passed|failed|not judged)`).FindStringSubmatch(out))
	},
	"x.jsonl": func(out string) int {
		for line := range strings.Lines(out) {
			var l struct{ Result *struct{ Status int } }
			if json.Unmarshal([]byte(line), &l) == nil && l.Result != nil {
				return l.Result.Status
			}
		}
		return -1
	},
	"x.sarif": func(out string) int {
		var l struct {
			Runs []struct{ Invocations []struct{ ExitCode int } }
		}
		if json.Unmarshal([]byte(out), &l) != nil {
			return -1
		}
		return l.Runs[0].Invocations[0].ExitCode
	},
	"x.xml": func(out string) int {
		var all struct {
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
		}
		switch err := xml.Unmarshal([]byte(out), &all); {
		case err != nil:
			return -1
		case all.Errors > 0:
			return 2
		}
		return min(all.Failures, 1)
	},
	"x.md": func(out string) int {
		return resultWord(regexp.MustCompile(`^### hermes lint: (passed|failed|not judged)`).FindStringSubmatch(out))
	},
	"x.html": func(out string) int {
		return resultWord(regexp.MustCompile(`Result: (passed|failed|not judged)`).FindStringSubmatch(out))
	},
}

func resultWord(m []string) int {
	for i, word := range []string{"passed", "failed", "not judged"} {
		if m != nil && m[1] == word {
			return i
		}
	}
	return -1
}

// What a service reads in a report is what the exit status says, for everything that
// judges. A step that failed is in all of them.
func TestReportsSayWhatTheExitStatusSays(t *testing.T) {
	t.Parallel()
	own := []string{"--prompt", "SAY hi", "--timeout", "20s", "--step", "initialize", "--step", "session-new", "--step", "prompt"}
	run := func(more ...string) []string { return append(append([]string{"run"}, own...), more...) }
	serve := append([]string{"--"}, scenario(t, "SERVE")...)
	for name, c := range map[string]struct {
		args   []string // with the flag for reports after the subcommand
		stdin  string
		status int
		step   string // that failed
	}{
		"a good capture":               {[]string{"good.jsonl"}, "", 0, ""},
		"a bad capture":                {[]string{"bad.jsonl"}, "", 1, ""},
		"an empty capture":             {[]string{"empty.jsonl"}, "", 2, ""},
		"no capture":                   {[]string{"missing.jsonl"}, "", 2, ""},
		"a warning":                    {[]string{"warning.jsonl"}, "", 0, ""},
		"a good agent":                 {run(serve...), "", 0, ""},
		"a step that failed":           {run(append([]string{"--step", "session-list-folder"}, serve...)...), "", 1, "session-list-folder"},
		"a step that failed, for show": {run(append([]string{"--fail-on", "never", "--step", "session-list-folder"}, serve...)...), "", 0, ""},
		"an agent behind a login":      {run(append([]string{"--"}, scenario(t, "SERVE locked")...)...), "", 2, "session-new"},
		"an agent that is away":        {run("--", "sh", "-c", "exit 3"), "", 1, "initialize"},
		"a client that is away":        {[]string{"agent"}, "", 2, ""},
		"a line without a word":        {[]string{"proxy", "--", "cat"}, "", 2, ""},
		"a line with noise":            {[]string{"proxy", "--", "sh", "-c", "echo noise; cat"}, "", 1, ""},
		"an agent that failed":         {[]string{"proxy", "--", "sh", "-c", "cat; exit 2"}, "noise", 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "good.jsonl"), string(lint.Example("FS03", true)))
			write(t, filepath.Join(dir, "bad.jsonl"), string(lint.Example("FS03", false)))
			write(t, filepath.Join(dir, "warning.jsonl"), string(lint.Example("INI09", false)))
			write(t, filepath.Join(dir, "empty.jsonl"), "")
			command, flag := []string{"lint"}, "--output"
			args := c.args
			if lintLive[args[0]] != nil {
				command, args = append(command, args[0]), args[1:]
				flag = map[string]string{"run": "--report", "proxy": "--report", "agent": "--out"}[c.args[0]]
			}
			for file := range written {
				command = append(command, flag, file)
			}
			cmd := hermes(t, dir, append(command, args...)...)
			cmd.Stdin = strings.NewReader(c.stdin)
			out, errs, status := end(t, cmd)
			if status != c.status {
				t.Errorf("exit status %d, want %d\n%s%s", status, c.status, out, errs)
			}
			for file, says := range written {
				text := readFile(t, filepath.Join(dir, file))
				if got := says(text); got != c.status {
					t.Errorf("%s says %d, want %d\n%.2000s", file, got, c.status, text)
				}
				if !strings.Contains(html.UnescapeString(text), c.step) {
					t.Errorf("%s does not have the step %s", file, c.step)
				}
			}
		})
	}
}
