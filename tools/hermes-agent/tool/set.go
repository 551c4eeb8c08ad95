package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// Set is the tools of a session, in a fixed order, so that each request to the model
// begins with the same bytes. It does not change once made, except that the model can load
// tools. It is safe for concurrent use.
type Set struct {
	tools   []*Tool
	schemas map[string]*jsonschema.Schema
	absent  map[string]error // tools that the session could have, and why it has not
	demand  *demand          // the last ones of tools; nil: all are described
}

// NewSet returns the tools of the named toolsets that are available. A toolset can be
// made of others: groups maps its name to theirs.
func NewSet(tools []*Tool, groups map[string][]string, toolsets ...string) (*Set, error) {
	wanted := map[string]bool{}
	for _, name := range toolsets {
		if err := expand(tools, groups, name, nil, wanted); err != nil {
			return nil, err
		}
	}
	s := &Set{schemas: map[string]*jsonschema.Schema{}, absent: map[string]error{}}
	for _, t := range tools {
		if !wanted[t.Toolset] {
			continue
		}
		if err := t.available(); err != nil {
			s.absent[t.Name] = err
			continue
		}
		if err := s.add(t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// With returns a set with further tools behind the tools of s. If their descriptions are
// large, the model gets a list of them, and a tool to load some. The error is about tools
// that it leaves out.
func (s *Set) With(tools []*Tool) (*Set, error) {
	more := &Set{tools: slices.Clone(s.tools), schemas: maps.Clone(s.schemas), absent: s.absent}
	var err error
	for _, t := range tools {
		err = errors.Join(err, more.add(t))
	}
	if more.demand = onDemand(more.tools[len(s.tools):]); more.demand != nil {
		more.tools = slices.Clone(s.tools)
		err = errors.Join(err, more.add(more.demand.loader()))
		more.tools = append(more.tools, more.demand.tools...)
	}
	return more, err
}

func (s *Set) add(t *Tool) error {
	if s.schemas[t.Name] != nil {
		return fmt.Errorf("tool %s: there are two of this name", t.Name)
	}
	schema, err := jsonschema.CompileString(t.Name+".json", string(t.Schema))
	if err != nil {
		return fmt.Errorf("tool %s: schema: %w", t.Name, err)
	}
	s.tools, s.schemas[t.Name] = append(s.tools, t), schema
	return nil
}

// expand adds the toolsets that a name stands for.
func expand(tools []*Tool, groups map[string][]string, name string, above []string, wanted map[string]bool) error {
	if slices.Contains(above, name) {
		return fmt.Errorf("toolset %s contains itself: %s", name, strings.Join(append(above, name), " > "))
	}
	members, group := groups[name]
	if !group {
		if !slices.ContainsFunc(tools, func(t *Tool) bool { return t.Toolset == name }) {
			return fmt.Errorf("there is no toolset %q", name)
		}
		wanted[name] = true
	}
	for _, member := range members {
		if err := expand(tools, groups, member, append(slices.Clone(above), name), wanted); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tool) available() error {
	for _, name := range t.Env {
		if os.Getenv(name) == "" {
			return fmt.Errorf("%s is not set", name)
		}
	}
	if t.Check != nil {
		return t.Check()
	}
	return nil
}

// Specs describes the tools to the model.
func (s *Set) Specs() []model.Spec {
	if s.demand == nil {
		return specs(s.tools)
	}
	return append(specs(s.tools[:len(s.tools)-len(s.demand.tools)]), s.demand.specs()...)
}

func specs(tools []*Tool) []model.Spec {
	var list []model.Spec
	for _, t := range tools {
		list = append(list, model.Spec{Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	return list
}

// Find returns the tool that a call names and its arguments, or an error that explains
// to the model what is wrong with the call.
func (s *Set) Find(call model.Call) (*Tool, json.RawMessage, error) {
	at := slices.IndexFunc(s.tools, func(t *Tool) bool { return t.Name == call.Name })
	if at < 0 {
		if err := s.absent[call.Name]; err != nil {
			return nil, nil, fmt.Errorf("the tool %q is not available here: %w", call.Name, err)
		}
		return nil, nil, fmt.Errorf("there is no tool %q; the tools are %s", call.Name, strings.Join(s.Names(), ", "))
	}
	t := s.tools[at]
	arguments := json.RawMessage(call.Arguments)
	if strings.TrimSpace(call.Arguments) == "" {
		arguments = json.RawMessage("{}") // what some models send when there is nothing to say
	}
	err := check(s.schemas[t.Name], arguments)
	if s.demand != nil {
		err = s.demand.found(t, err)
	}
	if err != nil {
		return t, nil, err
	}
	return t, arguments, nil
}

// Names lists the tools.
func (s *Set) Names() []string {
	var list []string
	for _, t := range s.tools {
		list = append(list, t.Name)
	}
	return list
}
