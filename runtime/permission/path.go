package permission

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/pathname"
)

// maxPaths bounds the paths of a request that are checked.
const maxPaths = 256

// subject is a request with what the file system says about its paths.
type subject struct {
	*Request
	places []place
	roots  []string // links resolved
}

// place is a path of a request. If it is not known, it may lead anywhere.
type place struct {
	name  string // as in the request, cleaned
	real  string // links resolved
	known bool
	file  bool // a regular file, with nothing below it
}

func inspect(q *Request) *subject {
	s := &subject{Request: q}
	if q.Truncated {
		q.morePaths, q.moreCommand = true, true
	}
	for _, p := range q.Paths[:min(len(q.Paths), maxPaths)] {
		s.places = append(s.places, locate(p))
	}
	for _, p := range q.Paths[len(s.places):] {
		s.places = append(s.places, place{name: filepath.Clean(p)})
	}
	for _, root := range q.Roots {
		if p := locate(root); p.known {
			s.roots = append(s.roots, p.real)
		}
	}
	return s
}

// locate finds out where a path leads. The part that does not exist yet stays as
// it is.
func locate(name string) place {
	p := place{name: filepath.Clean(name)}
	if !filepath.IsAbs(name) || slices.Contains(names(name), "..") || strings.HasPrefix(filepath.VolumeName(name), `\\`) {
		return p // relative to an unknown folder, or on another machine
	}
	if isOfProcess(p.name) {
		return p
	}
	real, rest := pathname.Existing(p.name)
	if rest != "" {
		first, _, _ := strings.Cut(rest, string(filepath.Separator))
		for _, missing := range []string{filepath.Join(real, first), p.name} {
			if _, err := os.Lstat(missing); !errors.Is(err, fs.ErrNotExist) {
				return p // such as a link that leads nowhere
			}
		}
	}
	p.real, p.known = filepath.Join(real, rest), true
	info, err := os.Stat(p.real)
	p.file = err == nil && info.Mode().IsRegular()
	return p
}

// maxLinks bounds the links on the way to a file, as systems do.
const maxLinks = 40

// isOfProcess reports whether the way to a file is through /proc. There, a name such
// as /proc/self/cwd leads each process to another file.
func isOfProcess(path string) bool {
	rest, at := strings.Split(strings.TrimPrefix(path, "/"), "/"), "/"
	for links := 0; len(rest) > 0 && links < maxLinks; {
		next := filepath.Join(at, rest[0])
		if rest = rest[1:]; next == "/proc" {
			return true
		}
		to, err := os.Readlink(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG):
			return false // there is nothing below it
		case err != nil:
			at = next
		case filepath.IsAbs(to):
			links, at = links+1, "/"
			rest = append(strings.Split(strings.Trim(to, "/"), "/"), rest...)
		default:
			links++
			rest = append(strings.Split(to, "/"), rest...)
		}
	}
	return len(rest) > 0 // nobody knows where so many links lead
}

func names(p string) []string { return strings.Split(filepath.ToSlash(p), "/") }

// allowsPaths requires that every path is known and that its target matches.
func (r *Rule) allowsPaths(s *subject) bool {
	if r.Path == "" {
		return true
	}
	pattern := led(r.Path)
	return len(s.places) > 0 && !s.morePaths && !slices.ContainsFunc(s.places, func(p place) bool {
		return !p.known || !matchPath(pattern, p.real)
	})
}

// deniesPath compares the rule's path with every path of the request, both as
// written and with links resolved.
func (r *Rule) deniesPath(s *subject) match {
	if r.Path == "" {
		return yes
	}
	patterns := []string{strings.ToLower(r.Path), strings.ToLower(led(r.Path))}
	matches := func(match func(pattern, p string) bool, p string) bool {
		p = strings.ToLower(p)
		return p != "" && (match(patterns[0], p) || match(patterns[1], p))
	}
	deep := s.below || s.Kind == acp.ToolKindSearch || s.Kind == acp.ToolKindDelete || s.Kind == acp.ToolKindMove
	doubt := s.morePaths || len(s.places) == 0 && (touches(s.Kind) || s.below)
	for _, p := range s.places {
		if matches(matchPath, p.name) || matches(matchPath, p.real) {
			return yes
		}
		doubt = doubt || !p.known || deep && !p.file && (matches(above, p.name) || matches(above, p.real))
	}
	switch {
	case doubt, slices.ContainsFunc(s.names, func(name string) bool { return matches(matchPath, filepath.Clean(name)) }):
		return maybe
	case !s.runs():
		return no
	case !s.clear() || s.mayName(patterns):
		return maybe
	}
	return unseen
}

// unnamed reports whether the request is about a change of files that it does not
// name.
func (s *subject) unnamed() bool {
	k := s.Kind
	return len(s.places) == 0 && !s.runs() && (k == acp.ToolKindEdit || k == acp.ToolKindDelete || k == acp.ToolKindMove)
}

// touches reports whether requests of a kind may touch files that they do not
// name.
func touches(k acp.ToolKind) bool {
	switch k {
	case acp.ToolKindThink, acp.ToolKindFetch, acp.ToolKindSwitchMode, acp.ToolKindExecute:
		return false
	}
	return true
}

// Longer words, or more text in total, may name anything.
const (
	maxWord  = 256
	maxWords = 16 << 10
)

// mayName reports whether a word of the command, or the end of a word such as
// --file=name, could name a file that matches the patterns. Patterns are in lower
// case.
func (s *subject) mayName(patterns []string) bool {
	bases := s.roots
	if s.Dir != "" {
		bases = []string{locate(s.Dir).real}
	}
	total := 0
	for _, word := range s.Command {
		if total += len(word); len(word) > maxWord || total > maxWords {
			return true
		}
		var candidates []string
		for _, base := range bases {
			for _, tail := range []string{word, word[strings.LastIndexByte(word, '=')+1:]} {
				candidates = append(candidates, filepath.Join(base, tail), locate(filepath.Join(base, tail)).real)
			}
		}
		for i := range word {
			candidates = append(candidates, filepath.Clean(word[i:]))
		}
		for _, pattern := range patterns {
			if slices.ContainsFunc(candidates, func(c string) bool { return c != "" && matchPath(pattern, strings.ToLower(c)) }) ||
				len(bases) == 0 && endsIn(pattern, strings.ToLower(filepath.Clean(word))) {
				return true
			}
		}
	}
	return false
}

// endsIn reports whether a relative path could match the pattern in some folder.
func endsIn(pattern, p string) bool {
	patterns := names(pattern)
	for i, n := range patterns {
		if n != "**" && matchNames(patterns[i:], names(p)) {
			return true
		}
	}
	return false
}

// patternFault says what is wrong with a pattern, nothing for a good one.
func patternFault(pattern string) string {
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Sprintf("path pattern %q: %v", pattern, err)
	}
	for _, n := range strings.Split(pattern, "/") {
		if n != "**" && strings.Contains(n, "**") {
			return fmt.Sprintf("path pattern %q: ** must stand alone between slashes", pattern)
		}
	}
	return ""
}

// led returns the pattern with the links in its fixed part resolved, because
// users write a folder as they know it.
func led(pattern string) string {
	if !strings.HasPrefix(pattern, "/") {
		return pattern
	}
	var fixed []string
	rest := strings.Split(pattern[1:], "/")
	for len(rest) > 0 {
		name, ok := literal(rest[0])
		if !ok {
			break
		}
		fixed, rest = append(fixed, name), rest[1:]
	}
	folder := locate("/" + strings.Join(fixed, "/"))
	if !folder.known {
		return pattern
	}
	return strings.TrimSuffix(strings.Join(append([]string{strings.TrimSuffix(escape(folder.real), "/")}, rest...), "/"), "/")
}

// literal returns the only name that a part of a pattern matches; false if it
// matches several.
func literal(pattern string) (string, bool) {
	var name strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			i++
		}
		if i < len(pattern) {
			name.WriteByte(pattern[i])
		}
	}
	return name.String(), true
}

// above reports whether something below p could match the pattern.
func above(pattern, p string) bool {
	rest, ok := strings.CutPrefix(pattern, "/")
	if !ok {
		return true
	}
	patterns := strings.Split(rest, "/")
	for i, name := range strings.FieldsFunc(filepath.ToSlash(p), func(r rune) bool { return r == '/' }) {
		if i == len(patterns) {
			return false
		}
		if patterns[i] == "**" {
			return true
		}
		if ok, _ := path.Match(patterns[i], name); !ok {
			return false
		}
	}
	return true
}

func matchPath(pattern, p string) bool {
	names := strings.Split(strings.TrimPrefix(filepath.ToSlash(p), "/"), "/")
	if rest, ok := strings.CutPrefix(pattern, "/"); ok {
		pattern = rest
	} else {
		pattern = "**/" + pattern
	}
	return matchNames(strings.Split(pattern, "/"), names)
}

// matchNames takes at most one step for each name, because it only needs to
// return to the last ** that it passed.
func matchNames(patterns, names []string) bool {
	p, n := 0, 0
	starP, starN := -1, 0
	for n < len(names) {
		switch {
		case p < len(patterns) && patterns[p] == "**":
			starP, starN = p, n
			p++
			continue
		case p < len(patterns):
			if ok, _ := path.Match(patterns[p], names[n]); ok {
				p, n = p+1, n+1
				continue
			}
		}
		if starP < 0 {
			return false
		}
		starN++
		p, n = starP+1, starN
	}
	for p < len(patterns) && patterns[p] == "**" {
		p++
	}
	return p == len(patterns)
}
