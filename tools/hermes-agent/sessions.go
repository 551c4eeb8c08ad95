package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/config"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/store"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/trajectory"
)

const sessionsUsage = `sessions                          list the sessions, those that changed last first
sessions export [--format F] ID   print one as JSON: sharegpt, or atif of Harbor
sessions prune --days N           delete those that nobody has used for N days`

// sessionsCommand lists, exports and deletes sessions.
func sessionsCommand(_ context.Context, args []string, std stdio) error {
	c, err := config.Load(os.Getenv)
	if err != nil && !lacksModel(err) {
		return err
	}
	sessions, err := store.Open(filepath.Join(c.State, "sessions"))
	if err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return listSessions(sessions, std)
	case args[0] == "export":
		return exportSession(c, sessions, args[1:], std)
	case args[0] == "prune":
		return pruneSessions(sessions, args[1:], std)
	}
	return errors.New("sessions: usage:\n" + sessionsUsage)
}

func listSessions(sessions *store.Store, std stdio) error {
	list, err := sessions.List("")
	for _, s := range list {
		std.say("", "%s  %s  %-16s  %s  (%s)", s.ID, s.Updated.Local().Format("2006-01-02 15:04"), orDefault(s.Model, "-"), orDefault(s.Title, "-"), s.Cwd)
	}
	return err
}

// exportSession prints the whole conversation, also what was summarized since.
func exportSession(c config.Config, sessions *store.Store, args []string, std stdio) error {
	f := flag.NewFlagSet("sessions export", flag.ContinueOnError)
	f.SetOutput(std.err)
	format := f.String("format", "sharegpt", "sharegpt or atif")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 || *format != "sharegpt" && *format != "atif" {
		return errors.New("sessions: usage:\n" + sessionsUsage)
	}
	id := f.Arg(0)
	info, history, err := sessions.History(acp.SessionID(id))
	if err != nil {
		return err
	}
	var out any = trajectory.ToATIF(id, trajectory.ATIFAgent{Name: "hermes-agent", Version: version, Model: info.Model}, history, model.Usage{})
	if *format == "sharegpt" {
		tools, err := tool.NewSet(allTools(loadSkills(c)), nil, c.Toolsets...)
		if err != nil {
			return fmt.Errorf("toolsets: %w", err)
		}
		out = struct {
			ID            string                      `json:"id"`
			Model         string                      `json:"model,omitempty"`
			Conversations []trajectory.Turn           `json:"conversations"`
			Tools         map[string]trajectory.Count `json:"tools"`
		}{id, info.Model, trajectory.Convert(history, tools.Specs()), trajectory.Counts(history)}
	}
	e := json.NewEncoder(std.out)
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func pruneSessions(sessions *store.Store, args []string, std stdio) error {
	f := flag.NewFlagSet("sessions prune", flag.ContinueOnError)
	f.SetOutput(std.err)
	days := f.Int("days", 0, "delete the sessions that nobody has used for so many `DAYS`")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *days < 1 || f.NArg() > 0 {
		return errors.New("sessions: usage:\n" + sessionsUsage)
	}
	list, err := sessions.List("")
	if err != nil {
		return err
	}
	deleted := 0
	for _, s := range list {
		if time.Since(s.Updated) < time.Duration(*days)*24*time.Hour {
			continue
		}
		if err := sessions.Delete(s.ID); errors.Is(err, store.ErrBusy) {
			continue
		} else if err != nil {
			return err
		}
		deleted++
	}
	fmt.Fprintf(std.out, "%d sessions deleted, %d kept\n", deleted, len(list)-deleted)
	return nil
}
