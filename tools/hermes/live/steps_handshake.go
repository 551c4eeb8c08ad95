package live

import (
	"context"
	"errors"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// handshakes are the steps of initialize.
var handshakes = []*step{
	{id: "initialize", greeting: true, title: "initialize is answered with the version that was asked for.", tier: Mandatory, requirements: []string{"ACP-INIT-001", "ACP-INIT-002", "ACP-SCHEMA-001"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.start()
			if err != nil {
				s.dead = errors.New("the agent does not start")
				return err
			}
			if err = s.initialize(ctx, d, d.able()); err != nil && s.version == "" && s.login == "" && !errors.As(err, new(late)) {
				s.dead = errors.New("the agent does not start")
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
	{id: "initialize-version", greeting: true, title: "A version that does not exist is answered with one that the agent speaks.", tier: Mandatory, requirements: []string{"ACP-INIT-003"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.start()
			if err != nil {
				return err
			}
			hi := s.hi(65535, object{})
			hi["info"] = hi["clientInfo"] // version 2 needs it
			result, err := s.greet(ctx, d, hi)
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
	{id: "initialize-bare", greeting: true, title: "initialize needs no capabilities and no name of the client.", tier: Mandatory,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.start()
			if err != nil {
				return err
			}
			_, err = s.greet(ctx, d, object{"protocolVersion": 1})
			s.stop()
			return err
		}},
	{id: "initialize-unknown", greeting: true, title: "Capabilities and metadata that the agent does not know are ignored.", tier: Advisory,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.start()
			if err != nil {
				return err
			}
			hi := s.hi(1, object{"_meta": object{"hermes.dev": true}})
			hi["_meta"] = object{"hermes.dev/lint": object{"a": []any{1}}}
			_, err = s.greet(ctx, d, hi)
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
			d, err := s.connect(ctx, object{})
			if err != nil {
				return err
			}
			defer s.stop()
			return s.seen(ctx, d, acp.MethodInitialize, s.hi(1, object{}))
		}},
}

// seen notes how a request is answered. It may stay without an answer. The agent may just
// have been started, so it has the time that it took to answer the first initialize besides.
func (s *stage) seen(ctx context.Context, d *driven, method string, params any) error {
	limit := 5*time.Second + s.greeted.Round(time.Second)
	short, cancel := context.WithTimeoutCause(ctx, limit, late(limit))
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
