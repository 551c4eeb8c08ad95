// Package permission decides what an agent may do: by rules the user has made,
// and else by asking the user. Whatever goes wrong on the way is a denial.
//
// It answers session/request_permission of
// https://agentclientprotocol.com/protocol/tool-calls.
package permission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
)

// Outcome is the result of Policy.Decide.
type Outcome int

// The outcomes. Ask is the zero value: no rule matches.
const (
	Ask Outcome = iota
	Allowed
	Denied

	undecidable // while looking
)

// Policy is a set of rules. It is safe for concurrent use, also by several
// processes that share its file.
type Policy struct {
	path string

	mu    sync.Mutex
	given []Rule // by Configure
	rules []Rule // those of scope once and session, then those of the file
}

const fileVersion = 1

type file struct {
	Version int    `json:"version"`
	Rules   []Rule `json:"rules"`
}

// SetAsideError reports that the file of a Policy could not be used and was
// renamed, so that nothing in it counts and nothing in it is lost.
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

// Open reads the rules kept at path, an empty path keeps nothing. The Policy is
// usable, without those rules, also when the error is a *SetAsideError.
func Open(path string) (*Policy, error) {
	p := &Policy{path: path}
	if path == "" {
		return p, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("permission rules: %w", err)
	}
	rules, err := p.read()
	p.rules = rules
	return p, err
}

func (p *Policy) read() ([]Rule, error) {
	info, err := os.Lstat(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(p.path)
	}
	if err != nil {
		return nil, fmt.Errorf("permission rules: %w", err)
	}
	rules, err := parse(data)
	if mode := info.Mode(); err == nil && mode.IsRegular() && mode.Perm()&0o022 != 0 {
		err = fmt.Errorf("others may write it (mode %v)", mode)
	}
	if err == nil {
		return rules, nil
	}
	aside := &SetAsideError{Path: p.path, To: p.path + time.Now().UTC().Format(".bad-20060102T150405.000"), Err: err}
	if err := os.Rename(p.path, aside.To); err != nil {
		return nil, fmt.Errorf("permission rules: %w", err)
	}
	return nil, aside
}

// parse is strict: a member it does not know may make a rule narrower.
func parse(data []byte) ([]Rule, error) {
	var f file
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
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

// Decide looks for a rule. One that denies wins over one that allows; when one
// that denies might match but the request does not tell, no rule allows. A rule
// of scope once is used up. It returns the rule that decided.
func (p *Policy) Decide(q Request) (Outcome, *Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	outcome, at := Ask, -1
	rules := slices.Concat(p.given, p.rules)
	for i := range rules {
		r := &rules[i]
		m := r.matches(&q)
		switch {
		case m == no || outcome != Ask && r.Action == Allow:
			continue
		case m == maybe:
			outcome, at = undecidable, -1
		case r.Action == Deny:
			outcome, at = Denied, i
		default:
			outcome, at = Allowed, i
		}
		if outcome == Denied {
			break
		}
	}
	if at < 0 {
		return Ask, nil
	}
	r := rules[at]
	if r.Scope == Once {
		at -= len(p.given)
		p.rules = slices.Delete(p.rules, at, at+1)
	}
	return outcome, &r
}

// Configure sets the rules of a configuration, in place of those it set before.
// They are of scope always but not kept in the file, and Remove leaves them.
func (p *Policy) Configure(rules []Rule) error {
	rules = slices.Clone(rules)
	for i := range rules {
		r := &rules[i]
		r.Scope, r.Command = Always, slices.Clone(r.Command)
		if err := r.Check(); err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given = rules
	return nil
}

// Add adds a rule and, when its scope is always, keeps it in the file.
func (p *Policy) Add(r Rule) error {
	if err := r.Check(); err != nil {
		return err
	}
	r.Command = slices.Clone(r.Command)
	return p.change(r.Scope == Always, func(rules []Rule) []Rule { return append(rules, r) })
}

// Remove takes back every rule equal to r.
func (p *Policy) Remove(r Rule) error {
	return p.change(r.Scope == Always, func(rules []Rule) []Rule {
		return slices.DeleteFunc(rules, func(o Rule) bool { return equal(&o, &r) })
	})
}

// EndSession drops the rules that were made for a session.
func (p *Policy) EndSession(id acp.SessionID) {
	p.change(false, func(rules []Rule) []Rule {
		return slices.DeleteFunc(rules, func(r Rule) bool { return r.Session == id })
	})
}

// Rules returns the rules in force.
func (p *Policy) Rules() []Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Concat(p.given, p.rules)
}

// change applies edit to the rules in force or, when they are kept, to those in
// the file, which other processes may have changed meanwhile.
func (p *Policy) change(kept bool, edit func([]Rule) []Rule) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !kept || p.path == "" {
		p.rules = edit(p.rules)
		return nil
	}
	var rules []Rule
	err := files.Update(p.path, 0o600, func(old []byte) ([]byte, error) {
		if old != nil {
			var err error
			if rules, err = parse(old); err != nil {
				return nil, fmt.Errorf("permission rules %s: %w", p.path, err)
			}
		}
		rules = edit(rules)
		data, err := json.MarshalIndent(file{fileVersion, rules}, "", "  ")
		return append(data, '\n'), err
	})
	if err != nil {
		return err
	}
	temporary := slices.DeleteFunc(slices.Clone(p.rules), func(r Rule) bool { return r.Scope == Always })
	p.rules = append(temporary, rules...)
	return nil
}

func equal(a, b *Rule) bool {
	return a.Action == b.Action && a.Scope == b.Scope && a.Agent == b.Agent && a.Session == b.Session &&
		a.Kind == b.Kind && a.Path == b.Path && slices.Equal(a.Command, b.Command)
}
