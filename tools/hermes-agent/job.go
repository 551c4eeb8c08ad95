package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/agent"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/batch"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/compact"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/loop"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/mcp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/trajectory"
)

// jobs runs the prompts of a batch.
type jobs struct {
	*program
	models *agent.Models
	name   string // of the model
	work   string // how the names of the folders begin that prompts run in
	check  string // a command for rows that have none
	atif   bool   // whether outcomes have the trajectory as Harbor has it, too
}

// checkTime bounds a check, and checkBytes what is kept of its output.
const (
	checkTime  = 10 * time.Minute
	checkBytes = 4 << 10
)

// run runs one prompt on a copy of its folder, without a user: what needs one is denied.
func (j jobs) run(ctx context.Context, job batch.Job) (out batch.Outcome, err error) {
	dir, err := os.MkdirTemp("", j.work)
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err == nil && job.Dir != "" {
		err = copyTree(dir, job.Dir)
	}
	if err != nil {
		return out, err
	}
	tools, err := tool.NewSet(allTools(j.skills), nil, job.Toolsets...)
	if err != nil {
		return out, err
	}
	prompt := model.Message{Role: model.User, Text: job.Text}
	if job.Image != "" {
		if prompt.Images, err = picture(job.Image); err != nil {
			return out, err
		}
	}
	const session acp.SessionID = "batch"
	here := services.New(services.Options{
		ApproveWrite: func(context.Context, *acp.WriteTextFileRequest, files.Location, *files.ProtectedError) error {
			return nil
		}, // of a copy
	})
	if err := here.OpenSession(session, []string{dir}); err != nil {
		return out, err
	}
	processes := process.New(process.Options{Backend: backend(j.Terminal, dir, j.State, j.own(), ownCopy), Keeper: keeper(), Environment: j.Terminal.Environment})
	defer func() { err = errors.Join(err, processes.Close(), here.Close()) }()
	env := &tool.Env{
		Session: session, Cwd: dir, Files: here, Processes: processes, Show: func(acp.SessionUpdate) {},
		Gate: unattended{approval.NewGate(approval.Options{Home: j.home, Own: j.own(), Allowed: j.Allowed}), dir},
	}
	var connections mcp.Servers
	defer func() { err = errors.Join(err, connections.Close()) }()
	// Without its servers, a prompt would have a trajectory that says nothing about them.
	foreign, err := connections.Connect(ctx, dir, servers(j.Config))
	if err != nil {
		return out, err
	}
	if tools, err = tools.With(foreign); err != nil {
		return out, err
	}
	history := []model.Message{{Role: model.System, Text: agent.SystemPrompt(dir, j.skills)}, prompt}
	window := j.window()
	l := &loop.Loop{
		Model: j.client, Name: j.name, Tools: tools, Env: env, Log: j.log,
		Limits: loop.Limits{Requests: j.Requests, Result: loop.ResultOf(window)},
	}
	total := model.Usage{}
	spend := func(u model.Usage) {
		out.Requests++
		total.Add(u)
	}
	used, counted := model.Usage{}, 0
	var answered []string // names of models
	l.Replied = func(r model.Reply) {
		spend(r.Usage)
		if r.Usage != (model.Usage{}) {
			used, counted = r.Usage, len(history)+1
		}
		if name := cmp.Or(r.Model, j.name); !slices.Contains(answered, name) {
			answered = append(answered, name)
		}
	}
	shortened := 0 // messages that are not in the history of the model any more
	l.Shorten = compact.Keeper{
		Window: j.window, Learn: func(size int) { j.models.Learn(j.name, size) },
		Tokens: func(h []model.Message) int {
			return used.Input + used.Output + compact.Tokens(h[min(max(0, counted-shortened), len(h)):])
		},
		Compact: func(ctx context.Context, h []model.Message, size int) ([]model.Message, error) {
			shorter, _, err := compact.Compactor{Model: j.client, Name: j.name, Cheap: j.Config.Model.Summary, Window: size, Used: spend}.Compact(ctx, h)
			if err == nil {
				used, counted = model.Usage{Input: compact.Tokens(shorter)}, len(history)
				shortened = len(history) - len(shorter)
			}
			return shorter, err
		},
	}.Shortener()
	reason, err := l.Turn(ctx, history, func(m model.Message) { history = append(history, m) })
	out.Model = cmp.Or(strings.Join(answered, ", "), j.name)
	out.Tokens, out.Cost = batch.Tokens{Input: total.Input, Output: total.Output, Cached: total.Cached}, total.Cost
	out.Completed = err == nil && reason == acp.StopReasonEndTurn
	if !out.Completed {
		out.Stop = string(reason)
	}
	out.Tools = trajectory.Counts(history)
	hide(history, dir)
	out.Conversations = trajectory.Convert(history, tools.Specs())
	if j.atif {
		t := trajectory.ToATIF(fmt.Sprintf("%d-%d", job.Index, job.Sample), trajectory.ATIFAgent{Name: "hermes-agent", Version: version, Model: out.Model}, history, total)
		out.ATIF = &t
	}
	if errors.As(err, new(*model.LoginError)) {
		err = &batch.StopError{Err: err}
	}
	if err != nil {
		return out, err
	}
	if out.Patch, err = patch(job.Dir, dir); err != nil {
		return out, err
	}
	out.Check, err = j.verdict(ctx, processes, cmp.Or(job.Check, j.check), dir)
	return out, err
}

// hide gives the folder of a run, which has another name each time, the name /work.
func hide(history []model.Message, dir string) {
	for i := range history {
		m := &history[i]
		for _, text := range []*string{&m.Text, &m.Reasoning} {
			*text = strings.ReplaceAll(*text, dir, "/work")
		}
		m.Calls = slices.Clone(m.Calls)
		for k := range m.Calls {
			m.Calls[k].Arguments = strings.ReplaceAll(m.Calls[k].Arguments, dir, "/work")
		}
	}
}

// window is the size of the context window, 0 if it is unknown.
func (j jobs) window() int { return cmp.Or(j.Window(j.name), j.models.Context(j.name)) }

// verdict runs the check of a prompt. The user wrote it, so nobody is asked.
func (j jobs) verdict(ctx context.Context, processes *process.Registry, command, dir string) (*batch.Check, error) {
	if command == "" {
		return nil, nil
	}
	got, late, err := processes.Run(ctx, process.Command{Line: command, Dir: dir}, checkTime)
	if err != nil {
		return nil, fmt.Errorf("check %q: %w", command, err)
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(got.Text, "\uFFFD"), dir, "/work")
	if late {
		text += fmt.Sprintf("\n[ended after %s]", checkTime)
	}
	return &batch.Check{Command: command, Passed: !late && got.Code != nil && *got.Code == 0, Output: model.Bound(text, checkBytes)}, nil
}

// picture reads the picture of a row.
func picture(name string) ([]model.Image, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	kind := http.DetectContentType(b)
	if !strings.HasPrefix(kind, "image/") {
		return nil, fmt.Errorf("image: %s is not a picture but %s", name, kind)
	}
	return []model.Image{{MimeType: kind, Data: base64.StdEncoding.EncodeToString(b)}}, nil
}

// unattended decides when there is no user. It allows all changes of files,
// because they are a copy.
// ownCopy is since when the files of a job are its own: all of them are copies.
var ownCopy = time.Unix(0, 1)

type unattended struct {
	gate *approval.Gate
	dir  string
}

func (u unattended) Hides(path string) bool { return u.gate.Secret(u.dir, path) != "" }

func (unattended) Read(_ context.Context, _ *acp.ToolCallUpdate, path string) error {
	return fmt.Errorf("%s was not read, because it may hold secrets: there is nobody to ask", path)
}

func (unattended) Edit(context.Context, *acp.ToolCallUpdate, string) error { return nil }

func (u unattended) Command(ctx context.Context, _ *acp.ToolCallUpdate, command string, reach process.Reach) error {
	return u.gate.Check(ctx, command, u.dir, reach, nil)
}

func (u unattended) Effect(_ context.Context, _ *acp.ToolCallUpdate, e process.Effect) (bool, error) {
	if u.gate.AllowsEffect(e.Scopes) {
		return true, nil
	}
	return false, fmt.Errorf("there is nobody to ask, and command_allowlist does not have it: %s", e.Scope())
}

func (unattended) Use(_ context.Context, _ *acp.ToolCallUpdate, f tool.Foreign) error {
	if f.Allowed {
		return nil
	}
	return fmt.Errorf("%s was not used: there is nobody to ask; %s", f.Name, f.Remedy)
}
