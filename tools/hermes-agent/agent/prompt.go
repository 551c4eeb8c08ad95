package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/loop"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/store"
)

// Prompt runs a turn, after the turns of the prompts before it.
func (a *agent) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	return s.turns.Prompt(ctx, func(ctx context.Context) (acp.StopReason, error) { return s.prompt(ctx, p.Prompt) })
}

func (s *session) prompt(ctx context.Context, prompt []acp.ContentBlock) (acp.StopReason, error) {
	said := userMessage(prompt)
	if strings.TrimSpace(said.Text) == "" && len(said.Images) == 0 {
		return "", acp.Errorf(acp.ErrorCodeInvalidParams, "session/prompt: there is no text, file or picture in it")
	}
	for _, block := range prompt {
		s.keep("store a prompt", func() error { return s.stored.Show(acp.NewUserMessageChunk(block)) })
	}
	paid := s.info().Cost
	defer func() {
		s.keep("store a turn", s.stored.Flush)
		if s.info().Cost != paid {
			s.change(func(*store.Info) {})
		}
	}()
	s.name(said.Text)
	if handled := s.command(ctx, said.Text); handled {
		return acp.StopReasonEndTurn, nil
	}
	said.Text = s.invoke(said.Text)
	s.add(said)
	reason, err := s.run(ctx)
	if err != nil {
		return "", s.agent.explain(err)
	}
	return reason, nil
}

func (s *session) run(ctx context.Context) (acp.StopReason, error) {
	select {
	case <-s.ready:
	case <-ctx.Done():
		return acp.StopReasonCancelled, nil
	}
	if s.failed != nil {
		s.tell(acp.NewNotice(acp.NoticeSeverityWarning, s.failed.Error()))
		s.failed = nil
	}
	s.mu.Lock()
	history := s.stored.Messages[:len(s.stored.Messages):len(s.stored.Messages)]
	name, calls := s.stored.Info.Model, s.stored.Calls
	s.mu.Unlock()
	l := &loop.Loop{
		Model: s.agent.opts.Model, Name: name, Tools: s.tools, Env: s.env,
		Limits: s.limits(), Log: s.agent.opts.Log, Replied: s.count,
		Calls: calls, Shorten: s.keeper().Shortener(),
	}
	return l.Turn(ctx, history, s.add)
}

// limits are those of the agent, with results that fit into the context window.
func (s *session) limits() loop.Limits {
	limits := s.agent.opts.Limits
	if limits.Result == 0 {
		limits.Result = loop.ResultOf(s.window())
	}
	return limits
}

func (s *session) add(m model.Message) {
	s.keep("store a message", func() error { return s.stored.AddMessage(m) })
}

// count counts what a reply used, if the endpoint says that.
func (s *session) count(r model.Reply) {
	if r.Usage == (model.Usage{}) {
		return
	}
	s.spend(r.Usage)
	s.mu.Lock()
	s.used, s.counted = r.Usage, len(s.stored.Messages)+1 // the reply
	s.mu.Unlock()
	s.showUsage(r.Usage)
}

// spend adds to what the session has used.
func (s *session) spend(u model.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total.Add(u)
	s.stored.Info.Cost += u.Cost // stored at the end of the turn
}

// showUsage says how full the context window is, and what the session cost. The protocol
// wants a size, also of a window that nobody knows: 0 is that.
func (s *session) showUsage(u model.Usage) {
	update := acp.NewUsageUpdate(uint64(u.Input+u.Output), uint64(s.window()))
	if u.Cached > 0 {
		update.Meta = json.RawMessage(fmt.Sprintf(`{"hermes.cached":%d}`, u.Cached))
	}
	s.mu.Lock()
	if s.stored.Info.Cost > 0 {
		update.Cost = &acp.Cost{Amount: s.stored.Info.Cost, Currency: "USD"}
	}
	s.mu.Unlock()
	s.show(update)
}

// userMessage is a prompt as the model sees it.
func userMessage(blocks []acp.ContentBlock) model.Message {
	m := model.Message{Role: model.User}
	var texts []string
	for _, block := range blocks {
		switch b := block.(type) {
		case *acp.TextContent:
			texts = append(texts, b.Text)
		case *acp.ImageContent:
			m.Images = append(m.Images, model.Image{MimeType: b.MimeType, Data: b.Data})
		case *acp.ResourceLink:
			texts = append(texts, "@"+place(b.URI))
		case *acp.EmbeddedResource:
			if text, ok := b.Resource.(*acp.TextResourceContents); ok {
				texts = append(texts, fmt.Sprintf("<file path=%q>\n%s\n</file>", place(text.URI), text.Text))
			}
		}
	}
	m.Text = strings.Join(texts, "\n")
	return m
}

// place is the path of a file's address, which models know better what to do with.
func place(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return uri
}

// name gives a session that has none a title: the first line of its first prompt.
func (s *session) name(prompt string) {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	const most = 60
	if r := []rune(line); len(r) > most {
		line = strings.TrimSpace(string(r[:most-1])) + "…"
	}
	if line == "" || s.info().Title != "" {
		return
	}
	s.change(func(i *store.Info) { i.Title = line })
	s.tellTitle(line)
}
