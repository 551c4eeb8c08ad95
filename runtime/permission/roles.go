package permission

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Agents name the arguments of their tools as they like. A role is what the name
// of an argument says about its value. This is the only table of such names:
// rules use it to read a tool call, and questions to show it.
type role int

const (
	commandText  role = iota // runs
	commandWords             // is added to what runs
	commandOther             // says in another way what runs, such as the program or its input
	workingDir               // names the folder that a command runs in
	environment              // variables of a command
	pathName                 // names files
	filePattern              // selects files below a path
	unknown
	plainText // never the name of a file
)

// String is the role in the data of a question; empty for unknown.
func (r role) String() string {
	return [...]string{"command", "words", "program", "folder", "environment", "path", "pattern", "", "text"}[r]
}

// runs reports whether an argument says what runs.
func (r role) runs() bool { return r <= commandOther }

// roles lists names by role, with only their letters and in lower case.
var roles = map[role][]string{
	plainText: {
		"content", "contents", "filecontent", "filecontents", "filetext", "text", "oldtext", "newtext", "inserttext", "oldstring", "newstring",
		"oldstr", "newstr", "newsource", "codeedit", "replacement", "description", "title", "prompt", "message", "reason", "explanation",
		"thought", "thinking", "summary", "instruction", "instructions", "plan", "note", "notes", "comment", "activeform",
	},
	workingDir:   {"cwd", "workdir", "workingdir", "workingdirectory", "pwd", "cd", "dir", "dirpath", "directory"},
	commandText:  {"command", "commands", "cmd", "cmds", "commandline", "shellcommand", "script", "bash", "run", "exec"},
	commandWords: {"args", "arguments", "argv"},
	commandOther: {"program", "executable", "shell", "stdin", "parsedcmd"},
	filePattern:  {"query", "regex", "filter"},
	pathName:     {"from", "to", "src", "source", "dst", "in", "into", "out", "output", "at", "where", "base"},
	environment:  {"vars", "variables"},
}

// parts lists parts of longer names. The first match counts.
var parts = []struct {
	role  role
	parts []string
}{
	{environment, []string{"env"}},
	{filePattern, []string{"pattern", "glob", "include", "exclude"}},
	{pathName, []string{"path", "file", "dir", "folder", "uri", "url", "target", "dest", "root", "location", "workspace", "notebook", "cwd"}},
}

func roleOf(name string) role {
	name = letters(name)
	for role, names := range roles {
		if slices.Contains(names, name) {
			return role
		}
	}
	for _, p := range parts {
		if slices.ContainsFunc(p.parts, func(part string) bool { return strings.Contains(name, part) }) {
			return p.role
		}
	}
	return unknown
}

// NamesFolder reports whether a member of a tool call names the folder that its
// command runs in.
func NamesFolder(member string) bool { return roleOf(member) == workingDir }

func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// compareNames is the order in which arguments are shown: what runs, where, and
// the rest.
func compareNames(a, b string) int {
	place := func(name string) int { return slices.Index(roles[roleOf(name)], letters(name)) }
	return cmp.Or(cmp.Compare(roleOf(a), roleOf(b)), cmp.Compare(place(a), place(b)), strings.Compare(a, b))
}
