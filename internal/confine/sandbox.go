package confine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/process"
)

// Sandbox is how a configuration asks to confine an agent. In JSON it is false,
// true, an object of Rules, or a list: a command that runs the one that follows
// it, such as bwrap with its arguments. The networks of an object are on unless
// it says otherwise, because agents reach their models there. The zero value
// confines nothing.
type Sandbox struct {
	Rules   *Rules
	Wrapper []string
}

// UnmarshalJSON decodes the forms above. Unknown members of an object are
// refused, because a misspelt one would confine less than was meant.
func (s *Sandbox) UnmarshalJSON(b []byte) error {
	*s = Sandbox{}
	r := Rules{Net: Net{All: true}}
	switch text := string(b); {
	case text == "false", text == "null":
	case text == "true":
		s.Rules = &r
	case text[0] == '{':
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
		s.Rules = &r
	case text[0] == '[' && json.Unmarshal(b, &s.Wrapper) == nil && len(s.Wrapper) > 0:
	default:
		return fmt.Errorf("sandbox must be true, false, an object of rules or a list with a command, not %s", b)
	}
	return nil
}

// On reports whether the sandbox confines anything.
func (s *Sandbox) On() bool { return s != nil && (s.Rules != nil || s.Wrapper != nil) }

// Box is a sandbox that is ready for a program and everything that is started for
// it. A nil Box confines nothing.
type Box struct {
	wrapper []string
	// Rules hold inside, nil for a command of the user, which has its own.
	Rules *Rules
	// Missing is what this system lacks to keep the rules, one sentence each. It
	// is empty unless the rules have BestEffort.
	Missing []string
}

// Wrapper returns the words to put before a command line.
func (b *Box) Wrapper() []string {
	if b == nil {
		return nil
	}
	return b.wrapper
}

// Box prepares a sandbox, nil for one that is off. The program may also change
// the folders and files of more. env is its environment, which names its temporary
// folder. launcher is the command line of a program that takes the flag --rules
// and a command after --, as hermes confine does; without one there are no rules.
//
// Everything is looked up here, once: the program may change its environment, and
// make links in its folders, before it starts others in the same Box.
func (s *Sandbox) Box(launcher, env []string, more ...string) (*Box, error) {
	switch {
	case !s.On():
		return nil, nil
	case s.Rules == nil && runtime.GOOS == "windows":
		return nil, fmt.Errorf("sandbox: %w: no command can confine others on Windows", ErrUnsupported)
	case s.Rules == nil:
		path, err := exec.LookPath(s.Wrapper[0])
		if err != nil {
			return nil, fmt.Errorf("sandbox: %w", err)
		}
		return &Box{wrapper: append([]string{path}, s.Wrapper[1:]...)}, nil
	}
	r, err := s.Rules.exact(cmp.Or(process.Lookup(env, "TMPDIR"), os.TempDir()), more)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	b := &Box{Rules: &r, Missing: missing(r)}
	switch {
	case len(b.Missing) > 0 && !r.BestEffort:
		return nil, fmt.Errorf("sandbox: %w: %s; best_effort accepts that", ErrUnsupported, strings.Join(b.Missing, "; "))
	case runtime.GOOS != "linux" || len(launcher) == 0:
		return b, nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	b.wrapper = append(slices.Clone(launcher), "--rules", string(text), "--")
	return b, nil
}

// Covers reports whether a program in the box may change what is in a folder, as
// far as is known. A folder that does not exist is somebody else's mistake.
func (b *Box) Covers(folder string) bool {
	if b == nil || b.Rules == nil {
		return true
	}
	real, err := filepath.EvalSymlinks(folder)
	return err != nil || b.Rules.MayWrite(real)
}

// MayWrite reports whether the rules, as a Box has them, let a program change a file or
// what is in a folder. Devices are not counted.
func (r Rules) MayWrite(p string) bool {
	return slices.ContainsFunc(r.Write, func(w string) bool { return pathname.Within(w, p) })
}

// exact returns the rules with everything they stand for.
func (r Rules) exact(temp string, more []string) (Rules, error) {
	r.Exact = true
	own, err := named("write", r.Write)
	if err != nil {
		return r, err
	}
	granted, err := resolve(slices.Concat(more, own, []string{temp}))
	if err != nil {
		return r, err
	}
	r.Write = outermost(slices.Clone(granted))
	if r.Read != nil {
		if r.Read, err = named("read", r.Read); err == nil {
			r.Read, err = resolve(r.Read)
		}
		if err != nil {
			return r, err
		}
		r.Read = slices.DeleteFunc(r.Read, r.MayWrite)
	}
	if r.Hide == nil {
		r.Hide = Secrets()
	} else if r.Hide, err = named("hide", r.Hide); err != nil {
		return r, err
	}
	// What is named is not hidden, such as the state of the agent itself.
	r.Hide = slices.DeleteFunc(r.Hide, func(h string) bool {
		real, err := filepath.EvalSymlinks(h)
		return err == nil && slices.Contains(granted, real)
	})
	return r, r.keeps()
}

// named returns the paths that a member of the rules lists, with the home folder
// in place of ~.
func named(member string, paths []string) ([]string, error) {
	list := []string{}
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '/') {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", member, p, err)
			}
			p = home + rest
		}
		if !filepath.IsAbs(p) {
			return nil, fmt.Errorf("%s %q: not an absolute path", member, p)
		}
		list = append(list, filepath.Clean(p))
	}
	return list, nil
}

// outermost returns the paths that are not inside of others. A program cannot
// replace any of them, since it cannot change what is around them.
func outermost(paths []string) []string {
	slices.Sort(paths)
	var list []string
	for _, p := range slices.Compact(paths) {
		if !slices.ContainsFunc(list, func(dir string) bool { return pathname.Within(dir, p) }) {
			list = append(list, p)
		}
	}
	return list
}

// keeps reports what is to be hidden although it is inside of a folder that may be
// changed: Linux grants folders as a whole.
func (r Rules) keeps() error {
	for _, h := range existing(r.Hide) {
		if _, err := os.Lstat(h); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, w := range r.Write {
			if _, inside := pathname.Below(w, h); inside {
				return fmt.Errorf("%s cannot be hidden inside of %s, which may be changed; choose a folder below it, or list in hide what is to be hidden", h, w)
			}
		}
	}
	return nil
}
