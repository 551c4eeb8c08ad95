package lint

import (
	"bytes"
	"slices"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/internal/lazyregexp"
)

func contentRules() []Rule {
	return []Rule{
		{
			ID: "CNT01", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/content", Strength: Schema,
			Summary: "A content block has a type, and what that type requires.",
			Why:     "The reader drops the block, or refuses the whole message.",
			Check: func(c *Checker) {
				eachContent(c, func(m *Message, block Value) {
					c.Exercised()
					checkBlock(c, m, block)
				})
			},
		},
		{
			ID: "CNT02", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/content", Strength: Schema,
			Summary: "The data of images and audio and the blob of a resource are standard base64 with padding.",
			Why:     "The reader cannot decode them.",
			Check: func(c *Checker) {
				eachContent(c, func(m *Message, block Value) {
					v := block.Get("resource", "blob")
					if block.Get("type").OneOf("image", "audio") {
						v = block.Get("data")
					} else if !block.Get("type").Is("resource") {
						return
					}
					if !v.IsString() {
						return
					}
					c.Exercised()
					if !jx.IsBase64(string(v.Bytes())) {
						c.Fail(m, v, "not standard base64")
					}
				})
			},
		},
		{
			ID: "CNT03", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/content", Strength: Hygiene,
			Summary: "A MIME type is well formed, and fits what the block is.",
			Why:     "The reader chooses by it how to show the content.",
			Check: func(c *Checker) {
				eachContent(c, func(m *Message, block Value) {
					v := orElse(block.Get("mimeType"), block.Get("resource", "mimeType"))
					if !v.IsString() {
						return
					}
					c.Exercised()
					main, ok := mainType(v.Bytes())
					switch kind := block.Get("type"); {
					case !ok:
						c.Fail(m, v, "not a MIME type")
					case kind.Is("image") && main != "image",
						kind.Is("audio") && main != "audio" && main != "video" && main != "application":
						c.Fail(m, v, "not a MIME type of %s", kind.Str())
					}
				})
			},
		},
		{
			ID: "CNT04", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/content", Strength: Schema,
			Summary: "A link to a resource has a name and an absolute URI.",
			Why:     "The reader has nothing to show, or cannot find the resource.",
			Check: func(c *Checker) {
				eachContent(c, func(m *Message, block Value) {
					if !block.Get("type").Is("resource_link") {
						return
					}
					c.Exercised()
					if name := block.Get("name"); !name.IsString() {
						c.Fail(m, orElse(name, block), "the link has no name")
					}
					if uri := block.Get("uri"); !uri.IsString() {
						c.Fail(m, orElse(uri, block), "the link has no URI")
					} else if !hasScheme(uri.Bytes()) {
						c.Fail(m, uri, "not an absolute URI")
					}
				})
			},
		},
		{
			ID: "CNT05", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/content", Strength: Schema,
			Summary: "An embedded resource has either text or a blob.",
			Why:     "The reader does not know which is the content.",
			Check: func(c *Checker) {
				eachContent(c, func(m *Message, block Value) {
					resource := block.Get("resource")
					if !block.Get("type").Is("resource") || !resource.IsObject() {
						return
					}
					c.Exercised()
					switch text, blob := resource.Get("text").Set(), resource.Get("blob").Set(); {
					case text && blob:
						c.Fail(m, resource, "the resource has text and a blob")
					case !text && !blob:
						c.Fail(m, resource, "the resource has neither text nor a blob")
					}
				})
			},
		},
		{
			ID: "CNT06", Severity: Warn, Side: BySender, Versions: All, Page: "v2/migration", Strength: Schema,
			Summary: "The priority of an annotation lies between 0 and 1.",
			Why:     "Readers of version 2 refuse other values.",
			Check: func(c *Checker) {
				eachContent(c, func(m *Message, block Value) {
					p, ok := block.Get("annotations", "priority").Float()
					if !ok {
						return
					}
					c.Exercised()
					if p < 0 || p > 1 {
						c.Fail(m, block.Get("annotations", "priority"), "the priority is not between 0 and 1")
					}
				})
			},
		},
		{
			ID: "CNT07", Severity: Error, Side: BySender, Versions: V2, Page: "v2/content", Strength: Must,
			Summary: "A type of content that the specification does not define begins with an underscore.",
			Why:     "A later version may give the word another meaning.",
			Check: func(c *Checker) {
				eachContent(c, func(m *Message, block Value) {
					kind := block.Get("type")
					if !kind.IsString() {
						return
					}
					c.Exercised()
					if isCustom(kind) && !kind.OneOf(blockTypes...) {
						c.Unknown(m, kind, "the specification does not have this type")
					}
				})
			},
		},
		{
			ID: "CNT08", Severity: Error, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/ContentBlock", Strength: Must,
			Summary: "A prompt with a block that the agent does not take is refused with -32602.",
			Why:     "The client tells by the code that it should send the content in another way.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Answers == nil || !m.Failed() || m.missesSession() || !c.AgentHello.Exists() {
						return
					}
					kind := c.foreignBlock(m.Answers.Params().Get("prompt"))
					if kind == nil {
						return
					}
					text := bytes.ToLower(m.Error.Text())
					switch {
					case m.ErrorCode() == codeInvalidParams:
						c.Exercised()
					case bytes.Contains(text, bytes.ToLower(kind)), bytes.Contains(text, []byte("content")), bytes.Contains(text, []byte("block")):
						c.Report(m.Frame, Finding{Text: "a block of type " + quote(string(kind)) + " is refused with another code than -32602", Also: []int{m.Answers.Number}}, m.Error.Get("code"))
					}
				}, "session/prompt")
			},
		},
		{
			ID: "CNT09", Severity: Error, Side: BySender, Versions: V2b, Page: "schema-2.4.0/Icon", Strength: Must,
			Summary: "The source of an icon is an https or data URI.",
			Why:     "Anything else makes the reader load from places that the sender should not choose.",
			Check: func(c *Checker) {
				eachContent(c, func(m *Message, block Value) {
					for _, icon := range block.Get("icons").Items() {
						src := icon.Get("src")
						if !src.IsString() {
							continue
						}
						c.Exercised()
						scheme, _, ok := bytes.Cut(src.Bytes(), []byte(":"))
						if name := string(bytes.ToLower(scheme)); !ok || name != "https" && name != "data" {
							c.Fail(m, src, "not an https or data URI")
						}
					}
				})
			},
		},
	}
}

// eachContent calls f with every content block of prompts, messages and tool calls. All
// rules share one walk over a message.
func eachContent(c *Checker, f func(*Message, Value)) {
	if c.linter.blocks == nil {
		walkContent(c.linter.everyVersion(), c.linter.content)
	}
	c.linter.blocks.add(c, f)
}

func walkContent(c *Checker, f func(*Message, Value)) {
	each := func(m *Message, v Value) {
		if v.IsObject() {
			f(m, v)
		}
		for _, block := range v.Items() {
			if block.IsObject() {
				f(m, block)
			}
		}
	}
	c.Request(func(m *Message) { each(m, m.Params.Get("prompt")) }, "session/prompt")
	c.Update(func(m *Message) { each(m, m.Update.Get("content")) },
		"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "user_message", "agent_message", "agent_thought",
		"session_message", "session_message_chunk", "compaction_summary_chunk")
	c.Update(func(m *Message) { each(m, m.Update.Get("summary")) }, "compaction_update")
	eachToolContent(c, func(m *Message, item Value) {
		if item.Get("type").Is("content") {
			each(m, item.Get("content"))
		}
	})
}

// checkBlock reports what the type of a block requires. CNT04 and CNT05 are about links
// and resources.
func checkBlock(c *Checker, m *Message, block Value) {
	kind := block.Get("type")
	var needs []string
	switch {
	case !kind.IsString():
		c.Fail(m, orElse(kind, block), "the block has no type")
	case kind.Is("text"):
		needs = []string{"text"}
	case kind.OneOf("image", "audio"):
		needs = []string{"data", "mimeType"}
	case kind.Is("resource"):
		if resource := block.Get("resource"); !resource.IsObject() {
			c.Fail(m, orElse(resource, block), "the block has no resource")
		} else if uri := resource.Get("uri"); !uri.IsString() {
			c.Fail(m, orElse(uri, resource), "the resource has no URI")
		}
	case kind.Is("resource_link"):
	case c.Version == V1: // CNT07 is about the other versions
		c.Unknown(m, kind, "version 1 does not have this type")
	}
	for _, name := range needs {
		if v := block.Get(name); !v.IsString() {
			c.Fail(m, orElse(v, block), "the block has no %s", name)
		}
	}
}

var mimeType = lazyregexp.New("^([A-Za-z0-9!#$&^_.+*'`|~-]+)/[A-Za-z0-9!#$&^_.+*'`|~-]+[ \t]*(;.*)?$")

// mainType returns the part of a MIME type before the slash, in lower case.
func mainType(b []byte) (string, bool) {
	n := mimeType().FindSubmatch(b)
	if n == nil {
		return "", false
	}
	return string(bytes.ToLower(n[1])), true
}

// hasScheme reports whether a URI begins with a scheme. One letter is a drive of
// Windows.
func hasScheme(uri []byte) bool {
	scheme, rest, ok := bytes.Cut(uri, []byte(":"))
	if !ok || len(scheme) < 2 || len(rest) == 0 || scheme[0]|0x20 < 'a' || scheme[0]|0x20 > 'z' {
		return false
	}
	return !slices.ContainsFunc(scheme, func(b byte) bool {
		letter := b|0x20 >= 'a' && b|0x20 <= 'z'
		return !letter && (b < '0' || b > '9') && b != '+' && b != '-' && b != '.'
	})
}

// foreignBlock returns the type of a block in a prompt that the agent does not
// advertise, nil if there is none.
func (c *Checker) foreignBlock(prompt Value) []byte {
	for _, block := range prompt.Items() {
		kind := block.Get("type")
		if kind.Kind() != jtree.String {
			continue
		}
		if name := promptCapability(block); name != "" && !c.takes(name) || !kind.OneOf(blockTypes...) {
			return kind.Bytes()
		}
	}
	return nil
}
