package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// step is one thing that an agent is asked to do. It returns nil if the agent did it, a
// skip if it could not be exercised, and otherwise what is wrong.
type step struct {
	id, title    string
	tier         Tier
	requirements []string
	session      bool // it needs one
	do           func(s *stage, ctx context.Context) error
}

// The methods that no agent knows.
const (
	unknownMethod = "hermes/lint/unknown"
	customMethod  = "_hermes.dev/lint/ping"
)

// quiet is how long the line has to stay silent, to see that nothing is said.
const quiet = 300 * time.Millisecond

// steps are all steps, in the order in which they are played.
func (s *stage) steps() []*step {
	list := append([]*step{}, handshakes...)
	list = append(list, sessions...)
	list = append(list, prompts...)
	for i, text := range s.Prompts[1:] {
		list = append(list, &step{
			id: fmt.Sprintf("prompt-%d", i+2), title: "A prompt of yours ends with a stop reason.", tier: Mandatory, requirements: []string{"ACP-PROMPT-001", "ACP-PROMPT-002"}, session: true,
			do: func(s *stage, ctx context.Context) error { return s.oneTurn(ctx, text) },
		})
	}
	for _, more := range [][]*step{permissions, cancels, kept, robust, ends} {
		list = append(list, more...)
	}
	if len(s.Steps) > 0 {
		list = slices.DeleteFunc(list, func(one *step) bool { return !slices.Contains(s.Steps, one.id) })
	}
	return list
}

// oneTurn plays one turn in the main session.
func (s *stage) oneTurn(ctx context.Context, prompt string) error {
	d, one, err := s.session(ctx)
	if err != nil {
		return err
	}
	s.note, err = s.prompt(ctx, d, one, text(prompt), nil)
	return err
}

// handshakes are the steps of initialize.
var handshakes = []*step{
	{id: "initialize", title: "initialize is answered with the version that was asked for.", tier: Mandatory, requirements: []string{"ACP-INIT-001", "ACP-INIT-002", "ACP-SCHEMA-001"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.start()
			if err != nil {
				s.dead = err
				return err
			}
			if err = s.initialize(ctx, d, d.able()); err != nil && s.version == "" && s.login == "" {
				s.dead = err
			}
			s.note = s.who
			return err
		}},
	{id: "initialize-info", title: "The agent says its name and version.", tier: Advisory, requirements: []string{"ACP-INIT-004"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			if info := d.hello.AgentInfo; info.Name == "" || info.Version == "" {
				return errors.New("agentInfo has no name or no version")
			}
			return nil
		}},
	{id: "authenticate", title: "The login that --auth-method names works.", tier: Capability, requirements: []string{"ACP-AUTH-003"},
		do: func(s *stage, ctx context.Context) error {
			if s.AuthMethod == "" {
				return skip("no login was asked for (--auth-method)")
			}
			_, err := s.ready(ctx) // logs in
			return err
		}},
	{id: "initialize-version", title: "A version that does not exist is answered with one that the agent speaks.", tier: Mandatory, requirements: []string{"ACP-INIT-003"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.start()
			if err != nil {
				return err
			}
			hi := s.hi(65535, object{})
			hi["info"] = hi["clientInfo"] // version 2 needs it
			result, err := d.call(ctx, acp.MethodInitialize, hi)
			s.stop()
			if err != nil {
				return err
			}
			switch v := string(readHello(result).ProtocolVersion); v {
			case "65535":
				return errors.New("the agent repeats the version 65535")
			default:
				s.note = "version " + v
				return nil
			}
		}},
	{id: "initialize-bare", title: "initialize needs no capabilities and no name of the client.", tier: Mandatory,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.start()
			if err != nil {
				return err
			}
			_, err = d.call(ctx, acp.MethodInitialize, object{"protocolVersion": 1})
			s.stop()
			return err
		}},
	{id: "initialize-unknown", title: "Capabilities and metadata that the agent does not know are ignored.", tier: Advisory,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.start()
			if err != nil {
				return err
			}
			hi := s.hi(1, object{"_meta": object{"hermes.dev": true}})
			hi["_meta"] = object{"hermes.dev/lint": object{"a": []any{1}}}
			_, err = d.call(ctx, acp.MethodInitialize, hi)
			s.stop()
			return err
		}},
	{id: "initialize-late", title: "What is asked before initialize.", tier: Informational,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.start()
			if err != nil {
				return err
			}
			defer s.stop()
			return s.seen(ctx, d, acp.MethodSessionNew, s.fresh())
		}},
	{id: "initialize-twice", title: "A second initialize.", tier: Informational,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.start()
			if err == nil {
				err = s.initialize(ctx, d, object{})
			}
			if err != nil {
				return err
			}
			defer s.stop()
			return s.seen(ctx, d, acp.MethodInitialize, s.hi(1, object{}))
		}},
}

// seen notes how a request is answered. It may stay without an answer.
func (s *stage) seen(ctx context.Context, d *driven, method string, params any) error {
	short, cancel := context.WithTimeoutCause(ctx, 5*time.Second, late(5*time.Second))
	defer cancel()
	result, err := d.call(short, method, params)
	switch f := (*failure)(nil); {
	case err == nil:
		s.note = "answered with " + quoted(string(result))
	case errors.As(err, &f):
		s.note = f.Error()
	case errors.Is(err, errEnded):
		s.note = "the agent ended the connection"
	default:
		s.note = err.Error()
	}
	return nil
}

// sessions are the steps that open sessions and look at them.
var sessions = []*step{
	{id: "session-new", title: "session/new opens a session.", tier: Mandatory, requirements: []string{"ACP-SESSION-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			d.main, d.failed = s.open(ctx, d, acp.MethodSessionNew, s.fresh())
			return d.failed
		}},
	{id: "login", title: "An agent that wants a login says which there are.", tier: Advisory, requirements: []string{"ACP-AUTH-005"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			switch {
			case err != nil:
				return err
			case s.login == "":
				return skip("no login was wanted")
			case len(d.hello.AuthMethods) == 0:
				return errors.New("the agent wants a login, and initialize names none")
			}
			return nil
		}},
	{id: "session-two", title: "Two sessions have different ids.", tier: Mandatory, requirements: []string{"ACP-SESSION-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			two, err := s.open(ctx, d, acp.MethodSessionNew, s.fresh())
			if err == nil && two.id == one.id {
				err = fmt.Errorf("both are %s", quoted(one.id))
			}
			return err
		}},
	{id: "session-directories", title: "A session can have more folders.", tier: Capability, requirements: []string{"ACP-ADDDIRS-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.offering(ctx, "additionalDirectories")
			if err != nil {
				return err
			}
			params := s.fresh()
			params["additionalDirectories"] = []string{filepath.Dir(s.Workspace)}
			_, err = s.open(ctx, d, acp.MethodSessionNew, params)
			return err
		}},
	{id: "session-list", title: "session/list lists sessions.", tier: Capability, requirements: []string{"ACP-LIST-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.offering(ctx, "list")
			if err != nil {
				return err
			}
			n, cursor := 0, ""
			for page := range maxPages {
				params := object{}
				if cursor != "" {
					params["cursor"] = cursor
				}
				ids, next, err := s.list(ctx, d, params)
				if n += len(ids); err != nil {
					return err
				}
				if cursor = next; cursor == "" {
					s.note = fmt.Sprintf("sessions: %d, pages: %d", n, page+1)
					return nil
				}
			}
			s.note = fmt.Sprintf("more than %d pages", maxPages)
			return nil
		}},
	{id: "session-list-folder", title: "A folder without sessions has an empty list.", tier: Capability, requirements: []string{"ACP-LIST-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.offering(ctx, "list")
			if err != nil {
				return err
			}
			ids, _, err := s.list(ctx, d, object{"cwd": filepath.Join(s.Workspace, "nobody", "was", "here")})
			if err == nil && len(ids) > 0 {
				err = fmt.Errorf("%d sessions are in a folder that does not exist", len(ids))
			}
			return err
		}},
	{id: "session-mode", title: "The mode of a session can be changed.", tier: Capability, requirements: []string{"ACP-MODES-001", "ACP-MODES-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			if one.Modes == nil || len(one.Modes.AvailableModes) == 0 {
				return skip("session/new offers no modes")
			}
			current, known, other := one.Modes.CurrentModeID, false, ""
			for _, m := range one.Modes.AvailableModes {
				if m.ID == current {
					known = true
				} else {
					other = m.ID
				}
			}
			switch {
			case !known:
				return fmt.Errorf("the current mode %s is not one of those that are available", quoted(current))
			case other == "":
				s.note = "there is only one mode"
				return nil
			}
			for _, mode := range []string{other, current} {
				if _, err = d.call(ctx, acp.MethodSessionSetMode, object{"sessionId": one.id, "modeId": mode}); err != nil {
					return err
				}
			}
			return nil
		}},
	{id: "session-config", title: "A config option can be changed, and the answer has all options.", tier: Capability, requirements: []string{"ACP-CONFIG-001", "ACP-CONFIG-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			for _, o := range one.ConfigOptions {
				if other := o.other(); other != nil {
					if err := s.set(ctx, d, one, o, other); err != nil {
						return err
					}
					s.note = "changed " + quoted(o.ID)
					return s.set(ctx, d, one, o, o.CurrentValue)
				}
			}
			return skip("session/new offers no config option with two values")
		}},
}

// offering returns the main session if the agent has a capability of sessions.
func (s *stage) offering(ctx context.Context, capability string) (*driven, *session, error) {
	d, err := s.ready(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !d.hello.can(capability) {
		return nil, nil, skip("sessionCapabilities." + capability + " is not offered")
	}
	return s.session(ctx)
}

// maxPages bounds the pages of a list.
const maxPages = 20

func (s *stage) list(ctx context.Context, d *driven, params object) (ids []string, next string, err error) {
	result, err := d.call(ctx, acp.MethodSessionList, params)
	if err != nil {
		return nil, "", err
	}
	var r struct {
		Sessions   *[]struct{ SessionID string }
		NextCursor string
	}
	if err := json.Unmarshal(result, &r); err != nil || r.Sessions == nil {
		return nil, "", errors.New("the answer to session/list has no list of sessions")
	}
	for _, one := range *r.Sessions {
		ids = append(ids, one.SessionID)
	}
	return ids, r.NextCursor, nil
}

// other returns a value that the option does not have now, nil if there is none.
func (o *option) other() json.RawMessage {
	if o.Type == "boolean" {
		if string(o.CurrentValue) == "true" {
			return json.RawMessage("false")
		}
		return json.RawMessage("true")
	}
	for _, v := range o.Options {
		for _, inner := range append(v.Options, struct{ Value json.RawMessage }{v.Value}) {
			if inner.Value != nil && !bytes.Equal(inner.Value, o.CurrentValue) {
				return inner.Value
			}
		}
	}
	return nil
}

// set changes an option. The answer has to have the value, and all options of before
// that are not of the same group of choices.
func (s *stage) set(ctx context.Context, d *driven, one *session, o option, value json.RawMessage) error {
	params := object{"sessionId": one.id, "configId": o.ID, "value": value}
	if o.Type == "boolean" {
		params["type"] = "boolean"
	}
	result, err := d.call(ctx, acp.MethodSessionSetConfigOption, params)
	if err != nil {
		return err
	}
	var r struct{ ConfigOptions []option }
	json.Unmarshal(result, &r)
	for _, now := range r.ConfigOptions {
		if now.ID == o.ID {
			if !bytes.Equal(now.CurrentValue, value) {
				return fmt.Errorf("%s was set to %s, and the answer says %s", quoted(o.ID), value, quoted(string(now.CurrentValue)))
			}
			return nil
		}
	}
	return fmt.Errorf("the answer does not have the option %s that was set", quoted(o.ID))
}

// The smallest contents of their kinds: a PNG of one pixel and a WAV without a sample.
const (
	tinyImage = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
	tinySound = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
)

// prompts are the steps of turns.
var prompts = []*step{
	{id: "prompt", title: "A prompt of text ends with a stop reason.", tier: Mandatory, requirements: []string{"ACP-PROMPT-001", "ACP-PROMPT-002"}, session: true,
		do: func(s *stage, ctx context.Context) error { return s.oneTurn(ctx, s.Prompts[0]) }},
	{id: "prompt-bare", title: "For a client without capabilities the agent uses no files, terminals and forms.", tier: Mandatory,
		requirements: []string{"ACP-CLIENTCAP-001", "ACP-CLIENTCAP-002", "ACP-CLIENTCAP-003", "ACP-CONFIG-003", "ACP-AUTH-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.start()
			if err == nil {
				err = s.initialize(ctx, d, object{})
			}
			if err != nil {
				return err
			}
			defer s.stop()
			wrong, end := d.expect(func(m *message) bool {
				method := string(m.Method)
				return strings.HasPrefix(method, "fs/") || strings.HasPrefix(method, "terminal/") || method == acp.MethodElicitationCreate
			})
			defer end()
			_, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			_, err = s.prompt(ctx, d, one, text(s.Asking), nil)
			select {
			case m := <-wrong:
				return fmt.Errorf("the agent asks %s", quoted(string(m.Method)))
			default:
				return err
			}
		}},
	{id: "prompt-link", title: "A prompt may link to a file.", tier: Advisory, requirements: []string{"ACP-PROMPT-003"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			return s.content(ctx, func(*hello) bool { return true }, "", object{"type": "resource_link", "uri": "file://" + filepath.ToSlash(filepath.Join(s.Workspace, noteFile)), "name": noteFile})
		}},
	{id: "prompt-image", title: "A prompt may have an image.", tier: Capability, requirements: []string{"ACP-PROMPTCAP-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			return s.content(ctx, func(h *hello) bool { return h.AgentCapabilities.PromptCapabilities.Image }, "image", object{"type": "image", "mimeType": "image/png", "data": tinyImage})
		}},
	{id: "prompt-audio", title: "A prompt may have a sound.", tier: Capability, requirements: []string{"ACP-PROMPTCAP-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			return s.content(ctx, func(h *hello) bool { return h.AgentCapabilities.PromptCapabilities.Audio }, "audio", object{"type": "audio", "mimeType": "audio/wav", "data": tinySound})
		}},
	{id: "prompt-resource", title: "A prompt may have a file in it.", tier: Capability, requirements: []string{"ACP-PROMPTCAP-003"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			return s.content(ctx, func(h *hello) bool { return h.AgentCapabilities.PromptCapabilities.EmbeddedContext }, "embeddedContext",
				object{"type": "resource", "resource": object{"uri": "file://" + filepath.ToSlash(filepath.Join(s.Workspace, noteFile)), "mimeType": "text/plain", "text": "hello\n"}})
		}},
	{id: "prompt-meta", title: "A prompt may have metadata.", tier: Advisory, requirements: []string{"ACP-META-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			meta := object{"_meta": object{"traceparent": "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01"}}
			s.note, err = s.prompt(ctx, d, one, text(s.Prompts[0]), meta)
			return err
		}},
	{id: "prompt-session", title: "A prompt for a session that does not exist.", tier: Informational, requirements: []string{"ACP-INFO-UNKNOWNSESSION-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.session(ctx)
			if err != nil {
				return err
			}
			return s.seen(ctx, d, acp.MethodSessionPrompt, object{"sessionId": "hermes-lint-nobody", "prompt": text("hello")})
		}},
}

// noteFile is a file in the workspace.
const noteFile = "hermes-lint-note.txt"

// content plays a prompt with a block besides its text.
func (s *stage) content(ctx context.Context, can func(*hello) bool, capability string, block object) error {
	d, one, err := s.session(ctx)
	if err != nil {
		return err
	}
	if !can(d.hello) {
		return skip("promptCapabilities." + capability + " is not offered")
	}
	s.note, err = s.prompt(ctx, d, one, append(text(s.Prompts[0]), block), nil)
	return err
}

// permissions are the steps in which the agent asks for permission.
var permissions = []*step{
	{id: "permission-allow", title: "A turn goes on when the user allows.", tier: Mandatory, session: true,
		do: func(s *stage, ctx context.Context) error { return s.permission(ctx, allow) }},
	{id: "permission-reject", title: "A turn goes on, or ends, when the user rejects.", tier: Mandatory, session: true,
		do: func(s *stage, ctx context.Context) error { return s.permission(ctx, reject) }},
	{id: "permission-cancel", title: "A turn that is cancelled while the agent asks ends as cancelled.", tier: Mandatory, requirements: []string{"ACP-CANCEL-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			s.deciding(func(ctx context.Context, _ *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
				s.cancel(d, one)
				<-ctx.Done() // the cancel answers
				return "", ctx.Err()
			})
			stop, err := s.prompt(ctx, d, one, text(s.Asking), nil)
			switch {
			case s.questions() == 0 && (err == nil || errors.As(err, new(skip))):
				return errNotAsked
			case err == nil && stop != "cancelled":
				return fmt.Errorf("the turn ended with %s", stop)
			}
			return err
		}},
}

const errNotAsked = skip("the agent did not ask for permission; --permission-prompt TEXT makes it ask")

func (s *stage) permission(ctx context.Context, decide func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error)) error {
	d, _, err := s.session(ctx)
	if err != nil {
		return err
	}
	s.deciding(decide)
	one, err := s.open(ctx, d, acp.MethodSessionNew, s.fresh()) // nothing has been allowed for ever in it
	if err != nil {
		return err
	}
	s.note, err = s.prompt(ctx, d, one, text(s.Asking), nil)
	if s.questions() == 0 && err == nil {
		return errNotAsked
	}
	return err
}

// cancels are the steps of session/cancel.
var cancels = []*step{
	{id: "cancel", title: "A turn that is cancelled ends as cancelled, and not with an error.", tier: Mandatory, requirements: []string{"ACP-CANCEL-001", "ACP-CANCEL-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			return s.interrupted(ctx, d, one, func() error {
				s.cancel(d, one)
				return nil
			})
		}},
	{id: "cancel-then-prompt", title: "After a cancel the session takes another prompt.", tier: Advisory, session: true,
		do: func(s *stage, ctx context.Context) error { return s.oneTurn(ctx, s.Prompts[0]) }},
	{id: "cancel-idle", title: "A cancel without a turn is ignored.", tier: Advisory, requirements: []string{"ACP-JSONRPC-003"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			return s.unanswered(ctx, d, func() error {
				s.cancel(d, one)
				return nil
			})
		}},
	{id: "close-busy", title: "Closing a session ends its turn as cancelled.", tier: Capability, requirements: []string{"ACP-CLOSE-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.offering(ctx, "close")
			if err != nil {
				return err
			}
			one, err := s.open(ctx, d, acp.MethodSessionNew, s.fresh())
			if err != nil {
				return err
			}
			return s.interrupted(ctx, d, one, func() error {
				_, err := d.call(ctx, acp.MethodSessionClose, object{"sessionId": one.id})
				return err
			})
		}},
}

// interrupted plays a turn that something ends.
func (s *stage) interrupted(ctx context.Context, d *driven, one *session, interrupt func() error) error {
	c, err := s.busy(ctx, d, one)
	if err != nil {
		return err
	}
	tooEarly := skip("the turn ended before it could be cancelled; --cancel-prompt TEXT gives the agent more to do")
	if len(c.answer) > 0 {
		_, err := s.turn(ctx, d, one, c)
		if err == nil {
			return tooEarly
		}
		return err
	}
	began := time.Now()
	if err := interrupt(); err != nil {
		return err
	}
	stop, err := d.stopReason(ctx, c)
	if f := (*failure)(nil); (err == nil && stop != "cancelled" || errors.As(err, &f)) && time.Since(began) < quiet {
		return tooEarly // they may have crossed
	}
	if err == nil && stop != "cancelled" {
		return fmt.Errorf("the turn ended with %s, %v after it was cancelled", stop, time.Since(began).Round(10*time.Millisecond))
	}
	if err == nil {
		one.turns++
		time.Sleep(quiet) // in which the linter sees late updates
	}
	return err
}

// unanswered does something that has no answer, and sees that the agent is still there.
func (s *stage) unanswered(ctx context.Context, d *driven, do func() error) error {
	stray, end := d.expect(func(m *message) bool { return m.IsAnswer() && d.open[string(m.ID)] == nil })
	defer end()
	if err := do(); err != nil {
		return err
	}
	if err := s.alive(ctx, d); err != nil {
		return err
	}
	select {
	case m := <-stray:
		return fmt.Errorf("it is answered: %s", quoted(string(m.text)))
	case <-time.After(quiet):
		return nil
	}
}

// alive sees that the agent still answers.
func (s *stage) alive(ctx context.Context, d *driven) error {
	_, err := d.call(ctx, customMethod, object{})
	if f := (*failure)(nil); errors.As(err, &f) {
		return nil
	}
	return err
}

// kept are the steps with sessions that were there before.
var kept = []*step{
	{id: "session-load", title: "session/load loads a session.", tier: Capability, requirements: []string{"ACP-LOAD-001", "ACP-LOAD-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			if !d.hello.AgentCapabilities.LoadSession {
				return skip("loadSession is not offered")
			}
			return s.again(ctx, d, one, acp.MethodSessionLoad)
		}},
	{id: "session-load-unknown", title: "Loading a session that does not exist.", tier: Informational, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.session(ctx)
			if err != nil {
				return err
			}
			if !d.hello.AgentCapabilities.LoadSession {
				return skip("loadSession is not offered")
			}
			params := s.fresh()
			params["sessionId"] = "hermes-lint-nobody"
			return s.seen(ctx, d, acp.MethodSessionLoad, params)
		}},
	{id: "session-resume", title: "session/resume resumes a session.", tier: Capability, requirements: []string{"ACP-RESUME-001", "ACP-RESUME-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.offering(ctx, "resume")
			if err != nil {
				return err
			}
			return s.again(ctx, d, one, acp.MethodSessionResume)
		}},
	{id: "session-fork", title: "session/fork makes another session of one.", tier: Capability, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.offering(ctx, "fork")
			if err != nil {
				return err
			}
			params := s.fresh()
			params["sessionId"] = one.id
			two, err := s.open(ctx, d, "session/fork", params)
			if err != nil && one.turns == 0 {
				return skip("there was no turn to fork: " + err.Error())
			}
			if err == nil && two.id == one.id {
				err = errors.New("the fork has the id of its session")
			}
			return err
		}},
	{id: "session-close", title: "session/close closes a session.", tier: Capability, requirements: []string{"ACP-CLOSE-001"}, session: true,
		do: func(s *stage, ctx context.Context) error { return s.leave(ctx, "close", acp.MethodSessionClose) }},
	{id: "session-delete", title: "session/delete deletes a session.", tier: Capability, requirements: []string{"ACP-DELETE-001"}, session: true,
		do: func(s *stage, ctx context.Context) error { return s.leave(ctx, "delete", acp.MethodSessionDelete) }},
	{id: "session-delete-unknown", title: "Deleting a session that does not exist succeeds.", tier: Advisory, requirements: []string{"ACP-DELETE-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.offering(ctx, "delete")
			if err != nil {
				return err
			}
			_, err = d.call(ctx, acp.MethodSessionDelete, object{"sessionId": "hermes-lint-nobody"})
			return err
		}},
}

// again opens a session that was open before, here or after a restart.
func (s *stage) again(ctx context.Context, d *driven, one *session, method string) error {
	params := s.fresh()
	params["sessionId"] = one.id
	_, err := s.open(ctx, d, method, params)
	if f := (*failure)(nil); !errors.As(err, &f) {
		return err
	}
	if one.turns == 0 {
		return skip("there was no turn that the agent could have kept: " + err.Error())
	}
	// An agent may keep its sessions in files, and load them only from there.
	fresh, e := s.start()
	if e == nil {
		e = s.initialize(ctx, fresh, fresh.able())
	}
	if e == nil {
		_, e = s.open(ctx, fresh, method, params)
	}
	if e != nil {
		return fmt.Errorf("%w, and in a new process: %w", err, e)
	}
	s.note = "only after a restart: " + err.Error()
	return nil
}

// leave opens a session and ends it.
func (s *stage) leave(ctx context.Context, capability, method string) error {
	d, _, err := s.offering(ctx, capability)
	if err != nil {
		return err
	}
	one, err := s.open(ctx, d, acp.MethodSessionNew, s.fresh())
	if err == nil {
		_, err = d.call(ctx, method, object{"sessionId": one.id})
	}
	return err
}

// robust are the steps with messages that agents do not expect.
var robust = []*step{
	{id: "string-id", title: "An answer has the id of its request, also if that is a string.", tier: Mandatory, requirements: []string{"ACP-JSONRPC-001"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			c, err := d.askAs(`"hermes-lint"`, customMethod, object{}, nil)
			if err == nil {
				_, err = d.wait(ctx, c)
			}
			return answered(err)
		}},
	{id: "unknown-method", title: "An unknown method is answered with -32601.", tier: Advisory, requirements: []string{"ACP-JSONRPC-004"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			_, err = d.call(ctx, unknownMethod, object{})
			if f := (*failure)(nil); errors.As(err, &f) {
				if f.Code == int(acp.ErrorCodeMethodNotFound) {
					return nil
				}
			} else if err == nil {
				return errors.New("it is answered with a result")
			}
			return err
		}},
	{id: "custom-method", title: "A method that begins with _ is answered, known or not.", tier: Mandatory, requirements: []string{"ACP-EXT-001"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			return s.alive(ctx, d)
		}},
	{id: "unknown-notification", title: "Unknown notifications are not answered.", tier: Mandatory, requirements: []string{"ACP-JSONRPC-003"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			return s.unanswered(ctx, d, func() error {
				return errors.Join(d.notify(unknownMethod, object{}), d.notify("_hermes.dev/lint/note", object{}), d.notify("$/hermes/lint", object{}))
			})
		}},
	{id: "stray-answer", title: "An answer that nobody waits for is ignored.", tier: Advisory,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			return s.unanswered(ctx, d, func() error { return d.send([]byte(`{"jsonrpc":"2.0","id":987654,"result":{}}`)) })
		}},
	{id: "bad-params", title: "After a request with wrong params the connection works.", tier: Advisory, requirements: []string{"ACP-JSONRPC-005", "ACP-ERROR-001"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			_, err = d.call(ctx, acp.MethodSessionNew, object{"cwd": 7})
			if f := (*failure)(nil); errors.As(err, &f) {
				s.note = f.Error()
			} else if err != nil {
				return err
			} else {
				s.note = "session/new with a number as cwd succeeds"
			}
			return s.alive(ctx, d)
		}},
	{id: "message-pieces", title: "A message may arrive in pieces, and two at once.", tier: Mandatory,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			var calls []*call
			var texts [][]byte
			for _, id := range []string{"700001", "700002"} {
				c := &call{method: customMethod, answer: make(chan *message, 1)}
				d.mu.Lock()
				d.open[id] = c
				d.mu.Unlock()
				calls = append(calls, c)
				texts = append(texts, []byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+customMethod+`","params":{"text":"größer 😀"}}`))
			}
			whole := append(bytes.Join(texts, []byte("\n")), '\n')
			// The first piece ends inside a character, the second has the rest of both.
			cut := bytes.IndexByte(whole, 0xc3) + 1
			if err := d.pieces([][]byte{whole[:cut], whole[cut:]}, texts...); err != nil {
				return err
			}
			for _, c := range calls {
				if _, e := d.wait(ctx, c); answered(e) != nil {
					return e
				}
			}
			return nil
		}},
	{id: "message-large", title: "A message of 1 MiB is answered.", tier: Advisory,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			_, err = d.call(ctx, customMethod, object{"text": strings.Repeat("large ", 1<<20/6)})
			return answered(err)
		}},
	{id: "line-blank", title: "A blank line.", tier: Informational,
		do: func(s *stage, ctx context.Context) error { return s.odd(ctx, "") }},
	{id: "line-noise", title: "A line that is not JSON.", tier: Informational, requirements: []string{"ACP-INFO-PARSE-001"},
		do: func(s *stage, ctx context.Context) error { return s.odd(ctx, `{"jsonrpc":"2.0","id":`) }},
	{id: "line-other", title: "JSON that is not a message.", tier: Informational, requirements: []string{"ACP-INFO-INVALIDREQ-001"},
		do: func(s *stage, ctx context.Context) error { return s.odd(ctx, `{"foo":"bar"}`) }},
}

// answered is nil for an answer of either kind.
func answered(err error) error {
	if f := (*failure)(nil); errors.As(err, &f) {
		return nil
	}
	return err
}

// odd notes what follows a line that no client should send.
func (s *stage) odd(ctx context.Context, text string) error {
	d, err := s.ready(ctx)
	if err != nil {
		return err
	}
	reply, end := d.expect(func(m *message) bool { return m.Method == nil && d.open[string(m.ID)] == nil })
	defer end()
	if err := d.send([]byte(text)); err != nil {
		return err
	}
	if s.note = "no answer"; s.heard(reply, time.Second, d) {
		s.note = "answered"
	}
	short, cancel := context.WithTimeoutCause(ctx, 10*time.Second, late(10*time.Second))
	defer cancel()
	if err := s.alive(short, d); err != nil {
		s.note += "; afterwards " + err.Error()
		s.stop()
	} else {
		s.note += "; the connection works"
	}
	return nil
}

func (s *stage) heard(reply chan *message, limit time.Duration, d *driven) bool {
	select {
	case <-reply:
		return true
	case <-d.ended:
	case <-time.After(limit):
	}
	return false
}

// ends are the steps that end the agent.
var ends = []*step{
	{id: "logout", title: "logout succeeds.", tier: Capability, requirements: []string{"ACP-AUTH-004"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			switch {
			case err != nil:
				return err
			case !d.hello.logout:
				return skip("auth.logout is not offered")
			case !s.Logout:
				return skip("it may end a real login; --allow-logout allows it")
			}
			_, err = d.call(ctx, acp.MethodLogout, object{})
			return err
		}},
	{id: "shutdown", title: "The agent exits when its input is closed.", tier: Advisory, requirements: []string{"ACP-SHUTDOWN-001"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			return s.exits(d)
		}},
	{id: "shutdown-busy", title: "The agent exits when its input is closed in a turn.", tier: Advisory, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			c, err := s.busy(ctx, d, one)
			if err != nil {
				return err
			}
			if len(c.answer) > 0 {
				return skip("the turn ended before; --cancel-prompt TEXT gives the agent more to do")
			}
			return s.exits(d)
		}},
	{id: "restart", title: "After it was killed in a turn, the agent starts and works again.", tier: Advisory, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			if _, err := s.busy(ctx, d, one); err != nil {
				return err
			}
			s.kill()
			s.stop()
			if d, err = s.ready(ctx); err == nil {
				_, err = s.open(ctx, d, acp.MethodSessionNew, s.fresh())
			}
			return err
		}},
}

// exitTime is how long an agent may take to exit.
const exitTime = 5 * time.Second

// exits closes the input of the agent and waits for its exit.
func (s *stage) exits(d *driven) error {
	defer s.stop()
	d.hangUp()
	select {
	case <-d.agent.Exited:
		s.note = d.agent.Status()
		return nil
	case <-time.After(exitTime):
		return fmt.Errorf("it still runs %v later", exitTime)
	}
}
