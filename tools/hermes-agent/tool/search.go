package tool

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/search"
)

// The bounds of a search.
const (
	searchLimit = 100      // lines or files, if the model does not say
	searchBytes = 32 << 10 // of the result
	searchTime  = 30 * time.Second
)

// Search finds lines and files.
func Search() *Tool {
	return &Tool{
		Name: "search", Toolset: "search", Kind: acp.ToolKindSearch, Reads: true,
		Description: "Find lines by a regular expression in files that git does not ignore. Without a pattern, list files.",
		Schema: []byte(`{"type":"object","properties":{"pattern":{"type":"string"},` +
			`"path":{"type":"string","description":"a folder or a file"},` +
			`"glob":{"type":"string","description":"of file names, such as *.go or src/**/*.ts"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":1000}},"additionalProperties":false}`),
		Title: func(c *Call) string {
			var args struct{ Pattern, Path, Glob string }
			c.Decode(&args)
			what := "Search " + args.Pattern
			if args.Pattern == "" {
				what = "List files"
			}
			return strings.Join(strings.Fields(what+" "+args.Glob+" "+args.Path), " ")
		},
		Run: runSearch,
	}
}

func runSearch(ctx context.Context, c *Call) (string, error) {
	var args struct {
		Pattern, Path, Glob string
		Limit               int
	}
	if err := c.Decode(&args); err != nil {
		return "", err
	}
	pattern, err := regexp.Compile(args.Pattern)
	if err != nil {
		return "", fmt.Errorf("the pattern is not valid: %w", err)
	}
	name, err := search.NewGlob(args.Glob)
	if err != nil {
		return "", err
	}
	root, err := c.inside(c.path(args.Path))
	if err != nil {
		return "", fmt.Errorf("search %s: %w", args.Path, err)
	}
	if err := c.mayRead(ctx, root); err != nil {
		return "", err
	}
	if args.Limit == 0 {
		args.Limit = searchLimit
	}
	ctx, stop := context.WithTimeoutCause(ctx, searchTime, fmt.Errorf("the search took more than %s; search a smaller folder", searchTime))
	defer stop()
	found := &findings{limit: args.Limit}
	query := search.Query{Root: root, Name: name}
	if !c.Gate.Hides(root) {
		query.Hides = func(file string) bool {
			hidden := c.Gate.Hides(filepath.Join(root, filepath.FromSlash(file)))
			found.hidden = found.hidden || hidden
			return hidden
		}
	}
	if args.Pattern == "" {
		for file, fault := range query.Files(ctx) {
			if err = fault; err != nil || !found.add(path.Join(args.Path, file)) {
				break
			}
		}
	} else {
		for m, fault := range query.Lines(ctx, pattern) {
			if err = fault; err != nil || !found.line(path.Join(args.Path, m.Path), m) {
				break
			}
		}
	}
	if err != nil && (found.count == 0 || !errors.Is(err, context.Cause(ctx))) {
		return "", fmt.Errorf("search: %w", err)
	}
	return found.text(err), nil
}

// findings is what the model gets of a search.
type findings struct {
	limit int
	file  string // of the last line
	count int
	more  bool
	// hidden says that the lines of some files were left out.
	hidden bool
	b      strings.Builder
}

// line adds a line below the name of its file. It reports whether there is room for more.
func (f *findings) line(file string, m search.Match) bool {
	text := fmt.Sprintf("%d: %s", m.Line, m.Text)
	if file != f.file && f.room() {
		if f.file != "" {
			f.b.WriteByte('\n')
		}
		f.file = file
		text = file + "\n" + text
	}
	return f.add(text)
}

func (f *findings) add(text string) bool {
	if !f.room() {
		f.more = true
		return false
	}
	f.count++
	f.b.WriteString(text + "\n")
	return true
}

func (f *findings) room() bool { return f.count < f.limit && f.b.Len() < searchBytes }

// text says what was found, and if that is not all, why.
func (f *findings) text(err error) string {
	switch {
	case err != nil:
		fmt.Fprintf(&f.b, "[there may be more: %v]", err)
	case f.more:
		fmt.Fprintf(&f.b, "[there is more: these are the first %d; narrow the pattern, the path or the glob]", f.count)
	case f.count == 0 && !f.hidden:
		return "[nothing found]"
	}
	if f.hidden {
		fmt.Fprintf(&f.b, "\n[files that may hold secrets, such as .env, were not searched]")
	}
	return strings.Trim(f.b.String(), "\n")
}
