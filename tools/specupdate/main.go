// Command specupdate brings the schemas of a published protocol package into
// schema/, reduced to their structure, and reports what changes for users.
//
//	specupdate 2.4.0              fetch this version with npm, update the tree
//	specupdate DIR                update the tree from an unpacked package
//	specupdate -check             check that the tree matches its version
//	specupdate -check DIR         the same against an unpacked package
//	specupdate -report OLD [NEW]  only write the report between two versions
//
// An update writes docs/spec-changes/OLD-to-NEW.md. For a report, a version may
// also be LABEL=DIR, a folder of schemas that is not a package.
//
// It verifies before it writes: every schema is present, every keyword is known,
// both passes of the loader agree, every shape lowers, and everything can be
// generated. It reports all errors together, with rows to paste if the overlay
// lacks some. On any error the tree stays as it was. Words about definitions that
// are gone are removed from overlay/docs.json. Run it at the root of the
// repository, then run go generate ./...
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "specupdate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("specupdate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	check := flags.Bool("check", false, "write nothing; fail if the tree does not match the package")
	report := flags.Bool("report", false, "write only the report between two versions")
	root := flags.String("root", ".", "root of the repository")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: specupdate [-root DIR] VERSION|DIR")
		fmt.Fprintln(stderr, "       specupdate [-root DIR] -check [VERSION|DIR]")
		fmt.Fprintln(stderr, "       specupdate [-root DIR] -report OLD [NEW]")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	names := flags.Args()
	switch n := len(names); {
	case *check && *report, *check && n > 1, *report && (n < 1 || n > 2), !*check && !*report && n != 1:
		flags.Usage()
		return flag.ErrHelp
	}
	t, err := openTree(*root)
	if err != nil {
		return err
	}
	if *check && len(names) == 0 {
		names = []string{t.sources.Version}
	}
	var releases []*release
	for _, name := range names {
		p, err := openPackage(ctx, name)
		if err != nil {
			return err
		}
		r, err := build(p)
		if err != nil {
			return err
		}
		releases = append(releases, r)
	}
	switch {
	case *check:
		return t.compare(releases[0], stdout)
	case *report:
		return t.report(releases, stdout)
	}
	return t.update(releases[0], stdout)
}
