package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/review/patch"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/review"
)

const reviewSynopsis = `[flags] [files]
       hermes review [flags] show [FILE...]
       hermes review [flags] checkpoints
       hermes review [flags] projects
       hermes review [flags] accept|reject FILE...|--all
       hermes review [flags] tell write|remove|rename|read FILE [NEWNAME]
       hermes review [flags] tell hook

Shows what agents changed in a project and nobody has decided yet: the files,
the changes as a patch for git apply, the checkpoints, and the projects that
have any of this. What programs in a shim have changed without an editor is among
it. accept and reject work while no editor has the project under review. reject
takes the changes back and keeps your own. tell reports a change to the editor
that has; tell hook reads the JSON of a hook of Claude Code or Gemini CLI from
standard input. The exit status is 0, 1 for an error, such as nothing to accept,
and 2 for wrong usage; of tell hook 0 or 1. Nobody to tell is not an error.
`

// reviewFlags are what the user chose.
type reviewFlags struct {
	root, state string
	all, force  bool
	told
	std *stdio
}

// reviewProject shows what is pending in a project, or reports a change to it.
func reviewProject(ctx context.Context, args []string, std *stdio) error {
	o := reviewFlags{std: std}
	f := newFlags("review", reviewSynopsis, std.out)
	f.StringVar(&o.root, "root", "", "`FOLDER` of the project (default: this one, or the nearest above it that has a review)")
	f.StringVar(&o.state, "state", "", "`FOLDER` with the state of the editor (default: Neovim's)")
	f.BoolVar(&o.all, "all", false, "accept or reject everything")
	f.BoolVar(&o.force, "force", false, "reject: also changes into which you have written; your lines stay")
	o.told.flags(f)
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if o.state == "" {
		if o.state, err = neovimState(); err != nil {
			return err
		}
	}
	verb := "files"
	if len(rest) > 0 {
		verb, rest = rest[0], rest[1:]
	}
	switch verb {
	case "files", "checkpoints", "projects":
		if len(rest) > 0 {
			return usageError("unexpected argument %q after %s", rest[0], verb)
		}
	case "show":
	case "accept", "reject":
		if o.all == (len(rest) > 0) {
			return usageError("name the files to %s, or give --all", verb)
		}
	case "tell":
		return o.tell(ctx, rest)
	default:
		return usageError("there is no %q; the commands are files, show, checkpoints, projects, accept, reject and tell", verb)
	}
	if verb == "projects" {
		return o.projects()
	}
	if err := o.findRoot(); err != nil {
		return err
	}
	if err := project.Replay(ctx, o.state, o.root, project.Options{Program: "hermes review"}); err != nil {
		return fmt.Errorf("what programs in a shim have changed: %w", err)
	}
	if verb == "accept" || verb == "reject" {
		return o.decide(ctx, verb, rest)
	}
	return o.show(verb, rest)
}

// neovimState returns the folder where Neovim keeps the state of Hermes.
func neovimState() (string, error) {
	app := os.Getenv("NVIM_APPNAME")
	if app == "" {
		app = "nvim"
	}
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		if runtime.GOOS == "windows" {
			app += "-data"
		}
		return filepath.Join(dir, app, "hermes"), nil
	}
	if dir := os.Getenv("LOCALAPPDATA"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, app+"-data", "hermes"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the state of Neovim: %w (name it with --state)", err)
	}
	return filepath.Join(home, ".local", "state", app, "hermes"), nil
}

// findRoot finds the project, unless it was named.
func (o *reviewFlags) findRoot() error {
	from, err := filepath.Abs(o.root)
	if err == nil {
		from, err = filepath.EvalSymlinks(from)
	}
	if err != nil {
		return err
	}
	for dir := from; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(store.Dir(o.state, dir)); err == nil {
			o.root = dir
			return nil
		}
		if o.root != "" || dir == filepath.Dir(dir) {
			return fmt.Errorf("nothing is under review in %s (looked in %s)", from, o.state)
		}
	}
}

// show prints what is stored, without waiting for an editor.
func (o *reviewFlags) show(verb string, files []string) error {
	st, err := store.Open(store.Dir(o.state, o.root), store.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer st.Close()
	if h := st.Holder(); h != nil {
		fmt.Fprintf(o.std.err, "hermes review: %s (process %d) has the project open; this is what it has stored\n", oneLine(h.Program), h.PID)
	}
	r, err := review.Open(st, review.Options{})
	if err != nil {
		return err
	}
	for _, err := range r.Lost() {
		fmt.Fprintf(o.std.err, "hermes review: %s\n", oneLine(err.Error()))
	}
	for _, u := range project.UnrecordedIn(st) {
		fmt.Fprintf(o.std.err, "hermes review: changes of %s: %s\n", word(u.Session), oneLine(u.String()))
	}
	switch verb {
	case "checkpoints":
		for _, c := range r.Checkpoints() {
			fmt.Fprintf(o.std.out, "%s\t%s\t%s\t%s\n", c.ID, c.At.Local().Format(time.DateTime), word(c.Session), oneLine(c.Name))
		}
		return nil
	case "show":
		names, err := o.names(r, files)
		if err != nil {
			return err
		}
		return patch.Write(o.std.wire, r, names...)
	}
	for _, f := range r.Files() {
		fmt.Fprintf(o.std.out, "%s\t%s\t%s\n", patch.Quote(f.Path), patch.Summary(f), strings.Join(words(f.Sessions), " "))
	}
	return nil
}

// word is a text of an agent in a column.
func word(s string) string {
	if s == "" {
		return "-"
	}
	return patch.Quote(s)
}

func words(list []string) (out []string) {
	for _, s := range list {
		out = append(out, word(s))
	}
	return out
}

// names returns the names in the review of files with pending changes.
func (o *reviewFlags) names(r *review.Review, files []string) (names []string, err error) {
	pending := r.Files()
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		name := path
		if below, ok := pathname.Below(o.root, path); ok {
			name = filepath.ToSlash(below)
		}
		if !slices.ContainsFunc(pending, func(f review.File) bool { return f.Path == name }) {
			return nil, fmt.Errorf("nothing is pending in %s", patch.Quote(file))
		}
		names = append(names, name)
	}
	return names, nil
}

// projects lists the projects that have a review, those that were used last first.
func (o *reviewFlags) projects() error {
	all, err := store.Projects(o.state)
	if err != nil {
		return err
	}
	all = append(all, project.Unopened(o.state)...)
	slices.SortFunc(all, func(a, b store.Project) int { return b.Used.Compare(a.Used) })
	for _, p := range all {
		if p.Root != "" {
			fmt.Fprintf(o.std.out, "%s\t%s\n", p.Used.Local().Format(time.DateTime), patch.Quote(p.Root))
		}
	}
	return nil
}

// decide accepts or rejects all changes, or the changes of some files.
func (o *reviewFlags) decide(ctx context.Context, verb string, files []string) error {
	p, err := project.Open(o.state, o.root, project.Options{Program: "hermes review"})
	if locked := (*store.LockedError)(nil); errors.As(err, &locked) {
		return fmt.Errorf("%w; decide there, or close it first", err)
	} else if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Wait(ctx); err != nil {
		return err
	}
	names, err := o.names(p.Review(), files)
	if err != nil {
		return err
	}
	if o.all {
		if len(p.Review().Files()) == 0 {
			return fmt.Errorf("nothing is pending in %s", patch.Quote(o.root))
		}
		names = []string{""} // any
	}
	var errs []error
	for _, name := range names {
		what := review.Selection{Path: name}
		if verb == "accept" {
			_, err = p.Review().Accept(what)
		} else if plan, failed := p.Reject(what, o.force); failed != nil {
			err = failed
		} else {
			err = p.Apply(plan, nil)
		}
		if touched := (*review.TouchedError)(nil); errors.As(err, &touched) {
			err = fmt.Errorf("%w (--force rejects the rest, and your lines stay)", err)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, p.Close())...)
}
