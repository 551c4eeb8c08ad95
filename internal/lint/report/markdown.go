package report

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"
)

// maxMarkdown bounds what Markdown writes: GitHub takes a summary of 1 MiB.
const maxMarkdown = 900 << 10

// Markdown writes a summary for people: the result, the steps of runs, a table of the
// captures, and the findings of each, at most max of each rule.
func Markdown(to io.Writer, all Outcome, max int) error {
	files := all.Files
	w := bufio.NewWriter(to)
	word, why, _ := strings.Cut(all.String(), ": ")
	fmt.Fprintf(w, "### hermes lint: %s\n\n", word)
	if why != "" {
		fmt.Fprintf(w, "%s\n\n", code(why))
	}
	for i := range files {
		if r := files[i].Run; r != nil {
			markdownRun(w, files[i].Name, r)
		}
	}
	fmt.Fprint(w, "| capture | messages | errors | warnings | remarks |\n|---|--:|--:|--:|--:|\n")
	size, left := 0, 0
	for i := range files {
		f := &files[i]
		name := code(f.Name)
		if f.Problem != "" {
			name += " not judged: " + code(f.Problem)
		}
		row := fmt.Sprintf("| %s | %d | %d | %d | %d |\n", name, f.Messages, f.Errors, f.Warnings, f.Infos)
		if size += len(row); size > maxMarkdown/2 {
			left++
			continue
		}
		fmt.Fprint(w, row)
	}
	if left > 0 {
		fmt.Fprintf(w, "\nand %s\n", plural(left, "more capture"))
	}
	passed, failed, unexercised := count(files)
	fmt.Fprintf(w, "\n%d rules passed, %d failed, %d were not exercised.\n", passed, failed, unexercised)
	left = 0
	for i := range files {
		f := &files[i]
		for _, v := range f.failures() {
			var b strings.Builder
			name := v.Rule.ID
			if url := v.Rule.URL(v.Findings[0].Version); url != "" {
				name = "[" + name + "](" + url + ")"
			}
			fmt.Fprintf(&b, "\n**%s %s** %s %s, %s\n\n", worst(v), name, html.EscapeString(v.Rule.Summary), code(f.Name), plural(v.Failed, "time"))
			for j := range v.Findings {
				if j == max && max > 0 {
					break
				}
				x := &v.Findings[j]
				fmt.Fprintf(&b, "- %s: %s", code(where(x)), code(x.Text))
				if x.Quote != "" {
					fmt.Fprintf(&b, "<br>%s", code(x.Quote))
				}
				fmt.Fprintln(&b)
			}
			if size += b.Len(); size > maxMarkdown {
				left += v.Failed
				continue
			}
			fmt.Fprint(w, b.String())
		}
	}
	if left > 0 {
		fmt.Fprintf(w, "\nand %s\n", plural(left, "more finding"))
	}
	return w.Flush()
}

// markdownRun writes the verdict of a run, and the steps that did not pass.
func markdownRun(w io.Writer, name string, r *Run) {
	fmt.Fprintf(w, "**%s** %s %s\n\n", r.Verdict(), code(name), code(r.Peer))
	passed, rows := 0, 0
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status == "PASS" {
			passed++
			continue
		}
		if rows++; rows == 1 {
			fmt.Fprint(w, "| step | tier | status | |\n|---|---|---|---|\n")
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", code(s.ID), s.Tier, s.Status, code(s.says()))
	}
	fmt.Fprintf(w, "\n%s passed.\n\n", plural(passed, "step"))
}

// code shows text of a capture as it is: nothing in it is Markdown or HTML.
func code(s string) string {
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range clean(s) {
		if r < 128 && r != ' ' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}
