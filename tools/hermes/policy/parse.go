package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// Only the syntax is the library's. Its decoder would cost the program 250 KiB more and
// could not say in which line a value is wrong.

// reader reads a file key by key.
type reader struct {
	*Policy
	toml  unstable.Parser
	entry *entry // that the keys belong to
	set   map[string]bool
}

func parse(name string, text []byte) (*Policy, error) {
	r := &reader{Policy: &Policy{File: name, severities: map[string]lint.Severity{}, now: time.Now}, set: map[string]bool{}}
	r.toml.Reset(text)
	var table []string
	for r.toml.NextExpression() {
		node := r.toml.Expression()
		var err error
		switch node.Kind {
		case unstable.KeyValue:
			err = r.value(table, node)
		case unstable.Table, unstable.ArrayTable:
			table = keys(node)
			err = r.table(table, node)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.toml.Error(); err != nil {
		line := 0
		var syntax *unstable.ParserError
		if errors.As(err, &syntax) {
			line = 1 + strings.Count(string(text[:r.toml.Range(syntax.Highlight).Offset]), "\n")
		}
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return r.Policy, r.complete()
}

// line is where a node's key, or that of its first key, is.
func (r *reader) line(node *unstable.Node) int {
	key := node.Key()
	key.Next()
	return r.toml.Shape(key.Node().Raw).Start.Line
}

func (r *reader) fail(line int, key []string, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %w", r.File, line, strings.Join(key, "."), fmt.Errorf(format, args...))
}

// keys are the parts of a dotted key.
func keys(node *unstable.Node) (parts []string) {
	for it := node.Key(); it.Next(); {
		parts = append(parts, string(it.Node().Data))
	}
	return parts
}

func (r *reader) table(name []string, node *unstable.Node) error {
	line := r.line(node)
	list := node.Kind == unstable.ArrayTable
	if err := r.complete(); err != nil {
		return err
	}
	switch {
	case slices.Equal(name, []string{"accept"}) && list:
		r.entry = &entry{line: line}
		r.entries = append(r.entries, r.entry)
	case slices.Equal(name, []string{"accept"}):
		return r.fail(line, name, "each accepted finding begins with [[accept]], in two brackets")
	case slices.Equal(name, []string{"severity"}) && !list:
	default:
		return r.fail(line, name, "no such table: want [severity] or [[accept]]")
	}
	return nil
}

// value reads a key of a table, or a table that is written as a value.
func (r *reader) value(table []string, node *unstable.Node) error {
	name := slices.Concat(table, keys(node))
	value, line := node.Value(), r.line(node)
	switch value.Kind {
	case unstable.InlineTable:
		for it := value.Children(); it.Next(); {
			if err := r.value(name, it.Node()); err != nil {
				return err
			}
		}
		return nil
	case unstable.Array:
		return r.fail(line, name, "not a list; each accepted finding begins with [[accept]]")
	}
	id := strings.Join(name, ".")
	if r.entry != nil && table != nil && name[0] == "accept" {
		id = fmt.Sprintf("%d.%s", r.entry.line, id)
	}
	if r.set[id] {
		return r.fail(line, name, "it is set twice")
	}
	r.set[id] = true
	switch {
	case name[0] == "accept" && len(name) == 2 && r.entry != nil:
		return r.accept(name, line, value)
	case name[0] == "severity" && len(name) == 2:
		return r.severity(name, line, value)
	case len(name) > 1:
	case name[0] == "profile":
		text, err := r.text(name, line, value)
		if err == nil {
			if r.Profile, err = lint.ParseProfile(text); err != nil {
				err = r.fail(line, name, "%w", err)
			}
		}
		return err
	case name[0] == "fail-on":
		text, err := r.text(name, line, value)
		if err == nil && text != "never" {
			if _, err = lint.ParseSeverity(text); err != nil {
				err = r.fail(line, name, "%w, or never", err)
			}
		}
		r.FailOn = text
		return err
	}
	return r.fail(line, name, "no such key: want profile, fail-on, [severity] or [[accept]]")
}

func (r *reader) text(key []string, line int, value *unstable.Node) (string, error) {
	if value.Kind != unstable.String {
		return "", r.fail(line, key, "want text in quotes, such as %s = \"…\"", key[len(key)-1])
	}
	return string(value.Data), nil
}

func (r *reader) severity(key []string, line int, value *unstable.Node) error {
	if !known(key[1]) {
		return r.fail(line, key, "there is no rule %s (hermes lint --rules --profile strict lists them)", key[1])
	}
	text, err := r.text(key, line, value)
	if err != nil {
		return err
	}
	s, err := lint.ParseSeverity(text)
	if err != nil && text != "off" {
		return r.fail(line, key, "%w, or off", err)
	}
	r.severities[key[1]] = s
	return nil
}

func known(id string) bool {
	return lint.Find(id) != nil || slices.ContainsFunc(Rules(), func(r *lint.Rule) bool { return r.ID == id })
}

func (r *reader) accept(key []string, line int, value *unstable.Node) error {
	e := r.entry
	if key[1] == "expires" {
		day, err := time.Parse(time.DateOnly, string(value.Data))
		if err != nil || value.Kind != unstable.LocalDate && value.Kind != unstable.String {
			return r.fail(line, key, "want the last day, such as expires = %s", time.Now().AddDate(0, 3, 0).Format(time.DateOnly))
		}
		e.expires = day.AddDate(0, 0, 1)
		return nil
	}
	text, err := r.text(key, line, value)
	if err != nil {
		return err
	}
	switch key[1] {
	case "rule":
		if lint.Find(text) == nil {
			return r.fail(line, key, "there is no rule %s (hermes lint --rules --profile strict lists them)", text)
		}
		e.rule = text
	case "side":
		if text != lint.Client.String() && text != lint.Agent.String() {
			return r.fail(line, key, "%q: want client or agent", text)
		}
		e.side = text
	case "file", "pointer":
		if _, err := path.Match(text, ""); err != nil {
			return r.fail(line, key, "%q is not a pattern: * matches within a name, ? one character", text)
		}
		if key[1] == "file" {
			e.file = text
		} else {
			e.pointer = text
		}
	case "text":
		e.text = text
	case "reason":
		if strings.TrimSpace(text) == "" {
			return r.fail(line, key, "say why the finding is accepted")
		}
		e.reason = text
	default:
		return r.fail(line, key, "no such key: want rule, side, file, pointer, text, reason or expires")
	}
	return nil
}

// complete checks the entry that ended.
func (r *reader) complete() error {
	e := r.entry
	r.entry = nil
	if e == nil {
		return nil
	}
	for _, c := range []struct {
		key     string
		missing bool
		remedy  string
	}{
		{"rule", e.rule == "", "name the rule, such as rule = \"CAN02\""},
		{"reason", e.reason == "", "say why the finding is accepted"},
		{"expires", e.expires.IsZero(), "say until when, such as expires = " + time.Now().AddDate(0, 3, 0).Format(time.DateOnly)},
	} {
		if c.missing {
			return r.fail(e.line, []string{"accept", c.key}, "missing; %s", c.remedy)
		}
	}
	return nil
}
