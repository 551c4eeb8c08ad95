// Package search finds lines and files in a folder. It leaves out what git ignores, and
// binary files. It sees what is on the disk.
package search

import (
	"bytes"
	"context"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/tree"
)

// The bounds of a search.
const (
	maxFile = 8 << 20 // bytes of a file that is searched
	maxLine = 300     // bytes of a line that are shown
)

// Query says where to look.
type Query struct {
	Root string // the absolute path of a folder or of a file, without links
	Name Glob   // of the files
	// Hides reports whether the lines of a file are left out; nil: of none. Its path is as
	// in Match.
	Hides func(path string) bool
}

// Match is a line that matches.
type Match struct {
	Path string // below the root, with slashes; empty if the root is the file
	Line int
	Text string
}

// Files yields the paths of the files below the root, with slashes, sorted. Folders that
// cannot be read are left out.
func (q Query) Files(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ignored := tree.NewMatcher(q.Root, nil, time.Time{})
		err := filepath.WalkDir(q.Root, func(at string, entry fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil && at == q.Root {
				return err
			}
			path := q.below(at)
			switch {
			case err != nil:
				return fs.SkipDir
			case entry.IsDir():
				if path != "" && ignored.Ignores(path+"/") {
					return fs.SkipDir
				}
			case entry.Type().IsRegular() && !ignored.Ignores(path) && q.wants(path) && !yield(path, nil):
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield("", err)
		}
	}
}

// Lines yields the lines that match, in the order of Files. It uses ripgrep if that is
// installed, which is faster.
func (q Query) Lines(ctx context.Context, pattern *regexp.Regexp) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		if program, err := exec.LookPath("rg"); err == nil && q.ripgrep(ctx, program, pattern, yield) {
			return
		}
		q.plain(ctx, pattern, yield)
	}
}

// plain is Lines without another program.
func (q Query) plain(ctx context.Context, pattern *regexp.Regexp, yield func(Match, error) bool) {
	prefix, _ := pattern.LiteralPrefix()
	for path, err := range q.Files(ctx) {
		if err != nil {
			yield(Match{}, err)
			return
		}
		text := readText(filepath.Join(q.Root, filepath.FromSlash(path)))
		if !bytes.Contains(text, []byte(prefix)) {
			continue
		}
		number := 0
		for line := range bytes.Lines(text) {
			number++
			if line = bytes.TrimRight(line, "\r\n"); !pattern.Match(line) {
				continue
			}
			if q.hides(path) {
				break
			}
			if !yield(Match{path, number, shorten(line)}, nil) {
				return
			}
		}
	}
}

// readText returns the content of a file, or nothing if it is large, binary or unreadable.
func readText(name string) []byte {
	if info, err := os.Stat(name); err != nil || info.Size() > maxFile {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	return text
}

func shorten(line []byte) string {
	if len(line) > maxLine {
		return strings.ToValidUTF8(string(line[:maxLine]), "") + "…"
	}
	return strings.ToValidUTF8(string(line), "\uFFFD")
}

// below is the path of a file below the root.
func (q Query) below(at string) string {
	relative, err := filepath.Rel(q.Root, at)
	if err != nil || relative == "." {
		return ""
	}
	return filepath.ToSlash(relative)
}

func (q Query) hides(path string) bool { return q.Hides != nil && q.Hides(path) }

func (q Query) wants(path string) bool {
	if path == "" {
		path = filepath.Base(q.Root)
	}
	return q.Name.matches(path)
}
