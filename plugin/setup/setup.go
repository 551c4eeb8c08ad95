// Package setup is what the user's configuration says: which agents there are, how each is
// started or reached, and what it may do. It starts nothing.
package setup

import (
	"cmp"
	"fmt"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

// Config is what Lua's setup gives about agents.
type Config struct {
	Agents      map[string]Command `json:"agents,omitempty"`
	Permissions Permissions        `json:"permissions,omitempty"`
	Timeouts    Timeouts           `json:"timeouts,omitempty"`
	Reconnect   Reconnect          `json:"reconnect,omitempty"`
}

// Reconnect says which connections are re-established when they break: those to
// agents that run elsewhere, unless false, and those to agents started here.
type Reconnect struct {
	Remote  *bool `json:"remote,omitempty"`
	Process bool  `json:"process,omitempty"`
}

// Reconnects reports whether the connection to c is re-established when it breaks.
func (c *Config) Reconnects(cmd Command) bool {
	switch {
	case cmd.Reconnect != nil:
		return *cmd.Reconnect
	case cmd.IsRemote():
		return on(c.Reconnect.Remote)
	}
	return c.Reconnect.Process
}

// Permissions switch whole capabilities off; nil means on.
type Permissions struct {
	Read        *bool     `json:"fs_read_access,omitempty"`
	Write       *bool     `json:"fs_write_access,omitempty"`
	Terminal    RunAccess `json:"terminal_access,omitempty"`
	Requests    *bool     `json:"request_permissions,omitempty"`
	Elicitation *bool     `json:"elicitation,omitempty"`
	HardLinks   bool      `json:"hard_links,omitempty"` // files with other names, too

	Rules    []permission.Rule `json:"rules,omitempty"`    // in force while the configuration has them
	Remember string            `json:"remember,omitempty"` // file of the rules that are kept; empty: none is
}

// MayRead reports whether agents may read files.
func (p *Permissions) MayRead() bool { return on(p.Read) }

// MayWrite reports whether agents may write files.
func (p *Permissions) MayWrite() bool { return on(p.Write) }

// MayAsk reports whether the user is asked for permission at all.
func (p *Permissions) MayAsk() bool { return on(p.Requests) }

// MayElicit reports whether agents may put forms and pages to the user.
func (p *Permissions) MayElicit() bool { return on(p.Elicitation) }

// RunAccess is whether agents may run commands here. The zero value leaves it to
// the wider setting.
type RunAccess string

// The values of a RunAccess.
const (
	RunFreely RunAccess = "true"
	RunAsked  RunAccess = "ask"
	RunNever  RunAccess = "false"
)

// UnmarshalJSON implements json.Unmarshaler.
func (a *RunAccess) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "null":
		*a = ""
	case "true", "false":
		*a = RunAccess(b)
	case `"ask"`:
		*a = RunAsked
	default:
		return fmt.Errorf(`terminal_access must be true, false or "ask", not %s`, b)
	}
	return nil
}

// RunAccess says whether an agent may run commands here. If the user has turned
// commands off, they are off for all agents. Otherwise the agent's own setting
// decides. Without one, an agent that may run elsewhere needs the user's word for
// each command, because it can run nothing here by itself.
func (p *Permissions) RunAccess(cmd Command, mayRunElsewhere bool) RunAccess {
	switch {
	case p.Terminal == RunNever:
		return RunNever
	case cmd.Terminal != "":
		return cmd.Terminal
	case mayRunElsewhere:
		return RunAsked
	}
	return cmp.Or(p.Terminal, RunFreely)
}

// Capabilities says what this client does for an agent that may run commands as
// access says.
func (p *Permissions) Capabilities(access RunAccess) *acp.ClientCapabilities {
	c := &acp.ClientCapabilities{
		Fs:       &acp.FileSystemCapabilities{ReadTextFile: p.MayRead(), WriteTextFile: p.MayWrite()},
		Terminal: access != RunNever,
		Session: &acp.ClientSessionCapabilities{
			Compaction:    &acp.CompactionCapabilities{},
			ConfigOptions: &acp.SessionConfigOptionsCapabilities{Boolean: &acp.BooleanConfigOptionCapabilities{}},
			Notices:       &acp.NoticeCapabilities{},
		},
	}
	if p.MayElicit() {
		c.Elicitation = &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}, URL: &acp.ElicitationURLCapabilities{}}
	}
	return c
}

// Timeouts are how long things may take.
type Timeouts struct {
	Initialize Limit `json:"initialize,omitempty"`
	NewSession Limit `json:"new_session,omitempty"`
	Cancel     Limit `json:"cancel,omitempty"`
	Silence    Limit `json:"silence,omitempty"`
}

// Limit is a time in milliseconds; zero means the default.
type Limit int

// Or returns the limit, d by default.
func (l Limit) Or(d time.Duration) time.Duration {
	if l <= 0 {
		return d
	}
	return time.Duration(l) * time.Millisecond
}

// Is reports whether a setting that may be absent is on.
func Is(p *bool) bool { return p != nil && *p }

// on is Is for settings that are on by default.
func on(p *bool) bool { return p == nil || *p }
