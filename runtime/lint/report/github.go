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

// GitHub writes findings as commands of GitHub Actions, which shows them beside the
// files: the first of each rule, then the others, as many as GitHub shows.
func GitHub(to io.Writer, files []File) error {
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
	for _, p := range list {
		f := p.finding
		if written[f.Severity]++; written[f.Severity] > maxAnnotations {
			continue
		}
		line := ""
		if f.Line > 0 {
			line = fmt.Sprintf(",line=%d", f.Line)
		}
		text := where(f) + ": " + clean(f.Text)
		if f.Quote != "" {
			text += "\n" + clean(f.Quote)
		}
		if url := f.Rule.URL(f.Version); url != "" {
			text += "\n" + url
		}
		fmt.Fprintf(w, "::%s file=%s%s,title=%s::%s\n", [...]string{"", "notice", "warning", "error"}[f.Severity],
			commandProperty(clean(p.file)), line, commandProperty(f.Rule.ID+" "+f.Rule.Summary), commandData(text))
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

// GitHubLog calls write with a writer to the log of a step. GitHub obeys no commands in
// what is written, because agents choose parts of it.
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
