// Package preset knows agents by name: how to start, install and log in to
// each, and how each differs from what a client may expect. The presets are
// data. Users override them, and add others from their own file or from an ACP
// agent registry.
package preset

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// Preset says how to start an agent and what a client has to know about it.
type Preset struct {
	Name    string   `json:"-"`
	Title   string   `json:"title,omitempty"`
	Aliases []string `json:"aliases,omitempty"` // other names it is known by

	Command string            `json:"command,omitempty"` // program, found as launch.Command says
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	PassEnv []string          `json:"pass_env,omitempty"` // see launch.Command
	Cwd     string            `json:"cwd,omitempty"`      // of the process
	// Self says that the program is the one that runs, whatever its name.
	Self bool `json:"self,omitempty"`
	// Beside says that the program comes with the one that runs: the one in its folder
	// is used, and without it the one in PATH.
	Beside bool `json:"beside,omitempty"`

	// Prefer is used instead of the program where what it needs is installed.
	Prefer *Preferred `json:"prefer,omitempty"`

	// Shared are arguments that make the agent share its sessions with its own
	// terminal; nil: it cannot. Find sets them.
	Shared []string `json:"-"`

	// State lists the folders and files in which the agent keeps its logins,
	// settings and conversations, so that it can change them in a sandbox. A path
	// may begin with "~/", or with "${NAME:-PATH}" for a variable that moves it.
	// Missing ones are made before the start, because the agent cannot make them:
	// a folder if the path ends in a slash, or a file ending in .json with an
	// empty object.
	State []string `json:"state,omitempty"`
	// Sandbox confines the agent and its commands; nil: nothing is confined.
	Sandbox *confine.Sandbox `json:"sandbox,omitempty"`

	Install string `json:"install,omitempty"` // what to do when the program is missing
	Auth    string `json:"auth,omitempty"`    // how to log in
	Website string `json:"website,omitempty"`
	Quirks  Quirks `json:"quirks,omitzero"`
}

// Preferred is another way to start an agent: by the running program.
type Preferred struct {
	Needs string   `json:"needs"` // the program that has to be in PATH
	Args  []string `json:"args"`
	Why   string   `json:"why"` // what is better about it, for people
	// Shared are further arguments; see Preset.
	Shared []string `json:"shared,omitempty"`
}

// Quirks says what a client has to do differently for an agent. Behaviour that is
// right for all agents is not a quirk, such as to send no cancel while no turn
// runs, to give whole shell lines to a shell, and to support models from before
// config options. Nil means false; in the user's file it means the value of the
// preset.
type Quirks struct {
	// MissingFileEmpty: the agent creates a file only when reading it, before it
	// exists, gives empty content in place of an error.
	MissingFileEmpty *bool `json:"missing_file_empty,omitempty"`
	// OneSession: the agent sends the updates of one session under the ids of
	// all sessions of its process. Start a process for each session.
	OneSession *bool `json:"one_session,omitempty"`
	// IgnoresEOF: the agent does not exit when its standard input is closed. It
	// needs a signal, and waiting first is pointless.
	IgnoresEOF *bool `json:"ignores_eof,omitempty"`
	// Elsewhere: the user also prompts the agent elsewhere, such as in its own
	// terminal. Those turns begin at its request; see package claudehooks.
	Elsewhere *bool `json:"elsewhere,omitempty"`
}

//go:embed presets.json
var builtin []byte

// Set is a collection of presets. Its methods do not change it.
type Set struct {
	byName  map[string]Preset
	aliases map[string]string
}

// Builtin returns the presets that come with this package.
func Builtin() *Set {
	s, err := Read("presets.json", bytes.NewReader(builtin))
	if err != nil {
		panic(err) // a test reads it
	}
	return s
}

// ErrUnknown is the error of Find for a name that no preset has.
var ErrUnknown = errors.New("unknown agent")

// maxFile bounds a file of presets and a registry, in bytes.
const maxFile = 8 << 20

// Read reads presets: one JSON object with a member for each. file is for
// messages. Unknown members are refused, because they are probably misspelt.
func Read(file string, r io.Reader) (*Set, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	s := &Set{byName: map[string]Preset{}}
	if err := dec.Decode(&s.byName); err != nil {
		return nil, fmt.Errorf("%s: %w", file, place(data, err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: there is more text after the object", file)
	}
	for name, p := range s.byName {
		p.Name = name
		s.byName[name] = p
	}
	return s, s.index(file)
}

// place adds the line to an error of the JSON decoder that has an offset.
func place(data []byte, err error) error {
	var offset int64
	if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
		offset = e.Offset
	} else if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		offset = e.Offset
	} else {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:min(int(offset), len(data))], []byte("\n")), err)
}

// ReadFile is Read of a file. A missing one is an empty Set.
func ReadFile(path string) (*Set, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Set{}, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f)
}

func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("more than %d bytes", maxFile)
	}
	return data, err
}

// index checks the names and fills in the aliases.
func (s *Set) index(file string) error {
	s.aliases = map[string]string{}
	for _, name := range s.Names() {
		if name == "" || strings.ContainsAny(name, " \t\r\n/") {
			return fmt.Errorf("%s: %q is not a valid name for an agent", file, name)
		}
		for _, alias := range s.byName[name].Aliases {
			if other, taken := s.aliases[alias]; taken {
				return fmt.Errorf("%s: %q is an alias of both %s and %s", file, alias, other, name)
			} else if _, taken := s.byName[alias]; taken {
				return fmt.Errorf("%s: %q is both an alias of %s and an agent", file, alias, name)
			}
			s.aliases[alias] = name
		}
	}
	return nil
}

// Names returns the names of the presets, sorted, without aliases.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.byName)) }

// Find returns the preset of a name or an alias, as it is started here: by name in
// the way that it prefers, if that is possible, and by an alias in the other way.
func (s *Set) Find(name string) (Preset, error) {
	real, alias := s.aliases[name]
	if alias {
		name = real
	}
	p, ok := s.byName[name]
	if !ok {
		return p, fmt.Errorf("%w %q; known agents: %s", ErrUnknown, name, strings.Join(s.Names(), ", "))
	}
	switch {
	case alias:
		p.Prefer = nil
	case p.Prefer != nil && p.Prefer.possible():
		p.Command, p.Self, p.Args, p.Shared = "", true, p.Prefer.Args, p.Prefer.Shared
	}
	return p, nil
}

func (p *Preferred) possible() bool {
	_, err := exec.LookPath(p.Needs)
	return err == nil
}

// Choice says which of two ways a preset of Find takes, and why; empty if it has
// only one.
func (p Preset) Choice() string {
	switch {
	case p.Prefer == nil:
		return ""
	case p.Self:
		return p.Prefer.Needs + " is installed: " + p.Prefer.Why
	}
	return p.Prefer.Needs + " is not in PATH: " + p.Command + " is used"
}

// With returns s with the presets of over merged in: see Preset.Over. A name in
// over may be an alias of s; one that is new is added.
func (s *Set) With(over *Set) *Set {
	merged := &Set{byName: maps.Clone(s.byName), aliases: maps.Clone(s.aliases)}
	if merged.byName == nil {
		merged.byName, merged.aliases = map[string]Preset{}, map[string]string{}
	}
	for _, name := range over.Names() {
		p := over.byName[name]
		if real, ok := merged.aliases[name]; ok {
			name = real
		}
		base := merged.byName[name]
		base.Name = name
		merged.byName[name] = base.Over(p)
		for _, alias := range p.Aliases {
			if _, taken := merged.byName[alias]; !taken {
				merged.aliases[alias] = name
			}
		}
	}
	return merged
}

// Over returns p with the members that o sets replaced. A new command comes
// with its own arguments; environments are merged.
func (p Preset) Over(o Preset) Preset {
	set := func(to *string, from string) {
		if from != "" {
			*to = from
		}
	}
	if o.Command != "" || o.Self {
		p.Command, p.Self, p.Beside, p.Args, p.Prefer = o.Command, o.Self, o.Beside, nil, nil
	}
	if o.Args != nil {
		p.Args = o.Args
	}
	if o.Prefer != nil {
		p.Prefer = o.Prefer
	}
	if o.State != nil {
		p.State = o.State
	}
	p.Sandbox = cmp.Or(o.Sandbox, p.Sandbox)
	set(&p.Title, o.Title)
	set(&p.Cwd, o.Cwd)
	set(&p.Install, o.Install)
	set(&p.Auth, o.Auth)
	set(&p.Website, o.Website)
	p.Aliases = slices.Concat(p.Aliases, o.Aliases)
	p.PassEnv = slices.Concat(p.PassEnv, o.PassEnv)
	env := maps.Clone(p.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, o.Env)
	p.Env = env
	p.Quirks = p.Quirks.over(o.Quirks)
	return p
}

func (q Quirks) over(o Quirks) Quirks {
	return Quirks{
		MissingFileEmpty: cmp.Or(o.MissingFileEmpty, q.MissingFileEmpty),
		OneSession:       cmp.Or(o.OneSession, q.OneSession),
		IgnoresEOF:       cmp.Or(o.IgnoresEOF, q.IgnoresEOF),
		Elsewhere:        cmp.Or(o.Elsewhere, q.Elsewhere),
	}
}

// Program is the program to run: Command, or the running program for one with
// Self, or the path of the one beside it for one with Beside.
func (p Preset) Program() string {
	if !p.Self && !p.Beside {
		return p.Command
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	if p.Self {
		return self
	}
	if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), p.Command)); err == nil {
		return path
	}
	return p.Command
}

// Process returns the command that starts the agent.
func (p Preset) Process() launch.Command {
	c := launch.Command{Path: p.Program(), Args: p.Args, Dir: p.Cwd, PassEnv: p.PassEnv}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		c.Env = append(c.Env, name+"="+p.Env[name])
	}
	if ignores := p.Quirks.IgnoresEOF; ignores != nil && *ignores {
		c.EOFWait = shortWait
	}
	return c
}
