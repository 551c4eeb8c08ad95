package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

const (
	// tellTime is how long an editor that does not answer may delay a hook.
	tellTime = 5 * time.Second
	// maxHook bounds the JSON of a hook, which has whole files, in bytes.
	maxHook = 64 << 20
)

// told are the flags of hermes review tell.
type told struct {
	socket, agent, session, turn, call, source string
	pre, failed                                bool
}

func (o *told) flags(f flags) {
	f.StringVar(&o.socket, "socket", "", "tell: the `SOCKET` to report to (default: the socket of the project with the file)")
	f.StringVar(&o.agent, "agent", "", "tell: the `NAME` of the agent that changes the file")
	f.StringVar(&o.session, "session", "", "tell: the `ID` of its session")
	f.StringVar(&o.turn, "turn", "", "tell: the `ID` of the prompt")
	f.StringVar(&o.call, "tool-call", "", "tell: the `ID` of the tool call")
	f.StringVar(&o.source, "source", "hook", "tell: the `NAME` of what reports")
	f.BoolVar(&o.pre, "pre", false, "tell: it is about to happen")
	f.BoolVar(&o.failed, "failed", false, "tell: it was announced with --pre and did not happen")
}

// tell reports a change.
func (o *reviewFlags) tell(ctx context.Context, args []string) error {
	kinds := map[string]feed.Kind{"write": feed.Write, "remove": feed.Remove, "rename": feed.Rename, "read": feed.Read}
	if len(args) == 1 && args[0] == "hook" {
		if err := o.hook(ctx); err != nil {
			return &exit{1, err} // other statuses make some agents stop
		}
		return nil
	}
	if len(args) == 0 || kinds[args[0]] == "" {
		return usageError("tell what: write, remove, rename or read, and the file; or hook")
	}
	r := feed.Report{Kind: kinds[args[0]], Agent: o.agent, Phase: feed.Post, PID: os.Getppid(),
		Author: review.Author{Session: o.session, Turn: o.turn, ToolCall: o.call, Source: o.source}}
	files := args[1:]
	switch {
	case o.pre && o.failed:
		return usageError("--pre and --failed exclude each other")
	case o.pre:
		r.Phase = feed.Pre
	case o.failed:
		r.Phase = feed.Failed
	}
	want := 1
	if r.Kind == feed.Rename {
		want = 2
	}
	if len(files) != want {
		return usageError("tell %s takes %d file(s), not %d", args[0], want, len(files))
	}
	return o.send(ctx, r, files)
}

// hook reports what the JSON of a hook on standard input says.
func (o *reviewFlags) hook(ctx context.Context) error {
	text, err := io.ReadAll(io.LimitReader(o.std.in, maxHook))
	if err != nil {
		return err
	}
	var h struct {
		Event   string `json:"hook_event_name"`
		Session string `json:"session_id"`
		Call    string `json:"tool_use_id"`
		Cwd     string `json:"cwd"`
		Input   struct {
			File     string `json:"file_path"`
			Notebook string `json:"notebook_path"`
			Path     string `json:"absolute_path"`
		} `json:"tool_input"`
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return fmt.Errorf("the hook on standard input: %w", err)
	}
	file := h.Input.File + h.Input.Notebook + h.Input.Path
	if file == "" {
		return nil // of a tool that is not about a file
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(h.Cwd, file)
	}
	r := feed.Report{Kind: feed.Write, Agent: o.agent, Phase: feed.Post, PID: os.Getppid(),
		Author: review.Author{Session: h.Session, Turn: o.turn, ToolCall: h.Call, Source: o.source}}
	if strings.HasPrefix(h.Event, "Pre") || strings.HasPrefix(h.Event, "Before") {
		r.Phase = feed.Pre
	}
	return o.send(ctx, r, []string{file})
}

// send sends a report to whoever has the project under review.
func (o *reviewFlags) send(ctx context.Context, r feed.Report, files []string) error {
	var paths []string
	for _, f := range files {
		path, err := filepath.Abs(f)
		if err != nil {
			return err
		}
		paths = append(paths, path)
	}
	r.Path = paths[len(paths)-1]
	if r.Kind == feed.Rename {
		r.From = paths[0]
	}
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	c, err := o.dial(ctx, r.Path)
	if c == nil {
		return err
	}
	defer c.Close()
	return c.Tell(ctx, r)
}

// dial connects to the socket of the nearest project above a file. It returns nil
// if nobody listens.
func (o *reviewFlags) dial(ctx context.Context, path string) (*feed.Client, error) {
	if o.socket != "" {
		return feed.Dial(ctx, o.socket)
	}
	dir := o.root
	if dir == "" {
		dir = filepath.Dir(path)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for dir, _ = pathname.Existing(dir); ; dir = filepath.Dir(dir) {
		c, err := feed.Dial(ctx, feed.Path(store.Dir(o.state, dir)))
		if err == nil {
			return c, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, err
		}
		if o.root != "" || dir == filepath.Dir(dir) {
			return nil, nil
		}
	}
}
