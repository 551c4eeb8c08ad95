package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/lint/report"
)

// lintFormat is an output of the linter.
type lintFormat struct {
	name      string // for --format
	extension string // for --output
	write     func(io.Writer, []report.File, *lintOutput) error
}

// lintFormats are all outputs. Each is one function in package report.
var lintFormats = []lintFormat{
	{"text", ".txt", func(w io.Writer, files []report.File, o *lintOutput) error {
		return report.Text(w, files, report.TextOptions{Max: o.max})
	}},
	{"json", ".jsonl", func(w io.Writer, files []report.File, _ *lintOutput) error { return report.JSON(w, files) }},
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
	f.IntVar(&o.max, "max", 5, "show at most `N` findings of each rule in each file; 0 shows all")
}

func formatList(of func(lintFormat) string) string {
	var names []string
	for _, l := range lintFormats {
		names = append(names, of(l))
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

func lintFormatOf(is func(lintFormat) bool) *lintFormat {
	if i := slices.IndexFunc(lintFormats, is); i >= 0 {
		return &lintFormats[i]
	}
	return nil
}

func formatOfFile(name string) *lintFormat {
	return lintFormatOf(func(l lintFormat) bool { return strings.EqualFold(l.extension, filepath.Ext(name)) })
}

// write reports to standard output and to the files.
func (o *lintOutput) write(reports []report.File, std *stdio) error {
	if err := lintFormatOf(func(l lintFormat) bool { return l.name == o.format }).write(std.out, reports, o); err != nil {
		return err
	}
	for _, name := range o.files {
		if err := writeReport(name, func(w io.Writer) error { return formatOfFile(name).write(w, reports, o) }); err != nil {
			return err
		}
	}
	return nil
}

func writeReport(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	err = write(file)
	if e := file.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
