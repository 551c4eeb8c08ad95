package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// The elements of a JUnit file, as far as readers agree on them.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
		Skipped *junitMessage `xml:"skipped"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a test suite for each capture, with a test for each step of a run and for
// each rule. A rule with findings of a severity that fails has failed; other findings are
// its output. Steps and rules that were not exercised are skipped. A capture that could
// not be judged is an error.
func JUnit(to io.Writer, o Outcome) error {
	all := junitSuites{Name: "hermes lint"}
	for i := range o.Files {
		f := &o.Files[i]
		s := junitSuite{Name: clean(f.Name)}
		if f.Problem != "" {
			s.add(junitCase{Class: "lint", Name: "the capture can be judged", Error: &junitMessage{Message: clean(f.Problem)}})
		}
		if f.Run != nil {
			s.run(f.Run, &o)
		}
		for _, v := range f.Verdicts {
			c := junitCase{Class: "lint." + v.Rule.Area(), Name: v.Rule.ID + " " + v.Rule.Summary}
			switch {
			case v.Failed == 0 && v.Exercised == 0:
				c.Skipped = &junitMessage{Message: "not exercised"}
			case v.Failed == 0:
			case worst(v) >= o.Fails:
				c.Line = v.Findings[0].Line
				c.Failure = &junitMessage{Message: where(&v.Findings[0]) + ": " + clean(v.Findings[0].Text), Type: worst(v).String(), Text: junitText(v)}
			default:
				c.Line, c.Output = v.Findings[0].Line, junitText(v)
			}
			s.add(c)
		}
		all.add(s)
	}
	if o.Status == failed && all.Failures == 0 || o.Status > failed && all.Errors == 0 {
		s := junitSuite{Name: "hermes lint"}
		c := junitCase{Class: "lint", Name: "result"}
		if text := (&junitMessage{Message: o.String()}); o.Status == failed {
			c.Failure = text
		} else {
			c.Error = text
		}
		s.add(c)
		all.add(s)
	}
	if _, err := io.WriteString(to, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(to)
	e.Indent("", " ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(to, "\n")
	return err
}

func (all *junitSuites) add(s junitSuite) {
	all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
	all.Suites = append(all.Suites, s)
}

func (s *junitSuite) add(c junitCase) {
	c.File = s.Name
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// run adds the steps of a run and its verdict. They fail only if the command does.
func (s *junitSuite) run(r *Run, o *Outcome) {
	for i := range r.Steps {
		step := &r.Steps[i]
		c := junitCase{Class: "lint.step", Name: step.ID + " " + clean(step.Title)}
		text := &junitMessage{Message: step.says(), Type: step.Tier}
		switch {
		case step.Failed && o.Status == failed:
			c.Failure = text
		case step.Open && o.Status > failed:
			c.Error = text
		case step.Status == "PASS":
			c.Output = text.Message
		case step.Status == "FAIL":
			c.Output = step.Tier + " FAIL: " + text.Message
		default:
			text.Message = step.Status + ": " + text.Message
			c.Skipped = text
		}
		s.add(c)
	}
	c := junitCase{Class: "lint.step", Name: "verdict"}
	switch {
	case r.Decision == "NOT CONFORMANT" && o.Status == failed:
		c.Failure = &junitMessage{Message: r.String()}
	case r.Decision == "UNDECIDED" && o.Status > failed:
		c.Error = &junitMessage{Message: r.String()}
	default:
		c.Output = r.String()
	}
	s.add(c)
}

// junitText lists the findings of a rule.
func junitText(v *lint.Verdict) string {
	var b strings.Builder
	if url := v.Rule.URL(v.Findings[0].Version); url != "" {
		fmt.Fprintln(&b, url)
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		fmt.Fprintf(&b, "%s %s: %s\n", f.Severity, where(f), clean(f.Text))
		for _, text := range []string{f.Quote, f.Excerpt} {
			if text != "" {
				fmt.Fprintf(&b, "    %s\n", clean(text))
			}
		}
	}
	if n := v.Failed - len(v.Findings); n > 0 {
		fmt.Fprintf(&b, "and %d more\n", n)
	}
	return b.String()
}
