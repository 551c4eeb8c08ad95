package neovim

import (
	"strings"

	"github.com/hermes-nvim/hermes/gen/emit"
	"github.com/hermes-nvim/hermes/gen/ir"
)

// markdown writes the event table for readers of the repository.
func markdown(s *ir.Spec, events []Event) ([]emit.Output, error) {
	c := &cats{spec: s}
	c.line("<!-- " + eventsHeader + " -->")
	c.line("# Events")
	c.line("")
	c.line("Every event is a `User` autocommand whose pattern is the event's name. `args.data` says what happened. The types of the data are in `lua/hermes/core/event_types_gen.lua`; `:help hermes-events` has the details.")
	c.line("")
	c.linef("The data of every event holds %s; that of updates, prompts and events marked † also %s.", keys(eventBase), keys(sessionBase))
	for _, src := range sources {
		list := of(events, src)
		if len(list) == 0 {
			continue
		}
		c.line("")
		c.line("## " + sourceTitle[src])
		c.line("")
		if base := sourceBase[src]; base != nil {
			c.linef("Their data also holds %s.", keys(base))
			c.line("")
		}
		head, rule := "| Event | When | Data | Also named |", "|---|---|---|---|"
		if src == FromRequest {
			head, rule = "| Event | When | Data | Answer with | Also named |", "|---|---|---|---|---|"
		}
		c.line(head)
		c.line(rule)
		for _, e := range list {
			name := "`" + e.Name + "`"
			if e.Session {
				name += " †"
			}
			row := []string{name, cell(e.When), keys(c.data(e))}
			if src == FromRequest {
				row = append(row, cell(e.Answer.Takes))
			}
			row = append(row, codes(e.Alias))
			c.line("| " + strings.Join(row, " | ") + " |")
		}
	}
	return []emit.Output{{Path: "docs/events.md", Data: []byte(c.b.String())}}, nil
}

func keys(list []luaMember) string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.name
		if m.optional {
			names[i] += "?"
		}
	}
	return codes(names)
}

func codes(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "`" + strings.Join(list, "` `") + "`"
}

// cell keeps a text from ending its table cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
