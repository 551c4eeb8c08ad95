package servicesv2

import (
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
)

// contentV1 returns a content block in the type of version 1. Both versions write
// blocks the same way; new members stay in Extra.
func contentV1(c v2.ContentBlock) acp.ContentBlock {
	if t, ok := c.(*v2.TextContent); ok && t.Annotations == nil {
		return &acp.TextContent{Text: t.Text, Meta: t.Meta, Extra: t.Extra}
	}
	text := v2.AppendContentBlock(nil, c)
	v, err := acp.DecodeContentBlock(text)
	if err != nil { // a program made this block, and no message could hold it
		return &acp.ContentBlockOther{Tag: "invalid"}
	}
	return v
}

func chunkV1(id v2.MessageID, c v2.ContentBlock) *acp.ContentChunk {
	return &acp.ContentChunk{MessageID: acp.Some(acp.MessageID(id)), Content: contentV1(c)}
}

func patchV1(p acp.Patch[[]v2.ContentBlock]) acp.Patch[[]acp.ContentBlock] {
	out := acp.Patch[[]acp.ContentBlock]{State: p.State, V: make([]acp.ContentBlock, len(p.V))}
	for i, c := range p.V {
		out.V[i] = contentV1(c)
	}
	return out
}

// productV1 returns what a tool call produced in the type of version 1.
func productV1(c v2.ToolCallContent) acp.ToolCallContent {
	switch c := c.(type) {
	case *v2.Content:
		return &acp.Content{Content: contentV1(c.Content), Meta: c.Meta, Extra: c.Extra}
	case *v2.Terminal:
		return &acp.Terminal{TerminalID: acp.TerminalID(c.TerminalID), Meta: c.Meta, Extra: c.Extra}
	case *v2.ToolCallContentOther:
		return &acp.ToolCallContentOther{Tag: c.Tag, Raw: c.Raw}
	}
	// Diffs are entirely different in version 2.
	raw := acp.Extra(v2.AppendToolCallContent(nil, c))
	raw.Delete("type")
	return &acp.ToolCallContentOther{Tag: diffTag, Raw: raw}
}

// diffTag is not a tag of version 1, whose diffs have other members.
const diffTag = "diff_v2"

// Diff returns the diff that a tool call of version 2 produced. Its type has no
// counterpart in version 1, so a history.ToolCall keeps it as an
// *acp.ToolCallContentOther.
func Diff(c acp.ToolCallContent) (*v2.Diff, bool) {
	other, ok := c.(*acp.ToolCallContentOther)
	if !ok || other.Tag != diffTag {
		return nil, false
	}
	text := other.Raw
	text.Set("type", json.RawMessage(`"diff"`)) // cannot fail: it is JSON
	d, err := v2.DecodeToolCallContent(text)
	if err != nil {
		return nil, false
	}
	diff, ok := d.(*v2.Diff)
	return diff, ok
}

func locationsV1(list []v2.ToolCallLocation) []acp.ToolCallLocation {
	out := make([]acp.ToolCallLocation, len(list))
	for i, l := range list {
		out[i] = acp.ToolCallLocation{Path: string(l.Path), Line: l.Line, Meta: l.Meta, Extra: l.Extra}
	}
	return out
}

func entriesV1(list []v2.PlanEntry) []acp.PlanEntry {
	out := make([]acp.PlanEntry, len(list))
	for i, e := range list {
		out[i] = acp.PlanEntry{
			Content: e.Content, Priority: acp.PlanEntryPriority(e.Priority), Status: acp.PlanEntryStatus(e.Status), Meta: e.Meta, Extra: e.Extra,
		}
	}
	return out
}

func commandsV1(list []v2.AvailableCommand) []acp.AvailableCommand {
	out := make([]acp.AvailableCommand, 0, len(list))
	for _, c := range list {
		switch c := c.(type) {
		case *v2.Command:
			v := acp.AvailableCommand{Name: c.Name, Description: c.Description, Meta: c.Meta, Extra: c.Extra}
			if in, ok := c.Input.(*v2.TextCommandInput); ok {
				v.Input = &acp.UnstructuredCommandInput{Hint: in.Hint, Meta: in.Meta, Extra: in.Extra}
			}
			out = append(out, v)
		case *v2.AvailableCommandOther:
			out = append(out, acp.AvailableCommand{Name: c.Name, Description: c.Description})
		}
	}
	return out
}

func optionsV1(list []v2.SessionConfigOption) []acp.SessionConfigOption {
	out := make([]acp.SessionConfigOption, len(list))
	for i, o := range list {
		v := acp.SessionConfigOption{ID: acp.SessionConfigID(o.ConfigID), Name: o.Name, Description: o.Description, Meta: o.Meta}
		if o.Category.OK {
			v.Category = acp.Some(acp.SessionConfigOptionCategory(o.Category.V))
		}
		switch x := o.Variant.(type) {
		case *v2.SessionConfigSelect:
			v.Variant = &acp.SessionConfigSelect{
				CurrentValue: acp.SessionConfigValueID(x.CurrentValue), Options: choicesV1(x.Options), Extra: x.Extra,
			}
		case *v2.SessionConfigBoolean:
			v.Variant = &acp.SessionConfigBoolean{CurrentValue: x.CurrentValue, Extra: x.Extra}
		case *v2.SessionConfigOptionOther:
			v.Variant = &acp.SessionConfigOptionOther{Tag: x.Tag, Raw: x.Raw}
		}
		out[i] = v
	}
	return out
}

func choicesV1(choices v2.SessionConfigSelectOptions) acp.SessionConfigSelectOptions {
	switch list := choices.(type) {
	case v2.SessionConfigSelectOptionsUngrouped:
		return acp.SessionConfigSelectOptionsUngrouped(valuesV1(list))
	case v2.SessionConfigSelectOptionsGrouped:
		out := make(acp.SessionConfigSelectOptionsGrouped, len(list))
		for i, g := range list {
			out[i] = acp.SessionConfigSelectGroup{
				Group: acp.SessionConfigGroupID(g.GroupID), Name: g.Name, Options: valuesV1(g.Options), Meta: g.Meta, Extra: g.Extra,
			}
		}
		return out
	}
	return nil
}

func valuesV1(list []v2.SessionConfigSelectOption) []acp.SessionConfigSelectOption {
	out := make([]acp.SessionConfigSelectOption, len(list))
	for i, o := range list {
		out[i] = acp.SessionConfigSelectOption{
			Value: acp.SessionConfigValueID(o.Value), Name: o.Name, Description: o.Description, Meta: o.Meta, Extra: o.Extra,
		}
	}
	return out
}

// convert applies a patch to a member in the types of version 1; null stores zero.
func convert[A, B any](dst *B, p acp.Patch[A], zero B, f func(A) B) {
	switch p.State {
	case acp.PatchNull:
		*dst = zero
	case acp.PatchValue:
		*dst = f(p.V)
	}
}
