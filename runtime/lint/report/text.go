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
}

// Text writes findings for people: by file and rule, the worst first, with the value
// and the message that each is about.
func Text(to io.Writer, files []File, o TextOptions) error {
	w := bufio.NewWriter(to)
	errors, warnings, infos, accepted, captures := 0, 0, 0, 0, 0
	for i := range files {
		f := &files[i]
		errors, warnings, infos, accepted = errors+f.Errors, warnings+f.Warnings, infos+f.Infos, accepted+f.Accepted
		if f.isCapture() {
			captures++
		}
		writeFile(w, f, o)
	}
	passed, failed, unexercised := count(files)
	also := ""
	if accepted > 0 {
		also = fmt.Sprintf(", %d accepted", accepted)
	}
	fmt.Fprintf(w, "%s in %s%s. Rules: %d passed, %d failed, %d not exercised.\n",
		findings(errors, warnings, infos), plural(captures, "capture"), also, passed, failed, unexercised)
	return w.Flush()
}

func writeFile(w io.Writer, f *File, o TextOptions) {
	fmt.Fprintf(w, "%s: ", oneLine(f.Name))
	if f.isCapture() {
		fmt.Fprintf(w, "%s, ", plural(f.Messages, "message"))
	}
	fmt.Fprintln(w, findings(f.Errors, f.Warnings, f.Infos))
	if f.Skipped > 0 {
		fmt.Fprintf(w, "  %s left out: nothing says who sent them\n", plural(f.Skipped, "line"))
	}
	if f.Unversioned {
		fmt.Fprintln(w, "  The version of the protocol is not known, so only rules of all versions were used; --protocol says it.")
	}
	for _, v := range f.failures() {
		times := ""
		if v.Failed > 1 {
			times = fmt.Sprintf(" (%d times)", v.Failed)
		}
		fmt.Fprintf(w, "\n  %-5s %s  %s%s\n", worst(v), v.Rule.ID, v.Rule.Summary, times)
		if url := v.Rule.URL(v.Findings[0].Version); url != "" {
			fmt.Fprintf(w, "        %s\n", url)
		}
		for i, x := range v.Findings {
			if i == o.Max && o.Max > 0 {
				break
			}
			var where []string
			if x.By != lint.Nobody {
				where = append(where, x.By.String())
			}
			if x.Message > 0 {
				where = append(where, fmt.Sprintf("message %d", x.Message))
			}
			if x.Line > 0 {
				where = append(where, fmt.Sprintf("line %d", x.Line))
			}
			if x.Pointer != "" {
				where = append(where, oneLine(x.Pointer))
			}
			fmt.Fprintf(w, "    %s: %s\n", strings.Join(where, ", "), oneLine(x.Text))
			for _, n := range x.Also {
				fmt.Fprintf(w, "        see message %d\n", n)
			}
			if x.Quote != "" {
				fmt.Fprintf(w, "        %s\n", x.Quote)
			}
			if x.Excerpt != "" && x.Excerpt != x.Quote {
				fmt.Fprintf(w, "        %s\n", x.Excerpt)
			}
		}
		if shown := min(len(v.Findings), max(o.Max, 0)); o.Max > 0 && v.Failed > shown {
			fmt.Fprintf(w, "    and %d more\n", v.Failed-shown)
		} else if o.Max == 0 && v.Failed > len(v.Findings) {
			fmt.Fprintf(w, "    and %d more\n", v.Failed-len(v.Findings))
		}
	}
	fmt.Fprintln(w)
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

// oneLine keeps text of a capture on its line.
func oneLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
}
