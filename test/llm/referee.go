package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// Judge says what the strictest endpoint would have against a request for chat completions.
// Each rule is one that some server or some model's chat template has; a history that breaks
// one is refused with every prompt, so the session is lost.
func Judge(body []byte) error {
	if hasHalf(body) {
		return errors.New("half of a surrogate pair")
	}
	var r struct {
		Messages []message
		Tools    []struct {
			Function struct {
				Name       string
				Parameters map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	for _, t := range r.Tools {
		if !nameRule.MatchString(t.Function.Name) || t.Function.Parameters == nil {
			return fmt.Errorf("tool %q", t.Function.Name)
		}
	}
	j := judge{turn: "assistant", made: map[string]bool{}}
	for i, m := range r.Messages {
		if err := j.message(i, m); err != nil {
			return fmt.Errorf("message %d, of the %s: %w", i, m.Role, err)
		}
	}
	switch {
	case j.last == "assistant", j.last == "system", j.last == "":
		return fmt.Errorf("the last message must be of the user or a tool, not %q", j.last)
	case len(j.open) > 0:
		return errors.New("calls at the end have no results")
	}
	return nil
}

type message struct {
	Role      string
	Content   json.RawMessage
	ID        string `json:"tool_call_id"`
	ToolCalls []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

type judge struct {
	last string          // role
	turn string          // the role of the last message that counts: not a result, not a call
	open []string        // ids of calls that wait for their results
	made map[string]bool // ids of all calls
}

var (
	nameRule = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	idRule   = regexp.MustCompile(`^[A-Za-z0-9]{9}$`)
	// whole are escapes that are all right, half is what may be left then.
	whole = regexp.MustCompile(`(?i)\\ud[89ab]..\\ud[c-f]..|\\u[0-9a-ce-f]...|\\ud[0-7]..|\\[^u]`)
	half  = regexp.MustCompile(`(?i)\\ud[89a-f]..`)
)

var errAlternate = errors.New("conversation roles must alternate: user, assistant, user, assistant")

func (j *judge) message(i int, m message) error {
	defer func() { j.last = m.Role }()
	text, parts := contentOf(m.Content)
	if m.Role != "tool" && len(j.open) > 0 {
		return fmt.Errorf("the call %s has no result behind it", j.open[0])
	}
	switch m.Role {
	case "system":
		if i > 0 {
			return errors.New("not at the beginning")
		}
	case "tool":
		at := slices.Index(j.open, m.ID)
		if at < 0 {
			return fmt.Errorf("the result of %q, where those of %q belong", m.ID, j.open)
		}
		j.open = slices.Delete(j.open, at, at+1)
	case "user":
		if text == "" && parts == 0 {
			return errors.New("no content")
		}
		if j.turn != "assistant" {
			return errAlternate
		}
		j.turn = m.Role
	case "assistant":
		if len(m.ToolCalls) == 0 {
			if text == "" && parts == 0 {
				return errors.New("neither content nor calls")
			}
			if j.turn != "user" {
				return errAlternate
			}
			j.turn = m.Role
		}
		if j.last == m.Role || j.last == "" || j.last == "system" {
			return fmt.Errorf("behind %q", j.last)
		}
		for _, c := range m.ToolCalls {
			var arguments map[string]json.RawMessage
			switch {
			case !idRule.MatchString(c.ID) || j.made[c.ID]:
				return fmt.Errorf("the id %q of a call", c.ID)
			case !nameRule.MatchString(c.Function.Name):
				return fmt.Errorf("the name %q of a call", c.Function.Name)
			case json.Unmarshal([]byte(c.Function.Arguments), &arguments) != nil || arguments == nil || hasHalf([]byte(c.Function.Arguments)):
				return fmt.Errorf("the arguments %s of a call", c.Function.Arguments)
			}
			j.made[c.ID], j.open = true, append(j.open, c.ID)
		}
	default:
		return errors.New("an unknown role")
	}
	return nil
}

func hasHalf(text []byte) bool { return half.Match(whole.ReplaceAll(text, []byte("."))) }

// contentOf returns content that is a text, or how many parts it has.
func contentOf(raw json.RawMessage) (text string, parts int) {
	var list []json.RawMessage
	json.Unmarshal(raw, &text)
	json.Unmarshal(raw, &list)
	return text, len(list)
}
