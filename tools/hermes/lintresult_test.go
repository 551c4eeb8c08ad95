package main

import (
	"encoding/json"
	"encoding/xml"
	"html"
	"path/filepath"
	"regexp"
	"slices"
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

// onGitHub is what the format github, which is nothing for files, says about the exit status.
func onGitHub(out string) int {
	m := regexp.MustCompile(`(?m)^::(notice|error) title=hermes lint::(passed|failed|not judged)`).FindStringSubmatch(out)
	if m == nil || (m[1] == "notice") != (m[2] == "passed") {
		return -1
	}
	return resultWord(m[1:])
}

// stepIn are the forms of a step that did not pass in the reports, with its ID and STATUS.
// JUnit has no word for the status, but elements for what it means to the exit status.
var stepIn = map[string]string{
	"x.txt":   `(?m)^STATUS +[A-Z]+ +ID `,
	"x.jsonl": `(?m)^{"step":{"id":"ID",.*"status":"STATUS"`,
	"x.sarif": `"ruleId": ?"step/ID",[^}]*"text": ?"STATUS: `,
	"x.xml":   `classname="lint.step" name="ID [^>]*>\s*<ELEMENT`,
	"x.md":    `(?m)^\| <code>ID</code> \| [A-Z]+ \| STATUS \|`,
	"x.html":  `>STATUS</td><td>[A-Z]+</td><td>ID</td>`,
	"github":  `(?m)^::error file=[^,]*,title=ID [^:]*::STATUS: `,
}

func resultWord(m []string) int {
	for i, word := range []string{"passed", "failed", "not judged"} {
		if m != nil && m[1] == word {
			return i
		}
	}
	return -1
}

// A report for a service agrees with the exit status, for every command that judges.
// A step that did not pass is in all of them, with how it ended.
func TestReportsSayWhatTheExitStatusSays(t *testing.T) {
	t.Parallel()
	own := []string{"--prompt", "SAY hi", "--timeout", "20s", "--step", "initialize", "--step", "session-new", "--step", "prompt"}
	run := func(more ...string) []string { return append(append([]string{"run"}, own...), more...) }
	serve := append([]string{"--"}, scenario(t, "SERVE")...)
	before := t.TempDir()
	write(t, filepath.Join(before, "bad.jsonl"), string(lint.Example("FS03", false)))
	end(t, hermes(t, before, "lint", "--output", "x.jsonl", "bad.jsonl"))
	known, errs, status := end(t, hermes(t, before, "lint", "baseline", "x.jsonl"))
	if status != 0 {
		t.Fatal(errs)
	}
	for name, c := range map[string]struct {
		args   []string // with the flag for reports after the subcommand
		stdin  string
		status int
		step   string // that did not pass, after how it ended
		says   string // in every format
	}{
		"a good capture":               {[]string{"good.jsonl"}, "", 0, "", ""},
		"a bad capture":                {[]string{"bad.jsonl"}, "", 1, "", ""},
		"an empty capture":             {[]string{"empty.jsonl"}, "", 2, "", ""},
		"no capture":                   {[]string{"missing.jsonl"}, "", 2, "", ""},
		"a warning":                    {[]string{"warning.jsonl"}, "", 0, "", ""},
		"a capture as bad as before":   {[]string{"--baseline", "known", "bad.jsonl"}, "", 0, "", ""},
		"a capture that has got worse": {[]string{"--baseline", "known", "worse.jsonl"}, "", 1, "", ""},
		"a good agent":                 {run(serve...), "", 0, "", ""},
		"a step that failed":           {run(append([]string{"--step", "session-list-folder"}, serve...)...), "", 1, "FAIL session-list-folder", ""},
		"a step that failed, for show": {run(append([]string{"--fail-on", "never", "--step", "session-list-folder"}, serve...)...), "", 0, "", ""},
		"a step that failed before":    {run(append([]string{"--baseline", "known", "--step", "session-list-folder"}, serve...)...), "", 0, "FAIL session-list-folder", ""},
		"a step that fails besides":    {run(append([]string{"--baseline", "known", "--step", "session-list-folder"}, append([]string{"--"}, "sh", "-c", "exit 3")...)...), "", 1, "FAIL initialize", ""},
		"an agent behind a login":      {run(append([]string{"--"}, scenario(t, "SERVE locked")...)...), "", 2, "not exercised session-new", ""},
		"an agent that does not ask":   {run(append([]string{"--permission-prompt", "SAY hi", "--step", "permission-allow"}, serve...)...), "", 2, "not exercised permission-allow", "permission-allow: the agent did not ask for permission; a --permission-prompt"},
		"an agent that never asks":     {run(append([]string{"--permission-prompt", "SAY hi", "--step", "permission-allow", "--without", "permission-allow"}, serve...)...), "", 0, "", "CONFORMANT with only initialize, session-new, prompt without permission-allow"},
		"an agent that is slow":        {run("--timeout", "300ms", "--", "sh", "-c", "cat >/dev/null"), "", 2, "not played initialize", "--timeout gives it more time"},
		"an agent that is away":        {run("--", "sh", "-c", "exit 3"), "", 1, "FAIL initialize", ""},
		"a client that cannot read":    {[]string{"agent", "read.script"}, "", 1, "FAIL 1-read", ""},
		"a client that never could":    {[]string{"agent", "--baseline", "known", "read.script"}, "", 0, "FAIL 1-read", ""},
		"a client that is away":        {[]string{"agent"}, "", 2, "", ""},
		"a line without a word":        {[]string{"proxy", "--", "cat"}, "", 2, "", ""},
		"a line with noise":            {[]string{"proxy", "--", "sh", "-c", "echo noise; cat"}, "", 1, "", ""},
		"an agent that failed":         {[]string{"proxy", "--", "sh", "-c", "cat; exit 2"}, "noise", 2, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "good.jsonl"), string(lint.Example("FS03", true)))
			write(t, filepath.Join(dir, "bad.jsonl"), string(lint.Example("FS03", false)))
			write(t, filepath.Join(dir, "worse.jsonl"), string(lint.Example("FS03", false))+`{"dir":"a2c","t":9000,"raw":"noise"}`+"\n")
			write(t, filepath.Join(dir, "known"), known+`{"step":"session-list-folder"}`+"\n"+`{"step":"1-read"}`+"\n")
			write(t, filepath.Join(dir, "read.script"), "READ none.txt\n")
			write(t, filepath.Join(dir, "warning.jsonl"), string(lint.Example("INI09", false)))
			write(t, filepath.Join(dir, "empty.jsonl"), "")
			command, flag := []string{"lint"}, "--output"
			args := c.args
			if lintLive[args[0]] != nil {
				command, args = append(command, args[0]), args[1:]
				flag = map[string]string{"run": "--report", "proxy": "--report", "agent": "--out"}[c.args[0]]
			}
			judged := func(flags ...string) string {
				cmd := hermes(t, dir, slices.Concat(command, flags, args)...)
				var out, errs string
				var status int
				if slices.Contains(args, "read.script") {
					errs, status = endForReader(t, cmd)
				} else {
					cmd.Stdin = strings.NewReader(c.stdin)
					out, errs, status = end(t, cmd)
				}
				if status != c.status {
					t.Errorf("%q: exit status %d, want %d\n%s%s", flags, status, c.status, out, errs)
				}
				return out + "\n" + errs
			}
			check := func(name, text string, got int) {
				if got != c.status {
					t.Errorf("%s says %d, want %d\n%.2000s", name, got, c.status, text)
				}
				if !strings.Contains(html.UnescapeString(text), c.says) {
					t.Errorf("%s does not say %q\n%.2000s", name, c.says, text)
				}
				i := strings.LastIndex(c.step, " ")
				if i < 0 || name == "github" && c.status == 0 { // it annotates what fails
					return
				}
				element := []string{"system-out>[A-Z]+ " + c.step[:i], "failure", "error"}[c.status]
				form := strings.NewReplacer("ID", c.step[i+1:], "STATUS", c.step[:i], "ELEMENT", element).Replace(stepIn[name])
				if !regexp.MustCompile(form).MatchString(html.UnescapeString(text)) {
					t.Errorf("%s does not have: %s\n%.2000s", name, c.step, text)
				}
			}
			var files []string
			for file := range written {
				files = append(files, flag, file)
			}
			judged(files...)
			for file, says := range written {
				text := readFile(t, filepath.Join(dir, file))
				check(file, text, says(text))
			}
			text := judged("--format", "github")
			check("github", text, onGitHub(text))
		})
	}
}
