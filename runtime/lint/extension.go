package lint

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/lazyregexp"
	"github.com/hermes-nvim/hermes/internal/shape"
)

func extensionRules() []Rule {
	return []Rule{
		{
			ID: "EXT01", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/extensibility", Strength: MustNot,
			Summary:      "Objects of the protocol have only the members that the specification declares; what is added is in _meta.",
			Why:          "A later version may give the name another meaning.",
			Requirements: []string{"ACP-SCHEMA-002"},
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					if m.Known == nil {
						return
					}
					c.Exercised()
					for _, p := range m.Problems() {
						if p.Kind == shape.Undeclared && !isCapability(p.At.Pointer()) && !isOffer(m, p) && !isDoubtful(m, p) {
							reportMember(c, m, p)
						}
					}
				})
			},
		},
		{
			ID: "EXT02", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/extensibility", Strength: Schema,
			Summary:      "_meta is an object or null.",
			Why:          "Readers look for members in it, and strict ones refuse the message.",
			Requirements: []string{"ACP-META-201"},
			Check: func(c *Checker) {
				eachMeta(c, func(m *Message, v Value) {
					c.Exercised()
					if v.Set() && !v.IsObject() {
						c.Fail(m, v, "_meta is %s", kindOf(v))
					}
				})
			},
		},
		{
			ID: "EXT03", Severity: Info, Side: BySender, Versions: All, Page: "v1+v2/extensibility", Strength: Should,
			Summary: "traceparent, tracestate and baggage in _meta have the format of the W3C.",
			Why:     "Tools that follow requests through programs ignore anything else.",
			Check: func(c *Checker) {
				eachMeta(c, func(m *Message, meta Value) {
					for _, format := range traceFormats {
						v := meta.Get(format.name)
						if !v.Set() {
							continue
						}
						c.Exercised()
						if !v.IsString() || !format.ok(v.Str()) {
							c.Fail(m, v, "not a %s of the W3C", format.name)
						}
					}
				})
			},
		},
		{
			ID: "EXT04", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/extensibility", Strength: Should,
			Summary: "Methods of an extension are announced in the _meta of capabilities before they are used.",
			Why:     "The other side cannot know that it may be asked, or that it will be told.",
			Check:   checkAnnounced,
		},
		{
			ID: "EXT05", Severity: Error, Side: BySender, Versions: V2, Page: "v2/extensibility", Strength: MustNot,
			Summary:      "Words for which the specification has a list are in it, or begin with an underscore.",
			Why:          "A later version may give the word another meaning.",
			Requirements: []string{"ACP-ENUM-201", "ACP-ENUM-202"},
			Check:        checkWords,
		},
		{
			ID: "EXT06", Severity: Warn, Side: BySender, Versions: V2, Page: "v2/extensibility", Strength: Should,
			Summary: "A proxy passes on words that the specification does not have, and the objects that they describe, unchanged.",
			Why:     "The other side may know them, and what it loses is lost for all behind it.",
			Check:   checkForwarded,
		},
		{
			ID: "EXT08", Severity: Error, Side: ByAgent, Versions: V1, Page: "schema/SessionUpdate", Strength: Schema,
			Summary:      "sessionUpdate is one of the updates of version 1.",
			Why:          "Strict clients refuse the notification, and others drop it.",
			Requirements: []string{"ACP-PROMPT-002"},
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					if !m.Update.IsObject() || c.Edition == nil {
						return
					}
					c.Exercised()
					if tag := m.Update.Get("sessionUpdate"); !tag.IsString() || !hasUpdate(c.Edition, m.UpdateTag) {
						c.Unknown(m, orElse(tag, m.Update), "version 1 does not have this update")
					}
				})
			},
		},
	}
}

// eachMeta calls f with every _meta of the protocol. A _meta inside another, or inside
// the input or output of a tool, is not the protocol's.
func eachMeta(c *Checker, f func(*Message, Value)) {
	c.Message(func(m *Message) {
		if m.hasMeta() {
			metas(m.Params, func(v Value) { f(m, v) })
			metas(m.Result, func(v Value) { f(m, v) })
		}
	})
}

// hasMeta reports whether a message may have a _meta. It is found out once.
func (m *Message) hasMeta() bool {
	if m.meta == 0 {
		if m.meta = 1; m.Tree.Escaped() || marked(m.Bytes, mark{`"`, '_', `meta"`}) {
			m.meta = 2
		}
	}
	return m.meta == 2
}

func metas(v Value, f func(Value)) {
	for name, member := range v.Members() {
		switch string(name) {
		case "_meta":
			f(member)
		case "rawInput", "rawOutput", "data":
		default:
			metas(member, f)
		}
	}
	for _, element := range v.Items() {
		metas(element, f)
	}
}

// isOffer reports whether a member of an initialize request belongs to another
// version. A client that speaks several does not know yet which of them will be
// read.
func isOffer(m *Message, p shape.Problem) bool {
	return m.Method == "initialize" && m.Kind == RequestMessage && slices.Contains([]string{
		"/params/clientCapabilities", "/params/clientInfo", "/params/capabilities", "/params/info",
	}, p.At.Pointer())
}

// isDoubtful reports whether something else is wrong with the object that has an
// undeclared member. Then it may be the wrong schema that lacks the member.
func isDoubtful(m *Message, p shape.Problem) bool {
	object := p.At.Pointer()
	object = object[:strings.LastIndexByte(object, '/')]
	return slices.ContainsFunc(m.Problems(), func(q shape.Problem) bool {
		if q.Kind >= shape.Undeclared {
			return false
		}
		at := q.At.Pointer()
		return at == object || strings.HasPrefix(at, object+"/")
	})
}

// formerly are members that drafts of version 1 had. A peer that still sends them
// followed the specification once.
var formerly = []string{"/result/models", "/params/connectionId"}

func reportMember(c *Checker, m *Message, p shape.Problem) {
	f := Finding{Text: "no member has the name " + quote(p.Name)}
	if slices.Contains(formerly, p.At.Pointer()) {
		f.Text, f.Severity = "the specification has dropped the member "+quote(p.Name), Warn
	} else if p.Want != "" {
		f.Text += ", perhaps " + quote(p.Want) + " was meant"
	}
	c.Report(m.Frame, f, p.At)
}

// traceFormats say what is well formed. The keys of tracestate and baggage are read
// leniently.
var traceFormats = []struct {
	name string
	ok   func(string) bool
}{
	{"traceparent", func(s string) bool {
		n := traceparent().FindStringSubmatch(s)
		return n != nil && n[1] != "ff" && strings.Trim(n[2], "0") != "" && strings.Trim(n[3], "0") != "" && (n[1] != "00" || n[4] == "")
	}},
	{"tracestate", func(s string) bool { return isList(s, 32) }},
	{"baggage", func(s string) bool { return isList(s, 180) }},
}

var (
	traceparent = lazyregexp.New(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)
	pair        = lazyregexp.New(`^[ \t]*[^\s=,;"]+[ \t]*=[!-~ \t]*$`)
)

// isList reports whether a text is a list of pairs such as a=1,b=2.
func isList(s string, limit int) bool {
	list := strings.Split(s, ",")
	return len(list) <= limit && !slices.ContainsFunc(list, func(p string) bool {
		return strings.TrimSpace(p) != "" && !pair().MatchString(p)
	})
}

func checkAnnounced(c *Checker) {
	reported := map[string]bool{}
	c.Message(func(m *Message) {
		if m.Kind == AnswerMessage || !isExtension(m.Method) || !c.ClientHello.Exists() || !c.AgentHello.Exists() {
			return
		}
		c.Exercised()
		if reported[m.Method] || len(reported) >= maxFindings {
			return
		}
		name, _, _ := strings.Cut(m.Method[1:], "/")
		for _, hello := range []Value{c.ClientHello, c.AgentHello} {
			found := false
			metas(hello, func(meta Value) { found = found || announces(meta, name) })
			if found {
				return
			}
		}
		reported[m.Method] = true
		c.Fail(m, m.Root.Get("method"), "neither side announced %q", quote(m.Method))
	})
}

// announces reports whether a _meta speaks of an extension. How is not specified, so
// its name in any form is enough.
func announces(meta Value, name string) bool {
	text := bytes.ToLower(meta.Text())
	if bytes.Contains(text, []byte(strings.ToLower(name))) {
		return true
	}
	for key := range meta.Members() {
		if strings.Contains(strings.ToLower(name), strings.ToLower(string(key))) {
			return true
		}
	}
	return false
}

// exempt are lists of words about which there is a rule of their own, or that anybody
// may extend.
var exempt = []string{
	"ToolKind", "ToolCallStatus", "ContentBlock", "PermissionOptionKind", "RequestPermissionOutcome", "DiffChange",
	"StringFormat", "MultiSelectItems", "ElicitationContentValue", "ErrorCode", "ErrorData",
}

func checkWords(c *Checker) {
	c.Message(func(m *Message) {
		if m.Known == nil {
			return
		}
		c.Exercised()
		for _, p := range m.Problems() {
			if p.Kind == shape.Invented && !slices.Contains(exempt, p.Name) && (p.Name != "SessionUpdate" || !hasUpdate(shape.V1(), p.At.Str())) {
				c.Unknown(m, p.At, "%s does not have this word", p.Name)
			}
		}
	})
}
