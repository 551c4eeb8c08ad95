package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// JSON writes findings for programs, one object a line: {"file":…,"finding":{…}} for each finding
// that was kept, {"file":…,"summary":{…}} after the findings of a file, and {"result":{…}} at the
// end.
func JSON(to io.Writer, all Outcome) error {
	files := all.Files
	w := bufio.NewWriter(to)
	e := json.NewEncoder(ascii{w})
	e.SetEscapeHTML(false)
	for i := range files {
		f := &files[i]
		for _, v := range f.failures() {
			for j := range v.Findings {
				if err := e.Encode(struct {
					File    string       `json:"file"`
					Finding lint.Finding `json:"finding"`
				}{f.Name, v.Findings[j]}); err != nil {
					return err
				}
			}
		}
		rules := map[string]string{}
		for _, v := range f.Verdicts {
			rules[v.Rule.ID] = v.String()
		}
		type summary struct {
			Messages int               `json:"messages"`
			Skipped  int               `json:"skipped,omitempty"`
			Errors   int               `json:"errors"`
			Warnings int               `json:"warnings"`
			Infos    int               `json:"infos"`
			Accepted int               `json:"accepted,omitempty"`
			Problem  string            `json:"problem,omitempty"`
			Rules    map[string]string `json:"rules"`
		}
		if err := e.Encode(struct {
			File    string  `json:"file"`
			Summary summary `json:"summary"`
		}{f.Name, summary{f.Messages, f.Skipped, f.Errors, f.Warnings, f.Infos, f.Accepted, f.Problem, rules}}); err != nil {
			return err
		}
	}
	type result struct {
		Status int    `json:"status"`
		Text   string `json:"text"`
	}
	if err := e.Encode(struct {
		Result result `json:"result"`
	}{result{all.Status, all.String()}}); err != nil {
		return err
	}
	return w.Flush()
}

// ascii escapes in JSON what is not printable. It gets whole values.
type ascii struct{ to io.Writer }

func (a ascii) Write(b []byte) (int, error) {
	out := make([]byte, 0, len(b)+16)
	for rest := b; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == '\n' || strconv.IsPrint(r):
			out = append(out, rest[:n]...)
		case r >= 1<<16:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		rest = rest[n:]
	}
	if _, err := a.to.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
