package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/special"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Effect is what a command is about to do beyond its project.
type Effect struct {
	Kind  acp.ToolKind
	Title string   // in a few words: "Change ~/.bashrc"
	Why   string   // what is special about it, "" for nothing
	Paths []string // the files, none for a connection
	// Scopes are what one answer covers: folders, files, a host, or a kind of files.
	Scopes []string
}

// Scope is what one answer covers, for people.
func (e Effect) Scope() string { return strings.Join(e.Scopes, " and ") }

// effectOf says what a question is about. The command runs in dir.
func effectOf(r feed.Report, dir string) Effect {
	switch to := cmp.Or(r.Host, shown(r.Path)); r.Kind {
	case feed.Connect:
		return Effect{Kind: acp.ToolKindFetch, Title: "Connect to " + to, Scopes: []string{to}}
	case feed.Accept:
		return Effect{Kind: acp.ToolKindFetch, Title: "Let other machines connect to " + to, Scopes: []string{"connections of other machines"}}
	}
	e := Effect{Kind: acp.ToolKindEdit, Paths: []string{r.Path}}
	verb := "Change "
	switch {
	case r.Kind == feed.Remove:
		verb, e.Kind = "Remove ", acp.ToolKindDelete
	case r.Kind == feed.Rename:
		verb, e.Kind = "Move "+shownIn(dir, r.From)+" to ", acp.ToolKindMove
		e.Paths = []string{r.From, r.Path}
	case r.Before != nil && r.Before.Absent:
		verb = "Create "
	}
	e.Title = verb + shownIn(dir, r.Path)
	if r.Reason != "" { // what nothing else keeps
		e.Why, e.Scopes = r.Reason, []string{"files of this project that nothing else keeps"}
		if slices.Contains(strings.Split(filepath.ToSlash(r.Path), "/"), ".git") {
			e.Scopes = []string{"history of git that nothing else keeps"}
		}
		return e
	}
	for _, path := range e.Paths {
		why, scope := reach(dir, path)
		e.Why = cmp.Or(e.Why, why)
		if scope != "" && !slices.Contains(e.Scopes, scope) {
			e.Scopes = append(e.Scopes, scope)
		}
	}
	return e
}

// reach says what is special about a file, and what an answer about it covers; "" for an
// ordinary file of the project.
func reach(dir, path string) (why, scope string) {
	names := func(path string) []string { return strings.Split(strings.TrimPrefix(filepath.ToSlash(path), "/"), "/") }
	if name, in := pathname.Below(dir, path); in {
		if why = special.Of(names(name), 0).Use; why == "" {
			return "", ""
		}
		return why, "files of this project for: " + why
	}
	home, above := special.User(), 0
	if _, in := pathname.Below(home, path); in {
		above = len(names(home))
	}
	if why = special.Of(names(path), above).Use; why != "" {
		return why, shown(path)
	}
	return "", shown(folderOf(home, path)) + string(filepath.Separator)
}

// folderOf is the folder that an answer about a file covers: one of the home folder, one of a
// program's, such as ~/.cache/go-build, or the one that the file is in.
func folderOf(home, path string) string {
	name, in := pathname.Below(home, path)
	if !in {
		return filepath.Dir(path)
	}
	names := strings.Split(filepath.ToSlash(name), "/")
	n := 1
	switch names[0] {
	case ".cache", ".config":
		n = 2
	case ".local":
		n = 3
	}
	if n >= len(names) {
		return filepath.Dir(path)
	}
	return filepath.Join(home, filepath.Join(names[:n]...))
}

// shown is a path for people.
func shown(path string) string {
	if home := special.User(); pathname.Within(home, path) {
		return "~" + strings.TrimPrefix(path, filepath.Clean(home))
	}
	return path
}

func shownIn(dir, path string) string {
	if name, in := pathname.Below(dir, path); in {
		return name
	}
	return shown(path)
}

// maxDenied is how many effects are listed that were not allowed.
const maxDenied = 20

// remembers asks about each scope once: for a command, or for the session if the user says so.
// The time that a command waits for answers is not its own.
func (r *Registry) remembers(p *running, ask func(context.Context, Effect) (bool, error)) func(context.Context, Effect) (bool, error) {
	return func(ctx context.Context, e Effect) (always bool, err error) {
		if r.isAllowed(p, e.Scopes) {
			return false, nil
		}
		p.waits(r.now(), 1)
		defer func() { p.waits(r.now(), -1) }()
		if ask == nil {
			err = errors.New("nobody can be asked")
		} else {
			always, err = ask(ctx, e)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		p.mu.Lock()
		defer p.mu.Unlock()
		switch line := fmt.Sprintf("%s: %v", e.Title, err); {
		case err != nil && len(p.denied) < maxDenied && !slices.Contains(p.denied, line):
			p.denied = append(p.denied, line)
		case err != nil:
		default:
			allowed := p.allowed
			if always {
				allowed = r.allowed
			}
			for _, scope := range e.Scopes {
				allowed[scope] = true
			}
		}
		return always, err
	}
}

func (r *Registry) isAllowed(p *running, scopes []string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(scopes) > 0 && !slices.ContainsFunc(scopes, func(scope string) bool { return !r.allowed[scope] && !p.allowed[scope] })
}

// waits notes that one more question is open, or one less.
func (p *running) waits(now time.Time, more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking == 0 {
		p.asked = now
	}
	if p.asking += more; p.asking == 0 {
		p.waited += now.Sub(p.asked)
	}
}

// hasWaited is how long a command has waited for answers.
func (p *running) hasWaited(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking > 0 {
		return p.waited + now.Sub(p.asked)
	}
	return p.waited
}
