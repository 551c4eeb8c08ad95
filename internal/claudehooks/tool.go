package claudehooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/acp"
)

const (
	maxFile   = 4 << 20   // bytes of a file that is shown with its text
	maxOutput = 256 << 10 // bytes of the output of a command, of which the end is kept
)

// kinds are those of the tools of Claude Code. Other tools may do anything.
var kinds = map[string]acp.ToolKind{
	"Read": acp.ToolKindRead, "NotebookRead": acp.ToolKindRead,
	"Edit": acp.ToolKindEdit, "MultiEdit": acp.ToolKindEdit, "Write": acp.ToolKindEdit, "NotebookEdit": acp.ToolKindEdit,
	"Bash": acp.ToolKindExecute,
	"Glob": acp.ToolKindSearch, "Grep": acp.ToolKindSearch, "LS": acp.ToolKindSearch, "ToolSearch": acp.ToolKindSearch,
	"WebFetch": acp.ToolKindFetch, "WebSearch": acp.ToolKindFetch,
	"Agent": acp.ToolKindThink, "Task": acp.ToolKindThink, "TodoWrite": acp.ToolKindThink, "ExitPlanMode": acp.ToolKindThink,
	"AskUserQuestion": acp.ToolKindThink,
}

// changes reports whether a tool may change something, so that a gate asks about it.
// The tools of an Agent have hooks of their own.
func changes(tool string) bool {
	switch kinds[tool] {
	case acp.ToolKindRead, acp.ToolKindSearch, acp.ToolKindFetch, acp.ToolKindThink:
		return false
	}
	return true
}

// input is what tools take, as far as it is shown.
type input struct {
	File     string `json:"file_path"`
	Notebook string `json:"notebook_path"`
	Path     string `json:"path"`
	Command  string `json:"command"`
	Pattern  string `json:"pattern"`
	URL      string `json:"url"`
	Query    string `json:"query"`

	Content *string `json:"content"` // of Write
	edit            // of Edit
	Edits   []edit  `json:"edits"` // of MultiEdit
}

type edit struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// response is what the tools that change files report.
type response struct {
	Original *string `json:"originalFile"`  // nil: the file is new, or it is not said
	Before   *string `json:"original_file"` // of a notebook
	After    *string `json:"updated_file"`
	Stdout   string  `json:"stdout"`
	Stderr   string  `json:"stderr"`
}

// tool is a tool call.
type tool struct {
	acp.ToolCall
	in input
}

// newTool describes a tool call.
func newTool(e *event) *tool {
	t := &tool{ToolCall: *acp.NewToolCall(acp.ToolCallID(e.Call), e.Tool)}
	json.Unmarshal(e.Input, &t.in) // tools of MCP servers have other arguments
	kind, ok := kinds[e.Tool]
	if !ok {
		kind = acp.ToolKindOther
	}
	t.Kind, t.Name, t.RawInput = acp.Some(kind), acp.Some(e.Tool), e.Input
	t.Status = acp.Some(acp.ToolCallStatusPending)
	path := t.path(e.Cwd)
	for _, what := range []string{t.in.Command, path, t.in.Pattern, t.in.URL, t.in.Query} {
		if what != "" {
			t.Title += " " + what
			break
		}
	}
	if path != "" {
		t.Locations = []acp.ToolCallLocation{*acp.NewToolCallLocation(path)}
	}
	return t
}

// preview shows what becomes of the file that the call is about to change.
func (t *tool) preview() {
	if t.Kind.V != acp.ToolKindEdit || len(t.Locations) == 0 {
		return
	}
	if before, ok := read(t.Locations[0].Path); ok {
		t.Content = t.diff(before, t.after(before))
	}
}

// path is the file that the call is about, "" for none.
func (t *tool) path(cwd string) string {
	for _, path := range []string{t.in.File, t.in.Notebook, t.in.Path} {
		switch {
		case path == "":
		case filepath.IsAbs(path):
			return filepath.Clean(path)
		case filepath.IsAbs(cwd):
			return filepath.Join(cwd, path)
		}
	}
	return ""
}

// read returns the text of a file, nil if there is no file; false if it is not shown.
func read(path string) (text *string, ok bool) {
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return nil, true
	case err != nil || !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, false
	}
	b, err := os.ReadFile(path)
	if err != nil || !utf8.Valid(b) {
		return nil, false
	}
	s := string(b)
	return &s, true
}

// after is the text that the call makes of the file, nil if that is not known.
func (t *tool) after(before *string) *string {
	edits := t.in.Edits
	switch {
	case t.in.Content != nil:
		return t.in.Content
	case len(edits) == 0 && t.in.edit != edit{}:
		edits = []edit{t.in.edit}
	case len(edits) == 0:
		return nil
	}
	text := ""
	if before != nil {
		text = *before
	}
	for _, e := range edits {
		switch {
		case e.Old == "" && text == "": // makes the file
			text = e.New
		case e.Old == "" || !strings.Contains(text, e.Old):
			return nil
		case e.All:
			text = strings.ReplaceAll(text, e.Old, e.New)
		default:
			text = strings.Replace(text, e.Old, e.New, 1)
		}
	}
	return &text
}

// diff shows what becomes of the file.
func (t *tool) diff(before, after *string) []acp.ToolCallContent {
	if after == nil || len(*after) > maxFile {
		return nil
	}
	d := acp.NewDiff(t.Locations[0].Path, *after)
	if before != nil {
		d.OldText = acp.Some(*before)
	}
	return []acp.ToolCallContent{d}
}

// plain shows a text, or its end if it is long.
func plain(text string) []acp.ToolCallContent {
	switch {
	case text == "":
		return nil
	case len(text) > maxOutput:
		text = "…" + strings.ToValidUTF8(text[len(text)-maxOutput:], "")
	}
	return []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(text))}
}

// end returns what has become of the call, as Claude Code reports it.
func (t *tool) end(e *event) (acp.Opt[acp.ToolCallStatus], []acp.ToolCallContent) {
	if e.Name == postToolUseFailure {
		var text string
		json.Unmarshal(e.Error, &text)
		return acp.Some(acp.ToolCallStatusFailed), plain(text)
	}
	done := acp.Some(acp.ToolCallStatusCompleted)
	var r response
	json.Unmarshal(e.Response, &r) // each tool has another form; those of MCP servers any
	switch {
	case t.Kind.V != acp.ToolKindEdit || len(t.Locations) == 0:
		if text := r.Stdout + r.Stderr; text != "" {
			return done, plain(text)
		}
	case r.After != nil:
		return done, t.diff(r.Before, r.After)
	case r.Original != nil: // what was there when Claude Code wrote
		return done, t.diff(r.Original, t.after(r.Original))
	}
	return done, t.Content
}
