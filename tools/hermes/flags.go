package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/transport/pathmap"
)

// Exit statuses that are not 0 for success and 1 for an error.
const (
	statusUsage       = 2
	statusStopped     = 3 // the agent refused or reached a limit
	statusDenied      = 4 // the turn ended, but something in it was not allowed
	statusIncomplete  = 5 // the turn ended, but part of what the agent said was lost
	statusTimeout     = 124
	statusInterrupted = 130
)

// exit is an error with an exit status. Without Err nothing is printed.
type exit struct {
	Status int
	Err    error
}

func (e *exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *exit) Unwrap() error { return e.Err }

func usageError(format string, args ...any) error {
	return &exit{statusUsage, fmt.Errorf(format, args...)}
}

// flags parses the arguments of a subcommand.
type flags struct {
	*flag.FlagSet
	help func()
}

// newFlags describes a subcommand; synopsis is what follows its name.
func newFlags(name, synopsis string, help io.Writer) flags {
	f := flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError)}
	f.SetOutput(io.Discard)
	f.Usage = func() {} // a mistake gets one line, not the whole usage
	f.help = func() {
		fmt.Fprintln(help, strings.TrimRight("usage: hermes "+name+" "+synopsis, " "))
		f.SetOutput(help)
		f.PrintDefaults()
	}
	return f
}

// parse reads flags at any position and returns the other arguments.
func (f flags) parse(args []string) (rest []string, err error) {
	for {
		err := f.Parse(args)
		switch {
		case errors.Is(err, flag.ErrHelp):
			f.help()
			return nil, &exit{Status: 0}
		case err != nil:
			// Package flag calls every value boolean that may be left out.
			problem := strings.Replace(err.Error(), "invalid boolean value", "invalid value", 1)
			return nil, usageError("%s (hermes %s -h lists the flags)", problem, f.Name())
		case f.NArg() == 0:
			return rest, nil
		}
		rest = append(rest, f.Arg(0))
		args = f.Args()[1:]
	}
}

// noArguments is for a subcommand that takes none.
func noArguments(name string, args []string, help io.Writer) error {
	rest, err := newFlags(name, "", help).parse(args)
	if err == nil && len(rest) > 0 {
		err = usageError("unexpected argument %q", rest[0])
	}
	return err
}

// splitCommand separates the arguments from a command after "--".
func splitCommand(args []string) (before, command []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i], args[i+1:]
	}
	return args, nil
}

// finish prints what went wrong and returns the exit status. Only the first line
// looks like a line of this program, because an agent may have written the text.
func finish(std *stdio, name string, err error) int {
	if err == nil {
		return 0
	}
	var e *exit
	if !errors.As(err, &e) {
		e = &exit{1, err}
	}
	if e.Err != nil {
		fmt.Fprintf(std.err, "hermes %s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	return e.Status
}

// list is a flag that may be given more than once.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}

// folders are the values of --map.
type folders []pathmap.Rule

const mapUsage = "the name of a folder where the agent runs, `HERE=THERE`; may be repeated"

func (l *folders) String() string { return "" }

func (l *folders) Set(s string) error {
	r, err := pathmap.Parse(s)
	*l = append(*l, r)
	return err
}
