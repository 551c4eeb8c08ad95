package report

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
)

//go:embed page/scoreboard.css
var scoreboardCSS string

// marks are what a cell shows: a word for each status, and its class.
var marks = map[string]struct{ word, class string }{
	"PASS":          {"pass", "ok"},
	"FAIL":          {"FAIL", "error"},
	"not exercised": {"–", "dim"},
	"not played":    {"?", "warn"},
}

// HTML writes the scoreboard as one page. It has no script, and loads nothing.
func (s *Scoreboard) HTML(to io.Writer) error {
	var b strings.Builder
	sum := s.Sum()
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src %s; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>hermes lint: scoreboard</title>
<style>%s</style>
</head>
<body>
<h1>Scoreboard</h1>
<p class="result-%d">Result: %s</p>
<p class="dim">Judged by %s. FAIL and a rule link to the message that shows it. – is not exercised: the agent does not offer it, did not do it, or needs a login. ? is not played: what the step needs did not work.</p>
`, hash(scoreboardCSS), scoreboardCSS, min(sum.Status, unknown), escaped(sum.String()), escaped(s.Program))
	s.htmlTable(&b)
	for i := range s.Rows {
		s.htmlFaults(&b, &s.Rows[i])
	}
	b.WriteString("</body>\n</html>\n")
	_, err := io.WriteString(to, b.String())
	return err
}

func (s *Scoreboard) htmlTable(b *strings.Builder) {
	columns := s.Requirements()
	b.WriteString("<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Agent</th><th scope=\"col\">Verdict</th><th scope=\"col\">Rules broken</th>")
	for _, c := range columns {
		about := c.Tier + ": " + c.Title
		if len(c.Requirements) > 0 {
			about += " (" + strings.Join(c.Requirements, ", ") + ")"
		}
		fmt.Fprintf(b, "<th scope=\"col\" class=\"step\" title=\"%s\"><span>%s", escaped(about), escaped(c.ID))
		for _, r := range c.Requirements {
			fmt.Fprintf(b, "<small>%s</small>", escaped(r))
		}
		b.WriteString("</span></th>")
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for i := range s.Rows {
		r := &s.Rows[i]
		o := s.Outcome(r)
		verdict := "not judged"
		if r.Run != nil {
			verdict = r.Run.Verdict()
		}
		name := escaped(r.Agent)
		if r.Report != "" {
			name = fmt.Sprintf("<a href=\"%s\">%s</a>", escaped(r.Report), name)
		}
		about := r.Version
		if r.Run != nil && r.Run.Peer != "" && r.Run.Peer != r.Version {
			about = strings.TrimSpace(about + " " + r.Run.Peer)
		}
		fmt.Fprintf(b, "<tr><th scope=\"row\">%s <span class=\"dim\">%s</span></th><td class=\"result-%d\" title=\"%s\">%s</td>",
			name, escaped(about), min(o.Status, unknown), escaped(o.String()), escaped(verdict))
		htmlRules(b, r)
		for _, c := range columns {
			htmlCell(b, r, r.cell(c.ID))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table></div>\n")
}

// htmlRules is the cell of the rules for which an agent does not conform.
func htmlRules(b *strings.Builder, r *Row) {
	if r.Run == nil || len(r.Run.Broken) == 0 {
		b.WriteString("<td></td>")
		return
	}
	b.WriteString("<td class=\"error\">")
	for i, one := range r.Run.Broken {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(b, "<a href=\"%s\">%s</a>", escaped(r.link(one.Message)), escaped(one.Rule))
	}
	b.WriteString("</td>")
}

func htmlCell(b *strings.Builder, r *Row, s *Step) {
	if s == nil {
		b.WriteString("<td></td>")
		return
	}
	m := marks[s.Status]
	word := escaped(m.word)
	if s.Status == "FAIL" {
		word = fmt.Sprintf("<a href=\"%s\">%s</a>", escaped(r.link(s.Message)), word)
	}
	fmt.Fprintf(b, "<td class=\"%s\" title=\"%s\">%s</td>", m.class, escaped(s.ID+": "+s.Status+" "+s.says()), word)
}

// htmlFaults says in words why an agent has not passed.
func (s *Scoreboard) htmlFaults(b *strings.Builder, r *Row) {
	o := s.Outcome(r)
	if o.Status == passed {
		return
	}
	fmt.Fprintf(b, "<h2>%s</h2>\n<p class=\"result-%d\">%s</p>\n", escaped(r.Agent), min(o.Status, unknown), escaped(o.String()))
	if r.Run == nil {
		return
	}
	b.WriteString("<ul>\n")
	for i := range r.Run.Steps {
		if step := &r.Run.Steps[i]; step.Status == "FAIL" {
			fmt.Fprintf(b, "<li><a href=\"%s\">%s</a> (%s): %s %s</li>\n", escaped(r.link(step.Message)), escaped(step.ID), escaped(step.Tier), escaped(step.Title), escaped(step.says()))
		}
	}
	b.WriteString("</ul>\n")
}

// escaped is text for a page, also inside of an attribute.
func escaped(text string) string { return html.EscapeString(clean(text)) }
