package openai

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// concession is something that a request can do without, or must have, at some endpoints.
type concession struct {
	what    string // in Refuses or Demands of the profile
	demand  bool
	about   *regexp.Regexp // the words of an endpoint that wants it
	applies func(r model.Request, p Profile) bool
	notice  string // for the user; empty: it makes no difference
}

// Names for what endpoints refuse besides members, and for what they demand.
const (
	pictures  = "pictures"
	tools     = "tools"     // calls are written into the text
	system    = "system"    // the prompt goes into the first message of the user
	streaming = "stream"    // answers come in one piece
	content   = "content"   // also of a message that has only calls
	signature = "signature" // of each call; Google has one for calls of other models
	extras    = "extras"    // all members that are not OpenAI's
)

var concessions = []concession{
	{what: pictures, about: regexp.MustCompile(`(?i)image|vision|modal|picture`), notice: "trying again without pictures",
		applies: func(r model.Request, _ Profile) bool { return hasPictures(r.Messages) }},
	{what: tools, about: regexp.MustCompile(`(?i)does not support (tools|function)|tool choice requires|(tools?|functions?)[^.]{0,40}(requires? --jinja|not supported|unsupported)|support tool use|not support (tool|function) call`), notice: "trying again with tools in the text",
		applies: func(r model.Request, _ Profile) bool { return len(r.Tools) > 0 }},
	{what: system, about: regexp.MustCompile(`(?i)system (role|message|prompt)s?\b.{0,40}not (supported|allowed)|roles are supported|developer instruction is not enabled`),
		applies: func(r model.Request, _ Profile) bool {
			return len(r.Messages) > 0 && r.Messages[0].Role == model.System
		}},
	{what: streaming, about: regexp.MustCompile(`(?i)stream(ing)?( requests| mode| responses)?\b[^.]{0,30}not (yet )?(supported|allowed|available|enabled)|does not support stream|verified to stream|'stream'.{0,20}(does not|must)`),
		applies: func(model.Request, Profile) bool { return true }},
	{what: signature, demand: true, about: regexp.MustCompile(`(?i)missing a .?thought_?signature`),
		applies: func(model.Request, Profile) bool { return true }},
	{what: "reasoning_content", demand: true, about: regexp.MustCompile(`(?i)reasoning_content.{0,60}(must be|missing|required)|missing .{0,10}reasoning_content`),
		applies: func(model.Request, Profile) bool { return true }},
	{what: content, demand: true, about: regexp.MustCompile(`(?i)\bcontent\b.{0,40}(field required|is required|not be null|must be a string|missing|got null|none is not)|missing field .content|(null|none).{0,30}\bcontent\b`),
		applies: func(model.Request, Profile) bool { return true }},
}

// concede learns from a refusal, and reports whether the same request is worth another try
// because of that, and what the user has to know.
func (c *Client) concede(r model.Request, err error) (notice string, learned bool) {
	var said *failure
	if !errors.As(err, &said) || said.status == http.StatusTooManyRequests || said.status == http.StatusUnauthorized || said.full() || said.page {
		return "", false
	}
	profile := c.Profile(r.Model)
	for _, x := range concessions {
		if x.applies(r, profile) && x.about.MatchString(said.said) {
			if c.learn(r.Model, x.what, x.demand) {
				return x.notice, true
			}
		}
	}
	for _, name := range optional(requestBody(r, profile, c.from(r.Model))) {
		if names(said.raw, name) && c.learn(r.Model, name, false) {
			if _, wanted := r.Parameters[name]; wanted {
				return "trying again without " + name, true
			}
			return "", true
		}
	}
	if said.status == http.StatusBadRequest && said.said == "" && hasExtras(requestBody(r, profile, c.from(r.Model))) {
		return "", c.learn(r.Model, extras, false)
	}
	return "", false
}

func (c *Client) learn(name, what string, demand bool) bool {
	return c.profiles.learn(c.from(name), func(p *Profile) {
		if demand {
			p.Demands = with(p.Demands, what)
		} else {
			p.Refuses = with(p.Refuses, what)
		}
	})
}

// names reports whether a text has the name of a member as a word.
func names(text, name string) bool {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, name)
		if !found {
			return false
		}
		before := rest[:len(rest)-len(after)-len(name)]
		if !wordEnd(before) && !wordBegin(after) {
			return true
		}
		rest = after
	}
}

func wordEnd(s string) bool   { return s != "" && isWord(s[len(s)-1]) }
func wordBegin(s string) bool { return s != "" && isWord(s[0]) }
func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
