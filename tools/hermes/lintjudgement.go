package main

import (
	"flag"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/tools/hermes/policy"
)

// lintJudgement says how to judge: by the command line, otherwise by the configuration.
type lintJudgement struct {
	profile, failOn, config string
	month, known            string

	policy *policy.Policy // nil without a configuration
	rules  *lint.RuleSet  // nil: today's
	before *baseline      // nil without one
	limit  lint.Severity  // from which findings fail; above Error for never
}

func (j *lintJudgement) flags(f *flag.FlagSet) {
	f.StringVar(&j.profile, "profile", "", "rules to use: `NAME` is spec, recommended (the default) or strict")
	f.StringVar(&j.month, "rules", "", "judge by the rules, and play the steps of run and agent, as they were in `MONTH`: "+strings.Join(lint.RuleSets(), ", ")+" or latest (the default), so that a new version of this program finds and asks no more")
	f.StringVar(&j.known, "baseline", "", "show only what is not in `FILE`, which hermes lint baseline wrote")
	f.StringVar(&j.failOn, "fail-on", "", "exit with 1 if there are findings of this `SEVERITY` or above: info, warn, error (the default) or never")
	f.StringVar(&j.config, "config", "", "configuration `FILE`, or none; by default "+policy.Name+" in the working folder or above it, otherwise in the folder of the first capture or above it")
}

// configFile is the configuration to read for some captures; empty if there is none.
func (j *lintJudgement) configFile(captures ...string) (string, error) {
	switch j.config {
	case "none":
		return "", nil
	case "":
	default:
		return j.config, nil
	}
	folders := []string{"."}
	if len(captures) > 0 && captures[0] != "-" {
		folders = append(folders, filepath.Dir(captures[0]))
	}
	return policy.Find(folders...)
}

// read finds and reads the configuration, and checks what was chosen.
func (j *lintJudgement) read(captures []string) error {
	name, err := j.configFile(captures...)
	if err != nil {
		return err
	}
	if name != "" {
		if j.policy, err = policy.Read(name); err != nil {
			return usageError("%w", err)
		}
	}
	if j.profile != "" {
		if _, err := lint.ParseProfile(j.profile); err != nil {
			return usageError("%w", err)
		}
	}
	month := j.month
	if month == "" && j.policy != nil {
		month = j.policy.Rules
	}
	if month != "" && month != "latest" {
		if j.rules, err = lint.FindRuleSet(month); err != nil {
			return usageError("%w", err)
		}
	}
	if j.known != "" {
		if j.before, err = readBaseline(j.known); err != nil {
			return usageError("%w", err)
		}
	}
	failOn := j.failOn
	if failOn == "" && j.policy != nil {
		failOn = j.policy.FailOn
	}
	switch failOn {
	case "":
		j.limit = lint.Error
	case "never":
		j.limit = lint.Error + 1
	default:
		if j.limit, err = lint.ParseSeverity(failOn); err != nil {
			return usageError("%w, or never", err)
		}
	}
	return nil
}

// options returns the options of a linter for one capture.
func (j *lintJudgement) options(capture string) lint.Options {
	o := lint.Options{Profile: lint.Profile(j.profile), RuleSet: j.rules}
	j.policy.Apply(&o, capture)
	j.before.apply(&o)
	return o
}

// judged takes the outcome of a capture that was judged with options.
func (j *lintJudgement) judged(r *lint.Report, capture string) report.File {
	j.policy.Judged(r, capture)
	return report.File{Name: capture, Report: r}
}

// outcome adds what is wrong with the configuration to the reports of all captures, and
// sums up.
func (j *lintJudgement) outcome(files []report.File) report.Outcome {
	if r := j.policy.Report(); r != nil {
		files = append(files, report.File{Name: j.policy.File, Report: r})
	}
	return report.Sum(files, j.limit)
}

// exitOf returns the error with the exit status of a report. err is printed with it:
// it names captures that could not be judged.
func exitOf(o report.Outcome, err error) error {
	if o.Status == 0 {
		return nil
	}
	return &exit{o.Status, err}
}
