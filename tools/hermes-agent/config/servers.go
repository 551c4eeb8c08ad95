package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Server is an MCP server: a program, or an address.
type Server struct {
	Type    string            `yaml:"type"` // stdio, http or sse; empty: by what the server has
	Command string            `yaml:"command"`
	Args    []string          `yaml:"args"`
	Env     map[string]string `yaml:"env"` // besides the environment of the agent
	URL     string            `yaml:"url"`
	Headers map[string]string `yaml:"headers"`
	Enabled *bool             `yaml:"enabled"` // nil: it is
	Allow   []string          `yaml:"allow"`   // tools that run without a question; a star at the end is any text

	Fault error `yaml:"-"` // why it cannot be reached
}

// On reports whether sessions have the server.
func (s Server) On() bool { return s.Enabled == nil || *s.Enabled }

// resolve puts values in the place of variables, sets the type, and looks for faults.
func (s Server) resolve(value func(string) string) Server {
	var faults []error
	text := func(where, text string) string {
		text, unset := expand(text, value)
		switch len(unset) {
		case 0:
		case 1:
			faults = append(faults, fmt.Errorf("%s: %s is not set: add it to .env with hermes-agent config set", where, unset[0]))
		default:
			faults = append(faults, fmt.Errorf("%s: %s are not set: add them to .env with hermes-agent config set", where, strings.Join(unset, " and ")))
		}
		return text
	}
	table := func(where string, of map[string]string) map[string]string {
		resolved := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(of)) {
			resolved[name] = text(where+"."+name, of[name])
		}
		return resolved
	}
	s.Command, s.URL = text("command", s.Command), text("url", s.URL)
	s.Args = slices.Clone(s.Args)
	for i := range s.Args {
		s.Args[i] = text("args", s.Args[i])
	}
	s.Env, s.Headers = table("env", s.Env), table("headers", s.Headers)
	if err := s.shape(); err != nil && len(faults) == 0 {
		faults = append(faults, err)
	}
	byContent := "stdio"
	if s.URL != "" {
		byContent = "http"
	}
	s.Type = cmp.Or(s.Type, byContent)
	if s.On() {
		s.Fault = errors.Join(faults...)
	}
	return s
}

// shape looks for what does not fit together.
func (s Server) shape() error {
	types := []string{"stdio", "http", "sse"}
	switch {
	case s.Type != "" && !slices.Contains(types, s.Type):
		return fmt.Errorf("the type %q is none of %s", s.Type, strings.Join(types, ", "))
	case s.Command == "" && s.URL == "":
		return errors.New("it has neither a command nor a url")
	case s.Command != "" && s.URL != "":
		return errors.New("it has a command and a url, and can have only one of them")
	case s.Type == "stdio" && s.URL != "":
		return errors.New("the type stdio needs a command")
	case s.Command != "" && s.Type != "" && s.Type != "stdio":
		return fmt.Errorf("the type %s needs a url", s.Type)
	case s.URL != "" && CheckEndpoint(s.URL) != nil:
		return fmt.Errorf("url: %w", CheckEndpoint(s.URL))
	case s.URL != "" && len(s.Env) > 0:
		return errors.New("env belongs to a command, and it has a url")
	case s.Command != "" && len(s.Headers) > 0:
		return errors.New("headers belong to a url, and it has a command")
	case slices.Contains(s.Allow, ""):
		return errors.New("allow: a tool without a name")
	}
	return nil
}

// expand puts values in the place of variables, and names those that have none.
func expand(text string, value func(string) string) (_ string, unset []string) {
	return variable.ReplaceAllStringFunc(text, func(v string) string {
		name := v[2 : len(v)-1]
		got := value(name)
		if got == "" {
			unset = append(unset, name)
		}
		return got
	}), unset
}

// Refers reports whether the settings in a folder name a variable.
func Refers(dir, name string) bool {
	b, err := os.ReadFile(filepath.Join(dir, fileName))
	return err == nil && bytes.Contains(b, []byte("${"+name+"}"))
}
