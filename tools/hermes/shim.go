package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/gitdir"
	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/preset"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

const shimSynopsis = `[flags] -- COMMAND [ARGUMENT...]
       hermes shim content JOURNAL HASH
       hermes shim doctor

Runs COMMAND as if there were no shim, and reports every file that it, or
anything it starts, changes in the project to the editor. The changes are also in
a journal, with the contents before and after, so that nothing is lost while no
editor is there. The exit status is that of COMMAND, or 125 when the shim could
not start, in which case COMMAND did not start either.

content prints a content that an event of a journal names. doctor says what this
system can do.
`

// Exit statuses that shells use.
const (
	statusNoShim        = 125
	statusNotExecutable = 126
	statusNotFound      = 127
)

// shimChild is the command line of this program as a part of the shim. The link
// names the running program, even if its file has been replaced.
var shimChild = []string{"/proc/self/exe", shimCommand}

// newSession is what the flag says for a session of this run.
const newSession = "new"

// keptJournals is how many journals of a project are kept.
const keptJournals = 50

// shimProgram runs a program that has a terminal of its own.
func shimProgram(ctx context.Context, args []string, std *stdio) error {
	before, command := splitCommand(args)
	if len(command) == 0 && len(before) == 1 && before[0] == "doctor" {
		return shimDoctor(std)
	}
	if len(command) == 0 && len(before) > 0 && before[0] == "content" {
		return shimContent(before[1:], std)
	}
	c, sandbox, file, err := parseShim(before, std)
	if err != nil {
		return err
	}
	if len(command) == 0 {
		return usageError("which command? Give it after --")
	}
	path, err := exec.LookPath(command[0])
	switch {
	case err == nil:
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return &exit{statusNotFound, err}
	default:
		return &exit{statusNotExecutable, err}
	}
	if c.Agent == "" {
		c.Agent = filepath.Base(command[0])
	}
	if c.Session == newSession {
		// Each run is a session, so that decisions can be about one of several.
		c.Session = fmt.Sprintf("%s-%08x", c.Agent, rand.Uint32())
	}
	if filepath.Base(command[0]) == "codex" && knowsDaemon(ctx, path) {
		// In its daemon it would work outside of the shim.
		command = slices.Insert(slices.Clone(command), 1, noDaemon)
	}
	box, err := boxFor(preset.Preset{Command: path, Sandbox: sandbox}, os.Environ(), c.Root, std.err)
	if err != nil {
		return &exit{statusNoShim, err}
	}
	if c.Gate != nil && box != nil {
		c.Sandbox = box.Rules
	} else if w := box.Wrapper(); len(w) > 0 {
		path, command = w[0], slices.Concat(w, []string{path}, command[1:])
	}
	review, err := openShimReview(ctx, file, c, std)
	if err != nil {
		return &exit{statusNoShim, err}
	}
	status, err := shim.Run(c, shimChild, path, command)
	if errors.Is(err, shim.ErrUnavailable) && c.Gate == nil {
		fmt.Fprintf(std.err, "hermes shim: %s; changes are found by watching files\n", oneLine(err.Error()))
		status, err = shim.Portable(c, path, command)
	}
	if err != nil {
		review.close()
		return &exit{statusNoShim, err}
	}
	if err := review.finishShim(c.Journal); err != nil {
		fmt.Fprintf(std.err, "hermes shim: %s\n", oneLine(err.Error()))
		status = cmp.Or(status, 1)
	}
	sayMissing(c.Journal, std)
	if status < 0 {
		shim.Die(syscall.Signal(-status))
	}
	return &exit{Status: status}
}

// sayMissing says what the record of a program lacks that has ended.
func sayMissing(folder string, std *stdio) {
	switch missing, err := journal.MissingIn(folder); {
	case err != nil:
		fmt.Fprintf(std.err, "hermes shim: what the record lacks is not known: %s\n", oneLine(err.Error()))
	case missing != (journal.Missing{}):
		fmt.Fprintf(std.err, "hermes shim: %s\n", oneLine(missing.String()))
	}
}

// noDaemon makes codex work in its own process, not in one that it shares with others.
const noDaemon = "--no-daemon"

// knowsDaemon reports whether a codex program has a daemon.
func knowsDaemon(ctx context.Context, path string) bool {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	out, _ := exec.CommandContext(ctx, path, "--help").Output()
	return strings.Contains(string(out), noDaemon)
}

// shimContent prints a content of a journal.
func shimContent(args []string, std *stdio) error {
	if len(args) != 2 {
		return usageError("which content? Give the folder of the journal, and the hash of an event in it")
	}
	hash, err := store.ParseHash(args[1])
	if err != nil {
		return usageError("%v", err)
	}
	in, err := journal.Open(args[0])
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := in.Content(hash)
	if err != nil {
		return err
	}
	_, err = std.out.Write(data)
	return err
}

func parseShim(args []string, std *stdio) (c shim.Config, sandbox *confine.Sandbox, file string, err error) {
	var g shim.Gate
	var allow, deny list
	f := newFlags("shim", shimSynopsis, std.out)
	f.StringVar(&c.Root, "root", "", "`FOLDER` of the project (default: the nearest above this one that has a review, or else .git)")
	f.StringVar(&c.Socket, "socket", "", "report to this `SOCKET` (default: the socket of the editor that has the project)")
	f.StringVar(&c.Journal, "journal", "", "`FOLDER` for the journal (default: one in the state of the editor)")
	f.StringVar(&c.Agent, "agent", "", "`NAME` of the agent in reports (default: the name of COMMAND)")
	f.StringVar(&c.Session, "session", newSession, "`ID` of the session of the agent in reports; new: one that begins with NAME; empty: the session of the turn that the agent runs")
	state := f.String("state", "", "`FOLDER` with the state of the editor (default: Neovim's)")
	gate := f.Bool("gate", false, "every change in the project waits until the editor allows it; without an answer it fails")
	f.Var(&allow, "allow", "with --gate: a file or folder that may be changed without asking, `PATH`; may be repeated")
	f.Var(&deny, "deny", "with --gate: a file or folder that may not be changed, `PATH`; may be repeated")
	f.DurationVar(&g.Timeout, "timeout", time.Minute, "with --gate: how long an answer may take")
	f.Var(sandboxFlag{&sandbox}, "sandbox", sandboxUsage)
	f.StringVar(&file, "review", "", shimReviewUsage)
	rest, err := f.parse(args)
	switch {
	case err != nil:
		return c, nil, "", err
	case len(rest) > 0:
		return c, nil, "", usageError("unexpected argument %q; a command follows --", rest[0])
	case *gate && sandbox.On() && sandbox.Rules == nil:
		return c, nil, "", usageError("--gate goes with a --sandbox of rules, not with one that is a command: it could neither mount anything nor make a namespace")
	case *gate:
		g.Allow, g.Deny = allow, deny
		c.Gate = &g
	case len(allow)+len(deny) > 0:
		return c, nil, "", usageError("--allow and --deny need --gate")
	}
	if *state == "" {
		if *state, err = neovimState(); err != nil {
			return c, nil, "", &exit{statusNoShim, err}
		}
	}
	if c.Root, err = projectRoot(c.Root, *state); err != nil {
		return c, nil, "", &exit{statusNoShim, err}
	}
	dir := store.Dir(*state, c.Root)
	if c.Socket == "" {
		c.Socket = feed.Path(dir)
	}
	all := filepath.Join(dir, "shim")
	pruneJournals(*state, c.Root, std)
	here := filepath.Join(all, fmt.Sprintf("%s-%d", time.Now().UTC().Format("20060102T150405"), os.Getpid()))
	if c.Journal == "" {
		c.Journal = here
		return c, sandbox, file, nil
	}
	if c.Journal, err = filepath.Abs(c.Journal); err != nil {
		return c, nil, "", &exit{statusNoShim, err}
	}
	if real, _ := pathname.Existing(c.Journal); pathname.Within(c.Root, real) {
		return c, nil, "", usageError("--journal %s is in the project %s, where COMMAND could change it", c.Journal, c.Root)
	}
	// An editor believes only the journals that are here.
	if err := errors.Join(os.MkdirAll(all, 0o700), os.Symlink(c.Journal, here)); err != nil {
		fmt.Fprintf(std.err, "hermes shim: an editor will compare files, because it cannot find the journal: %s\n", oneLine(err.Error()))
	}
	return c, sandbox, file, nil
}

// projectRoot returns the folder of the project, unless it was named.
func projectRoot(named, state string) (string, error) {
	from, err := filepath.Abs(named)
	if err == nil {
		from, err = filepath.EvalSymlinks(from)
	}
	if err != nil || named != "" {
		return from, err
	}
	reviewed, repository := "", ""
	for dir := from; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(store.Dir(state, dir), "project")); err == nil && reviewed == "" {
			reviewed = dir
		}
		if repository == "" && gitdir.IsIn(dir) {
			repository = dir
		}
	}
	return cmp.Or(reviewed, repository, from), nil
}

// pruneJournals removes the oldest journals of a project, but not of shims that run. Their
// names begin with the time and end with the process.
func pruneJournals(state, root string, std *stdio) {
	dir := filepath.Join(store.Dir(state, root), "shim")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= keptJournals {
		return
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(b.Name(), a.Name()) })
	forgotten := 0
	for _, e := range entries[keptJournals:] {
		folder := filepath.Join(dir, e.Name())
		if runs(e.Name()) {
			continue
		}
		forgotten += len(project.Unheard(state, root, folder))
		os.RemoveAll(folder)
	}
	if forgotten > 0 {
		fmt.Fprintf(std.err, "hermes shim: older runs that no editor has heard of are forgotten: %d; an editor or hermes review takes what programs in a shim change\n", forgotten)
	}
}

// runs reports whether the process at the end of a name still runs, or another one has got
// its number.
func runs(name string) bool {
	pid, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil || pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	return err == nil && !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
