// Package files serves the files of a session to an agent: reading and writing
// text inside the session roots and nowhere else.
//
// Every access goes through directory handles (os.Root), never through a name
// that was checked before, so links that are swapped during a call lead
// nowhere. Files are replaced whole, by a temporary file and a rename: a reader
// sees the old content or the new one, whatever happens in between.
//
// It answers fs/read_text_file and fs/write_text_file of
// https://agentclientprotocol.com/protocol/file-system.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/special"
)

// DefaultMaxRead is the largest file that is read, in bytes, unless Options
// say otherwise.
const DefaultMaxRead = 64 << 20

const maxPath = 4096

// Options are settings of a Workspace. The zero value is the safe default.
type Options struct {
	// MaxRead is the largest file that may be read, in bytes; 0 means
	// DefaultMaxRead.
	MaxRead int64
	// AllowHardLinks permits files with more than one name. A write then
	// separates the name from the others, which keep their content.
	AllowHardLinks bool
	// KeepFormat makes a write keep the byte order mark and the line ends
	// (LF or CRLF) of the file it replaces. Files that are not UTF-8 text,
	// which cannot be read either, are then not replaced: ErrNotText.
	KeepFormat bool
	// Permit is called before a file is read or written: path is as the agent
	// wrote it, at is where it leads. An error refuses the access.
	Permit func(path string, at Location, write bool) error
}

// Workspace gives access to the files below the roots of one session: its
// working directory and its additional directories. It is safe for concurrent
// use; of two concurrent writes to one file, the later rename wins.
type Workspace struct {
	roots []*root
	opts  Options

	mu    sync.Mutex
	swept map[string]bool // directories whose leftover temporaries are gone

	fault func(step string) error // tests interrupt a write here
}

type root struct {
	dir    string // as configured, cleaned
	real   string // without links
	info   fs.FileInfo
	handle *os.Root
}

// Open opens the roots, which must be absolute paths of existing directories.
// The first root is the working directory.
func Open(roots []string, opts Options) (*Workspace, error) {
	if opts.MaxRead == 0 {
		opts.MaxRead = DefaultMaxRead
	}
	w := &Workspace{opts: opts, swept: make(map[string]bool)}
	if len(roots) == 0 {
		return nil, errors.New("open workspace: no session root")
	}
	for _, dir := range roots {
		r, err := openRoot(dir)
		if err != nil {
			w.Close()
			return nil, &Error{Op: "open session root", Path: dir, Err: atomicfile.Reason(err)}
		}
		w.roots = append(w.roots, r)
	}
	return w, nil
}

func openRoot(dir string) (*root, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("%w: it must be absolute", ErrPath)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	h, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	info, err := h.Stat(".")
	if err != nil {
		h.Close()
		return nil, err
	}
	return &root{dir: filepath.Clean(dir), real: real, info: info, handle: h}, nil
}

// Close closes the directory handles. Calls after it fail.
func (w *Workspace) Close() error {
	var errs []error
	for _, r := range w.roots {
		errs = append(errs, r.handle.Close())
	}
	return errors.Join(errs...)
}

// Roots returns the session roots as they were configured.
func (w *Workspace) Roots() []string {
	dirs := make([]string, len(w.roots))
	for i, r := range w.roots {
		dirs[i] = r.dir
	}
	return dirs
}

// Location is a path inside the session roots.
type Location struct {
	Root   string // the session root, as configured
	Name   string // relative to the root, links resolved; "." is the root
	Path   string // Root and Name joined
	Real   string // Path with the links of the root resolved too
	Exists bool

	repository bool // a file here would make its folder a git repository
}

// Protected returns a *ProtectedError when writing here needs the approval of
// the user or is denied, and nil otherwise. The names that lead to the root
// count as well, as they are configured and with links resolved.
func (l Location) Protected() error {
	var found *ProtectedError
	for _, path := range []string{l.Path, l.Real} {
		names, below := split(path), split(l.Name)
		f := special.Of(names, len(names)-len(below))
		if f.Use != "" && (found == nil || f.Internal) {
			found = &ProtectedError{Reason: f.Use, Denied: f.Internal}
		}
	}
	switch {
	case found != nil:
		found.Name = l.Name
		return found
	case l.repository:
		return &ProtectedError{Name: l.Name, Reason: "configuration of a git repository"}
	}
	return nil
}

// Resolve applies the rules of the workspace to the path of a file without
// touching the file, for an editor that serves the text of a buffer: roots,
// links, file type and hard links. The file need not exist.
func (w *Workspace) Resolve(path string) (loc Location, err error) {
	err = w.at("resolve", path, func(p *place) error {
		loc = p.location()
		if p.info == nil {
			return nil
		}
		return w.checkFile(p.info)
	})
	if err != nil {
		return Location{}, err
	}
	return loc, nil
}

// permit calls Options.Permit with a place, which cannot change meanwhile.
func (w *Workspace) permit(path string, p *place, write bool) error {
	if w.opts.Permit == nil {
		return nil
	}
	return w.opts.Permit(path, p.location(), write)
}

// ResolveDir is Resolve for a directory that must exist, such as the working
// directory of a command.
func (w *Workspace) ResolveDir(path string) (loc Location, err error) {
	err = w.at("resolve", path, func(p *place) error {
		loc = p.location()
		switch {
		case p.info == nil:
			return fs.ErrNotExist
		case !p.info.IsDir():
			return ErrNotDir
		}
		return nil
	})
	if err != nil {
		return Location{}, err
	}
	return loc, nil
}

// checkFile applies the rules that a file's status can answer.
func (w *Workspace) checkFile(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: it is a %s", ErrNotRegular, atomicfile.Kind(info.Mode()))
	}
	if n := linkCount(info); n > 1 && !w.opts.AllowHardLinks {
		return fmt.Errorf("%w (%d names)", ErrHardLink, n)
	}
	return nil
}

// checkPath refuses spellings that different readers understand differently.
func checkPath(path string) error {
	switch {
	case path == "":
		return fmt.Errorf("%w: it is empty", ErrPath)
	case len(path) > maxPath:
		return fmt.Errorf("%w: %d bytes, the limit is %d", ErrPath, len(path), maxPath)
	case !utf8.ValidString(path):
		return fmt.Errorf("%w: it is not UTF-8", ErrPath)
	case strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("%w: it contains a control character", ErrPath)
	case !filepath.IsAbs(path):
		return fmt.Errorf("%w: it must be absolute", ErrPath)
	}
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if name == ".." {
			return fmt.Errorf("%w: it contains a parent directory segment (..)", ErrPath)
		}
	}
	return nil
}
