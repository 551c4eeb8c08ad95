package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/lazyregexp"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// Kind is what became of something.
type Kind string

// The kinds.
const (
	New     Kind = "new"
	Gone    Kind = "gone"
	Changed Kind = "changed"
	Moved   Kind = "moved" // equal, but at another place in its turn
)

// Place is a message of a capture.
type Place struct {
	Message int `json:"message"`
	Line    int `json:"line,omitempty"`
}

// Value is a value that changed. Old or New is empty if the value is new or gone.
type Value struct {
	Pointer string `json:"pointer"` // into the new message; of a value that is gone, into the old one
	Old     string `json:"old,omitempty"`
	New     string `json:"new,omitempty"`
}

// Change is a message or a whole turn that is not in both captures, or differs.
type Change struct {
	Kind    Kind    `json:"change"`
	Part    string  `json:"part"`  // where: a turn, or before the first
	From    string  `json:"from"`  // client or agent
	What    string  `json:"what"`  // the method, or a turn
	Count   int     `json:"count"` // messages: more than one for a turn
	Old     *Place  `json:"old,omitempty"`
	New     *Place  `json:"new,omitempty"`
	Values  []Value `json:"values,omitempty"`
	More    int     `json:"more,omitempty"` // values that changed, but are not in Values
	Excerpt string  `json:"excerpt,omitempty"`
}

// Finding is what the linter found in one capture only.
type Finding struct {
	Kind    Kind         `json:"change"`
	Count   int          `json:"count"` // how many more there are than in the other capture
	Finding lint.Finding `json:"finding"`
}

// Result is what is different.
type Result struct {
	Same     int // messages that are equal
	Changes  []Change
	Findings []Finding
}

// Equal reports whether nothing is different.
func (r *Result) Equal() bool { return len(r.Changes) == 0 && len(r.Findings) == 0 }

// Options configure Compare.
type Options struct {
	// Ignore are pointers whose values do not count, where * stands for any member or
	// element. Values below them do not count either.
	Ignore []string
}

const (
	maxValues  = 50  // of a message
	maxExcerpt = 160 // bytes of a value or a message
)

// Compare says what is different in the new capture.
func Compare(old, new *Recording, o Options) *Result {
	c := &comparison{old: old, new: new, result: &Result{}}
	for _, pointer := range o.Ignore {
		expr := strings.ReplaceAll(regexp.QuoteMeta(pointer), `\*`, "[^/]*")
		c.ignore = append(c.ignore, regexp.MustCompile("^"+expr+"(/.*)?$"))
	}
	c.parts()
	c.findings()
	return c.result
}

type comparison struct {
	old, new *Recording
	ignore   []*regexp.Regexp
	result   *Result
}

func (p *part) name() string {
	if p.anytime {
		return "updates at any time"
	}
	if p.turn == 0 {
		if p.connection > 1 {
			return fmt.Sprintf("connection %d, before the first turn", p.connection)
		}
		return "before the first turn"
	}
	name := fmt.Sprintf("turn %d", p.turn)
	if p.connection > 1 {
		name = fmt.Sprintf("connection %d, %s", p.connection, name)
	}
	if p.shown != "" {
		name += ": " + p.shown
	}
	return name
}

// parts pairs turns with the same prompt, and then those between them in their order.
func (c *comparison) parts() {
	old, new := c.old.parts, c.new.parts
	prompts := [2][]string{}
	for i, r := range []*Recording{c.old, c.new} {
		for _, p := range r.parts {
			prompt := "before"
			switch {
			case p.anytime:
				prompt = "any time"
			case p.turn > 0:
				prompt = "turn " + r.names.normal(p.prompt)
			}
			prompts[i] = append(prompts[i], prompt)
		}
	}
	pairs := align(len(old), len(new), func(i, j int) int {
		switch {
		case prompts[0][i] == prompts[1][j]:
			return best
		case old[i].turn > 0 && new[j].turn > 0:
			return 1 // another prompt
		}
		return 0
	}, func(list, i int) string { return prompts[list][i] })
	for _, p := range pairs {
		switch {
		case p.old < 0:
			c.whole(New, c.new, new[p.new])
		case p.new < 0:
			c.whole(Gone, c.old, old[p.old])
		default:
			c.part(old[p.old], new[p.new])
		}
	}
}

// whole is a turn that is in one capture only.
func (c *comparison) whole(kind Kind, r *Recording, p *part) {
	if len(p.messages) == 0 {
		return
	}
	what := "turn"
	if p.turn == 0 {
		what = "connection"
	}
	first := p.messages[0]
	from, _, _ := strings.Cut(first.label, " ")
	change := Change{Kind: kind, Part: p.name(), From: from, What: what, Count: len(p.messages)}
	change.place(kind, first)
	c.result.Changes = append(c.result.Changes, change)
}

func (c *Change) place(kind Kind, m *message) {
	if kind == Gone {
		c.Old = &Place{m.Number, m.Line}
	} else {
		c.New = &Place{m.Number, m.Line}
	}
}

// part compares the messages of a turn.
func (c *comparison) part(old, new *part) {
	for _, m := range old.messages {
		c.old.read(m)
	}
	for _, m := range new.messages {
		c.new.read(m)
	}
	pairs := align(len(old.messages), len(new.messages), func(i, j int) int {
		a, b := old.messages[i], new.messages[j]
		switch {
		case a.label != b.label:
			return 0
		case a.hash == b.hash:
			return best
		}
		return best - 1
	}, func(list, i int) string {
		m := []*part{old, new}[list].messages[i]
		return fmt.Sprint(m.label, " ", m.hash) // in so long a turn only equal messages are paired
	})
	// A message that is gone in one place and new in another has moved.
	moved := map[int]int{}
	for i, p := range pairs {
		if p.new >= 0 {
			continue
		}
		j := slices.IndexFunc(pairs, func(q pair) bool {
			return q.old < 0 && new.messages[q.new].hash == old.messages[p.old].hash && new.messages[q.new].label == old.messages[p.old].label
		})
		if j >= 0 {
			pairs[j].old = p.old
			moved[j] = i
			pairs[i] = pair{-1, -1}
		}
	}
	for i, p := range pairs {
		switch {
		case p.old < 0 && p.new < 0:
		case p.old < 0:
			c.alone(New, new, new.messages[p.new])
		case p.new < 0:
			c.alone(Gone, old, old.messages[p.old])
		default:
			_, elsewhere := moved[i]
			c.message(new, old.messages[p.old], new.messages[p.new], elsewhere)
		}
	}
	// They are not needed any more.
	for _, m := range slices.Concat(old.messages, new.messages) {
		m.tree = nil
	}
}

// describe begins a change of a message.
func describe(kind Kind, p *part, m *message) Change {
	from, what, _ := strings.Cut(m.label, " ")
	return Change{Kind: kind, Part: p.name(), From: from, What: what, Count: 1}
}

// alone is a message that is in one capture only.
func (c *comparison) alone(kind Kind, p *part, m *message) {
	change := describe(kind, p, m)
	change.place(kind, m)
	text := m.text
	if m.chunked {
		text = m.joined()
	}
	change.Excerpt = lint.Visible(text, maxExcerpt)
	c.result.Changes = append(c.result.Changes, change)
}

// message compares a message with its counterpart.
func (c *comparison) message(p *part, old, new *message, moved bool) {
	change := describe(Changed, p, new)
	change.Old, change.New = &Place{old.Number, old.Line}, &Place{new.Number, new.Line}
	if old.hash != new.hash {
		c.value(&change, "", "", old.tree, new.tree)
	}
	switch {
	case change.Values == nil && moved && !new.aside:
		change.Kind = Moved
	case change.Values == nil:
		c.result.Same++
		return
	}
	c.result.Changes = append(c.result.Changes, change)
}

// value compares two values; their pointers differ if elements of lists have moved.
func (c *comparison) value(change *Change, oldAt, newAt string, old, new *node) {
	at := newAt
	if new == nil {
		at = oldAt
	}
	switch {
	case old != nil && new != nil && old.hash == new.hash:
		return
	case slices.ContainsFunc(c.ignore, func(e *regexp.Regexp) bool { return e.MatchString(at) }):
		return
	case old != nil && new != nil && old.kind == new.kind && old.members != nil && new.members != nil:
		c.object(change, oldAt, newAt, old, new)
		return
	case old != nil && new != nil && old.kind == new.kind && old.items != nil && new.items != nil:
		c.list(change, oldAt, newAt, old, new)
		return
	case len(change.Values) == maxValues:
		change.More++
		return
	}
	v := Value{Pointer: lint.Visible([]byte(at), maxExcerpt)}
	if old != nil && new != nil {
		a, b := old.raw, new.raw
		if len(a) > maxExcerpt || len(b) > maxExcerpt {
			a, b = old.plain(), new.plain() // as compared, so that their first difference is a real one
		}
		from := common(a, b)
		v.Old, v.New = excerpt(a, from), excerpt(b, from)
	} else if old != nil {
		v.Old = excerpt(old.raw, 0)
	} else {
		v.New = excerpt(new.raw, 0)
	}
	change.Values = append(change.Values, v)
}

func (c *comparison) object(change *Change, oldAt, newAt string, old, new *node) {
	for _, m := range old.members {
		below := "/" + escape(m.name)
		c.value(change, oldAt+below, newAt+below, m.node, new.get(m.name))
	}
	for _, m := range new.members {
		if old.get(m.name) == nil {
			c.value(change, "", newAt+"/"+escape(m.name), nil, m.node)
		}
	}
}

func (c *comparison) list(change *Change, oldAt, newAt string, old, new *node) {
	pairs := align(len(old.items), len(new.items), func(i, j int) int {
		a, b := old.items[i], new.items[j]
		if a.hash == b.hash {
			return best
		}
		oldKey, identity := a.key()
		newKey, other := b.key()
		switch {
		case a.kind != b.kind || a.members == nil && a.items == nil:
			return 0
		case oldKey != "" && oldKey == newKey:
			return best - 1
		case identity || other:
			return 0
		}
		return 1
	}, func(list, i int) string {
		x := []*node{old, new}[list].items[i]
		key, _ := x.key()
		return key
	})
	for _, p := range pairs {
		oldBelow, newBelow := fmt.Sprintf("%s/%d", oldAt, p.old), fmt.Sprintf("%s/%d", newAt, p.new)
		switch {
		case p.old < 0:
			c.value(change, "", newBelow, nil, new.items[p.new])
		case p.new < 0:
			c.value(change, oldBelow, "", old.items[p.old], nil)
		default:
			c.value(change, oldBelow, newBelow, old.items[p.old], new.items[p.new])
		}
	}
}

// escape is a member's name in a pointer.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// before is how much of two long values is shown before the first difference, in bytes.
const before = 40

// common returns where excerpts of two long values begin.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n < maxExcerpt/2 {
		return 0
	}
	return n - before
}

// excerpt is part of a value.
func excerpt(raw []byte, from int) string {
	if from == 0 {
		return lint.Visible(raw, maxExcerpt)
	}
	for from > 0 && from < len(raw) && raw[from]&0xc0 == 0x80 { // inside of a character
		from--
	}
	return "…" + lint.Visible(raw[min(from, len(raw)):], maxExcerpt)
}

var index = lazyregexp.New(`/\d+(/|$)`)

// findings compares what the linter found.
func (c *comparison) findings() {
	type place struct{ rule, by, message, pointer string }
	count := func(r *Recording) (order []place, all map[place][]lint.Finding) {
		all = map[place][]lint.Finding{}
		for _, v := range r.Report.Verdicts {
			for _, f := range v.Findings {
				pointer := f.Pointer
				for index().MatchString(pointer) {
					pointer = index().ReplaceAllString(pointer, "/*$1")
				}
				k := place{f.Rule.ID, f.By.String(), r.messages[f.Message], pointer}
				if all[k] == nil {
					order = append(order, k)
				}
				all[k] = append(all[k], f)
			}
		}
		return order, all
	}
	oldOrder, old := count(c.old)
	newOrder, new := count(c.new)
	for _, k := range newOrder {
		if n := len(new[k]) - len(old[k]); n > 0 {
			c.result.Findings = append(c.result.Findings, Finding{New, n, new[k][len(old[k])]})
		}
	}
	for _, k := range oldOrder {
		if n := len(old[k]) - len(new[k]); n > 0 {
			c.result.Findings = append(c.result.Findings, Finding{Gone, n, old[k][len(new[k])]})
		}
	}
}
