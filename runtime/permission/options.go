package permission

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/hermes-nvim/hermes/acp"
)

// ErrOptions is what CheckOptions reports.
var ErrOptions = errors.New("permission options")

// CheckOptions refuses a request without an unambiguous answer: one without
// options, or with two options of the same id.
func CheckOptions(options []acp.PermissionOption) error {
	if len(options) == 0 {
		return fmt.Errorf("%w: none is offered", ErrOptions)
	}
	seen := make(map[acp.PermissionOptionID]bool, len(options))
	for _, o := range options {
		if seen[o.OptionID] {
			return fmt.Errorf("%w: id %q is offered twice", ErrOptions, o.OptionID)
		}
		seen[o.OptionID] = true
	}
	return nil
}

// Select finds the option that carries out a decision that no user has seen: the
// only one of kind allow_once or reject_once. It never selects an option that
// makes the agent remember more than was decided, or one whose label says the
// opposite of its kind. If there is no such option, the user has to be asked.
func Select(options []acp.PermissionOption, a Action) (acp.PermissionOptionID, bool) {
	if o := find(options, a); o != nil {
		return o.OptionID, true
	}
	return "", false
}

func find(options []acp.PermissionOption, a Action) *acp.PermissionOption {
	want := acp.PermissionOptionKindRejectOnce
	if a == Allow {
		want = acp.PermissionOptionKindAllowOnce
	}
	var found *acp.PermissionOption
	for i := range options {
		if o := &options[i]; o.Kind == want {
			if found != nil {
				return nil
			}
			found = o
		}
	}
	if found == nil || Contradicts(found) {
		return nil
	}
	return found
}

// Contradicts reports whether the label of an option says the opposite of its
// kind, or whether this version does not know the kind. The kind takes effect,
// not the label, so show it to the user.
func Contradicts(o *acp.PermissionOption) bool {
	words := strings.FieldsFunc(strings.ToLower(o.Name), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
	first := ""
	if len(words) > 0 {
		first = strings.ReplaceAll(words[0], "’", "'")
	}
	switch o.Kind {
	case acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways:
		switch first {
		case "no", "not", "reject", "deny", "refuse", "decline", "don't", "dont", "do", "never", "cancel", "block", "disallow", "abort", "stop", "forbid":
			return first != "do" || len(words) > 1 && words[1] == "not"
		}
		return false
	case acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways:
		switch first {
		case "yes", "allow", "accept", "approve", "ok", "okay", "permit", "always", "continue", "proceed", "run", "grant", "sure":
			return first != "always" || len(words) < 2 || words[1] != "reject" && words[1] != "deny" && words[1] != "refuse"
		}
		return false
	}
	return true
}
