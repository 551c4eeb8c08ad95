package preset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/lazyregexp"
	"github.com/hermes-nvim/hermes/internal/process"
)

// Box prepares the sandbox of the agent and its commands, nil when it has none.
// The agent may change the folders in which it works, which must be absolute, and
// its State. launcher is as for confine.Sandbox.Box, and env is the environment of
// the agent.
func (p Preset) Box(launcher, env []string, folders ...string) (*confine.Box, error) {
	if !p.Sandbox.On() {
		return nil, nil
	}
	if p.Sandbox.Rules != nil {
		state, err := p.state(env)
		if err != nil {
			return nil, fmt.Errorf("sandbox: %w", err)
		}
		folders = append(state, folders...)
	}
	return p.Sandbox.Box(launcher, env, folders...)
}

var known = sync.OnceValue(Builtin)

// moved matches the beginning of a path of State that a variable moves.
var moved = lazyregexp.New(`^\$\{(\w+):-([^}]*)\}`)

// state returns the paths of State, without those that do not exist and cannot be made.
// If State is nil, the preset for the same program supplies it.
func (p Preset) state(env []string) ([]string, error) {
	list := p.State
	if list == nil {
		list = stateOf(strings.TrimSuffix(filepath.Base(p.Program()), ".exe"))
	}
	var found []string
	for _, path := range list {
		path = expand(path, env)
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("state %q: not an absolute path", path)
		}
		if made, err := provide(path); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		} else if made {
			found = append(found, path)
		}
	}
	return found, nil
}

// stateOf returns the State of the preset that starts a program, or else of the one
// that goes by its name: the program of an agent in a terminal often differs from the
// one that speaks the protocol.
func stateOf(program string) []string {
	for _, p := range known().byName {
		if p.Command == program {
			return p.State
		}
	}
	p, err := known().Find(program)
	if err != nil {
		return nil
	}
	return p.State
}

// provide reports whether there is something at the path, maybe because it made it.
func provide(path string) (bool, error) {
	if strings.HasSuffix(path, "/") {
		return true, os.MkdirAll(path, 0o700)
	}
	if strings.HasSuffix(path, ".json") {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return true, nil
		} else if err != nil {
			return false, err
		}
		_, err = f.WriteString("{}\n")
		return true, errors.Join(err, f.Close())
	}
	_, err := os.Stat(path)
	return err == nil, nil
}

// expand replaces what a path of State may begin with.
func expand(path string, env []string) string {
	if m := moved().FindStringSubmatch(path); m != nil {
		start := process.Lookup(env, m[1])
		if start == "" {
			start = m[2]
		}
		path = start + path[len(m[0]):]
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = process.Lookup(env, "HOME") + "/" + rest
	}
	return path
}
