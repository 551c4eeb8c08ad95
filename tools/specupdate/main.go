// Command specupdate brings the schemas of a published protocol package into
// schema/, reduced to their structure.
//
//	specupdate 2.4.0           fetch this version with npm, update the tree
//	specupdate DIR             update the tree from an unpacked package
//	specupdate -check          prove that the tree is what its version gives
//	specupdate -check DIR      the same against an unpacked package
//
// It verifies before it writes: every schema is there, every keyword is known,
// both passes of the loader agree, every shape lowers. On any error the tree
// stays as it was. Run it at the root of the repository, then go generate ./...
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
	check := flags.Bool("check", false, "write nothing; fail when the tree is not what the package gives")
	root := flags.String("root", ".", "root of the repository")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: specupdate [-root DIR] VERSION|DIR\n       specupdate [-root DIR] -check [VERSION|DIR]")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 1 || flags.NArg() == 0 && !*check {
		flags.Usage()
		return flag.ErrHelp
	}
	tree, err := openTree(*root)
	if err != nil {
		return err
	}
	from := flags.Arg(0)
	if from == "" {
		from = tree.sources.Version
	}
	pkg, err := openPackage(ctx, from)
	if err != nil {
		return err
	}
	next, err := build(pkg)
	if err != nil {
		return err
	}
	if *check {
		return tree.compare(next, stdout)
	}
	return tree.update(next, stdout)
}
