package report

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// boardOf is a scoreboard whose texts are all the same.
func boardOf(text string) *Scoreboard {
	step := func(id, status string) Step {
		return Step{ID: id, Title: text, Tier: "MANDATORY", Status: status, Text: text, Requirements: []string{text}, Rules: []string{text}, Failed: status == "FAIL", Message: 12}
	}
	run := &Run{Peer: text, Decision: "NOT CONFORMANT", Why: []string{text}, Broken: []Broken{{text, 7}},
		Steps: []Step{step(text, "FAIL"), step("b", "PASS"), step("c", "not exercised"), step("d", "not played")}}
	return &Scoreboard{Program: text, Fails: lint.Error, Rows: []Row{
		{Agent: text, Version: text, Report: "agents/" + text, Run: run, Errors: 1},
		{Agent: "away", Problem: text},
	}}
}

// No text of an agent is more than text, and the page loads nothing.
func TestAScoreboardIsOnlyText(t *testing.T) {
	t.Parallel()
	tag := regexp.MustCompile(`<[^>]*>`)
	tags := func(text string) string {
		var b bytes.Buffer
		if err := boardOf(text).HTML(&b); err != nil {
			t.Fatal(err)
		}
		quoted := regexp.MustCompile(`"[^"]*"`)
		return strings.Join(tag.FindAllString(quoted.ReplaceAllString(b.String(), `""`), -1), "\n")
	}
	plain := tags("plain")
	for _, text := range []string{
		`<script>alert(1)</script>`, `" onclick="alert(1)`, `' onclick='alert(1)`, `</style></title></td>`, `<!-- x`, `javascript:alert(1)`,
		"\x1b[31m\x00\u202e\xff", `&lt;b&gt;`, "a\nb",
	} {
		if got := tags(text); got != plain {
			t.Errorf("%q changes the page:\n%s", text, got)
		}
		var b bytes.Buffer
		boardOf(text).HTML(&b)
		for _, bad := range []string{"<script", "src=", "url(", "http:", "https:", "\x1b", "\x00", "\u202e", `href="javascript`} {
			if strings.Contains(b.String(), bad) {
				t.Errorf("%q: the page has %q", text, bad)
			}
		}
		if !strings.Contains(b.String(), "default-src 'none'; style-src "+hash(scoreboardCSS)) {
			t.Error("the page may load something")
		}
	}
}

func TestAScoreboardIsReadAgain(t *testing.T) {
	t.Parallel()
	s := boardOf("x\n\"\u2028")
	var first, second bytes.Buffer
	if err := s.JSON(&first); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.Rows, err = ReadScoreboard(bytes.NewReader(first.Bytes())); err != nil {
		t.Fatal(err)
	}
	if err := s.JSON(&second); err != nil || first.String() != second.String() {
		t.Errorf("%v\n%s\n%s", err, first.String(), second.String())
	}
	for _, text := range []string{"", "[]", `{"agents":[{"agent":"a","colour":"red"}]}`, `{"agents":`} {
		if _, err := ReadScoreboard(strings.NewReader(text)); err == nil {
			t.Errorf("%q is a scoreboard", text)
		}
	}
}

// Who knows a requirement of acp-tck finds its column, without a mouse, too.
func TestTheHeadOfAColumnHasTheRequirementsOfTheStep(t *testing.T) {
	t.Parallel()
	s := Scoreboard{Rows: []Row{{Run: &Run{Steps: []Step{
		{ID: "cancel", Requirements: []string{"ACP-CANCEL-001", "ACP-CANCEL-002"}}, {ID: "prompt-two"},
	}}}}}
	var b bytes.Buffer
	if err := s.HTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<span>cancel<small>ACP-CANCEL-001</small><small>ACP-CANCEL-002</small></span></th>", "<span>prompt-two</span></th>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// The status of a whole board is what Sum returns for all rows, and the status of a
// row what it returns for that row.
func TestAScoreboardFailsWhereARunFails(t *testing.T) {
	t.Parallel()
	good, bad := Row{Agent: "good", Run: &Run{Decision: "CONFORMANT"}}, Row{Agent: "bad", Run: &Run{Decision: "NOT CONFORMANT"}}
	open, away := Row{Agent: "open", Run: &Run{Decision: "UNDECIDED"}}, Row{Agent: "away", Problem: "it is away"}
	warned := Row{Agent: "warned", Run: &Run{Decision: "CONFORMANT"}, Warnings: 1}
	for _, c := range []struct {
		rows  []Row
		fails lint.Severity
		want  string
	}{
		{[]Row{good, good}, lint.Error, "0: passed"},
		{[]Row{good, bad, open}, lint.Error, "1: failed: of 3 agents 1 passed, 1 failed, and 1 could not be judged"},
		{[]Row{good, open}, lint.Error, "2: not judged: of 2 agents 1 passed, 0 failed, and 1 could not be judged"},
		{[]Row{bad, away}, lint.Error, "2: not judged: of 2 agents 0 passed, 1 failed, and 1 could not be judged"},
		{[]Row{good, warned}, lint.Warn, "1: failed: of 2 agents 1 passed, 1 failed, and 0 could not be judged"},
		{[]Row{good, warned}, lint.Error, "0: passed"},
		{[]Row{bad, open}, lint.Error + 1, "0: passed"},
	} {
		s := Scoreboard{Rows: c.rows, Fails: c.fails}
		o := s.Sum()
		if got := fmt.Sprintf("%d: %s", o.Status, o.String()); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if o := (&Scoreboard{Fails: lint.Error}).Outcome(&away); o.Status != 2 || o.String() != "not judged: it is away" {
		t.Errorf("%+v", o)
	}
}

func TestTheColumnsAreTheStepsOfAllInTheirOrder(t *testing.T) {
	t.Parallel()
	row := func(ids ...string) Row {
		r := Row{Run: &Run{}}
		for _, id := range ids {
			r.Run.Steps = append(r.Run.Steps, Step{ID: id})
		}
		return r
	}
	s := Scoreboard{Rows: []Row{row("a", "b", "d"), {}, row("a", "b", "c", "d"), row("b", "e")}}
	var got []string
	for _, c := range s.Requirements() {
		got = append(got, c.ID)
	}
	if want := []string{"a", "b", "e", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
