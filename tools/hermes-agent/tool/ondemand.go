package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

const (
	// mostDescribed is how much of a request the descriptions of further tools may take, in bytes:
	// 2,000 tokens of more than three bytes.
	mostDescribed = 3 * 2000
	mostLine      = 100 // bytes of a description in the list
	loadTool      = "load_tools"
)

// demand is the tools of a set that the model knows by a list. What it has loaded is described
// from then on, behind everything else, so that requests go on beginning with the same bytes.
type demand struct {
	tools []*Tool

	mu     sync.Mutex
	loaded []*Tool // in the order of loading
}

// onDemand returns nil if the descriptions of tools are small.
func onDemand(tools []*Tool) *demand {
	specs, err := json.Marshal(specs(tools))
	if err == nil && len(specs) <= mostDescribed {
		return nil
	}
	return &demand{tools: slices.Clone(tools)}
}

// loader is the tool that loads others.
func (d *demand) loader() *Tool {
	lines, names := "", make([]string, len(d.tools))
	for i, t := range d.tools {
		line, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		if len(line) > mostLine {
			line = strings.ToValidUTF8(line[:mostLine], "") + "…"
		}
		lines, names[i] = lines+"\n"+strings.TrimSuffix(t.Name+": "+line, ": "), t.Name
	}
	if len(lines) > mostDescribed {
		lines = "\n" + strings.Join(names, ", ")
	}
	return &Tool{
		Name: loadTool, Toolset: "mcp", Kind: acp.ToolKindOther,
		Description: "Load further tools by their names, before you call them. There are:" + lines,
		Schema:      []byte(`{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}}},"required":["names"],"additionalProperties":false}`),
		Title: func(c *Call) string {
			var args struct{ Names []string }
			c.Decode(&args)
			return "Load the tools " + strings.Join(args.Names, ", ")
		},
		Run: func(_ context.Context, c *Call) (string, error) {
			var args struct{ Names []string }
			if err := c.Decode(&args); err != nil {
				return "", err
			}
			var unknown []string
			for _, name := range args.Names {
				at := slices.IndexFunc(d.tools, func(t *Tool) bool { return t.Name == name })
				if at < 0 {
					unknown = append(unknown, fmt.Sprintf("%q", name))
					continue
				}
				d.load(d.tools[at])
			}
			switch {
			case len(args.Names) == 0:
				return "", errors.New("name the tools to load")
			case len(unknown) == len(args.Names):
				return "", fmt.Errorf("there is no tool %s in the list", strings.Join(unknown, ", "))
			case len(unknown) > 0:
				return fmt.Sprintf("You can call the others now, but there is no tool %s in the list.", strings.Join(unknown, ", ")), nil
			}
			return "You can call them now.", nil
		},
	}
}

// load reports whether a tool was not loaded before.
func (d *demand) load(t *Tool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.loaded, t) {
		return false
	}
	d.loaded = append(d.loaded, t)
	return true
}

// found loads a tool that is called, maybe by a model that has seen it earlier in the
// conversation or guesses.
func (d *demand) found(t *Tool, err error) error {
	if slices.Contains(d.tools, t) && d.load(t) && err != nil {
		return fmt.Errorf("%w; the tool is loaded now, so look at its schema", err)
	}
	return err
}

// specs describes what is loaded.
func (d *demand) specs() []model.Spec {
	d.mu.Lock()
	defer d.mu.Unlock()
	return specs(d.loaded)
}
