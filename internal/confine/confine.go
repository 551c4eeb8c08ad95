// Package confine runs a program that can reach only some files and networks.
// It serves clients that start agents which they do not trust.
//
// It uses what Linux offers to any user: Landlock for files, TCP, signals and
// abstract sockets, and seccomp for what Landlock does not know. Root loses the
// capabilities that get around both. None of it can be undone, and every process
// that the program starts is bound as well. On other systems there is nothing of
// the kind, and Exec fails unless Rules.BestEffort is set.
//
// Some things stay possible: names, sizes and times of all files can be seen;
// the owner, mode and times of the user's files can be changed, but not what is
// in them; and a program that shares a terminal with others can write to it, but
// cannot type.
//
// Rules bind a whole process. So a client does not call Exec itself: it starts
// a launcher, which is usually its own program with a special argument, and the
// launcher calls Exec. Sandbox is what a user writes in a configuration, and its
// Box has the command line of the launcher.
package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/special"
)

// ErrUnsupported says that the system cannot confine a program as demanded.
var ErrUnsupported = errors.New("this system cannot confine programs so")

// Rules say what a confined program may do. The zero value lets it read all
// files but secrets, write to the temporary folder and to nothing else, and
// reach no network.
type Rules struct {
	// Write lists the files and folders that may be changed, and what is below
	// them. The temporary folder and the usual devices always may.
	Write []string `json:"write,omitempty"`
	// Read lists what may be read besides Write and the folders of the system.
	// Nil means everything but Hide.
	Read []string `json:"read,omitzero"`
	// Hide lists what may not be read although Read is nil. Nil means Secrets.
	// Paths that are also in Write may be read and changed.
	Hide []string `json:"hide,omitzero"`
	// Net is what may be reached.
	Net Net `json:"net,omitzero"`
	// Sockets allows Unix sockets. Behind them are programs that are not
	// confined, such as the one that runs containers or the one that has the
	// keys of ssh.
	Sockets bool `json:"sockets,omitempty"`
	// BestEffort runs the program although the system lacks a part of what is
	// demanded. Missing says which.
	BestEffort bool `json:"best_effort,omitempty"`
	// Exact says that Write and Read are complete and without links, as Box makes
	// them. Then nothing depends on the environment, which may be the program's
	// choice, and a folder that has become a link is refused.
	Exact bool `json:"exact,omitempty"`
	// Supervised says that a supervisor makes the calls that change files, and asks
	// MayWrite. The kernel then lets the program change nothing by itself.
	Supervised bool `json:"supervised,omitempty"`
}

// Net says which networks a program may reach. The zero value is none.
type Net struct {
	// All puts no bound on networks.
	All bool
	// Ports are the ports to which the program may open TCP connections. Port 53
	// also allows UDP, to any port: Linux cannot tell them apart.
	Ports []uint16
}

// MarshalJSON encodes n as true, false or a list of ports.
func (n Net) MarshalJSON() ([]byte, error) {
	if n.All || n.Ports == nil {
		return json.Marshal(n.All)
	}
	return json.Marshal(n.Ports)
}

// UnmarshalJSON decodes what MarshalJSON makes.
func (n *Net) UnmarshalJSON(b []byte) error {
	*n = Net{}
	switch string(b) {
	case "true":
		n.All = true
		return nil
	case "false", "null":
		return nil
	}
	if err := json.Unmarshal(b, &n.Ports); err != nil {
		return fmt.Errorf("net must be true, false or a list of ports, not %s", b)
	}
	return nil
}

// Secrets returns the files and folders that Rules hide by default.
func Secrets() []string { return special.Hidden(special.User(), os.Getenv) }

// Missing returns what this system lacks to keep the rules, one sentence each.
func (r Rules) Missing() []string { return missing(r) }

// Exec confines this process and replaces it by the program at path, which is
// not looked up; argv[0] is its name. It returns only if it fails: with an error
// that wraps ErrUnsupported, one that names a path of the rules, or the error of
// execve. The process may be confined by then, so end it.
func Exec(r Rules, path string, argv, env []string) error {
	runtime.LockOSThread() // seccomp binds the thread that calls it, and execve keeps only that one
	if err := Bind(r); err != nil {
		return err
	}
	return os.NewSyscallError("execve "+path, syscall.Exec(path, argv, env))
}

// Bind confines this process as Exec does, and replaces it by no other program. The
// caller has locked its thread, and makes the next execve on it.
func Bind(r Rules) error {
	r, err := r.resolved()
	if err != nil {
		return err
	}
	if lacks := missing(r); len(lacks) > 0 && !r.BestEffort {
		return fmt.Errorf("%w: %s", ErrUnsupported, strings.Join(lacks, "; "))
	}
	return bind(r)
}

// resolved returns the rules with absolute paths without links, since the rules
// apply to where a path leads.
func (r Rules) resolved() (Rules, error) {
	var err error
	if r.Exact {
		if err := unchanged(slices.Concat(r.Write, r.Read)); err != nil {
			return r, err
		}
	} else if r.Write, err = resolve(append([]string{os.TempDir()}, r.Write...)); err != nil {
		return r, fmt.Errorf("confine: %w", err)
	}
	if r.Read == nil {
		if r.Hide == nil {
			r.Hide = Secrets()
		}
		r.Hide = existing(r.Hide)
		return r, nil
	}
	if r.Exact {
		return r, nil
	}
	if r.Read, err = resolve(r.Read); err != nil {
		return r, fmt.Errorf("confine: %w", err)
	}
	return r, nil
}

// unchanged reports a path that does not lead to itself any more. One that is gone
// grants nothing.
func unchanged(paths []string) error {
	for _, p := range paths {
		if _, err := os.Lstat(p); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			return fmt.Errorf("confine: %w", err)
		} else if real != p {
			return fmt.Errorf("confine: %s has become a link to %s", p, real)
		}
	}
	return nil
}

func resolve(paths []string) ([]string, error) {
	list := []string{}
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err == nil {
			abs, err = filepath.EvalSymlinks(abs)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, abs)
	}
	return list, nil
}

// existing resolves the paths that exist, and keeps their own names, too: a link
// to a secret is not one to follow either.
func existing(paths []string) []string {
	var list []string
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			continue
		}
		list = append(list, abs)
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			list = append(list, real)
		}
	}
	return list
}

// visible lists files and folders that together hold everything below root but
// what is hidden. Links are left out: where they lead is listed by itself, or
// hidden.
func visible(root string, hidden []string) []string {
	if slices.ContainsFunc(hidden, func(h string) bool { return pathname.Within(h, root) }) {
		return nil
	}
	if !slices.ContainsFunc(hidden, func(h string) bool { return pathname.Within(root, h) }) {
		return []string{root}
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil // what cannot be listed cannot be granted
	}
	var list []string
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			list = append(list, visible(filepath.Join(root, e.Name()), hidden)...)
		}
	}
	return list
}
