package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// says are what each format says about the exit status: 0, 1 or 2.
var says = map[string]func(t *testing.T, out string) int{
	"text": func(t *testing.T, out string) int {
		return word(regexp.MustCompile(`(?m)^Result: (passed|failed|not judged)`).FindStringSubmatch(out))
	},
	"json": func(t *testing.T, out string) int {
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var l struct{ Result *struct{ Status int } }
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &l); err != nil || l.Result == nil {
			return -1
		}
		return l.Result.Status
	},
	"sarif": func(t *testing.T, out string) int {
		var l struct {
			Runs []struct {
				Invocations []struct {
					ExitCode            int
					ExecutionSuccessful bool
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &l); err != nil {
			return -1
		}
		call := l.Runs[0].Invocations[0]
		if call.ExecutionSuccessful != (call.ExitCode < 2) {
			return -1
		}
		return call.ExitCode
	},
	"junit": func(t *testing.T, out string) int {
		var all struct {
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
		}
		if err := xml.Unmarshal([]byte(out), &all); err != nil {
			return -1
		}
		switch {
		case strings.Count(out, "<failure") != all.Failures || strings.Count(out, "<error") != all.Errors:
			return -1
		case all.Errors > 0:
			return 2
		case all.Failures > 0:
			return 1
		}
		return 0
	},
	"github": func(t *testing.T, out string) int {
		m := regexp.MustCompile(`^::(notice|error) title=hermes lint::(passed|failed|not judged)`).FindStringSubmatch(out)
		if m == nil || (m[1] == "error") != (m[2] != "passed") {
			return -1
		}
		return word(m[1:])
	},
	"markdown": func(t *testing.T, out string) int {
		return word(regexp.MustCompile(`^### hermes lint: (passed|failed|not judged)\n`).FindStringSubmatch(out))
	},
	"html": func(t *testing.T, out string) int {
		m := regexp.MustCompile(`<p class="result-(\d)">Result: (passed|failed|not judged)`).FindStringSubmatch(out)
		if n := word(m[1:]); n >= 0 && m[1] == string(rune('0'+n)) {
			return n
		}
		return -1
	},
}

func word(m []string) int {
	if len(m) == 2 {
		for i, w := range []string{"passed", "failed", "not judged"} {
			if m[1] == w {
				return i
			}
		}
	}
	return -1
}

// ran is a run with steps that ended in some way.
func ran(decision string, steps ...report.Step) *report.Run {
	r := &report.Run{Peer: "agent 1", Decision: decision, Steps: steps}
	if decision != "CONFORMANT" {
		r.Why = []string{"because of " + hostile}
	}
	return r
}

// Whatever the result, each format agrees with the exit status, and so does each step,
// rule and file in it.
func TestAllFormatsSayWhatTheExitStatusSays(t *testing.T) {
	t.Parallel()
	writers := map[string]func(io.Writer, report.Outcome) error{"html": report.HTML}
	for name := range says {
		if formats[name] != nil {
			writers[name] = formats[name]
		}
	}
	judge := func(lines ...string) *lint.Report {
		l := lint.New(lint.Options{})
		for _, line := range lines {
			l.Add(lint.Record{From: lint.Agent, Bytes: []byte(line)})
		}
		return l.Report()
	}
	good := func() *lint.Report {
		return judge(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}`)
	}
	bad := func() *lint.Report { return judge("noise") }
	pass := report.Step{ID: "a", Title: "A", Tier: "MANDATORY", Status: "PASS"}
	fail := report.Step{ID: "b", Title: "B", Tier: "MANDATORY", Status: "FAIL", Text: hostile, Failed: true}
	advice := report.Step{ID: "c", Title: "C", Tier: "ADVISORY", Status: "FAIL", Text: "no"}
	open := report.Step{ID: "d", Title: "D", Tier: "MANDATORY", Status: "not played", Text: "it hangs", Open: true}
	part := ran("CONFORMANT", pass)
	part.Only, part.Without = []string{"a", "e"}, []string{"f"}
	never := lint.Error + 1
	for name, c := range map[string]struct {
		file  report.File
		fails lint.Severity
		want  int
	}{
		"nothing found":                          {report.File{Report: good()}, lint.Error, 0},
		"an error":                               {report.File{Report: bad()}, lint.Error, 1},
		"an error that does not fail":            {report.File{Report: bad()}, never, 0},
		"an empty capture":                       {report.File{Report: judge()}, lint.Error, 2},
		"an empty capture, whatever is found":    {report.File{Report: judge()}, never, 2},
		"a capture that ends early":              {report.File{Report: bad(), Problem: "line 3: " + hostile}, lint.Error, 2},
		"no capture":                             {report.File{Report: &lint.Report{}, Problem: "no such file"}, lint.Error, 2},
		"a good agent":                           {report.File{Report: good(), Run: ran("CONFORMANT", pass, advice)}, lint.Error, 0},
		"a good agent, as far as it was asked":   {report.File{Report: good(), Run: part}, lint.Error, 0},
		"a good agent with findings":             {report.File{Report: bad(), Run: ran("CONFORMANT", pass)}, lint.Error, 1},
		"a bad agent without findings":           {report.File{Report: good(), Run: ran("NOT CONFORMANT", pass, fail, open)}, lint.Error, 1},
		"a bad agent without a step that failed": {report.File{Report: good(), Run: ran("NOT CONFORMANT", pass)}, lint.Error, 1},
		"a bad agent that does not fail":         {report.File{Report: bad(), Run: ran("NOT CONFORMANT", pass, fail)}, never, 0},
		"an agent that hangs":                    {report.File{Report: good(), Run: ran("UNDECIDED", pass, open)}, lint.Error, 2},
		"an agent that hangs, by no step":        {report.File{Report: good(), Run: ran("UNDECIDED")}, lint.Error, 2},
		"an agent that hangs and does not fail":  {report.File{Report: good(), Run: ran("UNDECIDED", pass, open)}, never, 0},
	} {
		c.file.Name = "file"
		o := report.Sum([]report.File{c.file}, c.fails)
		if o.Status != c.want {
			t.Errorf("%s: the status is %d, want %d", name, o.Status, c.want)
		}
		for format, write := range writers {
			var out bytes.Buffer
			if err := write(&out, o); err != nil {
				t.Fatal(err)
			}
			if got := says[format](t, out.String()); got != c.want {
				t.Errorf("%s: %s says %d, want %d\n%.1500s", name, format, got, c.want, out.String())
			}
			if c.file.Run != nil && (c.file.Run == part || format != "text" && format != "json") { // the command writes these two
				if !strings.Contains(out.String(), c.file.Run.Verdict()) && (format != "github" || c.file.Run == part) {
					t.Errorf("%s: %s has no verdict", name, format)
				}
				for _, s := range c.file.Run.Steps {
					if (s.Failed || s.Open && c.want == 2) && !strings.Contains(out.String(), s.ID+" ") && !strings.Contains(out.String(), "step/"+s.ID) && !strings.Contains(out.String(), ">"+s.ID+"<") {
						t.Errorf("%s: %s does not have the step %s", name, format, s.ID)
					}
				}
			}
		}
	}
	if len(writers) != len(says) {
		t.Errorf("%d formats are tested", len(writers))
	}
}

func TestTheHeadingOfARuleSaysHowManyFindingsAreOfWhichSeverity(t *testing.T) {
	t.Parallel()
	l := lint.New(lint.Options{Rules: []*lint.Rule{{ID: "X01", Severity: lint.Error, Side: lint.ByAgent, Versions: lint.All, Summary: "S.", Check: func(c *lint.Checker) {
		c.Message(func(m *lint.Message) {
			f := lint.Finding{Text: "x"}
			if m.Number < 150 {
				f.Severity = lint.Warn
			}
			c.Report(m.Frame, f, lint.Value{})
		})
	}}}})
	for range 150 {
		l.Add(lint.Record{From: lint.Agent, Bytes: []byte(`{"jsonrpc":"2.0","method":"x"}`)})
	}
	all := []report.File{{Name: "a", Report: l.Report()}}
	if out := output(t, "text", all); !strings.Contains(out, "error X01  S. (150 times: 1 error, 149 warnings)") {
		t.Error(out)
	}
	if n := says["junit"](t, output(t, "junit", all)); n != 1 { // the error is not among the first
		t.Errorf("JUnit says %d", n)
	}
}
