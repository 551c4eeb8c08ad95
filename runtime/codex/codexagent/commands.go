package codexagent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

const (
	maxCommands    = 200 // that the client is offered
	maxDescription = 200 // bytes of the description of a command
)

// slashCommand is what a prompt that begins with its name does. It is a turn of its own.
type slashCommand struct {
	name, description, hint string
	needs                   bool // what the hint says
	run                     func(ctx context.Context, s *codex.Session, rest string) *codex.Result
}

var slashCommands = []slashCommand{
	{"compact", "Summarize the conversation, to make room in the context", "", false,
		func(ctx context.Context, s *codex.Session, _ string) *codex.Result { return s.Compact(ctx) }},
	{"review", "Review the changes that are not committed", "what to review instead", false,
		func(ctx context.Context, s *codex.Session, rest string) *codex.Result {
			if rest != "" {
				return s.Review(ctx, &appserver.ReviewTargetCustom{Instructions: rest})
			}
			return s.Review(ctx, &appserver.ReviewTargetUncommittedChanges{})
		}},
	{"review-branch", "Review the changes since a branch", "branch", true,
		func(ctx context.Context, s *codex.Session, rest string) *codex.Result {
			return s.Review(ctx, &appserver.ReviewTargetBaseBranch{Branch: rest})
		}},
	{"review-commit", "Review a commit", "commit", true,
		func(ctx context.Context, s *codex.Session, rest string) *codex.Result {
			return s.Review(ctx, &appserver.ReviewTargetCommit{Sha: rest})
		}},
}

// offer tells the client which commands there are: those above, and the skills of
// the user and of the project.
func (s *session) offer(ctx context.Context) {
	list := make([]acp.AvailableCommand, 0, len(slashCommands))
	for _, c := range slashCommands {
		offered := acp.NewAvailableCommand(c.name, c.description)
		if c.hint != "" {
			offered.Input = &acp.UnstructuredCommandInput{Hint: c.hint}
		}
		list = append(list, *offered)
	}
	for _, skill := range s.learn(ctx) {
		if len(list) == maxCommands {
			break
		}
		offered := acp.NewAvailableCommand(skill.Name, short(skill.Description))
		offered.Input = &acp.UnstructuredCommandInput{Hint: "what to do with it"}
		list = append(list, *offered)
	}
	_ = s.to().Update(ctx, acp.NewAvailableCommandsUpdate(list)) // without a client, nobody asks for them
}

// learn asks codex for the skills. Those without a name of their own are left out.
func (s *session) learn(ctx context.Context) (skills []appserver.SkillMetadata) {
	server, err := s.agent.codex.Agent(ctx)
	if err != nil {
		return nil
	}
	r, err := server.SkillsList(ctx, &appserver.SkillsListParams{Cwds: []string{s.dir}})
	if err != nil {
		s.agent.opts.Log.Warn("no skills are offered", "error", codex.Redact(err.Error()))
		return nil
	}
	taken := make(map[string]bool)
	for _, c := range slashCommands {
		taken[c.name] = true
	}
	for _, entry := range r.Data {
		for _, skill := range entry.Skills {
			if !skill.Enabled || taken[skill.Name] || skill.Name == "" || strings.ContainsAny(skill.Name, " \t\r\n") {
				continue
			}
			taken[skill.Name] = true
			skills = append(skills, skill)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skills = skills
	return skills
}

// short is the first line of a description, as far as a list shows it.
func short(text string) string {
	line := firstLine(text)
	if len(line) <= maxDescription {
		return line
	}
	end := maxDescription
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + "…"
}

// called returns the name that a prompt begins with, and the rest of its text.
func called(in []appserver.UserInput) (name, rest string) {
	if len(in) == 0 {
		return "", ""
	}
	text, ok := in[0].(*appserver.UserInputText)
	if !ok {
		return "", ""
	}
	name, found := strings.CutPrefix(text.Text, "/")
	if !found {
		return "", ""
	}
	if end := strings.IndexAny(name, " \t\r\n"); end >= 0 {
		name, rest = name[:end], strings.TrimSpace(name[end:])
	}
	return name, rest
}

// commandOf returns the command that a prompt calls, nil if it calls none.
func commandOf(in []appserver.UserInput) (c *slashCommand, rest string) {
	name, rest := called(in)
	for i := range slashCommands {
		if slashCommands[i].name == name {
			return &slashCommands[i], rest
		}
	}
	return nil, ""
}

// carryOut runs the turn of a command, after the one that runs: nothing can steer a
// turn into it.
func (s *session) carryOut(ctx context.Context, c *slashCommand, rest string) (*acp.PromptResponse, error) {
	if c.needs && rest == "" {
		err := s.to().Update(ctx, message("", fmt.Sprintf("Which %s? Write it after /%s.", c.hint, c.name)))
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
	}
	r := c.run(ctx, s.Session, rest)
	for errors.Is(r.Err, codex.ErrBusy) {
		if err := s.Idle(ctx); err != nil {
			return nil, err
		}
		r = c.run(ctx, s.Session, rest)
	}
	return answer(r)
}

// withSkill names the skill that a prompt calls, as codex wants it.
func (s *session) withSkill(in []appserver.UserInput) []appserver.UserInput {
	name, rest := called(in)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, skill := range s.skills {
		if skill.Name == name {
			text := strings.TrimSpace("$" + name + " " + rest)
			first := []appserver.UserInput{&appserver.UserInputText{Text: text}, &appserver.UserInputSkill{Name: name, Path: string(skill.Path)}}
			return append(first, in[1:]...)
		}
	}
	return in
}
