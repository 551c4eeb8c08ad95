package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const envName = ".env"

// readEnv reads the secrets: NAME=value in each line, maybe in quotes. Others must not be
// able to read the file. It need not exist. A dollar sign is one, and no variable.
func readEnv(name string) (map[string]string, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%s holds secrets, but other users can read it: run chmod 600 %s", name, name)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	secrets := map[string]string{}
	for i, line := range strings.Split(string(b), "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, fmt.Errorf("%s: line %d is not NAME=value", name, i+1)
		}
		if secrets[key], err = unquote(strings.TrimSpace(value)); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, i+1, err)
		}
	}
	return secrets, nil
}

func unquote(value string) (string, error) {
	quoted, rest := "", ""
	switch {
	case strings.HasPrefix(value, `"`):
		var ends bool
		if quoted, rest, ends = unescape(value[1:]); !ends {
			return "", errQuotes
		}
	case strings.HasPrefix(value, "'"):
		quoted, rest, _ = strings.Cut(value[1:], "'")
	default:
		value, _, _ = strings.Cut(value, " #")
		return strings.TrimSpace(value), nil
	}
	if rest = strings.TrimSpace(rest); rest != "" && rest[0] != '#' || strings.Count(value, value[:1]) < 2 {
		return "", errQuotes
	}
	return quoted, nil
}

var errQuotes = errors.New("the quotes do not match")

// unescape reads a value up to its closing quote. A backslash also stands before what shells
// give a meaning to. One before anything else is a backslash.
func unescape(value string) (text, rest string, ends bool) {
	var b []byte
	for value != "" {
		switch {
		case value[0] == '"':
			return string(b), value[1:], true
		case value[0] != '\\':
			b, value = append(b, value[0]), value[1:]
		case len(value) > 1 && (value[1] == '$' || value[1] == '`'):
			b, value = append(b, value[1]), value[2:]
		default:
			r, multibyte, tail, err := strconv.UnquoteChar(value, '"')
			switch {
			case err != nil:
				b, tail = append(b, '\\'), value[1:]
			case multibyte:
				b = utf8.AppendRune(b, r)
			default:
				b = append(b, byte(r))
			}
			value = tail
		}
	}
	return "", "", false
}

// SetSecret changes one line of .env in a folder, which only the user can read.
func SetSecret(dir, key, value string) error {
	name := filepath.Join(dir, envName)
	b, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	line := key + "=" + strconv.Quote(value)
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	at := slices.IndexFunc(lines, func(l string) bool {
		name, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(l), "export "), "=")
		return ok && strings.TrimSpace(name) == key
	})
	switch {
	case at >= 0:
		lines[at] = line
	case len(b) == 0:
		lines = []string{line}
	default:
		lines = append(lines, line)
	}
	return write(name, strings.Join(lines, "\n")+"\n", 0o600)
}

// Secrets names the secrets in a folder, without their values.
func Secrets(dir string) ([]string, error) {
	secrets, err := readEnv(filepath.Join(dir, envName))
	return slices.Sorted(maps.Keys(secrets)), err
}
