package report

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// maxAnnotations is how many annotations of each severity GitHub shows of a step.
const maxAnnotations = 10

// GitHub writes the result and findings as commands of GitHub Actions, which shows them
// beside the files: the steps that failed, the first finding of each rule, then the
// others, as many as GitHub shows.
func GitHub(to io.Writer, all Outcome) error {
	files := all.Files
	type place struct {
		file    string
		finding *lint.Finding
		nth     int // of its rule in its file
	}
	var list []place
	for i := range files {
		for _, v := range files[i].failures() {
			for j := range v.Findings {
				list = append(list, place{files[i].Name, &v.Findings[j], j})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.finding.Severity, a.finding.Severity), cmp.Compare(a.nth, b.nth))
	})
	w := bufio.NewWriter(to)
	var written [lint.Error + 1]int
	say := func(s lint.Severity, file string, line int, title, text string) {
		if written[s]++; written[s] > maxAnnotations {
			return
		}
		at := ""
		if file != "" {
			at = "file=" + commandProperty(clean(file)) + ","
		}
		if line > 0 {
			at += fmt.Sprintf("line=%d,", line)
		}
		fmt.Fprintf(w, "::%s %stitle=%s::%s\n", [...]string{"", "notice", "warning", "error"}[s], at, commandProperty(title), commandData(text))
	}
	result := lint.Info
	if all.Status != passed {
		result = lint.Error
	}
	say(result, "", 0, "hermes lint", all.String())
	for i := range files {
		if r := files[i].Run; r != nil {
			for j := range r.Steps {
				if s := &r.Steps[j]; s.Failed || s.Open {
					say(lint.Error, files[i].Name, 0, s.ID+" "+clean(s.Title), s.Status+": "+s.says())
				}
			}
		}
	}
	for _, p := range list {
		f := p.finding
		text := where(f) + ": " + clean(f.Text)
		if f.Quote != "" {
			text += "\n" + clean(f.Quote)
		}
		if url := f.Rule.URL(f.Version); url != "" {
			text += "\n" + url
		}
		say(f.Severity, p.file, f.Line, f.Rule.ID+" "+f.Rule.Summary, text)
	}
	return w.Flush()
}

// commandData escapes the text of a command: a command ends with its line.
func commandData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func commandProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// GitHubLog calls write with a writer to the log of a step. Workflow commands are
// disabled in the output, because agents choose parts of it.
func GitHubLog(to io.Writer, write func(io.Writer) error) error {
	token := rand.Text()
	if _, err := fmt.Fprintf(to, "::stop-commands::%s\n", token); err != nil {
		return err
	}
	err := write(to)
	if _, e := fmt.Fprintf(to, "\n::%s::\n", token); err == nil {
		err = e
	}
	return err
}
