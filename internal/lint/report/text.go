package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// TextOptions configure Text.
type TextOptions struct {
	// Max is how many findings of each rule are shown; 0: all that were kept.
	Max int
	// Colour is for terminals.
	Colour bool
}

// Text writes findings for people: by file and rule, the worst first, with the value
// and the message that each is about. It writes no control characters other than line
// feeds and, with Colour, the sequences of colours.
func Text(to io.Writer, all Outcome, o TextOptions) error {
	files := all.Files
	w := &text{bufio.NewWriter(to), o}
	var errors, warnings, infos, accepted, captures int
	for i := range files {
		f := &files[i]
		errors, warnings, infos, accepted = errors+f.Errors, warnings+f.Warnings, infos+f.Infos, accepted+f.Accepted
		if f.isCapture() {
			captures++
		}
		w.file(f)
	}
	passed, failed, unexercised := count(files)
	also := ""
	if accepted > 0 {
		also = fmt.Sprintf(", %d accepted", accepted)
	}
	worst := lint.Severity(0)
	switch {
	case errors > 0:
		worst = lint.Error
	case warnings > 0:
		worst = lint.Warn
	}
	fmt.Fprintf(w, "%s in %s%s. Rules: %d passed, %d failed, %d not exercised.\n",
		w.in(strong+severityColour(worst), findings(errors, warnings, infos)), plural(captures, "capture"), also, passed, failed, unexercised)
	fmt.Fprintf(w, "Result: %s\n", w.in(strong+[...]string{green, red, yellow}[min(all.Status, unknown)], all.String()))
	return w.Flush()
}

type text struct {
	*bufio.Writer
	TextOptions
}

// The colours of terminals, as parameters of SGR.
const (
	strong = "1;"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func severityColour(s lint.Severity) string {
	return [...]string{green, cyan, yellow, red}[s]
}

// in returns text in a colour.
func (w *text) in(colour, s string) string {
	if !w.Colour || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

func (w *text) file(f *File) {
	fmt.Fprintf(w, "%s: ", w.in(strong+cyan, clean(f.Name)))
	if f.isCapture() {
		fmt.Fprintf(w, "%s, ", plural(f.Messages, "message"))
	}
	fmt.Fprintln(w, findings(f.Errors, f.Warnings, f.Infos))
	if f.Problem != "" {
		fmt.Fprintf(w, "  not judged: %s\n", clean(f.Problem))
	}
	if f.Skipped > 0 {
		fmt.Fprintf(w, "  %s left out: nothing says who sent them\n", plural(f.Skipped, "line"))
	}
	if f.Unversioned {
		fmt.Fprintln(w, "  The version of the protocol is not known, so only rules of all versions were used; --protocol says it.")
	}
	for _, v := range f.failures() {
		w.rule(v)
	}
	fmt.Fprintln(w)
}

func (w *text) rule(v *lint.Verdict) {
	times := ""
	if v.Failed > 1 {
		times = fmt.Sprintf(" (%d times)", v.Failed)
	}
	if s := worst(v); v.Counts[s] < v.Failed { // the heading names the worst
		times = fmt.Sprintf(" (%d times: %s)", v.Failed, findings(v.Counts[lint.Error], v.Counts[lint.Warn], v.Counts[lint.Info]))
	}
	s := worst(v)
	fmt.Fprintf(w, "\n  %s %s  %s%s\n", w.in(strong+severityColour(s), fmt.Sprintf("%-5s", s)), w.in(strong+severityColour(s), v.Rule.ID), v.Rule.Summary, times)
	if url := v.Rule.URL(v.Findings[0].Version); url != "" {
		fmt.Fprintf(w, "        %s\n", w.in(dim, url))
	}
	shown := len(v.Findings)
	if w.Max > 0 {
		shown = min(shown, w.Max)
	}
	for i := range v.Findings[:shown] {
		w.finding(&v.Findings[i])
	}
	if v.Failed > shown {
		fmt.Fprintf(w, "    and %d more\n", v.Failed-shown)
	}
}

func (w *text) finding(f *lint.Finding) {
	fmt.Fprintf(w, "    %s: %s\n", w.in(dim, where(f)), clean(f.Text))
	for _, n := range f.Also {
		fmt.Fprintf(w, "        see message %d\n", n)
	}
	quote, excerpt := clean(f.Quote), clean(f.Excerpt)
	if quote != "" {
		fmt.Fprintf(w, "        %s\n", w.in(strong+yellow, quote))
	}
	if excerpt != "" && excerpt != quote {
		fmt.Fprintf(w, "        %s\n", w.in(dim, excerpt))
	}
}

// where says who did what is wrong, and in which message.
func where(f *lint.Finding) string {
	var parts []string
	if f.By != lint.Nobody {
		parts = append(parts, f.By.String())
	}
	if f.Message > 0 {
		parts = append(parts, fmt.Sprintf("message %d", f.Message))
	}
	if f.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", f.Line))
	}
	if f.Pointer != "" {
		parts = append(parts, clean(f.Pointer))
	}
	return strings.Join(parts, ", ")
}

// findings says how many there are.
func findings(errors, warnings, infos int) string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{errors, "error"}, {warnings, "warning"}, {infos, "remark"}} {
		if p.n > 0 {
			parts = append(parts, plural(p.n, p.word))
		}
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
