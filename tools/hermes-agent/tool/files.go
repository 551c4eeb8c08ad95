package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
)

// The bounds of one read.
const (
	maxLines = 2000
	maxBytes = 50 << 10
)

// Read shows a file to the model.
func Read() *Tool {
	return &Tool{
		Name: "read", Toolset: "core", Kind: acp.ToolKindRead, Reads: true,
		Description: "Read a text file, with unsaved changes of the editor, or a picture.",
		Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},` +
			`"offset":{"type":"integer","minimum":1,"description":"first line"},` +
			`"limit":{"type":"integer","minimum":1,"description":"number of lines"}},` +
			`"required":["path"],"additionalProperties":false}`),
		Title: pathTitle("Read"),
		Run:   runRead,
	}
}

func runRead(ctx context.Context, c *Call) (string, error) {
	var args struct {
		Path          string
		Offset, Limit int
	}
	if err := c.Decode(&args); err != nil {
		return "", err
	}
	path := c.path(args.Path)
	if kind := pictures[strings.ToLower(filepath.Ext(path))]; kind != "" {
		return c.readPicture(ctx, path, kind)
	}
	text, err := c.show(ctx, path)
	if err != nil {
		return "", err
	}
	if text == "" {
		return "[the file is empty]", nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	first := max(args.Offset, 1)
	if first > len(lines) {
		return "", fmt.Errorf("%s has only %d lines", path, len(lines))
	}
	most := maxLines
	if args.Limit > 0 {
		most = min(most, args.Limit)
	}
	var shown strings.Builder
	last := first - 1
	for _, line := range lines[first-1:] {
		if last-first+1 == most || shown.Len() > 0 && shown.Len()+len(line) > maxBytes {
			break
		}
		shown.WriteString(line)
		last++
	}
	if first > 1 || last < len(lines) {
		fmt.Fprintf(&shown, "\n[lines %d to %d of %d]", first, last, len(lines))
	}
	return shown.String(), nil
}

// Write makes a file or replaces it.
func Write() *Tool {
	return &Tool{
		Name: "write", Toolset: "core", Kind: acp.ToolKindEdit, Asks: true,
		Description: "Write a whole text file. Use edit to change a part of one.",
		Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},` +
			`"required":["path","content"],"additionalProperties":false}`),
		Title: pathTitle("Write"),
		Run: func(ctx context.Context, c *Call) (string, error) {
			var args struct{ Path, Content string }
			if err := c.Decode(&args); err != nil {
				return "", err
			}
			path := c.path(args.Path)
			old, err := c.read(ctx, path)
			missing := c.isMissing(path, err)
			if err != nil && !missing {
				return "", err
			}
			content := args.Content
			if !missing {
				content = files.Fit(content, old)
			}
			if err := c.write(ctx, path, old, content, missing); err != nil {
				return "", err
			}
			done := fmt.Sprintf("wrote %s to %s", count(len(content), "byte"), path)
			if content != args.Content {
				done += ", with the line endings that the file had"
			}
			return done, nil
		},
	}
}

// pathTitle names the file of a call.
func pathTitle(verb string) func(*Call) string {
	return func(c *Call) string {
		var args struct{ Path string }
		c.Decode(&args)
		return verb + " " + args.Path
	}
}

// path makes a path absolute, as the protocol wants it.
func (c *Call) path(path string) string {
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, "~/") {
		return filepath.Join(home, path[2:])
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.Cwd, path)
}

// show reads a file for the model, which may be a secret.
func (c *Call) show(ctx context.Context, path string) (string, error) {
	if err := c.mayRead(ctx, path); err != nil {
		return "", err
	}
	return c.read(ctx, path)
}

func (c *Call) mayRead(ctx context.Context, path string) error {
	if !c.Gate.Hides(path) {
		return nil
	}
	question := c.Shown.AsUpdate()
	question.Locations = []acp.ToolCallLocation{{Path: path}}
	question.RawInput, _ = json.Marshal(map[string]string{"path": path})
	if err := c.Gate.Read(ctx, question, path); err != nil {
		return err
	}
	c.Begin()
	return nil
}

func (c *Call) read(ctx context.Context, path string) (string, error) {
	c.locate(path)
	answer, err := c.Files.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: c.Session, Path: path})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return answer.Content, nil
}

// locate shows which file the call is about.
func (c *Call) locate(path string) {
	c.Update(func(u *acp.ToolCallUpdate) { u.Locations = []acp.ToolCallLocation{{Path: path}} })
}

// write shows a change as a diff, asks for permission and has the client make it.
func (c *Call) write(ctx context.Context, path, old, content string, missing bool) error {
	diff := acp.NewDiff(path, content)
	if !missing {
		diff.OldText = acp.Some(old)
	}
	changes := []acp.ToolCallContent{diff}
	c.Update(func(u *acp.ToolCallUpdate) { u.Content = changes })
	question := c.Shown.AsUpdate()
	question.Content, question.Locations = changes, []acp.ToolCallLocation{{Path: path}}
	question.RawInput, _ = json.Marshal(map[string]string{"path": path}) // models write relative ones, which no rule of a client allows
	if err := c.Gate.Edit(ctx, question, path); err != nil {
		return err
	}
	c.Begin()
	_, err := c.Files.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: c.Session, Path: path, Content: content})
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// noFile is how clients say in words that there is no file.
var noFile = regexp.MustCompile(`(?i)\bENOENT\b|no such file|not found|does not exist|cannot find the (file|path)`)

// isMissing reports whether a file could not be read because there is none. Clients should
// say so with the code of a missing resource. Those that say only that something went wrong
// are believed as far as the disk says the same.
func (c *Call) isMissing(path string, err error) bool {
	var answer *acp.Error
	switch {
	case err == nil:
		return false
	case errors.Is(err, os.ErrNotExist):
		return true
	case !errors.As(err, &answer):
		return false
	case answer.Code == acp.ErrorCodeResourceNotFound:
		return true
	}
	_, here := os.Lstat(path)
	if !errors.Is(here, os.ErrNotExist) {
		return false
	}
	_, project := os.Stat(c.Cwd) // the client may be on another machine
	return project == nil || noFile.MatchString(answer.Message+string(answer.Data))
}
