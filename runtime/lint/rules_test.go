package lint_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/lint/capture"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// The files of testdata:
//
//	rules.tsv        the table of all rules: id, severity, side, versions, check, summary, page, method, strength
//	ID/pass.jsonl    a capture that exercises the rule, breaks none of its area, and has no error
//	ID/fail.jsonl    a capture that breaks the rule
//	ID/also          other rules that a capture breaks of necessity: "fail RPC16", one a line
//	requirements     the ids of the requirements of acp-tck
//	ID/draft         if it exists, version 2 in the captures is the draft of August 2026

// row is a line of the table.
type row struct{ id, severity, side, versions, check, summary, page, method, strength string }

func table(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile("testdata/rules.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 9 {
			t.Fatalf("line %d has %d fields", i+1, len(f))
		}
		if i > 0 {
			rows = append(rows, row{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]})
		}
	}
	return rows
}

// judge lints a capture with some rules.
func judge(t *testing.T, text []byte, o lint.Options) *lint.Report {
	t.Helper()
	r, err := capture.NewReader("capture", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l := lint.New(o)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return l.Report()
		}
		if err != nil {
			t.Fatal(err)
		}
		l.Add(rec)
	}
}

func outcome(r *lint.Report, id string) *lint.Verdict {
	for _, v := range r.Verdicts {
		if v.Rule.ID == id {
			return v
		}
	}
	return nil
}

// hasError reports whether a rule was broken for certain.
func hasError(v *lint.Verdict) bool {
	return slices.ContainsFunc(v.Findings, func(f lint.Finding) bool { return f.Severity == lint.Error })
}

// failed lists some of the rules that a capture breaks.
func failed(r *lint.Report, of func(*lint.Verdict) bool) (ids []string) {
	for _, v := range r.Verdicts {
		if v.Failed > 0 && of(v) {
			ids = append(ids, v.Rule.ID)
		}
	}
	return ids
}

func options(id string) lint.Options {
	o := lint.Options{Profile: lint.Strict}
	if _, err := os.Stat("testdata/" + id + "/draft"); err == nil {
		o.Version = lint.V2a
	}
	return o
}

func TestEachRuleHasACaptureThatPassesAndOneThatFails(t *testing.T) {
	t.Parallel()
	for _, rule := range lint.Rules() {
		t.Run(rule.ID, func(t *testing.T) {
			t.Parallel()
			pass, fail := lint.Example(rule.ID, true), lint.Example(rule.ID, false)
			if len(pass) == 0 || len(fail) == 0 {
				t.Fatalf("testdata/%s needs pass.jsonl and fail.jsonl", rule.ID)
			}
			for _, problem := range misjudged(t, rule, options(rule.ID)) {
				t.Error(problem)
			}
		})
	}
}

// misjudged says what the examples of a rule show to be wrong with it.
func misjudged(t *testing.T, rule *lint.Rule, o lint.Options) (problems []string) {
	t.Helper()
	for _, c := range []struct {
		name    string
		pass    bool
		verdict string
		breaks  []string
	}{
		{"pass", true, "pass", also(rule.ID, "pass")},
		{"fail", false, "fail", append(also(rule.ID, "fail"), rule.ID)},
	} {
		r := judge(t, lint.Example(rule.ID, c.pass), o)
		if v := outcome(r, rule.ID); v.String() != c.verdict {
			problems = append(problems, fmt.Sprintf("%s.jsonl: the verdict is %s", c.name, v))
		}
		got := failed(r, func(v *lint.Verdict) bool {
			return v.Rule.Area() == rule.Area() || c.pass && hasError(v)
		})
		slices.Sort(got)
		slices.Sort(c.breaks)
		if !slices.Equal(got, c.breaks) {
			problems = append(problems, fmt.Sprintf("%s.jsonl breaks %v, want %v", c.name, got, c.breaks))
			report(t, r)
		}
	}
	return problems
}

// A rule that does not look, one that finds nothing, and one that finds something in what is
// right and nothing in what is wrong do not pass their examples.
func TestARuleThatIsSwitchedOffOrInvertedIsNoticed(t *testing.T) {
	t.Parallel()
	const inverted = "inverted"
	for at, rule := range lint.Rules() {
		t.Run(rule.ID, func(t *testing.T) {
			t.Parallel()
			for name, check := range map[string]func(c *lint.Checker, found *int){
				"does not look": func(*lint.Checker, *int) {},
				"finds nothing": func(c *lint.Checker, _ *int) { rule.Check(c) },
				"is inverted": func(c *lint.Checker, found *int) {
					rule.Check(c)
					c.End(func() {
						if *found == 0 {
							c.FailEnd(lint.Agent, nil, inverted)
						}
						*found = 0
					})
				},
			} {
				found := 0
				changed := *rule
				changed.Check = func(c *lint.Checker) { check(c, &found) }
				o := options(rule.ID)
				o.Rules = lint.Rules()
				o.Rules[at] = &changed
				o.Accept = func(f *lint.Finding) bool {
					mine := f.Rule.ID == rule.ID && f.Text != inverted
					if mine {
						found++
					}
					return mine
				}
				if misjudged(t, &changed, o) == nil {
					t.Errorf("a rule that %s passes its examples", name)
				}
			}
		})
	}
}

// also lists the other rules that a capture of a rule breaks of necessity.
func also(id, capture string) (ids []string) {
	text, _ := os.ReadFile("testdata/" + id + "/also")
	for line := range strings.Lines(string(text)) {
		if name, other, _ := strings.Cut(strings.TrimSpace(line), " "); name == capture {
			ids = append(ids, other)
		}
	}
	return ids
}

func report(t *testing.T, r *lint.Report) {
	t.Helper()
	for _, v := range r.Verdicts {
		for _, f := range v.Findings {
			t.Logf("%s line %d %s: %s", f.Rule.ID, f.Line, f.Pointer, f.Text)
		}
	}
}

func TestAFindingSaysWhereAndWho(t *testing.T) {
	t.Parallel()
	for _, rule := range lint.Rules() {
		r := judge(t, lint.Example(rule.ID, false), options(rule.ID))
		for _, f := range outcome(r, rule.ID).Findings {
			if f.Text == "" || strings.ContainsAny(f.Text, "\n\r") {
				t.Errorf("%s: the text is %q", rule.ID, f.Text)
			}
			if want := string(rule.Side); f.By == lint.Nobody || want != "both" && want != "server" && want != f.By.String() {
				t.Errorf("%s: a rule for the %s blames the %s", rule.ID, want, f.By)
			}
		}
	}
}

func TestRulesAgreeWithTheTable(t *testing.T) {
	t.Parallel()
	rows := map[string]row{}
	for _, row := range table(t) {
		rows[row.id] = row
	}
	seen := map[string]bool{}
	for _, r := range lint.Rules() {
		if seen[r.ID] {
			t.Errorf("%s exists twice", r.ID)
		}
		seen[r.ID] = true
		row, ok := rows[r.ID]
		if !ok {
			t.Errorf("%s is not in the table", r.ID)
			continue
		}
		page := r.Page
		if page == "" {
			page = "-"
		}
		if row.check == "partial" && row.severity == "error" {
			row.severity = "warn" // a heuristic may be wrong
		}
		versions := r.Versions.String()
		if row.versions == "1,2" && r.Versions == lint.All {
			versions = "1,2"
		}
		for _, c := range []struct{ what, got, want string }{
			{"severity", r.Severity.String(), row.severity},
			{"side", string(r.Side), row.side},
			{"versions", versions, row.versions},
			{"page", page, row.page},
			{"strength", string(r.Strength), row.strength},
		} {
			if c.got != c.want {
				t.Errorf("%s: %s %q, the table has %q", r.ID, c.what, c.got, c.want)
			}
		}
		for _, text := range []string{r.Summary, r.Why} {
			if !strings.HasSuffix(text, ".") || len(text) < 20 || len(text) > 200 {
				t.Errorf("%s: not a sentence: %q", r.ID, text)
			}
		}
	}
}

// Rules about what no traffic shows are for people to check, and are not here.
func TestEveryRuleThatTrafficCanShowIsThere(t *testing.T) {
	t.Parallel()
	for _, row := range table(t) {
		if there, want := lint.Find(row.id) != nil, row.check != "no"; there != want {
			t.Errorf("%s (%s): there is %v, want %v", row.id, row.check, there, want)
		}
	}
}

func TestTheRequirementsOfRulesExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/requirements")
	if err != nil {
		t.Fatal(err)
	}
	known, covered := strings.Fields(string(text)), map[string]bool{}
	for _, r := range lint.Rules() {
		for _, id := range r.Requirements {
			covered[id] = true
			if !slices.Contains(known, id) {
				t.Errorf("%s: there is no requirement %s", r.ID, id)
			}
		}
	}
	var left []string
	for _, id := range known {
		if !covered[id] {
			left = append(left, id)
		}
	}
	t.Logf("%d requirements without a rule: %s", len(left), strings.Join(left, " "))
}
