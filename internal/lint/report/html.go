package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// The page. It has no other parts: the files are put into one.
var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string
	//go:embed page/page.js
	pageJS string
)

// HTML writes the conversations and what was found in them as one page that needs no
// other files and makes no request. Files without a conversation have only findings.
func HTML(to io.Writer, all Outcome) error {
	files := all.Files
	head, tail, ok := strings.Cut(pageHTML, "{{data}}")
	if !ok {
		return fmt.Errorf("html report: the page has no place for data")
	}
	parts := strings.NewReplacer(
		"{{policy}}", "default-src 'none'; script-src "+hash(pageJS)+"; style-src "+hash(pageCSS)+
			"; base-uri 'none'; form-action 'none'; trusted-types 'none'; require-trusted-types-for 'script'",
		"{{css}}", pageCSS, "{{js}}", pageJS, "{{result}}", htmlResult(&all),
	)
	w := bufio.NewWriter(to)
	if _, err := parts.WriteString(w, head); err != nil {
		return err
	}
	e := json.NewEncoder(w) // escapes <, > and &, U+2028 and U+2029
	for i := range files {
		fmt.Fprint(w, `<script type="application/json" class="capture">`)
		if err := e.Encode(newPageFile(&files[i])); err != nil {
			return fmt.Errorf("html report: %w", err)
		}
		fmt.Fprintln(w, "</script>")
	}
	if _, err := parts.WriteString(w, tail); err != nil {
		return err
	}
	return w.Flush()
}

// htmlResult is the result, and the verdict and steps of runs.
func htmlResult(o *Outcome) string {
	var b strings.Builder
	open := ""
	if o.Status != passed {
		open = " open"
	}
	fmt.Fprintf(&b, "<p class=\"result-%d\">Result: %s</p>\n", min(o.Status, unknown), html.EscapeString(o.String()))
	for i := range o.Files {
		r := o.Files[i].Run
		if r == nil {
			continue
		}
		fmt.Fprintf(&b, "<details%s><summary>%s %s</summary>\n<table>\n", open, html.EscapeString(clean(r.Peer)), html.EscapeString(r.String()))
		for j := range r.Steps {
			s := &r.Steps[j]
			class := "ok"
			switch {
			case s.Failed:
				class = "error"
			case s.Status != "PASS":
				class = "warn"
			}
			fmt.Fprintf(&b, "<tr><td class=\"%s\">%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
				class, s.Status, s.Tier, html.EscapeString(clean(s.ID)), html.EscapeString(clean(s.Title)), html.EscapeString(s.says()))
		}
		fmt.Fprint(&b, "</table></details>\n")
	}
	return b.String()
}

// hash is a source of a Content-Security-Policy that allows this text alone.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pageFile is what the page reads about a file.
type pageFile struct {
	Name string `json:"name"`
	*Conversation
	Messages    int       `json:"messages"`
	Skipped     int       `json:"skipped,omitempty"`
	Accepted    int       `json:"accepted,omitempty"`
	Unversioned bool      `json:"unversioned,omitempty"`
	Errors      int       `json:"errors"`
	Warnings    int       `json:"warnings"`
	Infos       int       `json:"infos"`
	Passed      int       `json:"passed"`
	Failed      int       `json:"failed"`
	Unexercised int       `json:"unexercised"`
	Rules       []failure `json:"rules"`
}

// failure is a rule with its findings.
type failure struct {
	ID       string         `json:"id"`
	Severity string         `json:"severity"`
	Summary  string         `json:"summary"`
	Why      string         `json:"why"`
	Page     string         `json:"page,omitempty"`
	Count    int            `json:"count"`
	Findings []lint.Finding `json:"findings"`
}

func newPageFile(f *File) pageFile {
	p := pageFile{
		Name: lint.Visible([]byte(f.Name), maxName), Conversation: f.Conversation,
		Messages: f.Messages, Skipped: f.Skipped, Accepted: f.Accepted, Unversioned: f.Unversioned,
		Errors: f.Errors, Warnings: f.Warnings, Infos: f.Infos, Rules: []failure{},
	}
	if p.Conversation == nil {
		p.Conversation = (&Recorder{}).Conversation()
	}
	p.Passed, p.Failed, p.Unexercised = count([]File{*f})
	for _, v := range f.failures() {
		p.Rules = append(p.Rules, failure{v.Rule.ID, worst(v).String(), v.Rule.Summary, v.Rule.Why, v.Rule.URL(v.Findings[0].Version), v.Failed, v.Findings})
	}
	return p
}
