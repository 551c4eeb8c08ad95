package lint

import (
	"crypto/sha256"

	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/internal/lazyregexp"
)

// manySessions is how many entries of a page are still sane.
const manySessions = 500

func listRules() []Rule {
	return []Rule{
		{
			ID: "LST01", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/session-list", Strength: MustNot,
			Summary: "session/list is sent only if the agent advertises it.",
			Why:     "The agent does not have the method.",
			Check:   onlyAdvertised("session/list", "sessionCapabilities", "list"),
		},
		{
			ID: "LST02", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/session-list", Strength: Must,
			Summary:      "The result of session/list has an array of sessions, which is empty if there are none.",
			Why:          "Clients take anything else for a failure.",
			Requirements: []string{"ACP-LIST-001", "ACP-LIST-002", "ACP-LIST-201", "ACP-LIST-202"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Failed() || !m.Result.Exists() {
						return
					}
					c.Exercised()
					if sessions := m.Result.Get("sessions"); !sessions.IsArray() {
						c.Fail(m, orElse(sessions, m.Result), "sessions is not an array")
					}
				}, "session/list")
			},
		},
		{
			ID: "LST03", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/session-list", Strength: Must,
			Summary: "A cursor is one that the agent gave on this connection.",
			Why:     "Cursors mean something only to the agent, and only for a while.",
			Check: func(c *Checker) {
				given := givenCursors(c)
				c.Request(sentBy(Client, func(m *Message) {
					cursor := m.Params.Get("cursor")
					if !cursor.IsString() || !c.Whole || given.Lost() {
						return
					}
					c.Exercised()
					if _, ok := given.Get(bounded(cursor.Bytes())); !ok {
						c.Fail(m, cursor, "the agent did not give this cursor")
					}
				}), "session/list")
			},
		},
		{
			ID: "LST04", Severity: Warn, Side: ByClient, Versions: All, Page: "v1+v2/session-list", Strength: Must,
			Summary: "The client asks for no more pages after one without nextCursor.",
			Why:     "It would ask for ever, and show sessions twice.",
			Check: func(c *Checker) {
				last := NewBounded[string, int](maxSessions) // cursors of last pages, and the answers
				c.Answer(func(m *Message) {
					cursor := m.Answers.Params().Get("cursor")
					if !m.Result.Get("sessions").IsArray() {
						return
					}
					c.Exercised()
					if cursor.IsString() && !m.Result.Get("nextCursor").Set() {
						last.Put(bounded(cursor.Bytes()), m.Number)
					}
				}, "session/list")
				c.Request(sentBy(Client, func(m *Message) {
					cursor := m.Params.Get("cursor")
					if !cursor.IsString() { // it begins anew
						for key := range last.All() {
							last.Delete(key)
						}
						return
					}
					if n, ok := last.Get(bounded(cursor.Bytes())); ok {
						c.Report(m.Frame, Finding{Text: "the page of this cursor was the last one", Also: []int{n}}, cursor)
					}
				}), "session/list")
			},
		},
		{
			ID: "LST05", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/session-list", Strength: Should,
			Summary: "An invalid cursor is answered with an error.",
			Why:     "The client takes the first page for the next one, and loops.",
			Check:   checkInvalidCursor,
		},
		{
			ID: "LST06", Severity: Info, Side: ByAgent, Versions: All, Page: "v1+v2/session-list", Strength: Should,
			Summary: "A page of sessions has 500 entries at most.",
			Why:     "Giant pages exceed the message limits of clients and block their pickers.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					sessions := m.Result.Get("sessions")
					if !sessions.IsArray() {
						return
					}
					c.Exercised()
					if n := sessions.Len(); n > manySessions {
						c.Fail(m, sessions, "the page has %d entries", n)
					}
				}, "session/list")
			},
		},
		{
			ID: "LST07", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/session-list", Strength: Must,
			Summary:      "The folders of listed sessions are absolute paths.",
			Why:          "The client cannot open the session in a folder that it cannot find.",
			Requirements: []string{"ACP-LIST-204"},
			Check: func(c *Checker) {
				eachListed(c, func(m *Message, s Value) {
					c.checkAbsolute(m, s.Get("cwd"), "cwd")
					for _, d := range s.Get("additionalDirectories").Items() {
						c.checkAbsolute(m, d, "the directory")
					}
				})
			},
		},
		{
			ID: "LST08", Severity: Warn, Side: ByAgent, Versions: All, Page: "schema/SessionInfo", Strength: Schema,
			Summary: "updatedAt of a session is a time of RFC 3339; in version 1 ISO 8601 will do.",
			Why:     "Clients cannot sort the sessions or show their age.",
			Check: func(c *Checker) {
				eachListed(c, func(m *Message, s Value) {
					at := s.Get("updatedAt")
					if !at.Set() {
						return
					}
					c.Exercised()
					switch {
					case !at.IsString():
						c.Fail(m, at, "updatedAt is not a string")
					case c.Version&V1 != 0 && iso8601().Match(at.Bytes()):
					case !jx.IsDateTime(at.Str()):
						c.Fail(m, at, "updatedAt is not a time of RFC 3339")
					}
				})
			},
		},
		{
			ID: "LST09", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/session-list", Strength: Infer,
			Summary:      "With a cwd, session/list has only sessions of that folder.",
			Why:          "The user picks a conversation about another project.",
			Requirements: []string{"ACP-LIST-203"},
			Check: func(c *Checker) {
				eachListed(c, func(m *Message, s Value) {
					want, cwd := m.Answers.Params().Get("cwd"), s.Get("cwd")
					if !want.IsString() || !cwd.IsString() {
						return
					}
					c.Exercised()
					if !samePath(want.Str(), cwd.Str()) {
						c.Report(m.Frame, Finding{Text: "the session is in another folder than " + quote(want.Str()), Also: []int{m.Answers.Number}}, cwd)
					}
				})
			},
		},
	}
}

// iso8601 matches dates, with or without a time and a zone.
var iso8601 = lazyregexp.New(`^\d{4}-?\d\d-?\d\d([T ]\d\d(:?\d\d(:?\d\d([.,]\d+)?)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$`)

// eachListed calls f with the sessions that the agent lists.
func eachListed(c *Checker, f func(*Message, Value)) {
	c.Answer(func(m *Message) {
		for _, s := range m.Result.Get("sessions").Items() {
			if s.IsObject() {
				f(m, s)
			}
		}
	}, "session/list")
}

// givenCursors notes the cursors that the agent gave.
func givenCursors(c *Checker) *Bounded[string, bool] {
	given := NewBounded[string, bool](maxSessions)
	c.Answer(func(m *Message) {
		if next := m.Result.Get("nextCursor"); next.IsString() {
			given.Put(bounded(next.Bytes()), true)
		}
	}, "session/list")
	return given
}

// checkInvalidCursor reports agents that ignore a cursor. One that was not given on this
// connection may be valid all the same, but not if its page is the first one.
func checkInvalidCursor(c *Checker) {
	given := givenCursors(c)
	first := NewBounded[string, [sha256.Size]byte](maxSessions) // by cwd
	foreign := NewBounded[int, bool](maxSessions)               // requests with a cursor that was not given, by number
	c.Request(sentBy(Client, func(m *Message) {
		cursor := m.Params.Get("cursor")
		if _, ok := given.Get(bounded(cursor.Bytes())); cursor.IsString() && !ok && c.Whole && !given.Lost() {
			foreign.Put(m.Number, true)
		}
	}), "session/list")
	c.Answer(func(m *Message) {
		params := m.Answers.Params()
		cwd := bounded(params.Get("cwd").Bytes())
		if !params.Get("cursor").Set() && params.Exists() {
			if page, ok := pageOf(m.Result); ok {
				first.Put(cwd, page)
			} else {
				first.Delete(cwd)
			}
			return
		}
		if _, ok := foreign.Get(m.Answers.Number); !ok {
			return
		}
		foreign.Delete(m.Answers.Number)
		if m.Failed() {
			c.Exercised()
			return
		}
		page, ok := pageOf(m.Result)
		if begin, known := first.Get(cwd); ok && known {
			c.Exercised()
			if page == begin {
				c.Report(m.Frame, Finding{Text: "a cursor that the agent did not give gets the first page", Also: []int{m.Answers.Number}}, m.Result)
			}
		}
	}, "session/list")
}

// pageOf returns a digest of the sessions of a page, and false if there are none.
func pageOf(result Value) (sum [sha256.Size]byte, ok bool) {
	h := sha256.New()
	for _, s := range result.Get("sessions").Items() {
		h.Write(s.Get("sessionId").Text())
		h.Write([]byte{0})
		ok = true
	}
	h.Sum(sum[:0])
	return sum, ok
}
