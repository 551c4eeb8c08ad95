package compare

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/lazyregexp"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// names replaces what is different in every run.
type names struct {
	ids      map[string]string // the ids and folders of this capture, with what they are
	replacer *strings.Replacer // of those that are long enough to be found in other text
}

func (n *names) init() { n.ids = map[string]string{} }

// given are members whose values the protocol lets a side make up. Ids of modes, models,
// options and the like are chosen once and stay.
var given = map[string]string{
	"sessionId": "session", "toolCallId": "tool call", "terminalId": "terminal", "messageId": "message", "requestId": "request",
	"elicitationId": "elicitation", "planId": "plan", "connectionId": "connection", "taskId": "task", "cwd": "cwd", "cursor": "cursor", "nextCursor": "cursor",
}

// learn notes the ids in a message.
func (n *names) learn(m *lint.Message) {
	for _, v := range []jtree.Value{m.Params, m.Result} {
		for _, part := range []jtree.Value{v, v.Get("update"), v.Get("toolCall"), v.Get("subject", "toolCall")} {
			for name, x := range part.Members() {
				if what := given[string(name)]; what != "" && x.IsString() && len(n.ids) < maxIDs {
					if id := x.Str(); id != "" {
						n.ids[id] = what
					}
				}
			}
		}
	}
}

// minFound is how long an id has to be to be looked for in other text, in bytes.
const minFound = 8

// noise are texts that are made up in each run, the longest kind first.
var noise = []struct {
	what func() *regexp.Regexp
	as   string
}{
	{lazyregexp.New(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?`), "‹time›"},
	{lazyregexp.New(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "‹uuid›"},
	{lazyregexp.New(`(/private)?(/var/folders/[^/\s"']+/[^/\s"']+/T|/tmp|/var/tmp)/[^/\s"'` + "`" + `]+`), "‹temporary›"},
	{lazyregexp.New(`(?i)[a-z]:\\users\\[^\\\s"']+\\appdata\\local\\temp\\[^\\\s"']+`), "‹temporary›"},
	{lazyregexp.New(`(/home|/Users)/[^/\s"'` + "`" + `]+`), "‹home›"},
	{lazyregexp.New(`(?i)\b(p?pid|pgid)(\W{1,4})\d+\b`), "${1}${2}‹process›"},
	{lazyregexp.New(`\b\d+(\.\d+)? ?(ms|µs|ns|s|seconds|milliseconds)\b`), "‹duration›"},
}

var token = lazyregexp.New(`[0-9A-Za-z_]{12,}`)

// random reports whether a word looks made up: long, with digits among letters.
func random(word string) bool {
	digits, letters, changes := 0, 0, 0
	last := byte(0)
	for i := range len(word) {
		kind := byte('a')
		if c := word[i]; '0' <= c && c <= '9' {
			kind = '0'
			digits++
		} else if c == '_' {
			continue
		} else {
			letters++
		}
		if last != 0 && kind != last {
			changes++
		}
		last = kind
	}
	return digits >= 3 && letters >= 2 && changes >= 3
}

// normal returns text without what differs in every run.
func (n *names) normal(text string) string {
	if n.replacer == nil {
		var ids []string
		for id := range n.ids {
			if len(id) >= minFound || n.ids[id] == "cwd" && len(id) > 1 {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b string) int { return len(b) - len(a) })
		var pairs []string
		for _, id := range ids {
			pairs = append(pairs, id, "‹"+n.ids[id]+"›")
		}
		n.replacer = strings.NewReplacer(pairs...)
	}
	text = n.replacer.Replace(text)
	if !strings.ContainsAny(text, `0123456789/\`) {
		return text // has nothing of what follows
	}
	for _, x := range noise {
		text = x.what().ReplaceAllString(text, x.as)
	}
	return token().ReplaceAllStringFunc(text, func(word string) string {
		if random(word) {
			return "‹random›"
		}
		return word
	})
}

// timed are the ends of names whose numbers are times.
var timed = []string{"At", "Ms", "Millis", "Time", "Timestamp", "Duration", "Elapsed", "time", "timestamp", "duration", "elapsed", "_at", "_ms"}

// isTime reports whether a number is a time: by the name of its member, or because it is
// one of this century in seconds or milliseconds.
func isTime(name string, v jtree.Value) bool {
	for _, end := range timed {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	x, _ := v.Float()
	return x >= 1.4e9 && x < 2.6e9 || x >= 1.4e12 && x < 2.6e12
}
