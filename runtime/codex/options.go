package codex

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// Options configure a Session.
type Options struct {
	// Dir is the folder to work in; empty: the folder of the app-server.
	Dir string
	// Thread is a thread to resume; empty: a new one.
	Thread string
	// Settings are the first ones; see [Session.Configure].
	Settings Settings
	// Config are members of codex's configuration for this thread, such as
	// {"mcp_servers": {…}}.
	Config json.RawMessage

	// AutoExec and AutoPatch approve every command, or every file change, without
	// asking.
	AutoExec, AutoPatch bool
	// Approve decides about commands and changes that the flags above do not
	// approve. It returns a Choice or the ID of one of the options. An error, a
	// panic, any other text and a nil Approve are denials. The context ends when
	// the answer no longer matters.
	Approve func(ctx context.Context, a *Approval) (Choice, error)
	// ApproveWithin is how long Approve may take; 0: as long as the turn.
	ApproveWithin time.Duration
	// Answer answers the model's questions to the user, by question. Nil: no
	// answers.
	Answer func(ctx context.Context, p *appserver.ToolRequestUserInputParams) (map[string][]string, error)
	// Elicit answers the questions of MCP servers. Nil: declined.
	Elicit func(ctx context.Context, p *appserver.MCPServerElicitationRequestParams) (*appserver.MCPServerElicitationRequestResponse, error)

	// OnNote gets each notification about the thread and the running turn, as it
	// came, in order. It must return soon: what follows waits for it.
	OnNote func(ctx context.Context, note any)

	// Elsewhere makes the session one that other clients of the app-server use, too.
	// It is called with each turn that another client has begun and the text of its
	// prompt, which is empty if the turn began before the session. Notifications
	// about the turn wait until Elsewhere returns. Nil: turns of other clients are
	// ignored.
	Elsewhere func(turn, text string)

	// Deadline is how long a turn may take: 600 s when 0, forever when negative.
	Deadline time.Duration
	// Quiet is how long nothing may happen in a turn: 300 s when 0, forever when
	// negative. The time in which a tool runs or a question is open does not
	// count; attempts to reach the model again do.
	Quiet time.Duration
	// Grace is how long an interrupted turn has to end: 5 s when 0.
	Grace time.Duration
}

const (
	defaultDeadline = 600 * time.Second
	defaultQuiet    = 300 * time.Second
	defaultGrace    = 5 * time.Second
)

// Settings can change between turns.
type Settings struct {
	Profile Profile
	Model   string // empty: as configured
	Effort  string // of reasoning; empty: as configured
}

// Profile says what codex may do without asking.
type Profile string

// The profiles. Unknown ones count as ProfileAuto.
const (
	// ProfileConfigured leaves the sandbox and the approvals to codex's own
	// configuration. An open session has the nearest of the others.
	ProfileConfigured   Profile = ""
	ProfileAuto         Profile = "auto"              // writes in its folder, asks for more
	ProfilePlan         Profile = "plan"              // as ProfileAsk, and works on a plan only; see [Server.Profiles]
	ProfileAsk          Profile = "approval-required" // reads, asks for everything else
	ProfileUnrestricted Profile = "unrestricted"      // everything, without asking; also "yolo"
)

// Profiles lists the profiles, the most careful first.
var Profiles = []Profile{ProfilePlan, ProfileAsk, ProfileAuto, ProfileUnrestricted}

func (p Profile) sandbox() appserver.SandboxMode {
	switch p {
	case ProfilePlan, ProfileAsk:
		return appserver.SandboxModeReadOnly
	case ProfileUnrestricted, "yolo":
		return appserver.SandboxModeDangerFullAccess
	}
	return appserver.SandboxModeWorkspaceWrite
}

func (p Profile) policy() appserver.AskForApproval {
	if p.sandbox() == appserver.SandboxModeDangerFullAccess {
		return appserver.AskForApprovalWord("never")
	}
	return appserver.AskForApprovalWord("on-request")
}

// sandboxPolicy is the sandbox in the terms of a turn.
func (p Profile) sandboxPolicy() appserver.SandboxPolicy {
	switch p.sandbox() {
	case appserver.SandboxModeReadOnly:
		return &appserver.SandboxPolicyReadOnly{}
	case appserver.SandboxModeDangerFullAccess:
		return &appserver.SandboxPolicyDangerFullAccess{}
	}
	return &appserver.SandboxPolicyWorkspaceWrite{}
}

// profileOf is the profile of a thread, as codex describes its sandbox.
func profileOf(p appserver.SandboxPolicy) Profile {
	switch p.(type) {
	case *appserver.SandboxPolicyReadOnly:
		return ProfileAsk
	case *appserver.SandboxPolicyDangerFullAccess:
		return ProfileUnrestricted
	}
	return ProfileAuto
}

func some(s string) acp.Opt[string] { return acp.Opt[string]{V: s, OK: s != ""} }
