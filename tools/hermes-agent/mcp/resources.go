package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// resourceTool is the name of the tool for resources. The tools of servers have an underscore.
const resourceTool = "resource"

const (
	listBytes     = 16 << 10 // of one list
	listLine      = 200      // bytes of a line in it, besides the address
	listResources = 10_000   // that a list looks at
	resourceBytes = 64 << 10 // of one resource
)

// source is a server with resources.
type source struct {
	Server
	session *sdk.ClientSession
}

// sourceOf returns nil if a server has no resources. One that cannot list what it says it has
// tells the model why.
func sourceOf(ctx context.Context, server Server, session *sdk.ClientSession) *source {
	if started := session.InitializeResult(); started == nil || started.Capabilities == nil || started.Capabilities.Resources == nil {
		return nil
	}
	some := &source{server, session}
	if list, err := session.ListResources(ctx, nil); err != nil || len(list.Resources) > 0 {
		return some
	}
	if list, err := session.ListResourceTemplates(ctx, nil); err == nil && len(list.ResourceTemplates) > 0 {
		return some
	}
	return nil
}

// resources is the tool that lists and reads the resources of all servers that have some.
func resources(sources []*source) *tool.Tool {
	names := make([]string, len(sources))
	for i, s := range sources {
		names[i] = s.Name()
	}
	servers, _ := json.Marshal(names)
	return &tool.Tool{
		Name: resourceTool, Toolset: "mcp", Kind: acp.ToolKindRead, Asks: true,
		Description: "Read a resource of an MCP server. Without uri, list the resources, only those that contain match if it is given.",
		Schema: []byte(`{"type":"object","properties":{"server":{"enum":` + string(servers) +
			`},"uri":{"type":"string"},"match":{"type":"string"}},"additionalProperties":false}`),
		Title: func(c *tool.Call) string {
			var args struct{ Server, URI string }
			if c.Decode(&args); args.URI != "" {
				return strings.TrimPrefix(args.Server+": "+args.URI, ": ")
			}
			return "List the resources"
		},
		Run: func(ctx context.Context, c *tool.Call) (string, error) {
			var args struct{ Server, URI, Match string }
			if err := c.Decode(&args); err != nil {
				return "", err
			}
			asked := slices.DeleteFunc(slices.Clone(sources), func(s *source) bool { return args.Server != "" && s.Name() != args.Server })
			switch {
			case args.URI == "":
				c.Begin()
				return list(ctx, asked, strings.ToLower(args.Match))
			case len(asked) > 1:
				return "", fmt.Errorf("name the server of the resource: %s", strings.Join(names, ", "))
			}
			return asked[0].read(ctx, c, args.URI)
		},
	}
}

// read asks as for a tool that only reads.
func (s *source) read(ctx context.Context, c *tool.Call, uri string) (string, error) {
	foreign := s.foreign(resourceTool, resourceTool)
	foreign.Reads = true
	if err := c.Gate.Use(ctx, c.Shown.AsUpdate(), foreign); err != nil {
		return "", err
	}
	c.Begin()
	result, err := s.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	var parts []string
	for _, content := range result.Contents {
		if content.Text == "" && len(content.Blob) > 0 {
			parts = append(parts, fmt.Sprintf("[%d bytes of %s, which is not text]", len(content.Blob), cmp.Or(content.MIMEType, "an unknown type")))
			continue
		}
		parts = append(parts, content.Text)
	}
	return model.Bound(strings.Join(parts, "\n"), resourceBytes), nil
}

var errListed = errors.New("the list is full")

// list has a line for each resource.
func list(ctx context.Context, sources []*source, match string) (string, error) {
	var b strings.Builder
	seen := 0
	add := func(uri, name, about string) error {
		line := uri
		if about := oneLine(strings.TrimSuffix(name+": "+about, ": "), listLine); about != "" {
			line += "  " + about
		}
		switch {
		case !strings.Contains(strings.ToLower(line), match):
		case b.Len()+len(line) > listBytes:
			return errListed
		default:
			b.WriteString(line + "\n")
		}
		if seen++; seen >= listResources {
			return errListed
		}
		return nil
	}
	for _, s := range sources {
		if len(sources) > 1 {
			fmt.Fprintf(&b, "%s:\n", s.Name())
		}
		err := s.each(ctx, add)
		if errors.Is(err, errListed) {
			b.WriteString("[there are more; match and server make the list shorter]\n")
			break
		}
		if err != nil && len(sources) == 1 {
			return "", err
		}
		if err != nil {
			fmt.Fprintf(&b, "[%s]\n", oneLine(err.Error(), listLine))
		}
	}
	return cmp.Or(strings.TrimSuffix(b.String(), "\n"), "There are none."), nil
}

// each calls add for the resources and the templates of their addresses.
func (s *source) each(ctx context.Context, add func(uri, name, about string) error) error {
	for r, err := range s.session.Resources(ctx, nil) {
		if err == nil {
			err = add(r.URI, r.Name, r.Description)
		}
		if err != nil {
			return err
		}
	}
	for r, err := range s.session.ResourceTemplates(ctx, nil) {
		if err != nil {
			return nil // few servers have templates
		}
		if err := add(r.URITemplate, r.Name, r.Description); err != nil {
			return err
		}
	}
	return nil
}

// oneLine is what fits into a line.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(described(text)), " ")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
