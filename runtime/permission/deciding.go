package permission

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/pathname"
)

// Deciding says what of a tool call users have to see before they allow it. All
// changes of files and all locations are among that, too.
type Deciding struct {
	// Arguments are the members of rawInput, in the order in which to show them.
	// They are missing when there are too many to name. Missing arguments decide.
	Arguments []Argument `json:"arguments,omitempty"`
	// Words reports that the title and the texts of the call decide, because no
	// argument says what happens. Some agents put a command only there.
	Words bool `json:"words"`
	// Unnamed reports that the call changes files and does not name them, so that no
	// rule allows it.
	Unnamed bool `json:"unnamed,omitempty"`
	// Outside are the paths of the call, as written, that are in no folder of the
	// session. A path that may lead anywhere is among them.
	Outside []string `json:"outside,omitempty"`
}

// Argument is what the name of an argument says about it.
type Argument struct {
	Name    string `json:"name"`
	Role    string `json:"role,omitempty"` // command, words, program, folder, environment, path, pattern, text; empty when its name says nothing
	Decides bool   `json:"decides"`
	InDiff  bool   `json:"inDiff,omitempty"` // a diff of the call shows it
}

// maxArguments bounds the arguments that are named one by one.
const maxArguments = 200

// Decides says what of a tool call decides. call is everything that is known about
// it, and q what Describe says of it.
func Decides(call *acp.ToolCallUpdate, q Request) Deciding {
	d := telling(call)
	s := inspect(&q)
	d.Unnamed = s.unnamed()
	for i, p := range s.places {
		if len(s.Roots) > 0 && filepath.IsAbs(p.name) && (!p.known || !slices.ContainsFunc(s.roots, func(root string) bool { return pathname.Within(root, p.real) })) {
			d.Outside = append(d.Outside, q.Paths[i])
		}
	}
	slices.Sort(d.Outside)
	d.Outside = slices.Compact(d.Outside)
	return d
}

// telling says which arguments decide.
func telling(call *acp.ToolCallUpdate) Deciding {
	var diffs []*acp.Diff
	for _, c := range call.Content {
		if d, ok := c.(*acp.Diff); ok {
			diffs = append(diffs, d)
		}
	}
	var input map[string]any
	if json.Unmarshal(call.RawInput, &input) != nil || len(input) > maxArguments {
		return Deciding{Words: true}
	}
	var d Deciding
	kind, told, runs := call.Kind.Or(""), false, false
	for name, value := range input {
		a := Argument{Name: name, Role: roleOf(name).String(), InDiff: inDiff(diffs, roleOf(name), value)}
		says(roleOf(name), value, func(r role, text bool) {
			a.Decides = a.Decides || decides(kind, r, text) && (r != plainText || kind != acp.ToolKindEdit || len(diffs) == 0)
			told, runs = told || tells(kind, r), runs || r.runs()
		})
		a.Decides = a.Decides || mayBeAnything(kind)
		d.Arguments = append(d.Arguments, a)
	}
	slices.SortFunc(d.Arguments, func(a, b Argument) int { return compareNames(a.Name, b.Name) })
	switch {
	case kind == acp.ToolKindExecute:
		d.Words = !runs
	case mayBeAnything(kind): // what happens may be in the title alone
		d.Words = true
	default:
		d.Words = !told
	}
	return d
}

// mayBeAnything reports whether a tool of a kind may do anything, with any argument.
func mayBeAnything(kind acp.ToolKind) bool {
	switch kind {
	case acp.ToolKindRead, acp.ToolKindSearch, acp.ToolKindFetch, acp.ToolKindEdit, acp.ToolKindThink:
		return false
	}
	return true
}

// decides reports whether an argument of a role says what a tool of a kind does. A
// text may, even if its name says nothing: it may be a command below a name that is
// not in the table. Numbers only say how much.
func decides(kind acp.ToolKind, r role, text bool) bool {
	switch {
	case mayBeAnything(kind):
		return true
	case r == unknown:
		return text
	case r == plainText: // a page is also sent what is fetched with
		return kind != acp.ToolKindRead && kind != acp.ToolKindSearch
	}
	return true
}

// tells reports whether an argument of a role describes a call of a kind so well
// that the title of the call does not decide.
func tells(kind acp.ToolKind, r role) bool {
	return r != unknown && (r != plainText || kind == acp.ToolKindThink)
}

// says calls visit with the role of each value that says something, and whether it
// is a text. A member whose name says nothing has the role of its object.
func says(r role, value any, visit func(r role, text bool)) {
	switch value := value.(type) {
	case nil, bool:
	case map[string]any:
		for name, v := range value {
			member := roleOf(name)
			if member == unknown {
				member = r
			}
			says(member, v, visit)
		}
	case []any:
		for _, v := range value {
			says(r, v, visit)
		}
	case string:
		if strings.TrimSpace(value) != "" {
			visit(r, true)
		}
	default:
		visit(r, false)
	}
}
