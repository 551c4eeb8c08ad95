package main

import (
	"flag"
	"path/filepath"

	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/lint/report"
	"github.com/hermes-nvim/hermes/tools/hermes/policy"
)

// lintJudgement is what counts: from the command line, otherwise from the configuration.
type lintJudgement struct {
	profile, failOn, config string

	policy *policy.Policy // nil without a configuration
	limit  lint.Severity  // from which findings fail; above Error for never
}

func (j *lintJudgement) flags(f *flag.FlagSet) {
	f.StringVar(&j.profile, "profile", "", "rules to use: `NAME` is spec, recommended (the default) or strict")
	f.StringVar(&j.failOn, "fail-on", "", "exit with 1 if there are findings of this `SEVERITY` or above: info, warn, error (the default) or never")
	f.StringVar(&j.config, "config", "", "configuration `FILE`, or none; by default "+policy.Name+" in the working folder or above it, otherwise in that of the first capture or above it")
}

// read finds and reads the configuration, and checks what was chosen.
func (j *lintJudgement) read(captures []string) (err error) {
	name := j.config
	if name == "" {
		folders := []string{"."}
		if len(captures) > 0 && captures[0] != "-" {
			folders = append(folders, filepath.Dir(captures[0]))
		}
		if name, err = policy.Find(folders...); err != nil {
			return err
		}
	}
	if name != "" && name != "none" {
		if j.policy, err = policy.Read(name); err != nil {
			return usageError("%w", err)
		}
	}
	if j.profile != "" {
		if _, err := lint.ParseProfile(j.profile); err != nil {
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

// options are those of a linter for one capture.
func (j *lintJudgement) options(capture string) lint.Options {
	o := lint.Options{Profile: lint.Profile(j.profile)}
	j.policy.Apply(&o, capture)
	return o
}

// judged takes the outcome of a capture that was judged with options.
func (j *lintJudgement) judged(r *lint.Report, capture string) report.File {
	j.policy.Judged(r, capture)
	return report.File{Name: capture, Report: r}
}

// outcome adds what is wrong with the configuration to the reports of all captures, and
// returns the error that makes the exit status 1 if there are findings that fail.
func (j *lintJudgement) outcome(files []report.File) ([]report.File, error) {
	if r := j.policy.Report(); r != nil {
		files = append(files, report.File{Name: j.policy.File, Report: r})
	}
	for _, f := range files {
		if j.limit <= lint.Error && f.Count(j.limit) > 0 {
			return files, &exit{Status: 1}
		}
	}
	return files, nil
}
