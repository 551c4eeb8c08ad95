package tree

import (
	"cmp"
	"crypto/sha256"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/internal/gitdir"
)

// repository is what the files of a git repository say about ignored paths
// besides its .gitignore files.
type repository struct {
	exclude string // the text of info/exclude
	config  settings
	tracked *tracked
}

// settings are the part of a git configuration that matters here.
type settings struct {
	home         string
	excludesFile string
	ignoreCase   bool
	hash         int // the bytes of a hash, 0 for SHA-1
	files        int // that were read
	// asOf is a time in nanoseconds: files whose status changed later count as empty. 0
	// means that no file is too late.
	asOf int64
}

// readRepository reads the repository whose ".git" is in a directory. Git itself
// never runs: what a repository configures can run programs.
func readRepository(dir string, user settings) repository {
	own, common := gitdir.Of(dir, user.readFile)
	r := repository{exclude: user.readFile(filepath.Join(common, "info", "exclude")), config: user}
	r.config.files = 0
	r.config.read(filepath.Join(common, "config"))
	r.tracked = readTracked(own, cmp.Or(r.config.hash, 20))
	return r
}

// userSettings reads the configuration of the user. See settings for asOf.
func userSettings(getenv func(string) string, asOf int64) settings {
	s := settings{asOf: asOf}
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE")) // the latter on Windows
	config := getenv("XDG_CONFIG_HOME")
	if config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	if config != "" {
		s.excludesFile = filepath.Join(config, "git", "ignore")
	}
	s.home = home
	if getenv("GIT_CONFIG_NOSYSTEM") == "" {
		s.read("/etc/gitconfig")
	}
	if global := getenv("GIT_CONFIG_GLOBAL"); global != "" {
		s.read(global)
		return s
	}
	if config != "" {
		s.read(filepath.Join(config, "git", "config"))
	}
	if home != "" {
		s.read(filepath.Join(home, ".gitconfig"))
	}
	return s
}

// maxConfigs is how many configuration files of a repository are read: they can
// include each other, and themselves.
const maxConfigs = 50

// read takes what a configuration file sets. Conditional includes are not
// followed.
func (s *settings) read(file string) {
	if s.files++; s.files > maxConfigs {
		return
	}
	section := ""
	for key, value := range configLines(s.readFile(file), &section) {
		switch section + "." + key {
		case "core.excludesfile":
			s.excludesFile = s.expand(value, filepath.Dir(file))
		case "core.ignorecase":
			switch strings.ToLower(value) {
			case "true", "yes", "on", "1", "":
				s.ignoreCase = true
			default:
				s.ignoreCase = false
			}
		case "extensions.objectformat":
			if s.hash = 0; strings.EqualFold(value, "sha256") {
				s.hash = sha256.Size
			}
		case "include.path":
			s.read(s.expand(value, filepath.Dir(file)))
		}
	}
}

func (s *settings) expand(path, dir string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(s.home, rest)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// configLines returns the variables of a configuration file. Names are in small
// letters; a variable without a value is empty, which means true.
func configLines(text string, section *string) func(func(key, value string) bool) {
	return func(yield func(key, value string) bool) {
		text = strings.TrimPrefix(text, "\ufeff")
		for text != "" {
			line, rest := configLine(text)
			text = rest
			line = strings.TrimLeft(line, " \t")
			if strings.HasPrefix(line, "[") {
				name, after, ok := strings.Cut(line[1:], "]")
				if !ok {
					return
				}
				*section = strings.ToLower(strings.TrimSpace(name))
				line = strings.TrimLeft(after, " \t")
			}
			if line == "" || line[0] == '#' || line[0] == ';' {
				continue
			}
			key, value, _ := strings.Cut(line, "=")
			key, _, _ = strings.Cut(key, "#")
			if !yield(strings.ToLower(strings.TrimSpace(key)), configValue(value)) {
				return
			}
		}
	}
}

// configLine joins lines that end with a backslash.
func configLine(text string) (line, rest string) {
	for {
		now, after, more := strings.Cut(text, "\n")
		now = strings.TrimSuffix(now, "\r")
		slashes := len(now) - len(strings.TrimRight(now, `\`))
		if slashes%2 == 0 || !more {
			return line + now, after
		}
		line, text = line+now[:len(now)-1], after
	}
}

// configValue removes quotes, comments and spaces around a value.
func configValue(text string) string {
	var b strings.Builder
	quoted, spaces := false, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			quoted = !quoted
			spaces = 0
			continue
		case !quoted && (c == '#' || c == ';'):
			i = len(text)
			continue
		case !quoted && (c == ' ' || c == '\t'):
			if b.Len() > 0 {
				b.WriteByte(c)
				spaces++
			}
			continue
		case c == '\\' && i+1 < len(text):
			i++
			c = text[i]
			if e := strings.IndexByte("tnb", c); e >= 0 {
				c = "\t\n\b"[e]
			}
		}
		b.WriteByte(c)
		spaces = 0
	}
	value := b.String()
	return value[:len(value)-spaces]
}
