package skill

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// View returns the instructions of a skill and the names of its other files, or
// the text of one of those files.
func (x *Index) View(name, file string) (string, error) {
	s, ok := x.find(name)
	if !ok {
		return "", fmt.Errorf("there is no skill %q%s", name, x.hint(name))
	}
	if file != "" && file != fileName {
		text, err := open(s.dir, file)
		if err != nil {
			return "", fmt.Errorf("skill %s: %w", name, err)
		}
		return text, nil
	}
	_, body, err := read(s.dir)
	if err != nil {
		return "", fmt.Errorf("skill %s: %w", name, err)
	}
	if files := s.files(); len(files) > 0 {
		body += "\n\nFiles of this skill, to be viewed when they are needed:\n- " + strings.Join(files, "\n- ")
	}
	return body, nil
}

// hint lists the names that begin alike.
func (x *Index) hint(name string) string {
	var close []string
	for _, s := range x.skills {
		if len(name) > 1 && strings.HasPrefix(s.Name, name[:2]) {
			close = append(close, s.Name)
		}
	}
	if len(close) == 0 {
		return ""
	}
	return "; there are " + strings.Join(close, ", ")
}

// files lists the other files of a skill.
func (s Skill) files() []string {
	const most = 100
	var list []string
	fs.WalkDir(os.DirFS(s.dir), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case name != "." && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.Type().IsRegular() && name != fileName:
			if list = append(list, name); len(list) == most {
				return fs.SkipAll
			}
		}
		return nil
	})
	slices.Sort(list)
	return list
}

// Invoke returns the message of a user who calls a skill by its slash command. It
// is a message, not a part of the system prompt, so that the prompt stays the
// same.
func (x *Index) Invoke(name, instruction string) (string, error) {
	body, err := x.View(name, "")
	if err != nil {
		return "", err
	}
	text := "Use the skill " + name + ":\n\n" + body
	if instruction = strings.TrimSpace(instruction); instruction != "" {
		text += "\n\nWhat I want: " + instruction
	}
	return text, nil
}

// Prompt lists the skills for the system prompt; empty if there are none. If the
// list is too long, it has the categories only.
func (x *Index) Prompt() string {
	if len(x.skills) == 0 {
		return ""
	}
	const head = "Skills are instructions for special tasks. View one with the skill tool before you do what it describes.\n"
	var b strings.Builder
	for _, s := range x.skills {
		fmt.Fprintf(&b, "- %s: %s\n", s.Name, s.Description)
	}
	if b.Len() <= maxPrompt {
		return head + b.String()
	}
	b.Reset()
	for _, c := range x.Categories() {
		name := c.Name
		if name == "" {
			name = "(others)"
		}
		fmt.Fprintf(&b, "- %s: %d skills\n", name, c.Skills)
	}
	return head + "List a category with the skill tool. Categories:\n" + shorten(b.String(), maxPrompt)
}

// shorten cuts a text at the end of a line.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:strings.LastIndexByte(text[:most], '\n')+1] + "[the rest is left out]\n"
}
