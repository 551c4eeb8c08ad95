package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
)

// Offers returns the rules that a user who allows a request may want for others
// like it, from narrow to wide: this command, commands that begin like it, this
// file, this folder, this kind of tool, everything. Each of them would have
// allowed the request; what is in doubt has none, nor has a request whose options
// no rule can choose from. Scope and Session are for the user to choose.
//
// A rule with a path or a command is narrow enough to be kept. The others are for
// one session.
func Offers(q Request, options []acp.PermissionOption) []Rule {
	if CheckOptions(options) != nil || find(options, Allow) == nil || q.Truncated {
		return nil
	}
	s := inspect(&q)
	var offers []Rule
	for _, r := range s.candidates() {
		if r.Agent = q.Agent; r.Check() == nil && r.allows(s) {
			r.Scope = ""
			offers = append(offers, r)
		}
	}
	return offers
}

// candidates are rules that might allow the request.
func (s *subject) candidates() []Rule {
	allow := Rule{Action: Allow, Scope: Always}
	var rules []Rule
	add := func(change func(r *Rule)) {
		r := allow
		change(&r)
		rules = append(rules, r)
	}
	if s.runs() {
		if len(s.Command) > 0 {
			add(func(r *Rule) { r.Command, r.Exact = s.Command, true })
			// What an interpreter runs is in its arguments.
			if begin := beginning(s.Command); s.clear() && len(begin) > 0 {
				add(func(r *Rule) { r.Command = begin })
			}
		}
	} else if touches(s.Kind) && len(s.places) > 0 && !slices.ContainsFunc(s.places, func(p place) bool { return !p.known }) {
		names, folders := []string{}, []string{}
		for _, p := range s.places {
			names, folders = append(names, p.real), append(folders, filepath.Dir(p.real))
		}
		if slices.Sort(names); len(slices.Compact(names)) == 1 {
			add(func(r *Rule) { r.Kind, r.Path = s.Kind, escape(names[0]) })
		}
		if slices.Sort(folders); len(slices.Compact(folders)) == 1 && filepath.Dir(folders[0]) != folders[0] {
			add(func(r *Rule) { r.Kind, r.Path = s.Kind, escape(folders[0])+"/**" })
		}
	}
	if s.Kind != acp.ToolKindOther && s.Kind != acp.ToolKindSwitchMode {
		add(func(r *Rule) { r.Kind = s.Kind })
	}
	add(func(*Rule) {})
	return rules
}

// beginning is the program of a command, with its subcommand if it has one.
func beginning(command []string) []string {
	word := func(s string) bool {
		return !strings.ContainsFunc(s, func(c rune) bool { return (c < 'a' || c > 'z') && c != '-' && c != ':' }) && !strings.HasPrefix(s, "-")
	}
	n := 1
	if len(command) > 1 && word(command[1]) {
		n = 2
	}
	return command[:n]
}

// escape returns the pattern that matches only the path.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(filepath.ToSlash(path))
}
