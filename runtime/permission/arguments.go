package permission

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// arguments reads the members of rawInput.
func (q *Request) arguments(input map[string]any) {
	q.readCommand(input["command"], input["args"])
	for name, value := range input {
		switch name {
		case "command", "args":
		case "program": // the file of the command, in Hermes' own questions; agents may name any
			if len(q.Command) == 0 || !isFound(q.Command[0], value) {
				q.argument(commandText, value)
			}
		default:
			q.member(unknown, name, value)
		}
	}
}

// member reads a member of an object. A member whose name says nothing has the
// role of the object.
func (q *Request) member(of role, name string, value any) {
	if strings.ContainsAny(name, `/\`) {
		q.path(name)
	}
	r := roleOf(name)
	if r == unknown {
		r = of
	}
	q.argument(r, value)
}

func (q *Request) argument(r role, value any) {
	if r == environment {
		q.variables(value)
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if r.runs() {
			r = unknown
		}
		for name, v := range value {
			q.member(r, name, v)
		}
	case []any:
		for _, v := range value {
			q.argument(r, v)
		}
	case string:
		if value != "" {
			q.text(r, value)
		}
	}
}

func (q *Request) text(r role, s string) {
	switch r {
	case pathName:
		q.path(s)
	case workingDir:
		if q.path(s); q.Dir != "" && q.Dir != s {
			q.morePaths = true
		}
		q.Dir = s
	case commandText, commandWords, commandOther:
		q.moreCommand = true
		q.words = append(q.words, roughWords(s)...)
	case filePattern:
		q.below = true
		q.names = append(q.names, s)
		q.morePaths = q.morePaths || leadsAway(s)
	case unknown:
		q.names = append(q.names, s)
		q.morePaths = q.morePaths || looksLikePath(s)
	}
}

// path adds a path. A path that is not plain can match only rules that deny.
func (q *Request) path(s string) {
	switch {
	case s == "", isPage(s):
		return
	case strings.Contains(strings.ToLower(s), "file:"):
		q.morePaths = true
		if u, err := url.Parse(s); err == nil {
			q.Paths = append(q.Paths, u.Path+u.Opaque)
		}
	case strings.Contains(s, "://"):
		q.morePaths = true
	case s[0] == '~':
		q.morePaths = true
		if home, err := os.UserHomeDir(); err == nil {
			q.Paths = append(q.Paths, filepath.Join(home, s[1:]))
		}
	}
	q.Paths = append(q.Paths, s)
}

// isPage reports whether s is the address of a web page.
func isPage(s string) bool {
	s = strings.ToLower(s)
	return (strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")) && !strings.ContainsFunc(s, unicode.IsSpace)
}

func looksLikePath(s string) bool {
	return !isPage(s) && (strings.ContainsAny(s, `/\`) || s[0] == '~' || s == "." || s == ".." || strings.Contains(strings.ToLower(s), "file:"))
}

// leadsAway reports whether a pattern may select files that are not below the
// folder it is applied to.
func leadsAway(pattern string) bool {
	for alternative := range strings.FieldsFuncSeq(pattern, func(r rune) bool { return strings.ContainsRune("{},|()[]", r) }) {
		names := strings.FieldsFunc(alternative, func(r rune) bool { return r == '/' || r == '\\' })
		if strings.ContainsRune(`/\~`, rune(alternative[0])) || slices.Contains(names, "..") || strings.Contains(alternative, ":/") {
			return true
		}
	}
	return strings.Contains(strings.ToLower(pattern), "file:")
}

// unknownVariable replaces the variables of an environment that Describe does not
// understand. No rule can name it.
const unknownVariable = ""

// variables reads an environment: an object, or a list of assignments or of
// objects with name and value.
func (q *Request) variables(env any) {
	set := func(name string, value any) {
		switch value.(type) {
		case string, float64, bool:
			q.Env = append(q.Env, fmt.Sprint(name, "=", value))
		default:
			q.Env = append(q.Env, unknownVariable)
		}
	}
	switch env := env.(type) {
	case nil, bool:
	case map[string]any:
		for name, value := range env {
			set(name, value)
		}
	case []any:
		for _, v := range env {
			pair, _ := v.(map[string]any)
			name, named := pair["name"].(string)
			switch assignment, ok := v.(string); {
			case ok:
				q.Env = append(q.Env, assignment)
			case named && len(pair) == 2:
				set(name, pair["value"])
			default:
				q.Env = append(q.Env, unknownVariable)
			}
		}
	default:
		q.Env = append(q.Env, unknownVariable)
	}
}
