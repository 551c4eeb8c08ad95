// Package policy reads .hermes-lint.toml: what a project wants of the linter, and the
// findings that it has accepted for a while.
package policy

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/tools/hermes/tomlfile"
)

// Name is the name of the file.
const Name = ".hermes-lint.toml"

// Policy is a file that was read. The methods of a nil Policy change nothing. It is not
// safe for concurrent use.
type Policy struct {
	File    string
	Profile lint.Profile // empty if the file does not set it
	Rules   string       // a month or latest; empty if the file does not set it
	FailOn  string       // a severity or never; empty if the file does not set it

	severities map[string]lint.Severity // 0 is off
	entries    []*entry
	now        func() time.Time
}

// entry accepts findings. An empty member matches everything.
type entry struct {
	line                             int
	rule                             string
	side, file, pointer, text        string
	reason                           string
	expires                          time.Time // the first moment that is too late
	accepted, exercised, wouldAccept bool
}

// The rules about the file itself.
var (
	stale = &lint.Rule{
		ID: "ACC01", Severity: lint.Warn, Side: lint.BySender, Versions: lint.All, Strength: lint.Hygiene,
		Summary: "An entry for accepted findings accepts something.",
		Why:     "An entry that outlives its finding hides the next finding of the same rule.",
	}
	expired = &lint.Rule{
		ID: "ACC02", Severity: lint.Warn, Side: lint.BySender, Versions: lint.All, Strength: lint.Hygiene,
		Summary: "An entry for accepted findings is not past its date.",
		Why:     "Findings are accepted for a while, not forever; after the date they count again.",
	}
)

// Rules are the rules about the file itself. They have no Check.
func Rules() []*lint.Rule { return []*lint.Rule{stale, expired} }

// Find looks for the file in each folder and above it, and returns the first that it
// finds, or nothing.
func Find(folders ...string) (string, error) {
	for _, folder := range folders {
		dir, err := filepath.Abs(folder)
		if err != nil {
			return "", err
		}
		for {
			name := filepath.Join(dir, Name)
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				return name, nil
			}
			if filepath.Dir(dir) == dir {
				break
			}
			dir = filepath.Dir(dir)
		}
	}
	return "", nil
}

// Read reads a file. The error names the line and the key, and what they may be.
func Read(name string) (*Policy, error) {
	text, err := tomlfile.Load(name)
	if err != nil {
		return nil, err
	}
	return parse(name, text)
}

// Apply sets the options of a linter for one capture. The profile stays if the options
// have one.
func (p *Policy) Apply(o *lint.Options, capture string) {
	if p == nil {
		return
	}
	if o.Profile == "" {
		o.Profile = p.Profile
	}
	o.Severities = p.severities
	var entries []*entry
	for _, e := range p.entries {
		if e.judges(p.File, capture) {
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return
	}
	now := p.now()
	o.Accept = func(f *lint.Finding) bool {
		accepted := false
		for _, e := range entries {
			if !e.matches(f) {
				continue
			}
			if now.Before(e.expires) {
				e.accepted, accepted = true, true
			} else {
				e.wouldAccept = true
			}
		}
		return accepted
	}
}

// judges reports whether an entry is about a capture. Its pattern is relative to the
// folder of the configuration; without a slash it is about the name alone.
func (e *entry) judges(config, capture string) bool {
	if e.file == "" {
		return true
	}
	name := filepath.Base(capture)
	if strings.Contains(e.file, "/") {
		full, err := filepath.Abs(capture)
		if err != nil {
			return false
		}
		home, err := filepath.Abs(filepath.Dir(config))
		if err != nil {
			return false
		}
		if name, err = filepath.Rel(home, full); err != nil {
			return false
		}
	}
	ok, _ := path.Match(e.file, filepath.ToSlash(name))
	return ok
}

func (e *entry) matches(f *lint.Finding) bool {
	if e.rule != f.Rule.ID || e.side != "" && e.side != f.By.String() || !strings.Contains(f.Text, e.text) {
		return false
	}
	if e.pointer == "" {
		return true
	}
	ok, _ := path.Match(e.pointer, f.Pointer)
	return ok
}

// Judged notes what a capture shows about the entries.
func (p *Policy) Judged(r *lint.Report, capture string) {
	if p == nil {
		return
	}
	for _, e := range p.entries {
		if e.judges(p.File, capture) {
			e.exercised = e.exercised || slices.ContainsFunc(r.Verdicts, func(v *lint.Verdict) bool {
				return v.Rule.ID == e.rule && v.Exercised > 0
			})
		}
	}
}

// Report is what is wrong with the entries after all captures were judged, nil if it is
// nothing. An entry whose rule was not exercised may still be needed.
func (p *Policy) Report() *lint.Report {
	if p == nil {
		return nil
	}
	r := &lint.Report{}
	now := p.now()
	for _, rule := range Rules() {
		v := &lint.Verdict{Rule: rule, Exercised: len(p.entries)}
		severity, set := p.severities[rule.ID]
		if !set {
			severity = rule.Severity
		}
		for _, e := range p.entries {
			text := ""
			late := !now.Before(e.expires)
			switch {
			case severity == 0:
			case rule == expired && late:
				text = fmt.Sprintf("the entry for %s expired on %s: mend what it accepts, or decide again", e.rule, e.lastDay())
			case rule == stale && e.exercised && !e.accepted && !e.wouldAccept:
				text = fmt.Sprintf("the entry for %s accepts nothing any more: remove it", e.rule)
			}
			if text == "" {
				continue
			}
			v.Failed++
			v.Counts[severity]++
			v.Findings = append(v.Findings, lint.Finding{Rule: rule, Severity: severity, Version: lint.All, Line: e.line, Text: text, Quote: e.reason})
			switch severity {
			case lint.Error:
				r.Errors++
			case lint.Warn:
				r.Warnings++
			default:
				r.Infos++
			}
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	if r.Count(lint.Info) == 0 {
		return nil
	}
	return r
}

func (e *entry) lastDay() string { return e.expires.AddDate(0, 0, -1).Format(time.DateOnly) }
