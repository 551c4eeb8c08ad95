// Package committed reads what the last commit of a git repository holds. Git itself
// never runs, because the settings of a repository can run programs. So only objects
// that have a file of their own are read, as the objects of a commit have until git
// packs them. The contents of other objects are not known.
package committed

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/gitdir"
)

// maxObject is the largest object that is read, in bytes.
const maxObject = 16 << 20

// ErrUnknown says that it is not known what a commit holds.
var ErrUnknown = errors.New("it is not known what the commit holds")

// Repository is where the work tree of a folder has its commits.
type Repository struct {
	own    string // HEAD is there
	common string // and the objects there
}

// Open finds the repository whose work tree a folder is. It reports false if the folder
// is none.
func Open(folder string) (Repository, bool) {
	if !gitdir.IsIn(folder) {
		return Repository{}, false
	}
	own, common := gitdir.Of(folder, read)
	return Repository{own, common}, true
}

// Log is the file that git writes to whenever HEAD moves.
func (r Repository) Log() string { return filepath.Join(r.own, "logs", "HEAD") }

// Head returns the name of the last commit, empty if there is none or it cannot be read.
func (r Repository) Head() string {
	head := strings.TrimSpace(read(filepath.Join(r.own, "HEAD")))
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return name(head)
	}
	if !filepath.IsLocal(ref) {
		return ""
	}
	if id := name(strings.TrimSpace(read(filepath.Join(r.common, filepath.FromSlash(ref))))); id != "" {
		return id
	}
	for line := range strings.Lines(read(filepath.Join(r.common, "packed-refs"))) {
		if id, of, _ := strings.Cut(strings.TrimSpace(line), " "); of == ref {
			return name(id)
		}
	}
	return ""
}

// name returns the name of an object if a text is one: SHA-1 or SHA-256.
func name(text string) string {
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != 20 && len(raw) != 32 {
		return ""
	}
	return text
}

// File returns the text that a commit has at a path with slashes. exists is false if it
// has none. If it is not a file or not known, the error is ErrUnknown.
func (r Repository) File(commit, path string) (text string, exists bool, err error) {
	data, err := r.object(commit, "commit")
	if err != nil {
		return "", false, err
	}
	line, _, _ := strings.Cut(data, "\n")
	id, ok := strings.CutPrefix(line, "tree ")
	if !ok || name(id) == "" {
		return "", false, ErrUnknown
	}
	names := strings.Split(path, "/")
	for i, part := range names {
		tree, err := r.object(id, "tree")
		if err != nil {
			return "", false, err
		}
		mode, to, found := entry(tree, part, len(id)/2)
		last := i == len(names)-1
		switch {
		case !found:
			return "", false, nil
		case !last && mode == "40000":
		case last && (mode == "100644" || mode == "100755"):
		default:
			return "", false, ErrUnknown
		}
		id = to
	}
	text, err = r.object(id, "blob")
	return text, err == nil, err
}

// entry finds a name in a tree, whose entries are "mode name", a NUL, and the bytes of
// the name of an object.
func entry(tree, want string, size int) (mode, id string, found bool) {
	for tree != "" {
		head, rest, ok := strings.Cut(tree, "\x00")
		if !ok || len(rest) < size {
			return "", "", false
		}
		mode, name, _ := strings.Cut(head, " ")
		if name == want {
			return mode, hex.EncodeToString([]byte(rest[:size])), true
		}
		tree = rest[size:]
	}
	return "", "", false
}

// object reads an object of a kind that has a file of its own.
func (r Repository) object(id, kind string) (string, error) {
	packed, err := readAll(filepath.Join(r.common, "objects", id[:2], id[2:]))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	data, err := io.ReadAll(io.LimitReader(z, maxObject+1))
	head, rest, ok := strings.Cut(string(data), "\x00")
	if err != nil || !ok || len(data) > maxObject || head != fmt.Sprintf("%s %d", kind, len(rest)) {
		return "", fmt.Errorf("%w: object %s", ErrUnknown, id)
	}
	return rest, nil
}

func read(path string) string {
	data, _ := readAll(path)
	return string(data)
}

func readAll(path string) ([]byte, error) {
	f, _, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxObject))
}
