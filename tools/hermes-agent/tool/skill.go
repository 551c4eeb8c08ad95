package tool

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/skill"
)

// Skill discloses the skills of an index: categories, a list, the instructions of one,
// and the files beside them.
func Skill(x *skill.Index) *Tool {
	return &Tool{
		Name: "skill", Toolset: "skills", Kind: acp.ToolKindRead, Reads: true,
		Description: "View the instructions of a skill, or one of its files. Without a name, list the skills of a category; without either, list the categories.",
		Schema: []byte(`{"type":"object","properties":{"name":{"type":"string"},"file":{"type":"string"},"category":{"type":"string"}},` +
			`"additionalProperties":false}`),
		Check: func() error {
			if len(x.List("")) == 0 {
				return errors.New("there are no skills")
			}
			return nil
		},
		Title: func(c *Call) string {
			var args struct{ Name string }
			if c.Decode(&args); args.Name != "" {
				return "Skill " + args.Name
			}
			return "List the skills"
		},
		Run: func(_ context.Context, c *Call) (string, error) {
			var args struct{ Name, File, Category string }
			if err := c.Decode(&args); err != nil {
				return "", err
			}
			switch {
			case args.Name != "":
				return x.View(args.Name, args.File)
			case args.Category != "":
				return encode(x.List(args.Category))
			}
			return encode(x.Categories())
		},
	}
}

func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
