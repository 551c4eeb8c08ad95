package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/preset"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/serve"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

const serveSynopsis = `[flags] -- AGENT [ARGUMENT...]

Puts an agent that speaks over stdin and stdout on the network, one process for
each connection. Clients of HTTP and TCP need the token.
`

// serveFlags are the flags of hermes serve.
type serveFlags struct {
	listen, origins, hosts, pass list
	tokenFile, cert, key, dir    string
	limit                        int
	idle                         time.Duration
	insecure, verbose            bool
	sandbox                      *confine.Sandbox
}

// serveAgent puts an agent behind listeners until ctx ends.
func serveAgent(ctx context.Context, args []string, std *stdio) error {
	f, command, err := parseServe(args, std.out)
	if err != nil {
		return err
	}
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelInfo
	}
	agent := preset.Preset{Command: command.Path, Sandbox: f.sandbox}
	box, err := boxFor(agent, command.Environ(), f.dir, std.err)
	if err != nil {
		return err
	}
	command.Wrapper = box.Wrapper()
	return serveUntil(ctx, f, command, std.err, slog.New(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: level})))
}

func parseServe(args []string, help io.Writer) (*serveFlags, launch.Command, error) {
	f := new(serveFlags)
	var cmd launch.Command
	args, argv := splitCommand(args)
	set := newFlags("serve", serveSynopsis, help)
	set.Var(&f.listen, "listen", "`address`: unix:PATH, tcp:HOST:PORT or http://HOST:PORT/PATH (HTTP and WebSocket); more than once for several (default http://127.0.0.1:0/acp, a free port)")
	set.StringVar(&f.tokenFile, "token-file", "", "`file` with the token, closed to others (default: a new token, printed to standard error)")
	set.Var(&f.origins, "allow-origin", "`origin` of web pages that may connect, such as https://app.example.com; more than once for several (default none)")
	set.Var(&f.hosts, "allow-host", "`name` of the server besides localhost; more than once for several")
	set.IntVar(&f.limit, "max-connections", 64, "agents that may run at the same time")
	set.StringVar(&f.cert, "tls-cert", "", "PEM `file` with the certificate")
	set.StringVar(&f.key, "tls-key", "", "PEM `file` with its key")
	set.DurationVar(&f.idle, "idle", 0, "end a connection after this `time` without traffic, such as 30m (default never)")
	set.BoolVar(&f.insecure, "insecure", false, "listen without TLS where other machines can connect; only behind a proxy that does TLS")
	set.Var(&f.pass, "pass-env", "`name` of an environment variable that the agent gets besides PATH, HOME and the like; more than once for several")
	set.StringVar(&f.dir, "dir", "", "working `folder` of the agent")
	set.Var(sandboxFlag{&f.sandbox}, "sandbox", sandboxUsage)
	set.BoolVar(&f.verbose, "verbose", false, "log connections, and what agents say on standard error")
	if rest, err := set.parse(args); err != nil {
		return nil, cmd, err
	} else if len(rest) > 0 || len(argv) == 0 {
		return nil, cmd, usageError("the agent's command is missing after --: hermes serve [flags] -- AGENT [ARGUMENT...]")
	}
	switch {
	case (f.cert == "") != (f.key == ""):
		return nil, cmd, usageError("--tls-cert and --tls-key go together")
	case f.limit < 1:
		return nil, cmd, usageError("--max-connections %d: at least one is needed", f.limit)
	case f.idle < 0:
		return nil, cmd, usageError("--idle %v: cannot be negative", f.idle)
	}
	if len(f.listen) == 0 {
		f.listen = list{"http://127.0.0.1:0" + serve.Endpoint}
	}
	cmd = launch.Command{Path: argv[0], Args: argv[1:], Dir: f.dir, PassEnv: f.pass, Keeper: keeper()}
	return f, cmd, nil
}

func serveUntil(ctx context.Context, f *serveFlags, cmd launch.Command, stderr io.Writer, log *slog.Logger) error {
	s := &serve.Server{Command: cmd, MaxConnections: f.limit, Idle: f.idle, Logger: log, Guard: access.Guard{Hosts: f.hosts, Origins: f.origins}}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return err
		}
		s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	}
	if f.tokenFile != "" {
		token, err := access.ReadToken(f.tokenFile)
		if err != nil {
			return err
		}
		s.Guard.Token = token
	}
	var listeners []*serve.Listener
	remote := false
	for _, address := range f.listen {
		l, err := serve.Listen(address, s.TLS != nil, f.insecure)
		if err != nil {
			for _, l := range listeners {
				l.Close()
			}
			return err
		}
		listeners = append(listeners, l)
		remote = remote || !strings.HasPrefix(l.String(), "unix:")
	}
	if remote && f.tokenFile == "" {
		s.Guard.Token = access.NewToken()
		fmt.Fprintf(stderr, "hermes serve: the token of this run is %s\n", s.Guard.Token.Reveal())
	}
	for _, l := range listeners {
		fmt.Fprintf(stderr, "hermes serve: listening on %s\n", l)
	}
	return s.Serve(ctx, listeners...)
}
