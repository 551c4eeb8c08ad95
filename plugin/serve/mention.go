package serve

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/hermes-nvim/hermes/internal/pathname"

	"github.com/hermes-nvim/hermes/runtime/files"
)

// Bounds of the files that one prompt names.
const (
	maxMentions     = 50
	maxMentionTexts = 8 << 20 // bytes of all their texts
)

// Mention is a file that a prompt names with "@", and what there is.
type Mention struct {
	Name    string  `json:"name"`              // as the prompt has it
	Path    string  `json:"path,omitempty"`    // with the links below the session's folders resolved
	Real    string  `json:"real,omitempty"`    // Path with the links of the session's folder resolved, too
	Short   string  `json:"short,omitempty"`   // Path below the session's folder, if it is there
	Outside bool    `json:"outside,omitempty"` // it is in none of the session's folders
	Size    int64   `json:"size"`
	Text    *string `json:"text,omitempty"`  // nil: not wanted, not text, or too large
	Error   string  `json:"error,omitempty"` // why it is not attached
}

// Mentions are the files that a text names for the session. Texts of at most limit bytes come
// with them; 0: none. An agent may have prepared the folder, so the place of a file decides, not
// its name: a file outside of the session's folders is not read through a link.
func (s *Session) Mentions(text string, limit int64) []Mention {
	list, room := []Mention{}, int64(maxMentionTexts)
	for _, spelled := range mentioned(text) {
		m := s.mention(spelled, min(limit, room))
		known := func(o Mention) bool { return o.Name == m.Name || o.Error == "" && m.Error == "" && o.Path == m.Path }
		if m == nil || slices.ContainsFunc(list, known) {
			continue
		}
		if m.Text != nil {
			room -= int64(len(*m.Text))
		}
		if list = append(list, *m); len(list) == maxMentions {
			break
		}
	}
	return list
}

// mentioned returns what stands behind each "@" at the start of a word: as it is
// and, if it differs, without the end of a sentence. The name of a command comes
// from the agent, so an "@" in it is no mention.
func mentioned(text string) (list [][]string) {
	if command := strings.TrimLeft(text, " \t\n"); strings.HasPrefix(command, "/") {
		if text = ""; strings.ContainsAny(command, " \t\n") {
			text = command[strings.IndexAny(command, " \t\n"):]
		}
	}
	start := true // of a word
	for i := 0; i < len(text); {
		if text[i] != '@' || !start {
			start = text[i] == '(' || text[i] < 0x80 && unicode.IsSpace(rune(text[i]))
			i++
			continue
		}
		rest := text[i+1:]
		if line, _, _ := strings.Cut(rest, "\n"); strings.HasPrefix(line, `"`) {
			if name, _, ok := strings.Cut(line[1:], `"`); ok && name != "" {
				list = append(list, []string{name})
				i, start = i+1+len(name)+2, false
				continue
			}
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r == '"' || r < 0x80 && unicode.IsSpace(r) })
		if end < 0 {
			end = len(rest)
		}
		if name := rest[:end]; name != "" {
			spelled := []string{name}
			if short := strings.TrimRight(name, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"); short != "" && short != name {
				spelled = append(spelled, short)
			}
			list = append(list, spelled)
		}
		i, start = i+1+end, false
	}
	return list
}

// mention looks at the first spelling that names something. It returns nil for a
// word that is hardly the name of a file.
func (s *Session) mention(spelled []string, limit int64) *Mention {
	var first *Mention
	for _, name := range spelled {
		m := &Mention{Name: name}
		err := s.attach(m, limit)
		switch {
		case err == nil:
			return m
		case errors.Is(err, fs.ErrNotExist):
			m.Error = "there is no such file"
			if strings.ContainsAny(name, "/.") && first == nil {
				first = m
			}
		case errors.Is(err, errFolder):
			return nil
		default:
			m.Error = reasonOf(err)
			return m
		}
	}
	return first
}

// reasonOf is an error of a file without its path.
func reasonOf(err error) string {
	var at *files.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}

var (
	errFolder    = errors.New("a folder")
	errOutside   = errors.New("it is outside of the session's folders")
	errNoReading = errors.New("reading files is switched off (fs_read_access)")
	errHidden    = errors.New("the sandbox hides it from the agent")
)

// attach finds the file that m names.
func (s *Session) attach(m *Mention, limit int64) error {
	if !s.client.Permissions().MayRead() {
		return errNoReading
	}
	if err := s.openRoots(); err != nil {
		return err
	}
	ws, err := s.client.services.Workspace(s.ID())
	if err != nil {
		return err
	}
	path := m.Name
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Root(), path)
	}
	path = filepath.Clean(path)
	var found files.Peeked
	if filepath.IsAbs(m.Name) && !ws.Covers(path) {
		if found, err = s.peekOutside(path, limit); err == nil {
			m.Path, m.Real, m.Outside = found.Real, found.Real, true
		}
	} else if found, err = ws.Peek(path, limit); err == nil {
		m.Path, m.Real = found.Path, found.Real
		if found.Root == filepath.Clean(s.Root()) {
			m.Short = found.Name
		}
		if s.hides(found.Real) {
			err = errHidden
		}
	}
	switch {
	case errors.Is(err, files.ErrOutside):
		m.Outside = true
		if m.Path, err = files.Real(path); err != nil {
			return err
		}
		return errOutside
	case errors.Is(err, files.ErrNotRegular):
		if _, folder := ws.ResolveDir(path); folder == nil {
			return errFolder
		}
		return err
	case err != nil:
		return err
	}
	if m.Size = found.Size; found.IsText {
		m.Text, m.Size = &found.Text, int64(len(found.Text))
	}
	return nil
}

// peekOutside looks at a file outside of the session's folders, which the user
// has named in full. The folders on the way may be the agent's, such as /tmp, so
// what is hidden from the agent is read by its own name only.
func (s *Session) peekOutside(path string, limit int64) (files.Peeked, error) {
	real, err := files.Real(path)
	if err != nil {
		return files.Peeked{}, err
	}
	if s.hides(real) && real != path {
		return files.Peeked{}, errHidden
	}
	permit := func(_ string, at files.Location, _ bool) error { return s.client.permitFile(s.ID(), path, at, false) }
	ws, err := files.Open([]string{filepath.Dir(real)}, files.Options{Permit: permit, AllowHardLinks: true})
	if err != nil {
		return files.Peeked{}, err
	}
	defer ws.Close()
	found, err := ws.Peek(real, limit)
	if err == nil && s.hides(found.Real) && found.Real != path { // a folder has become a link meanwhile
		return files.Peeked{}, errHidden
	}
	return found, err
}

// hides reports whether the sandbox of the agent hides a file from it.
func (s *Session) hides(real string) bool {
	box := s.client.Command.Box
	return box != nil && box.Rules != nil && slices.ContainsFunc(box.Rules.Hide, func(dir string) bool { return pathname.Within(dir, real) })
}
