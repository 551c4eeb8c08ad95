package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
)

// Answer is what the user says to a question.
type Answer string

// The answers. Everything else means Refused.
const (
	Once    Answer = "once"    // this time
	Session Answer = "session" // this command in this folder, until the session ends
	Always  Answer = "always"  // this command in this folder, for good
	Refused Answer = "deny"
)

// Question is a command that needs the user.
type Question struct {
	Line, Dir string
	Findings  []Finding
}

// Entry is a command that the user allows for good.
type Entry struct {
	Command string `yaml:"command,omitempty" json:"command,omitempty"` // the whole line
	Rule    string `yaml:"rule,omitempty" json:"rule,omitempty"`       // or every command that only this rule is about
	Effect  string `yaml:"effect,omitempty" json:"effect,omitempty"`   // or what commands in the sandbox reach: a folder, which ends with a slash, or a host with its port
	Dir     string `yaml:"dir,omitempty" json:"dir,omitempty"`         // the folder that it runs in; empty: any
}

// UnmarshalYAML also accepts a string, which is a command in any folder.
func (e *Entry) UnmarshalYAML(unmarshal func(any) error) error {
	if unmarshal(&e.Command) == nil && e.Command != "" {
		return nil
	}
	type plain Entry
	return unmarshal((*plain)(e))
}

// effect is a folder, or a host with its port.
var effect = regexp.MustCompile(`^(~?/(.*/)?|[A-Za-z0-9_.-]+:[0-9]+|\[[0-9A-Fa-f:.]+\]:[0-9]+)$`)

// isEffect reports whether an Entry can be about what commands reach.
func isEffect(scopes ...string) bool {
	return !slices.ContainsFunc(scopes, func(s string) bool { return !effect.MatchString(s) })
}

// ParseEntry reads a command, the name of a rule, or what commands reach. A rule about what is
// never allowed is an error, because it would allow nothing.
func ParseEntry(text string) (Entry, error) {
	if isEffect(text) {
		return Entry{Effect: text}, nil
	}
	for _, r := range slices.Concat(rules, []rule{
		rawWrite, sysrq, socket, systemFile, outsider, own, protected, secret, unreadable, hidden, computed, piped, forkBomb, hooked,
	}) {
		switch {
		case r.name == text && r.action == Deny:
			return Entry{}, fmt.Errorf("%s is never allowed", text)
		case r.name == text:
			return Entry{Rule: text}, nil
		}
	}
	if strings.TrimSpace(text) == "" {
		return Entry{}, errors.New("no command and no rule")
	}
	return Entry{Command: text}, nil
}

// DeniedError says why a command may not run, in words for the model.
type DeniedError struct {
	Command string
	Why     string // who or what denies it
	Verdict Verdict
}

func (e *DeniedError) Error() string {
	text := "the command was not run: " + e.Why
	if reason := e.Verdict.Reason(); reason != "" {
		text += " (" + reason + ")"
	}
	return text + ". Do not try to reach the same effect in another way; ask the user if you need it."
}

// Asker asks the user. An error and an unknown answer are denials.
type Asker func(context.Context, Question) (Answer, error)

// Options are settings of a Gate.
type Options struct {
	Home string   // the user's home folder
	Own  []string // see Place
	// Timeout bounds a question; 0 means that only the context bounds it.
	Timeout time.Duration
	Allowed []Entry // what the user has allowed for good
	// Keep stores what the user allows for good. If it fails, the command does not
	// run.
	Keep func(Entry) error
}

// Gate decides which commands of a session run. It is safe for concurrent use;
// questions are asked one after the other.
type Gate struct {
	opts    Options
	secrets []string // files and folders of the user and the machine

	asking chan struct{} // holds a token while a question is open
	mu     sync.Mutex
	allow  []Entry
}

// NewGate returns a Gate that remembers nothing but Options.Allowed.
func NewGate(o Options) *Gate {
	return &Gate{opts: o, secrets: secrets(o.Home), asking: make(chan struct{}, 1), allow: slices.Clone(o.Allowed)}
}

// Owns reports whether a file is one of our own settings.
func (g *Gate) Owns(name string) bool {
	return newScript(Place{Home: g.opts.Home, Own: g.opts.Own}).isOwn(path.Clean(filepath.ToSlash(name)))
}

// Secret says why the text of a file needs the user, in a session that works in dir. It is
// empty if it does not, or if the user has allowed all secrets for good.
func (g *Gate) Secret(dir, name string) string {
	name = filepath.ToSlash(name)
	why := cmp.Or(holds(g.secrets, dir, path.Clean(name)), holds(g.secrets, dir, real(name)))
	if why == "" || g.allowed("", dir, Verdict{Findings: []Finding{{Rule: secret.name}}}) {
		return ""
	}
	return why
}

// AllowsEffect reports whether the user has allowed for good what a command reaches. A folder has
// all folders in it.
func (g *Gate) AllowsEffect(scopes []string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	full := func(scope string) string {
		if rest, ok := strings.CutPrefix(scope, "~/"); ok {
			scope = filepath.ToSlash(g.opts.Home) + "/" + rest
		}
		if !strings.HasPrefix(scope, "/") || !strings.HasSuffix(scope, "/") {
			return scope
		}
		return strings.TrimSuffix(path.Clean(scope), "/") + "/"
	}
	covered := func(scope string) bool {
		return slices.ContainsFunc(g.allow, func(e Entry) bool {
			allowed, asked := full(e.Effect), full(scope)
			return e.Effect != "" && (allowed == asked || strings.HasSuffix(allowed, "/") && strings.HasSuffix(asked, "/") && strings.HasPrefix(asked, allowed))
		})
	}
	return len(scopes) > 0 && !slices.ContainsFunc(scopes, func(s string) bool { return !covered(s) })
}

// KeepsEffect reports whether the user can be offered to allow for good what a command reaches.
// The home folder and the root would be too much, since a folder has all folders in it.
func (g *Gate) KeepsEffect(scopes []string) bool {
	return g.opts.Keep != nil && len(scopes) > 0 && isEffect(scopes...) && !slices.Contains(scopes, "~/") && !slices.Contains(scopes, "/")
}

// AlwaysAllowEffect allows for good what a command reaches.
func (g *Gate) AlwaysAllowEffect(scopes []string) error {
	if !g.KeepsEffect(scopes) {
		return errors.New("there is no place for it")
	}
	for _, scope := range scopes {
		e := Entry{Effect: scope}
		if err := g.opts.Keep(e); err != nil {
			return err
		}
		g.remember(e)
	}
	return nil
}

// Check returns nil if a command may run in a folder, a *DeniedError otherwise.
// Commands that cannot reach anything need no answer, but the worst never run. Where what
// they reach is asked about when it happens, only the rest is asked about before. With no
// Asker every dangerous command is denied.
func (g *Gate) Check(ctx context.Context, line, dir string, reach process.Reach, ask Asker) error {
	v := Place{Dir: dir, Home: g.opts.Home, Own: g.opts.Own}.Judge(line)
	if reach == process.Asked && v.Action() != Deny {
		v.Findings = slices.DeleteFunc(v.Findings, func(f Finding) bool { return slices.Contains(happening, f.Rule) })
	}
	deny := func(why string) error { return &DeniedError{line, why, v} }
	switch {
	case v.Action() == Deny:
		return deny("it is never allowed")
	case v.Action() == Allow, reach == process.Isolated, g.allowed(line, dir, v):
		return nil
	case ask == nil:
		return deny("it needs the user, and nobody can be asked")
	}
	select {
	case g.asking <- struct{}{}:
		defer func() { <-g.asking }()
	case <-ctx.Done():
		return deny("nobody answered in time")
	}
	if g.allowed(line, dir, v) { // by the answer to an earlier question
		return nil
	}
	entry := Entry{Command: line, Dir: dir}
	switch answer, err := g.ask(ctx, ask, Question{line, dir, v.Findings}); {
	case errors.Is(err, context.DeadlineExceeded):
		return deny("nobody answered in time")
	case err != nil:
		return deny("the user could not be asked: " + err.Error())
	case answer == Once:
		return nil
	case answer == Session:
		g.remember(entry)
		return nil
	case answer == Always && g.opts.Keep == nil:
		return deny("the answer could not be kept")
	case answer == Always:
		if err := g.opts.Keep(entry); err != nil {
			return deny("the answer could not be kept: " + err.Error())
		}
		g.remember(entry)
		return nil
	case answer == Refused:
		return deny("the user denied it")
	case answer == "":
		return deny("denied, because there was no answer")
	default:
		return deny(fmt.Sprintf("denied, because the answer %q is unknown", answer))
	}
}

// ask turns a panic and the end of the context into errors, whatever the answer.
func (g *Gate) ask(ctx context.Context, ask Asker, q Question) (answer Answer, err error) {
	if g.opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, g.opts.Timeout)
		defer cancel()
	}
	type reply struct {
		answer Answer
		err    error
	}
	replies := make(chan reply, 1)
	go func() {
		r := reply{err: errors.New("the question failed")}
		defer func() {
			if p := recover(); p != nil {
				r = reply{err: fmt.Errorf("the question failed: %v", p)}
			}
			replies <- r
		}()
		r.answer, r.err = ask(ctx, q)
	}()
	select {
	case r := <-replies:
		if r.err == nil {
			r.err = ctx.Err()
		}
		return r.answer, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (g *Gate) remember(e Entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.allow = append(g.allow, e)
}

// allowed reports whether the user has allowed the command before.
func (g *Gate) allowed(line, dir string, v Verdict) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	fits := func(e Entry) bool { return e.Dir == "" || e.Dir == dir }
	if slices.ContainsFunc(g.allow, func(e Entry) bool { return e.Command == line && line != "" && fits(e) }) {
		return true
	}
	return !slices.ContainsFunc(v.Findings, func(f Finding) bool {
		return !slices.ContainsFunc(g.allow, func(e Entry) bool { return e.Rule != "" && e.Command == "" && e.Rule == f.Rule && fits(e) })
	})
}
