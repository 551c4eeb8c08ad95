package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/hermes-nvim/hermes/internal/lint/compare"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

const lintDiffSynopsis = `[FLAG...] OLD NEW

Says what two captures of the same script do differently. The exit status is 0 if
nothing is different, 1 if something is, and 2 if a capture cannot be read.
`

// lintDiff compares two captures.
func lintDiff(ctx context.Context, args []string, std *stdio) error {
	f := newFlags("lint diff", lintDiffSynopsis, std.out)
	var ignore list
	f.Var(&ignore, "ignore", "leave out values at `POINTER` and below, such as /params/update/used; * stands for any member or element; may be repeated")
	format := f.String("format", "text", "`FORMAT` of the differences: text or json")
	profile := f.String("profile", string(lint.Recommended), "rules to judge both captures by: `NAME` is spec, recommended or strict")
	limit := f.Int("max", 20, "show at most `N` values of each message in text; 0 shows all")
	files, err := f.parse(args)
	if err != nil {
		return err
	}
	switch {
	case len(files) != 2:
		return usageError("want two captures, OLD and NEW (hermes lint diff -h)")
	case files[0] == "-" && files[1] == "-":
		return usageError("only one of the captures can be standard input")
	case *format != "text" && *format != "json":
		return usageError("format %q: want text or json", *format)
	}
	for _, pointer := range ignore {
		if !strings.HasPrefix(pointer, "/") {
			return usageError("ignore %q: a pointer begins with /", pointer)
		}
	}
	rules, err := lint.ParseProfile(*profile)
	if err != nil {
		return usageError("%w", err)
	}
	var recordings [2]*compare.Recording
	for i, name := range files {
		if recordings[i], err = readToCompare(ctx, name, lint.Options{Profile: rules}, std.in); ctx.Err() != nil {
			return &exit{statusInterrupted, context.Cause(ctx)}
		} else if err != nil {
			return &exit{statusUsage, err}
		}
	}
	result := compare.Compare(recordings[0], recordings[1], compare.Options{Ignore: ignore})
	write := func() error { return result.Text(std.out, *limit) }
	if *format == "json" {
		write = func() error { return result.JSON(std.out) }
	}
	if err := write(); err != nil {
		return err
	}
	if !result.Equal() {
		return &exit{Status: 1}
	}
	return nil
}

func readToCompare(ctx context.Context, name string, o lint.Options, in io.Reader) (*compare.Recording, error) {
	r, end, err := openCapture(name, in)
	if err != nil {
		return nil, err
	}
	defer end()
	recording, err := compare.Read(ctx, r, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return recording, nil
}
