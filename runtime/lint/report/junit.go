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
		Skipped *junitMessage `xml:"skipped"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a test suite for each capture and a test for each rule. A rule with
// findings of a severity that fails has failed; other findings are its output. A rule
// that was not exercised was skipped.
func JUnit(to io.Writer, files []File, fails lint.Severity) error {
	all := junitSuites{Name: "hermes lint"}
	for i := range files {
		f := &files[i]
		s := junitSuite{Name: clean(f.Name)}
		for _, v := range f.Verdicts {
			c := junitCase{Class: "lint." + v.Rule.Area(), Name: v.Rule.ID + " " + v.Rule.Summary, File: s.Name}
			switch {
			case v.Failed == 0 && v.Exercised == 0:
				s.Skipped++
				c.Skipped = &junitMessage{Message: "not exercised"}
			case v.Failed == 0:
			case worst(v) >= fails:
				s.Failures++
				c.Line = v.Findings[0].Line
				c.Failure = &junitMessage{Message: where(&v.Findings[0]) + ": " + clean(v.Findings[0].Text), Type: worst(v).String(), Text: junitText(v)}
			default:
				c.Line, c.Output = v.Findings[0].Line, junitText(v)
			}
			s.Cases = append(s.Cases, c)
		}
		s.Tests = len(s.Cases)
		all.Tests, all.Failures, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Skipped+s.Skipped
		all.Suites = append(all.Suites, s)
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
