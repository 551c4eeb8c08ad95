package host

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/confine"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/transport/pathmap"
)

// config is what Lua's setup gives the host.
type config struct {
	Agents      map[string]command `json:"agents"`
	Permissions permissions        `json:"permissions"`
	Timeouts    timeouts           `json:"timeouts"`
	Reconnect   reconnect          `json:"reconnect"`
	Review      *reviews.Config    `json:"review"`
	Traffic     bool               `json:"traffic"`     // somebody listens to TrafficMessage
	RawTraffic  bool               `json:"raw_traffic"` // secrets stay in it
}

// reconnect says which connections are re-established when they break: those to
// agents that run elsewhere, unless false, and those to agents started here.
type reconnect struct {
	Remote  *bool `json:"remote"`
	Process bool  `json:"process"`
}

// permissions switch whole capabilities off; nil means on.
type permissions struct {
	Read        *bool     `json:"fs_read_access"`
	Write       *bool     `json:"fs_write_access"`
	Terminal    runAccess `json:"terminal_access"`
	Requests    *bool     `json:"request_permissions"`
	Elicitation *bool     `json:"elicitation"`
	HardLinks   bool      `json:"hard_links"` // files with other names, too

	Rules    []permission.Rule `json:"rules"`    // in force while the configuration has them
	Remember string            `json:"remember"` // file of the rules that are kept; empty: none is
}

// runAccess is whether agents may run commands here. The zero value leaves it to
// the wider setting.
type runAccess string

const (
	runFreely runAccess = "true"
	runAsked  runAccess = "ask"
	runNever  runAccess = "false"
)

// UnmarshalJSON implements json.Unmarshaler.
func (a *runAccess) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "null":
		*a = ""
	case "true", "false":
		*a = runAccess(b)
	case `"ask"`:
		*a = runAsked
	default:
		return fmt.Errorf(`terminal_access must be true, false or "ask", not %s`, b)
	}
	return nil
}

// runAccess says whether the agent may run commands here. What is off is off for
// all. Otherwise the agent's own setting counts. Without one, an agent that may run
// elsewhere needs the user's word for each command, because it can run nothing
// here by itself.
func (c *connection) runAccess() runAccess {
	all := c.host.permissions().Terminal
	switch {
	case all == runNever:
		return runNever
	case c.cmd.Terminal != "":
		return c.cmd.Terminal
	case c.mayRunElsewhere():
		return runAsked
	}
	return cmp.Or(all, runFreely)
}

func on(p *bool) bool { return p == nil || *p }

// timeouts are in milliseconds; zero means the default.
type timeouts struct {
	Initialize int `json:"initialize"`
	NewSession int `json:"new_session"`
	Cancel     int `json:"cancel"`
	Silence    int `json:"silence"`
}

func (t timeouts) initialize() time.Duration { return orDefault(t.Initialize, time.Minute) }
func (t timeouts) newSession() time.Duration { return orDefault(t.NewSession, time.Minute) }
func (t timeouts) cancel() time.Duration     { return orDefault(t.Cancel, 5*time.Second) }
func (t timeouts) silence() time.Duration    { return orDefault(t.Silence, 2*time.Minute) }

func orDefault(ms int, d time.Duration) time.Duration {
	if ms <= 0 {
		return d
	}
	return time.Duration(ms) * time.Millisecond
}

// command is how an agent is started or reached.
type command struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	Cwd     string            `json:"cwd"`

	// The agent gets a small part of the environment; these widen it.
	PassEnv    []string `json:"pass_env"` // names; a final * stands for any rest
	InheritEnv bool     `json:"inherit_env"`

	remote
	Quirks    quirks    `json:"quirks"`
	Reconnect *bool     `json:"reconnect"`       // in place of config.Reconnect
	Terminal  runAccess `json:"terminal_access"` // in place of permissions.Terminal

	Shared *bool    `json:"shared"` // its sessions, with its own terminal
	share  []string // the arguments for that; nil: it cannot

	Paths map[string]string `json:"paths"` // the agent's names of folders, by their names here

	Sandbox *confine.Sandbox `json:"sandbox"` // of the agent and its commands
	box     *confine.Box     // made of it for a connection; nil: nothing is confined
	State   []string         `json:"-"` // where the agent keeps things of its own, see preset.Preset

	Shim  *bool    `json:"shim"` // what it changes is reported by a shim
	shims []string // made of it for a connection, in front of the command line

	Install string `json:"-"` // what to do when the program is missing
	Auth    string `json:"-"` // how one logs in
}

// missingEmpty is the value of quirks.MissingFile that answers with no text.
const missingEmpty = "empty"

// quirks are what to do differently for an agent.
type quirks struct {
	// MissingFile is the answer to reading a file that is not there: "error",
	// or "empty" for agents that create a file only after they have read it.
	MissingFile string `json:"missing_file"`
	// OneSession: the agent mixes its sessions up and gets a process for each.
	OneSession *bool `json:"one_session"`
	// IgnoresEOF: the agent does not end with its input.
	IgnoresEOF *bool `json:"ignores_eof"`
	// Unannounced: the agent supports more than it has announced.
	Unannounced *bool `json:"unannounced"`
	// Elsewhere: the user also prompts the agent elsewhere.
	Elsewhere *bool `json:"elsewhere"`
}

// over returns q with the members that o sets replaced.
func (q quirks) over(o quirks) quirks {
	return quirks{
		MissingFile: cmp.Or(o.MissingFile, q.MissingFile),
		OneSession:  cmp.Or(o.OneSession, q.OneSession),
		IgnoresEOF:  cmp.Or(o.IgnoresEOF, q.IgnoresEOF),
		Unannounced: cmp.Or(o.Unannounced, q.Unannounced),
		Elsewhere:   cmp.Or(o.Elsewhere, q.Elsewhere),
	}
}

func isTrue(p *bool) bool { return p != nil && *p }

// over returns c with the members that o sets replaced; env is merged.
func (c command) over(o command) command {
	if o.Command != "" {
		c.Command, c.Args, c.share, c.remote = o.Command, nil, nil, remote{}
	}
	c.remote = c.remote.over(o.remote)
	c.Reconnect = cmp.Or(o.Reconnect, c.Reconnect)
	c.Terminal = cmp.Or(o.Terminal, c.Terminal)
	c.Shared = cmp.Or(o.Shared, c.Shared)
	c.Shim = cmp.Or(o.Shim, c.Shim)
	c.Quirks = c.Quirks.over(o.Quirks)
	if o.Args != nil {
		c.Args = o.Args
	}
	if o.Cwd != "" {
		c.Cwd = o.Cwd
	}
	if o.Paths != nil {
		c.Paths = o.Paths
	}
	c.Sandbox = cmp.Or(o.Sandbox, c.Sandbox)
	c.PassEnv = slices.Concat(c.PassEnv, o.PassEnv)
	c.InheritEnv = c.InheritEnv || o.InheritEnv
	env := maps.Clone(c.Env)
	if env == nil {
		env = make(map[string]string)
	}
	maps.Copy(env, o.Env)
	c.Env = env
	return c
}

// shared returns c with what makes the agent share its sessions with its terminal.
func (c command) shared(name string) (command, error) {
	switch {
	case c.share == nil:
		return c, wire.Invalid("connect: agent %q cannot share its sessions with its terminal; \"codex\" can if the codex binary is in PATH", name)
	case c.Sandbox != nil:
		return c, wire.Invalid("connect: agent %q: what is shared cannot be in a sandbox; set sandbox = false", name)
	}
	yes := true
	c.Args, c.Quirks.Elsewhere = slices.Concat(c.Args, c.share), &yes
	return c, nil
}

// pathRules are c.Paths, for its connections.
func (c command) pathRules() ([]pathmap.Rule, error) {
	var rules []pathmap.Rule
	for here, there := range c.Paths {
		r, err := pathmap.NewRule(here, there)
		if err != nil {
			return nil, wire.Invalid("%v", err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// reconnects reports whether the connection to c is re-established when it breaks.
func (h *Host) reconnects(c command) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case c.Reconnect != nil:
		return *c.Reconnect
	case c.isRemote():
		return on(h.config.Reconnect.Remote)
	}
	return h.config.Reconnect.Process
}

// resolve finds the command for an agent: what connect was given, over what
// setup says, over the preset of that name.
func (h *Host) resolve(name string, given command) (command, error) {
	h.mu.Lock()
	configured, known := h.config.Agents[name]
	h.mu.Unlock()
	var base command
	p, preset := h.find(name)
	if preset {
		base = fromPreset(p)
	}
	c := base.over(configured).over(given)
	err := c.remote.check(name)
	if err != nil {
		return c, err
	}
	if _, err := c.pathRules(); err != nil {
		return c, err
	}
	if isTrue(c.Shared) {
		if c, err = c.shared(name); err != nil {
			return c, err
		}
	}
	if c.Command == "" && !c.isRemote() {
		what := "unknown agent"
		if known || preset {
			what = "no command for agent"
		}
		list, advice := h.known(), "give connect a command"
		if meant := jx.Near(name, list); meant != "" {
			advice = fmt.Sprintf("did you mean %q? Otherwise %s", meant, advice)
		}
		return c, &wire.Error{Kind: wire.ErrorUnknownAgent, Message: fmt.Sprintf(
			"%s %q: %s, or add it to setup{agents}; known agents: %s",
			what, name, advice, strings.Join(list, ", "))}
	}
	return c, nil
}

func (h *Host) setup(c config) error {
	h.mu.Lock()
	h.config = c
	h.mu.Unlock()
	h.configureRules(c.Permissions)
	h.reviews.Configure(c.Review)
	h.rawTraffic.Store(c.RawTraffic)
	h.traffic.Store(c.Traffic)
	return nil
}

// capabilities says what this client does for an agent that may run commands as
// access says.
func (p permissions) capabilities(access runAccess) *acp.ClientCapabilities {
	c := &acp.ClientCapabilities{
		Fs:       &acp.FileSystemCapabilities{ReadTextFile: on(p.Read), WriteTextFile: on(p.Write)},
		Terminal: access != runNever,
		Session: &acp.ClientSessionCapabilities{
			Compaction:    &acp.CompactionCapabilities{},
			ConfigOptions: &acp.SessionConfigOptionsCapabilities{Boolean: &acp.BooleanConfigOptionCapabilities{}},
			Notices:       &acp.NoticeCapabilities{},
		},
	}
	if on(p.Elicitation) {
		c.Elicitation = &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}, URL: &acp.ElicitationURLCapabilities{}}
	}
	return c
}
