// Package skill finds what the user has written for agents: skills, as
// https://agentskills.io/specification describes them, and instructions such as
// AGENTS.md.
//
// The model sees little at first: names and descriptions. It views a skill when
// it needs one, and the files beside it when the skill says so.
package skill

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
)

// fileName is the name of the main file of a skill.
const fileName = "SKILL.md"

// The bounds of skills.
const (
	maxDepth       = 3         // folders between the folder of all skills and the folder of one
	maxFile        = 256 << 10 // bytes
	maxDescription = 1024      // characters, of the specification
	maxPrompt      = 4 << 10   // bytes of the index in the system prompt
)

// Skill is what the front matter of a skill says.
type Skill struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Category    string   `json:"category,omitempty"` // the folders above it
	Version     string   `json:"version,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Related     []string `json:"related_skills,omitempty"`

	dir string
}

// Category is a folder of skills.
type Category struct {
	Name   string `json:"name"` // empty: skills that are in none
	Skills int    `json:"skills"`
}

// Index lists the skills of some folders. It does not change once loaded.
type Index struct {
	skills []Skill
	faults []error
}

// Load finds the skills below folders. If two have the same name, the first
// wins. A folder need not exist.
func Load(dirs ...string) *Index {
	x := &Index{}
	for _, dir := range dirs {
		if dir != "" {
			x.scan(dir, "", 0)
		}
	}
	slices.SortFunc(x.skills, func(a, b Skill) int {
		return cmp.Or(strings.Compare(a.Category, b.Category), strings.Compare(a.Name, b.Name))
	})
	return x
}

// Faults says which skills are left out, and why.
func (x *Index) Faults() []error { return x.faults }

func (x *Index) scan(dir, category string, depth int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			x.faults = append(x.faults, fmt.Errorf("skills: %w", err))
		}
		return
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if info, err := os.Stat(at); err != nil || !info.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if _, err := os.Stat(filepath.Join(at, fileName)); err != nil {
			if depth < maxDepth {
				x.scan(at, path.Join(category, e.Name()), depth+1)
			}
			continue
		}
		s, _, err := read(at)
		if err != nil {
			x.faults = append(x.faults, fmt.Errorf("skill %s: %w", at, err))
			continue
		}
		if _, taken := x.find(s.Name); !taken {
			s.Category = category
			x.skills = append(x.skills, s)
		}
	}
}

// validName is the rule of the specification.
var validName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// read returns the front matter and the instructions of the skill in a folder.
func read(dir string) (Skill, string, error) {
	text, err := open(dir, fileName)
	if err != nil {
		return Skill{}, "", err
	}
	rest, ok := strings.CutPrefix(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff"), "---\n")
	front, body, closed := strings.Cut(rest, "\n---\n")
	if !ok || !closed {
		return Skill{}, "", errors.New("no front matter between two lines of ---")
	}
	var f struct {
		Name        string   `yaml:"name"`
		Description string   `yaml:"description"`
		Version     string   `yaml:"version"`
		Tags        []string `yaml:"tags"`
		Related     []string `yaml:"related_skills"`
		Metadata    struct {
			Hermes struct {
				Tags    []string `yaml:"tags"`
				Related []string `yaml:"related_skills"`
			} `yaml:"hermes"`
		} `yaml:"metadata"`
	}
	if err := yaml.Unmarshal([]byte(front), &f); err != nil {
		return Skill{}, "", fmt.Errorf("front matter: %s", strings.SplitN(err.Error(), "\n", 2)[0])
	}
	s := Skill{
		Name: cmp.Or(f.Name, filepath.Base(dir)), Description: strings.Join(strings.Fields(f.Description), " "), Version: f.Version, dir: dir,
		Tags: append(f.Tags, f.Metadata.Hermes.Tags...), Related: append(f.Related, f.Metadata.Hermes.Related...),
	}
	switch {
	case len(s.Name) > 64 || !validName.MatchString(s.Name):
		err = fmt.Errorf("name %q: want at most 64 small letters, digits and single hyphens", s.Name)
	case s.Description == "":
		err = errors.New("no description")
	case utf8.RuneCountInString(s.Description) > maxDescription:
		err = fmt.Errorf("the description is longer than %d characters", maxDescription)
	}
	return s, strings.TrimSpace(body), err
}

// open returns the text of a file below a folder. Neither its name nor a link
// leads out of the folder.
func open(dir, name string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", name)
	case info.Size() > maxFile:
		return "", fmt.Errorf("%s is larger than %d KiB", name, maxFile>>10)
	}
	b, err := root.ReadFile(name)
	if err == nil && !utf8.Valid(b) {
		err = fmt.Errorf("%s is not text", name)
	}
	return string(b), err
}

func (x *Index) find(name string) (Skill, bool) {
	for _, s := range x.skills {
		if s.Name == name {
			return s, true
		}
	}
	return Skill{}, false
}

// Categories lists the folders of skills.
func (x *Index) Categories() []Category {
	list := []Category{}
	for _, s := range x.skills {
		if n := len(list); n == 0 || list[n-1].Name != s.Category {
			list = append(list, Category{Name: s.Category})
		}
		list[len(list)-1].Skills++
	}
	return list
}

// List returns the skills of a category and of those below it; all if it is
// empty.
func (x *Index) List(category string) []Skill {
	list := []Skill{}
	for _, s := range x.skills {
		if category == "" || s.Category == category || strings.HasPrefix(s.Category, category+"/") {
			list = append(list, s)
		}
	}
	return list
}
