package policy

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/tools/hermes/tomlfile"
)

// reader reads a file key by key.
type reader struct {
	*Policy
	entry *entry       // that the keys belong to
	table tomlfile.Key // its beginning
}

func parse(name string, text []byte) (*Policy, error) {
	r := &reader{Policy: &Policy{File: name, severities: map[string]lint.Severity{}, now: time.Now}}
	if err := tomlfile.Read(name, text, r); err != nil {
		return nil, err
	}
	return r.Policy, r.complete()
}

// Table implements tomlfile.Reader.
func (r *reader) Table(key tomlfile.Key, list bool) error {
	if err := r.complete(); err != nil {
		return err
	}
	switch {
	case key.Is("accept") && list:
		r.entry, r.table = &entry{line: key.Line}, key
		r.entries = append(r.entries, r.entry)
	case key.Is("accept"):
		return key.Errorf("each accepted finding begins with [[accept]], in two brackets")
	case key.Is("severity") && !list:
	default:
		return key.Errorf("no such table: want [severity] or [[accept]]")
	}
	return nil
}

// Value implements tomlfile.Reader.
func (r *reader) Value(v tomlfile.Value) error {
	switch {
	case v.IsList():
		return v.Errorf("not a list; each accepted finding begins with [[accept]]")
	case v.Name[0] == "accept" && len(v.Name) == 2 && r.entry != nil:
		return r.accept(v)
	case v.Name[0] == "severity" && len(v.Name) == 2:
		return r.severity(v)
	case v.Is("profile"):
		text, err := v.Text()
		if err == nil {
			if r.Profile, err = lint.ParseProfile(text); err != nil {
				err = v.Errorf("%w", err)
			}
		}
		return err
	case v.Is("rules"):
		text, err := v.Text()
		if err == nil && text != "latest" {
			if _, err = lint.FindRuleSet(text); err != nil {
				err = v.Errorf("%w", err)
			}
		}
		r.Rules = text
		return err
	case v.Is("fail-on"):
		text, err := v.Text()
		if err == nil && text != "never" {
			if _, err = lint.ParseSeverity(text); err != nil {
				err = v.Errorf("%w, or never", err)
			}
		}
		r.FailOn = text
		return err
	}
	return v.Errorf("no such key: want profile, rules, fail-on, [severity] or [[accept]]")
}

func (r *reader) severity(v tomlfile.Value) error {
	id := v.Name[1]
	if !known(id) {
		return v.Errorf("there is no rule %s (hermes lint --list --profile strict lists them)", id)
	}
	text, err := v.Text()
	if err != nil {
		return err
	}
	s, err := lint.ParseSeverity(text)
	if err != nil && text != "off" {
		return v.Errorf("%w, or off", err)
	}
	r.severities[id] = s
	return nil
}

func known(id string) bool {
	return lint.Find(id) != nil || slices.ContainsFunc(Rules(), func(r *lint.Rule) bool { return r.ID == id })
}

func (r *reader) accept(v tomlfile.Value) error {
	e, key := r.entry, v.Name[1]
	if key == "expires" {
		text, ok := v.Day()
		day, err := time.Parse(time.DateOnly, text)
		if err != nil || !ok {
			return v.Errorf("want the last day, such as expires = %s", time.Now().AddDate(0, 3, 0).Format(time.DateOnly))
		}
		e.expires = day.AddDate(0, 0, 1)
		return nil
	}
	text, err := v.Text()
	if err != nil {
		return err
	}
	switch key {
	case "rule":
		if lint.Find(text) == nil {
			return v.Errorf("there is no rule %s (hermes lint --list --profile strict lists them)", text)
		}
		e.rule = text
	case "side":
		if text != lint.Client.String() && text != lint.Agent.String() {
			return v.Errorf("%q: want client or agent", text)
		}
		e.side = text
	case "file", "pointer":
		if _, err := path.Match(text, ""); err != nil {
			return v.Errorf("%q is not a pattern: * matches within a name, ? one character", text)
		}
		if key == "file" {
			e.file = text
		} else {
			e.pointer = text
		}
	case "text":
		e.text = text
	case "reason":
		if strings.TrimSpace(text) == "" {
			return v.Errorf("say why the finding is accepted")
		}
		e.reason = text
	default:
		return v.Errorf("no such key: want rule, side, file, pointer, text, reason or expires")
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
			return r.table.Member(c.key).Errorf("missing; %s", c.remedy)
		}
	}
	return nil
}
