package golang

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// listItem starts a line that is an item of a list.
const listItem = "   - "

const site = "https://agentclientprotocol.com/"

// comment writes text as line comments, so that nothing in it can end them. A
// newline starts a new line, an empty line a new paragraph.
func comment(to interface{ Comment(string) *jen.Statement }, text string) {
	if text == "" {
		return
	}
	for _, p := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(p, listItem) {
			to.Comment("//" + clean(p))
			continue
		}
		for _, l := range wrap(clean(p), 92) {
			to.Comment(strings.TrimSpace("// " + l))
		}
	}
}

// clean makes text fit for one line of a Go comment.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Map(func(r rune) rune {
		if r == '\ufeff' || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

func wrap(s string, width int) []string {
	var out []string
	cur := ""
	for _, w := range strings.Fields(s) {
		if cur != "" && utf8.RuneCountInString(cur)+1+utf8.RuneCountInString(w) > width {
			out = append(out, cur)
			cur = ""
		}
		if cur != "" {
			cur += " "
		}
		cur += w
	}
	if cur != "" || out == nil {
		out = append(out, cur)
	}
	return out
}

// lower makes the first letter of a sentence small, unless it starts a name.
func lower(s string) string {
	r := []rune(s)
	if len(r) < 2 || !unicode.IsUpper(r[0]) || !(unicode.IsLower(r[1]) || r[1] == ' ') {
		return s
	}
	return strings.ToLower(string(r[0])) + string(r[1:])
}

// sentence makes the first letter of a text a capital.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func quoteDoc(s string) string { return `"` + s + `"` }

// verbs joins the name of a type with the words of overlay/docs.json, by their
// first word. The words are also used in Lua and the help, where no name precedes
// them.
var verbs = map[string]string{
	"A": "is", "An": "is", "Another": "is", "Any": "is", "Content": "is", "Free": "is", "Input": "is", "Instructions": "is",
	"Markdown": "is", "One": "is", "Plain": "is", "Reasoning": "is", "Something": "is", "Text": "is", "The": "is", "What": "is", "Yes": "is",

	"Changes": "holds", "Facts": "holds", "File": "holds", "Further": "holds", "Hints": "holds", "Kinds": "holds", "MCP": "holds",
	"More": "holds", "Name": "holds", "New": "holds", "Optional": "holds", "Parameters": "holds", "Session": "holds", "System": "holds",
	"Tokens": "holds", "Values": "holds", "Ways": "holds",

	"How": "says", "Where": "says", "Whether": "says", "Which": "says", "Why": "says",

	"All": "says that", "No": "says that", "Nobody": "says that", "Nothing": "says that", "Somebody": "says that",

	"Chooses": "", "Groups": "", "Marks": "", "Names": "", "Reports": "", "Switches": "", // verbs themselves
}

// said makes words a sentence about n. Words that start with an unknown first
// word follow a colon.
func said(n, words string) string {
	first, _, _ := strings.Cut(words, " ")
	switch verb, known := verbs[strings.TrimRight(first, ".,;")]; {
	case !known:
		return n + ": " + lower(words)
	case verb == "":
		return n + " " + lower(words)
	default:
		return n + " " + verb + " " + lower(words)
	}
}

// typeDoc is the comment of a definition: our words or, without any, its shape.
// placed adds where it travels.
func (g *gen) typeDoc(n string, t *ir.Type, shape string) string {
	doc := said(n, t.Doc)
	if t.Doc == "" {
		doc = n + " is " + shape + "."
	}
	if in := g.variantOf(n); in != "" {
		doc += "\n" + in
	}
	return doc
}

// variantOf says which variants of which unions a type is.
func (g *gen) variantOf(n string) string {
	var in []string
	g.eachUnion(func(t *ir.Type, union string, u *ir.Union) {
		for _, a := range g.arms[union] {
			if a.name == n && !a.own {
				in = append(in, armDoc(a, union))
			}
		}
	})
	if in == nil {
		return ""
	}
	return "It is " + strings.Join(in, ", and ") + "."
}

// usage says where a definition travels.
func (g *gen) usage(t *ir.Type) string {
	def := t.Name
	var lines []string
	for _, m := range g.Spec.Methods {
		what := ""
		switch def {
		case m.Request:
			what = "Params of the request "
		case m.Response:
			what = "Result of the request "
		case m.Notification:
			what = "Params of the notification "
		default:
			continue
		}
		from, to := direction(m)
		if def == m.Response {
			from, to = to, from
		}
		l := what + m.Wire + ", " + from + " to " + to + "."
		lines = append(lines, l+"\nSpec: "+site+cmp.Or(t.Page, m.Page, g.schemaPage()))
	}
	return strings.Join(lines, "\n")
}

func direction(m *ir.Method) (from, to string) {
	switch m.Handler {
	case "agent":
		return "client", "agent"
	case "client":
		return "agent", "client"
	case "protocol":
		return "either side", "the other"
	}
	return "client", m.Handler
}

func (g *gen) structDoc(s structType) string {
	switch {
	case s.other != "":
		return g.placed(s.name+" is "+a(unionOwner(g, s))+" whose "+s.other+" this version does not know. It is kept and written back as received.", s.of)
	case s.def != nil && s.any:
		return g.placed(g.typeDoc(s.name, s.def, "any JSON value"), s.def)
	case s.def != nil && len(s.fields) == 0:
		return g.placed(g.typeDoc(s.name, s.def, "an object without members of its own; Extra keeps what it holds"), s.def)
	case s.def != nil:
		return g.placed(g.typeDoc(s.name, s.def, "an object"), s.def)
	}
	what := "the variant " + s.name
	if s.arm != nil {
		what = armDoc(*s.arm, g.goType(s.of.Name))
	}
	if s.doc != "" {
		return g.placed(said(s.name, s.doc)+"\nIt is "+what+".", s.of)
	}
	return g.placed(s.name+" is "+what+".", s.of)
}

func unionOwner(g *gen, s structType) string { return g.goType(s.of.Name) }

// armDoc says which variant of which union an arm is.
func armDoc(a arm, union string) string {
	if a.tag != "" {
		return "the variant " + quoteDoc(a.tag) + " of " + union
	}
	return "the variant " + a.v.Title + " of " + union
}

// fieldDoc is the comment of a member: our words, then the rules.
func (g *gen) fieldDoc(f *ir.Field) string {
	doc := f.Doc
	if doc == "" && f.Wire == "_meta" {
		doc = "Extension data."
	}
	var rules []string
	if !isMentioned(doc, "null") && f.Presence == ir.Patch {
		rules = append(rules, "Null clears it, absent keeps it.")
	}
	unsigned := strings.HasPrefix(f.Type.Format, "u")
	switch min := f.Min; {
	case f.Max != "":
		rules = append(rules, "From "+f.Min+" to "+f.Max+".")
	case min != "" && !(min == "0" && unsigned):
		rules = append(rules, "At least "+min+".")
	}
	if f.MinItems != "" {
		rules = append(rules, "At least "+f.MinItems+" "+plural("item", f.MinItems)+".")
	}
	if f.MinLen != "" && f.MinLen != "0" {
		rules = append(rules, "At least "+f.MinLen+" "+plural("character", f.MinLen)+".")
	}
	switch f.Type.Format {
	case "uri":
		rules = append(rules, "A URI.")
	case "date-time":
		rules = append(rules, "RFC 3339.")
	case "regex":
		rules = append(rules, "A regular expression.")
	}
	if f.Encoding == "base64" {
		rules = append(rules, "Base64; see Bytes.")
	}
	if f.Secret {
		rules = append(rules, "Never printed by String.")
	}
	return strings.TrimSpace(doc + " " + strings.Join(rules, " "))
}

func isMentioned(doc, word string) bool { return strings.Contains(strings.ToLower(doc), word) }

func plural(noun, n string) string {
	if n == "1" {
		return noun
	}
	return noun + "s"
}
