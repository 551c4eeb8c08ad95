// Package matrix reads the file that lists the agents of a scoreboard.
package matrix

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/tools/hermes/tomlfile"
)

// Agent is an agent of the file. For empty members the command line applies.
type Agent struct {
	Name    string
	Command []string
	Version []string // a command that prints the version of the agent
	Env     []string // NAME=value
	Timeout time.Duration
	Total   time.Duration
	Profile lint.Profile

	AuthMethod   string
	Prompts      []string
	Without      []string // steps to leave out
	Asking, Busy string   // the prompts for a permission and for a cancel

	key tomlfile.Key
}

// maxName bounds the name of an agent, in bytes.
const maxName = 80

// File is the name of the agent's files, without an extension.
func (a *Agent) File() string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, a.Name)
}

// Read reads a file. The error names the line and the key, and what they may be.
func Read(name string) ([]*Agent, error) {
	text, err := tomlfile.Load(name)
	if err != nil {
		return nil, err
	}
	return parse(name, text)
}

func parse(name string, text []byte) ([]*Agent, error) {
	r := &reader{}
	if err := tomlfile.Read(name, text, r); err != nil {
		return nil, err
	}
	if len(r.agents) == 0 {
		return nil, fmt.Errorf("%s: there is no agent: each begins with [[agent]]", name)
	}
	files := map[string]string{}
	for _, a := range r.agents {
		switch {
		case a.Name == "":
			return nil, a.key.Member("name").Errorf("missing; it is the title of the row")
		case len(a.Command) == 0:
			return nil, a.key.Member("command").Errorf("missing; it starts the agent, such as command = [\"my-agent\", \"--acp\"]")
		}
		file := strings.ToLower(a.File())
		if other, ok := files[file]; ok {
			return nil, a.key.Member("name").Errorf("%q and %q would share their reports: the names have to differ in more than case and punctuation", other, a.Name)
		}
		files[file] = a.Name
	}
	return r.agents, nil
}

type reader struct{ agents []*Agent }

// Table implements tomlfile.Reader.
func (r *reader) Table(key tomlfile.Key, list bool) error {
	switch {
	case key.Is("agent") && list:
		r.agents = append(r.agents, &Agent{key: key})
	case key.Is("agent"):
		return key.Errorf("each agent begins with [[agent]], in two brackets")
	case key.Is("agent", "env") && !list && len(r.agents) > 0:
	default:
		return key.Errorf("no such table: want [[agent]]")
	}
	return nil
}

// settings are the keys of an agent.
var settings = []struct {
	key string
	set func(a *Agent, v tomlfile.Value) error
}{
	{"name", func(a *Agent, v tomlfile.Value) error {
		text, err := v.Text()
		if err == nil && (text == "" || len(text) > maxName || lint.Visible([]byte(text), maxName) != text) {
			err = v.Errorf("want 1 to %d characters that can be seen", maxName)
		}
		a.Name = text
		return err
	}},
	{"command", func(a *Agent, v tomlfile.Value) (err error) { a.Command, err = words(v); return err }},
	{"version", func(a *Agent, v tomlfile.Value) (err error) { a.Version, err = words(v); return err }},
	{"timeout", func(a *Agent, v tomlfile.Value) (err error) { a.Timeout, err = duration(v); return err }},
	{"total", func(a *Agent, v tomlfile.Value) (err error) { a.Total, err = duration(v); return err }},
	{"profile", func(a *Agent, v tomlfile.Value) error {
		text, err := v.Text()
		if err != nil {
			return err
		}
		if a.Profile, err = lint.ParseProfile(text); err != nil {
			return v.Errorf("%w", err)
		}
		return nil
	}},
	{"auth-method", func(a *Agent, v tomlfile.Value) (err error) { a.AuthMethod, err = v.Text(); return err }},
	{"prompts", func(a *Agent, v tomlfile.Value) (err error) { a.Prompts, err = v.Texts(); return err }},
	{"without", func(a *Agent, v tomlfile.Value) (err error) { a.Without, err = v.Texts(); return err }},
	{"permission-prompt", func(a *Agent, v tomlfile.Value) (err error) { a.Asking, err = v.Text(); return err }},
	{"cancel-prompt", func(a *Agent, v tomlfile.Value) (err error) { a.Busy, err = v.Text(); return err }},
}

// Value implements tomlfile.Reader.
func (r *reader) Value(v tomlfile.Value) error {
	if v.Name[0] != "agent" || len(v.Name) < 2 || len(r.agents) == 0 {
		return v.Errorf("no such key: want [[agent]]")
	}
	a := r.agents[len(r.agents)-1]
	if v.Name[1] == "env" {
		return a.variable(v)
	}
	names := []string{"env"}
	for _, s := range settings {
		if len(v.Name) == 2 && v.Name[1] == s.key {
			return s.set(a, v)
		}
		names = append(names, s.key)
	}
	slices.Sort(names)
	return v.Errorf("no such key: want %s", strings.Join(names, ", "))
}

func (a *Agent) variable(v tomlfile.Value) error {
	if len(v.Name) != 3 || v.Name[2] == "" || strings.Contains(v.Name[2], "=") {
		return v.Errorf("want a table of variables, such as env = { NAME = \"value\" }")
	}
	text, err := v.Text()
	if err == nil && strings.Contains(text, "\x00") {
		err = v.Errorf("a variable cannot have the character 0")
	}
	a.Env = append(a.Env, v.Name[2]+"="+text)
	return err
}

// words is a command: a list, because no shell takes it apart.
func words(v tomlfile.Value) ([]string, error) {
	list, err := v.Texts()
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0 || list[0] == "":
		err = errors.New("want a program and its arguments, such as [\"my-agent\", \"--acp\"]")
	case slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, "\x00") }):
		err = errors.New("an argument cannot have the character 0")
	}
	if err != nil {
		return nil, v.Errorf("%w", err)
	}
	return list, nil
}

func duration(v tomlfile.Value) (time.Duration, error) {
	text, err := v.Text()
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, v.Errorf("%q is not a time, such as \"90s\" or \"10m\"", text)
	}
	return d, nil
}
