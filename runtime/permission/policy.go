// Package permission decides what an agent may do: by the user's rules, or
// otherwise by asking the user. Any failure on the way is a denial.
//
// It answers session/request_permission of
// https://agentclientprotocol.com/protocol/tool-calls.
package permission

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// Outcome is the result of Policy.Decide.
type Outcome int

// The outcomes. Ask is the zero value: no rule matches.
const (
	Ask Outcome = iota
	Allowed
	Denied
)

// Policy is a set of rules. It is safe for concurrent use, also by several
// processes that share its file.
type Policy struct {
	path    string
	writing chan struct{} // holds an element while the file is being changed

	mu    sync.Mutex
	given []Rule // by Configure
	rules []Rule // the rules of scope once and session, then the rules of the file
}

const fileVersion = 1

type file struct {
	Version int    `json:"version"`
	Rules   []Rule `json:"rules"`
}

// SetAsideError reports that the file of a Policy could not be used and was
// renamed. Its rules do not apply, but nothing in it is lost.
type SetAsideError struct {
	Path string
	To   string
	Err  error
}

func (e *SetAsideError) Error() string {
	return fmt.Sprintf("permission rules %s: %v; set aside as %s", e.Path, e.Err, e.To)
}

// Unwrap returns what is wrong with the file.
func (e *SetAsideError) Unwrap() error { return e.Err }

// ErrNotOwn refuses a file or folder that another user may have written.
var ErrNotOwn = atomicfile.ErrNotOwn

// Open reads the rules kept at path; with an empty path nothing is kept. After an
// error the Policy is usable, but without those rules. A *SetAsideError says that
// the file could not be used. Any other error says that rules cannot be kept
// there until the user solves the problem.
func Open(path string) (*Policy, error) {
	p := &Policy{path: path, writing: make(chan struct{}, 1)}
	if path == "" {
		return p, nil
	}
	err := atomicfile.OwnDir(filepath.Dir(path))
	if err == nil {
		p.rules, err = p.read()
	}
	if aside := (*SetAsideError)(nil); err != nil && !errors.As(err, &aside) {
		err = fmt.Errorf("permission rules: %w", err)
	}
	return p, err
}

func (p *Policy) read() ([]Rule, error) {
	data, err := atomicfile.ReadOwn(p.path)
	for try := 0; try < 3 && errors.Is(err, fs.ErrNotExist); try++ {
		if _, none := os.Lstat(p.path); errors.Is(none, fs.ErrNotExist) {
			return nil, nil
		}
		// Another process has just made it, or it is a link that leads nowhere.
		data, err = atomicfile.ReadOwn(p.path)
	}
	var rules []Rule
	if err == nil {
		rules, err = parse(data)
	} else if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err // a SetAsideError names the file
	}
	if err == nil {
		return rules, nil
	}
	aside := &SetAsideError{Path: p.path, To: p.path + time.Now().UTC().Format(".bad-20060102T150405.000"), Err: err}
	if err := os.Rename(p.path, aside.To); err != nil {
		return nil, err
	}
	return nil, aside
}

// parse is strict, because a member that it ignores, or that another program
// reads differently, might make a rule narrower.
func parse(data []byte) ([]Rule, error) {
	if err := jx.Distinct(data); err != nil {
		return nil, err
	}
	var all any
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	if err := exact(all); err != nil {
		return nil, err
	}
	var f file
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	if f.Version != fileVersion {
		return nil, fmt.Errorf("version %d, this program knows %d", f.Version, fileVersion)
	}
	for i := range f.Rules {
		if err := f.Rules[i].Check(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		if f.Rules[i].Scope != Always {
			return nil, fmt.Errorf("rule %d: %w: scope %s in a file", i+1, ErrRule, f.Rules[i].Scope)
		}
	}
	return f.Rules, nil
}

// exact refuses members whose names differ from the right ones in letter case,
// because encoding/json accepts them.
func exact(value any) error {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			if strings.ContainsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }) {
				return fmt.Errorf("unknown member %q", name)
			}
			if err := exact(v); err != nil {
				return err
			}
		}
	case []any:
		for _, v := range value {
			if err := exact(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Answer answers a question by a rule. It returns the rule and the option that
// carries it out. The option is nil if a rule denies and no option says so; the
// answer is then cancelled. If ok is false, no rule answers and the user has to
// be asked. This is also the case if a rule allows and no option says just that.
func (p *Policy) Answer(q Request, options []acp.PermissionOption) (option *acp.PermissionOption, rule *Rule, ok bool) {
	if CheckOptions(options) != nil {
		return nil, nil, false
	}
	allow := find(options, Allow)
	switch outcome, rule := p.decide(q, allow != nil); outcome {
	case Allowed:
		return allow, rule, true
	case Denied:
		return find(options, Deny), rule, true
	}
	return nil, nil, false
}

// Decide looks for a rule and returns the one that decided. Rules that deny win
// over rules that allow. If the request leaves open whether a rule that denies
// matches, no rule allows it, with one exception: if the doubt is only about files
// that the command may touch without naming them, a rule that names the command
// can allow it. A rule of scope once is used up.
func (p *Policy) Decide(q Request) (Outcome, *Rule) { return p.decide(q, true) }

// decide is Decide. Unless mayAllow, no rule allows and none is used up by that.
func (p *Policy) decide(q Request, mayAllow bool) (Outcome, *Rule) {
	s := inspect(&q)
	p.mu.Lock()
	defer p.mu.Unlock()
	rules := slices.Concat(p.given, p.rules)
	doubt := no
	for i := range rules {
		m := rules[i].denies(s)
		if m == yes {
			return Denied, p.use(i)
		}
		doubt = max(doubt, m)
	}
	if doubt == maybe || q.Truncated || !mayAllow {
		return Ask, nil
	}
	for i := range rules {
		if r := &rules[i]; (doubt == no || len(r.Command) > 0) && r.allows(s) {
			return Allowed, p.use(i)
		}
	}
	return Ask, nil
}

// use returns the rule at a place in Rules, which has decided.
func (p *Policy) use(i int) *Rule {
	if i < len(p.given) {
		r := p.given[i]
		return &r
	}
	i -= len(p.given)
	r := p.rules[i]
	if r.Scope == Once {
		p.rules = slices.Delete(p.rules, i, i+1)
	}
	return &r
}

// ErrDenied is the error of Permit.
var ErrDenied = errors.New("denied by a permission rule")

// Permit applies the rules that deny to something an agent does without asking,
// such as reading a file through its client. If a rule might match, the request
// is denied, because nobody is asked. Rules of scope once apply only to questions.
func (p *Policy) Permit(q Request) error {
	s := inspect(&q)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range slices.Concat(p.given, p.rules) {
		if r.Scope != Once && r.denies(s) != no {
			if r.Path != "" {
				return fmt.Errorf("%w (path %s)", ErrDenied, r.Path)
			}
			return ErrDenied
		}
	}
	return nil
}

// Configure sets the rules of a configuration and replaces those it set before.
// They have scope always, but are not kept in the file, and Remove leaves them.
func (p *Policy) Configure(rules []Rule) error {
	rules = slices.Clone(rules)
	for i := range rules {
		r := &rules[i]
		r.Scope, r.Command, r.Env = Always, slices.Clone(r.Command), slices.Clone(r.Env)
		if err := r.Check(); err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given = rules
	return nil
}

// Add adds a rule and, if its scope is always, keeps it in the file. ctx bounds
// the wait for other processes that change the file.
func (p *Policy) Add(ctx context.Context, r Rule) error {
	if err := r.Check(); err != nil {
		return err
	}
	r.Command, r.Env = slices.Clone(r.Command), slices.Clone(r.Env)
	return p.change(ctx, r.Scope, func(rules []Rule) []Rule { return append(rules, r) })
}

// Remove removes every rule equal to r. ctx is as in Add.
func (p *Policy) Remove(ctx context.Context, r Rule) error {
	return p.change(ctx, r.Scope, func(rules []Rule) []Rule {
		return slices.DeleteFunc(rules, func(o Rule) bool { return equal(&o, &r) })
	})
}

// EndSession drops the rules that were made for a session.
func (p *Policy) EndSession(id acp.SessionID) {
	p.edit(func(rules []Rule) []Rule {
		return slices.DeleteFunc(rules, func(r Rule) bool { return r.Session == id })
	})
}

// Rules returns the rules in force.
func (p *Policy) Rules() []Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Concat(p.given, p.rules)
}

// change applies edit to the rules in force or, if they are kept in the file, to
// the file, which other processes may have changed meanwhile.
func (p *Policy) change(ctx context.Context, scope Scope, edit func([]Rule) []Rule) error {
	if scope != Always || p.path == "" {
		p.edit(edit)
		return nil
	}
	select {
	case p.writing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("permission rules %s: they are being changed: %w", p.path, context.Cause(ctx))
	}
	defer func() { <-p.writing }()
	var kept []Rule
	err := atomicfile.Update(ctx, p.path, 0o600, func(old []byte) ([]byte, error) {
		if old != nil {
			var err error
			if kept, err = parse(old); err != nil {
				return nil, fmt.Errorf("permission rules %s: %w", p.path, err)
			}
		}
		kept = edit(kept)
		data, err := json.MarshalIndent(file{fileVersion, kept}, "", "  ")
		return append(data, '\n'), err
	})
	if err != nil {
		return err
	}
	p.edit(func(rules []Rule) []Rule {
		return append(slices.DeleteFunc(rules, func(r Rule) bool { return r.Scope == Always }), kept...)
	})
	return nil
}

func (p *Policy) edit(edit func([]Rule) []Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = edit(p.rules)
}

func equal(a, b *Rule) bool {
	return a.Action == b.Action && a.Scope == b.Scope && a.Agent == b.Agent && a.Session == b.Session &&
		a.Kind == b.Kind && a.Path == b.Path && a.Exact == b.Exact && a.Cwd == b.Cwd && slices.Equal(a.Command, b.Command) && slices.Equal(a.Env, b.Env)
}
