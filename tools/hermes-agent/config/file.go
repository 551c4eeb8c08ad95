package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
)

const fileName = "config.yaml"

// read returns the defaults with what a file sets. The file need not exist.
func read(name string) (Config, error) {
	var c Config
	if err := yaml.Unmarshal([]byte(Template), &c); err != nil {
		return c, fmt.Errorf("the template: %w", err)
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		c.Version = 0
		err = yaml.Unmarshal(b, &c)
	}
	switch {
	case err != nil:
		return c, fmt.Errorf("%s: %s", name, strings.TrimSpace(yaml.FormatError(err, false, false)))
	case c.Version > Version:
		return c, fmt.Errorf("%s: version %d is newer than this program, which knows %d", name, c.Version, Version)
	}
	return c, nil
}

// Unknown says which settings of the file in a folder have no meaning.
func Unknown(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		return nil
	}
	var c Config
	if err := yaml.UnmarshalWithOptions(b, &c, yaml.Strict()); err != nil {
		return errors.New(strings.SplitN(err.Error(), "\n", 2)[0])
	}
	return nil
}

// secretWords are words in the names of headers and variables whose values are secrets.
var secretWords = []string{"authorization", "key", "apikey", "token", "secret", "password", "cookie", "credential", "credentials"}

// Exposed names the headers of the model, and the headers and variables of MCP servers, whose
// secret stands in the file in a folder, if other users can read it. One that is a variable of
// .env does not.
func Exposed(dir string) (names []string) {
	name := filepath.Join(dir, fileName)
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return nil
	}
	c, err := read(name)
	if err != nil {
		return nil
	}
	look := func(prefix string, of map[string]string) {
		for member, value := range of {
			words := strings.FieldsFunc(strings.ToLower(member), func(r rune) bool { return r == '-' || r == '_' })
			secret := slices.ContainsFunc(words, func(word string) bool { return slices.Contains(secretWords, word) })
			if secret && value != "" && !variable.MatchString(value) {
				names = append(names, prefix+member)
			}
		}
	}
	look("", c.Model.Headers)
	for server, s := range c.Servers {
		look("mcp_servers."+server+".env.", s.Env)
		look("mcp_servers."+server+".headers.", s.Headers)
	}
	slices.Sort(names)
	return names
}

// Missing lists the settings of the template that the file in a folder lacks. They have
// their defaults.
func Missing(dir string) ([]string, error) {
	f, err := open(dir)
	if err != nil {
		return nil, err
	}
	missing, err := lacks(f)
	names := make([]string, len(missing))
	for i, m := range missing {
		names[i] = m.path
	}
	return names, err
}

// Migrate adds the settings of the template that the file in a folder lacks and sets its
// version. It keeps everything else, with the comments. It returns what it added.
func Migrate(dir string) ([]string, error) {
	f, err := open(dir)
	if err != nil {
		return nil, err
	}
	missing, err := lacks(f)
	if err != nil {
		return nil, err
	}
	var added []string
	for _, m := range missing {
		if err := set(f, m.path, m.value); err != nil {
			return added, err
		}
		added = append(added, m.path)
	}
	if err := set(f, "version", strconv.Itoa(Version)); err != nil {
		return added, err
	}
	return added, write(filepath.Join(dir, fileName), f.String(), 0o600)
}

type setting struct{ path, value string }

// lacks returns the settings of the template that a file does not have.
func lacks(f *ast.File) ([]setting, error) {
	var all yaml.MapSlice
	if err := yaml.UnmarshalWithOptions([]byte(Template), &all, yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("the template: %w", err)
	}
	var missing []setting
	var walk func(prefix string, of yaml.MapSlice) error
	walk = func(prefix string, of yaml.MapSlice) error {
		for _, item := range of {
			at := prefix + item.Key.(string)
			if inner, ok := item.Value.(yaml.MapSlice); ok && has(f, at) {
				if err := walk(at+".", inner); err != nil {
					return err
				}
			} else if !has(f, at) {
				value, err := yaml.MarshalWithOptions(item.Value, yaml.JSON())
				if err != nil {
					return err
				}
				missing = append(missing, setting{at, string(value)})
			}
		}
		return nil
	}
	err := walk("", all)
	return missing, err
}

// Set changes one setting, such as model.name, in the file in a folder. The value is YAML;
// one that does not fit its setting is refused.
func Set(dir, path, value string) error {
	f, err := open(dir)
	if err != nil {
		return err
	}
	if !has(template(), path) {
		return fmt.Errorf("there is no setting %q", path)
	}
	if err := set(f, path, value); err != nil {
		return err
	}
	if err := yaml.Unmarshal([]byte(f.String()), &Config{}); err != nil {
		return fmt.Errorf("%s: %s", path, strings.SplitN(err.Error(), "\n", 2)[0])
	}
	return write(filepath.Join(dir, fileName), f.String(), 0o600)
}

// Allow adds a command to those that are not asked about.
func Allow(dir string, e approval.Entry) error {
	c, err := read(filepath.Join(dir, fileName))
	if err != nil {
		return err
	}
	list, err := json.Marshal(append(c.Allowed, e)) // on one line, because a command may have many
	if err != nil {
		return err
	}
	return Set(dir, "command_allowlist", string(list))
}

func template() *ast.File {
	f, err := parser.ParseBytes([]byte(Template), parser.ParseComments)
	if err != nil {
		return &ast.File{}
	}
	return f
}

// open parses the file in a folder; the template if there is none.
func open(dir string) (*ast.File, error) {
	name := filepath.Join(dir, fileName)
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && strings.TrimSpace(string(b)) == "" {
		return template(), nil
	}
	if err != nil {
		return nil, err
	}
	f, err := parser.ParseBytes(b, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	return f, nil
}

func has(f *ast.File, path string) bool {
	p, err := yaml.PathString("$." + path)
	if err != nil {
		return false
	}
	_, err = p.FilterFile(f)
	return err == nil
}

// set replaces a setting, or adds it to its section.
func set(f *ast.File, path, value string) error {
	p, err := yaml.PathString("$." + path)
	if err != nil {
		return fmt.Errorf("setting %q: %w", path, err)
	}
	if has(f, path) {
		if err := p.ReplaceWithReader(f, strings.NewReader(value)); err != nil {
			return fmt.Errorf("set %s: %w", path, err)
		}
		return nil
	}
	section, key := "$", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		section, key = "$."+path[:i], path[i+1:]
	}
	if p, err = yaml.PathString(section); err != nil {
		return err
	}
	if err := p.MergeFromReader(f, strings.NewReader(key+": "+strings.TrimSpace(value)+"\n")); err != nil {
		return fmt.Errorf("add %s: %w", path, err)
	}
	return nil
}

// write replaces a file of the agent in one step. A link stays one.
func write(name, text string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return atomicfile.File(name, mode, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
