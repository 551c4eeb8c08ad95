package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// hostile is text that means something in each format.
const hostile = "%0A\x1b[31m\u202e\u2028]]></testcase>\n::error::no\r##[error]no `</code><script>alert(1)</script>` **bold** [link](https://example.com) @who #1 | 100% \xff\x00"

// attack is an outcome in which everything that an agent chooses is hostile.
func attack(t *testing.T) []report.File {
	t.Helper()
	all := files(t)
	for _, v := range all[0].Verdicts {
		for i := range v.Findings {
			f := &v.Findings[i]
			f.Pointer, f.Text, f.Quote, f.Excerpt = "/"+hostile, hostile, hostile, hostile
		}
	}
	all[0].Name = "dir/" + hostile + ".jsonl"
	return all
}

// formats are all outputs. The text of a step of GitHub is one of them.
var formats = map[string]func(io.Writer, report.Outcome) error{
	"text":     func(w io.Writer, o report.Outcome) error { return report.Text(w, o, report.TextOptions{}) },
	"colour":   func(w io.Writer, o report.Outcome) error { return report.Text(w, o, report.TextOptions{Colour: true}) },
	"json":     report.JSON,
	"sarif":    func(w io.Writer, o report.Outcome) error { return report.SARIF(w, o, "v1") },
	"junit":    report.JUnit,
	"github":   report.GitHub,
	"markdown": func(w io.Writer, o report.Outcome) error { return report.Markdown(w, o, 0) },
}

func output(t *testing.T, format string, files []report.File) string {
	t.Helper()
	var out bytes.Buffer
	if err := formats[format](&out, report.Sum(files, lint.Error)); err != nil {
		t.Fatal(format, err)
	}
	return out.String()
}

func TestNoFormatPassesOnWhatATerminalObeysOrAReaderDoesNotSee(t *testing.T) {
	t.Parallel()
	colours := regexp.MustCompile("\x1b\\[[0-9;]+m")
	for format := range formats {
		out := output(t, format, attack(t))
		if format == "colour" {
			if strings.Contains(out, "\x1b[31m\\u202e") {
				t.Error("the agent chose a colour")
			}
			out = colours.ReplaceAllString(out, "")
		}
		for i, r := range out {
			if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar) {
				t.Errorf("%s has %U: %q", format, r, out[max(0, i-40):i+5])
				break
			}
		}
	}
}

func TestColoursChangeNothingElse(t *testing.T) {
	t.Parallel()
	plain, colour := output(t, "text", files(t)), output(t, "colour", files(t))
	if !strings.Contains(colour, "\x1b[1;31merror\x1b[0m \x1b[1;31mTR02\x1b[0m") {
		t.Errorf("no colours in\n%s", colour)
	}
	if got := regexp.MustCompile("\x1b\\[[0-9;]+m").ReplaceAllString(colour, ""); got != plain {
		t.Errorf("with colours\n%s\nwithout\n%s", got, plain)
	}
}

// sarifLog is what tests look at in SARIF.
type sarifLog struct {
	Runs []struct {
		Tool struct {
			Driver struct{ Rules []struct{ ID string } }
		}
		Results []struct {
			RuleID              string
			RuleIndex           int
			Level               string
			Message             struct{ Text string }
			PartialFingerprints map[string]string
			Locations           []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI string }
					Region           struct{ StartLine int }
				}
				LogicalLocations []struct{ FullyQualifiedName string }
			}
		}
		Artifacts []struct{ Location struct{ URI string } }
	}
}

func sarif(t *testing.T, files []report.File) (log sarifLog) {
	t.Helper()
	if err := json.Unmarshal([]byte(output(t, "sarif", files)), &log); err != nil {
		t.Fatal(err)
	}
	return log
}

func TestSARIFFollowsItsSchema(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.Compile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		var log any
		if err := json.Unmarshal([]byte(text), &log); err != nil {
			t.Fatal(err)
		}
		return schema.Validate(log)
	}
	good := output(t, "sarif", files(t))
	driven := files(t)[:1]
	driven[0].Run = ran("UNDECIDED", report.Step{ID: "a", Title: hostile, Tier: "MANDATORY", Status: "FAIL", Text: hostile, Failed: true}, report.Step{ID: "b", Status: "not played", Open: true})
	for name, text := range map[string]string{"findings": good, "an attack": output(t, "sarif", attack(t)), "nothing": output(t, "sarif", nil), "a run": output(t, "sarif", driven)} {
		if err := check(text); err != nil {
			t.Errorf("%s: %#v\n%s", name, err, text)
		}
	}
	if err := check(strings.Replace(good, `"level": "error"`, `"level": "fatal"`, 1)); err == nil {
		t.Error("the schema takes everything")
	}
}

func TestSARIFHasEveryFinding(t *testing.T) {
	t.Parallel()
	run := sarif(t, files(t)).Runs[0]
	marks := map[string]bool{}
	for _, r := range run.Results {
		if rule := run.Tool.Driver.Rules[r.RuleIndex].ID; rule != r.RuleID {
			t.Errorf("the result of %s has the index of %s", r.RuleID, rule)
		}
		marks[r.PartialFingerprints["hermesLint/v1"]] = true
		if r.RuleID != "RPC07" {
			continue
		}
		at := r.Locations[0]
		if r.Level != "error" || r.Message.Text != "agent, message 7, line 7, /id: the request was answered before" || at.PhysicalLocation.ArtifactLocation.URI != "bad%0A.jsonl" ||
			at.PhysicalLocation.Region.StartLine != 7 || at.LogicalLocations[0].FullyQualifiedName != "/id" {
			t.Errorf("the result is %+v", r)
		}
	}
	if len(run.Results) != 5 || len(marks) != 5 || len(run.Tool.Driver.Rules) < 100 || len(run.Artifacts) != 2 {
		t.Errorf("%d results, %d fingerprints, %d rules, %d files", len(run.Results), len(marks), len(run.Tool.Driver.Rules), len(run.Artifacts))
	}
}

func TestAFingerprintOutlivesTheLine(t *testing.T) {
	t.Parallel()
	of := func(change func(*lint.Finding)) string {
		all := files(t)
		for _, v := range all[0].Verdicts {
			for i := range v.Findings {
				if v.Rule.ID == "RPC07" {
					change(&v.Findings[i])
				}
			}
		}
		for _, r := range sarif(t, all).Runs[0].Results {
			if r.RuleID == "RPC07" {
				return r.PartialFingerprints["hermesLint/v1"]
			}
		}
		return ""
	}
	old := of(func(*lint.Finding) {})
	if moved := of(func(f *lint.Finding) { f.Line, f.Message = 70, 71 }); moved != old || old == "" {
		t.Errorf("%s became %s elsewhere in the file", old, moved)
	}
	if other := of(func(f *lint.Finding) { f.Pointer = "/params" }); other == old {
		t.Error("another place has the same fingerprint")
	}
}

func TestFilesAreNamedAsURIs(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs("x/a.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a b.jsonl": "a%20b.jsonl", "./x/a:b.jsonl": "x/a:b.jsonl", "a:b": "./a:b", "-": "stdin", "../a": "../a", "a%20#?": "a%2520%23%3F", here: "x/a.jsonl", "/other/a b": "file:///other/a%20b",
	} {
		all := files(t)[:1]
		all[0].Name = name
		if got := sarif(t, all).Runs[0].Artifacts[0].Location.URI; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestJUnitFailsWhatFailsTheRunAndSkipsWhatWasNotExercised(t *testing.T) {
	t.Parallel()
	type suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Skipped  int    `xml:"skipped,attr"`
			Cases    []struct {
				Class   string `xml:"classname,attr"`
				Name    string `xml:"name,attr"`
				Line    int    `xml:"line,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Skipped *struct{} `xml:"skipped"`
				Output  string    `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	for _, c := range []struct {
		name     string
		fails    lint.Severity
		files    []report.File
		failures int
	}{{"errors", lint.Error, files(t), 2}, {"remarks", lint.Info, files(t), 3}, {"never", lint.Error + 1, files(t), 0}, {"an attack", lint.Error, attack(t), 2}} {
		var out bytes.Buffer
		if err := report.JUnit(&out, report.Sum(c.files, c.fails)); err != nil {
			t.Fatal(err)
		}
		var all suites
		if err := xml.Unmarshal(out.Bytes(), &all); err != nil {
			t.Fatalf("%s: %v\n%s", c.name, err, out.String())
		}
		failures, skipped, outputs := 0, 0, 0
		for _, s := range all.Suites {
			if s.Tests != len(s.Cases) {
				t.Errorf("%s: %s has %d tests and says %d", c.name, s.Name, len(s.Cases), s.Tests)
			}
			for _, x := range s.Cases {
				if x.Failure != nil {
					failures++
				}
				if x.Skipped != nil {
					skipped++
				}
				if x.Output != "" {
					outputs++
				}
				if c.name == "errors" && s.Failures > 0 && strings.HasPrefix(x.Name, "RPC07 ") && (x.Class != "lint.RPC" || x.Line != 7 || x.Failure == nil ||
					x.Failure.Message != "agent, message 7, line 7, /id: the request was answered before" || !strings.Contains(x.Failure.Text, "https://www.jsonrpc.org/specification\nerror agent, ")) {
					t.Errorf("the case is %+v", x)
				}
			}
		}
		if failures != c.failures || all.Failures != failures || all.Skipped != skipped || skipped < 200 || failures+outputs != 3 {
			t.Errorf("%s: %d failures, %d skipped, %d with output; it says %d and %d", c.name, failures, skipped, outputs, all.Failures, all.Skipped)
		}
	}
}

func TestGitHubGetsACommandForEachFindingTheWorstFirst(t *testing.T) {
	t.Parallel()
	out := output(t, "github", files(t))
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 6 || lines[0] != "::error title=hermes lint::not judged: empty.jsonl: there is nothing to judge in it" {
		t.Errorf("the commands are\n%s", out)
	}
	lines = lines[1:]
	if !strings.HasPrefix(lines[0], "::error file=bad\\n.jsonl,line=2,title=TR02 The agent writes nothing but protocol messages to its standard output.::agent, message 2, line 2: not a message") ||
		!strings.HasPrefix(lines[1], "::error file=bad\\n.jsonl,line=7,title=RPC07 ") || !strings.HasPrefix(lines[4], "::notice ") {
		t.Errorf("the commands are\n%s", out)
	}
	command := regexp.MustCompile(`^::(error|notice) (file=[^,:\n]*,line=\d+,)?title=[^,:\n]*::[^\n]*$`)
	for line := range strings.Lines(output(t, "github", attack(t))) {
		if line = strings.TrimSuffix(line, "\n"); !command.MatchString(line) || strings.Contains(strings.ReplaceAll(line, "%25", ""), "%0Aescaped") {
			t.Errorf("not a command: %q", line)
		}
	}
	bad := lint.New(lint.Options{})
	for range 50 {
		bad.Add(lint.Record{From: lint.Agent, Bytes: []byte("noise")})
	}
	if n := strings.Count(output(t, "github", []report.File{{Name: "a", Report: bad.Report()}}), "::error "); n != 10 {
		t.Errorf("%d errors, and GitHub shows 10", n)
	}
}

func TestGitHubObeysNothingInTheLog(t *testing.T) {
	t.Parallel()
	tokens := map[string]bool{}
	for range 2 {
		var out bytes.Buffer
		if err := report.GitHubLog(&out, func(w io.Writer) error { return formats["text"](w, report.Sum(attack(t), lint.Error)) }); err != nil {
			t.Fatal(err)
		}
		first, rest, _ := strings.Cut(out.String(), "\n")
		token, ok := strings.CutPrefix(first, "::stop-commands::")
		if !ok || len(token) < 20 || !strings.HasSuffix(rest, "\n::"+token+"::\n") || strings.Count(rest, token) != 1 {
			t.Errorf("the log is\n%s", out.String())
		}
		tokens[token] = true
	}
	if len(tokens) != 2 {
		t.Error("the token can be guessed")
	}
}

func TestMarkdownShowsTextOfACaptureAsItIs(t *testing.T) {
	t.Parallel()
	out := output(t, "markdown", files(t))
	for _, want := range []string{"| <code>empty&#46;jsonl</code> not judged: <code>there is nothing to judge in it</code> | 0 | 0 | 0 | 0 |", "**error [TR02](https://agentclientprotocol.com/protocol/v1/transports)** The agent writes", "3 times"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	tags := regexp.MustCompile(`<(/?[a-z]+)[^>]*>`)
	code := regexp.MustCompile(`<code>[^<]*</code>`)
	out = output(t, "markdown", attack(t))
	for _, m := range tags.FindAllStringSubmatch(out, -1) {
		if !slices.Contains([]string{"code", "/code", "br"}, m[1]) {
			t.Errorf("a tag %s", m[0])
		}
	}
	for _, m := range code.FindAllString(out, -1) {
		if strings.ContainsAny(strings.NewReplacer("<code>", "", "</code>", "", "&#", "").Replace(m), "`*_[]|~#!@:.$<>\\/\"'") {
			t.Errorf("Markdown would read %s", m)
		}
	}
	if strings.Contains(code.ReplaceAllString(out, ""), "bold") {
		t.Error("text of the capture is outside of code")
	}
}

func TestMarkdownStaysBelowWhatGitHubTakes(t *testing.T) {
	t.Parallel()
	l := lint.New(lint.Options{})
	for range 3 {
		l.Add(lint.Record{From: lint.Agent, Bytes: []byte(strings.Repeat("noise ", 30))})
	}
	one := l.Report()
	var all []report.File
	for i := range 4000 {
		all = append(all, report.File{Name: fmt.Sprintf("%0200d", i), Report: one})
	}
	out := output(t, "markdown", all)
	if len(out) > 1<<20 || !strings.Contains(out, "more captures\n") || !strings.Contains(out, "more findings\n") {
		t.Errorf("%d bytes", len(out))
	}
}
