package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/lint/report"
)

// lintFormat is an output of the linter.
type lintFormat struct {
	name      string // for --format
	extension string // for --output; empty if it is nothing for files
	write     func(io.Writer, report.Outcome, *lintOutput) error
}

// lintFormats are all outputs. Each is one function in package report.
var lintFormats = []lintFormat{
	{"text", ".txt", func(w io.Writer, all report.Outcome, o *lintOutput) error {
		return report.Text(w, all, report.TextOptions{Max: o.max})
	}},
	{"json", ".jsonl", func(w io.Writer, all report.Outcome, _ *lintOutput) error { return report.JSON(w, all) }},
	{"sarif", ".sarif", func(w io.Writer, all report.Outcome, _ *lintOutput) error { return report.SARIF(w, all, version) }},
	{"junit", ".xml", func(w io.Writer, all report.Outcome, _ *lintOutput) error { return report.JUnit(w, all) }},
	{"markdown", ".md", func(w io.Writer, all report.Outcome, o *lintOutput) error { return report.Markdown(w, all, o.max) }},
	{"github", "", func(w io.Writer, all report.Outcome, _ *lintOutput) error { return report.GitHub(w, all) }},
	{"html", ".html", func(w io.Writer, all report.Outcome, _ *lintOutput) error { return report.HTML(w, all) }},
}

// lintOutput is where the findings go.
type lintOutput struct {
	format string
	files  list
	max    int
}

func (o *lintOutput) flags(f *flag.FlagSet) {
	f.StringVar(&o.format, "format", "text", "`FORMAT` of the findings on standard output: "+formatList(func(l lintFormat) string { return l.name }))
	f.Var(&o.files, "output", "write the findings to `FILE` too, whose extension says the format: "+formatList(func(l lintFormat) string { return l.extension })+"; may be repeated")
	f.Var(&o.files, "o", "short for --output")
	f.IntVar(&o.max, "max", 5, "show at most `N` findings of each rule in each file; 0 shows all")
}

func formatList(of func(lintFormat) string) string {
	var names []string
	for _, l := range lintFormats {
		if name := of(l); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// check refuses formats that do not exist, before the work begins.
func (o *lintOutput) check() error {
	if lintFormatOf(func(l lintFormat) bool { return l.name == o.format }) == nil {
		return usageError("format %q: want %s", o.format, formatList(func(l lintFormat) string { return l.name }))
	}
	for _, name := range o.files {
		if formatOfFile(name) == nil {
			return usageError("output %s: the extension is %q, want %s", name, filepath.Ext(name), formatList(func(l lintFormat) string { return l.extension }))
		}
	}
	return nil
}

// uses reports whether something is written in a format.
func (o *lintOutput) uses(format string) bool {
	return o.format == format || slices.ContainsFunc(o.files, func(name string) bool { return formatOfFile(name).name == format })
}

func lintFormatOf(is func(lintFormat) bool) *lintFormat {
	if i := slices.IndexFunc(lintFormats, is); i >= 0 {
		return &lintFormats[i]
	}
	return nil
}

func formatOfFile(name string) *lintFormat {
	return lintFormatOf(func(l lintFormat) bool {
		return l.extension != "" && strings.EqualFold(l.extension, filepath.Ext(name))
	})
}

// write writes what was found out to standard output and to the files. In GitHub Actions text comes with
// annotations and a summary.
func (o *lintOutput) write(all report.Outcome, std *stdio) error {
	print := func(w io.Writer) error {
		return lintFormatOf(func(l lintFormat) bool { return l.name == o.format }).write(w, all, o)
	}
	var err error
	switch {
	case o.format == "text" && os.Getenv("GITHUB_ACTIONS") == "true":
		err = o.annotate(all, print, std)
	case o.format == "text" && std.colour != nil:
		err = report.Text(std.colour, all, report.TextOptions{Max: o.max, Colour: true})
	default:
		err = print(std.out)
	}
	if err != nil {
		return err
	}
	for _, name := range o.files {
		if err := writeReport(name, func(w io.Writer) error { return formatOfFile(name).write(w, all, o) }); err != nil {
			return err
		}
	}
	return nil
}

// annotate writes to the log of a step, where GitHub makes annotations of some lines, and
// to the summary of the job. A summary that cannot be written does not fail the step.
func (o *lintOutput) annotate(all report.Outcome, print func(io.Writer) error, std *stdio) error {
	if err := report.GitHubLog(std.out, print); err != nil {
		return err
	}
	if err := report.GitHub(std.out, all); err != nil {
		return err
	}
	name := os.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err == nil {
		err = errors.Join(report.Markdown(file, all, o.max), file.Close())
	}
	if err != nil {
		fmt.Fprintf(std.err, "hermes lint: summary of the job: %v\n", err)
	}
	return nil
}

// writeReport writes a file in one step, so that nobody reads half a report. A file that
// is not regular, such as /dev/stdout, is written to in place.
func writeReport(name string, write func(io.Writer) error) error {
	old, err := os.Stat(name)
	if err == nil && !old.Mode().IsRegular() {
		return writeDevice(name, write)
	}
	if real, e := filepath.EvalSymlinks(name); e == nil {
		name = real // the link stays
	}
	var text strings.Builder
	if err := write(&text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return atomicfile.Write(name, text.String(), old, 0o666)
}

func writeDevice(name string, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
