package agent

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// command is a slash command. What it does is not part of the conversation.
type command struct {
	name, description string
	run               func(s *session, ctx context.Context) string // what to say
}

var commands = []command{
	{"context", "Show how much of the context window is used, and what was used since the session was opened", (*session).sayContext},
	{"compact", "Replace the conversation by a summary, to make room in the context window", (*session).sayCompact},
	{"reset", "Make the model forget the conversation", (*session).reset},
	{"tools", "List the tools of the agent", func(s *session, _ context.Context) string {
		return "Tools: " + strings.Join(s.toolNames(), ", ")
	}},
}

// announce lists the slash commands.
func (s *session) announce() {
	var list []acp.AvailableCommand
	for _, c := range commands {
		list = append(list, acp.AvailableCommand{Name: c.name, Description: c.description})
	}
	for _, k := range s.agent.opts.Skills.List("") {
		if _, taken := commandNamed(k.Name); taken {
			continue // the model finds the skill with its tool
		}
		list = append(list, acp.AvailableCommand{
			Name: k.Name, Description: k.Description,
			Input: acp.NewUnstructuredCommandInput("what to do"),
		})
	}
	s.tell(acp.NewAvailableCommandsUpdate(list))
}

// slash takes the name of a slash command and what stands behind it from a prompt.
func slash(prompt string) (name, rest string, found bool) {
	name, found = strings.CutPrefix(strings.TrimSpace(prompt), "/")
	if at := strings.IndexFunc(name, unicode.IsSpace); at >= 0 {
		name, rest = name[:at], strings.TrimSpace(name[at:])
	}
	return name, rest, found
}

func commandNamed(name string) (command, bool) {
	for _, c := range commands {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// invoke replaces a prompt that is the slash command of a skill by the instructions of
// the skill.
func (s *session) invoke(prompt string) string {
	name, instruction, found := slash(prompt)
	if _, taken := commandNamed(name); !found || taken {
		return prompt
	}
	text, err := s.agent.opts.Skills.Invoke(name, instruction)
	if err != nil {
		return prompt
	}
	return text
}

// command runs a prompt that is a slash command.
func (s *session) command(ctx context.Context, prompt string) (handled bool) {
	name, rest, found := slash(prompt)
	c, known := commandNamed(name)
	if !found || !known || rest != "" {
		return false
	}
	s.show(acp.NewAgentMessageChunk(acp.NewTextContent(c.run(s, ctx))))
	return true
}

func (s *session) sayContext(context.Context) string {
	s.mu.Lock()
	used, total, messages := s.used, s.total, len(s.stored.Messages)-1
	s.mu.Unlock()
	text := fmt.Sprintf("%d messages", messages)
	if used != (model.Usage{}) {
		text += fmt.Sprintf(", %d tokens", used.Input+used.Output)
	}
	if size := s.window(); size > 0 {
		text += fmt.Sprintf(" of %d", size)
	}
	if total != (model.Usage{}) {
		text += fmt.Sprintf("\nSince the session was opened: %s", total.String())
	}
	return text
}

// reset keeps a system prompt only, a new one: the instructions of the folder may have
// changed, and nothing is cached any more.
func (s *session) reset(context.Context) string {
	s.keep("forget the conversation", func() error {
		s.used, s.counted = model.Usage{}, 0
		return s.stored.Replace([]model.Message{s.agent.system(s.stored.Info.Cwd)})
	})
	return "The model has forgotten the conversation."
}
