package lint

import (
	"bytes"
	"math"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/shape"
)

const (
	longMessage = 200              // characters of an error message that are still short
	longEnough  = 30 * time.Second // in which a quick request is answered
	whileOpen   = 5 * time.Second  // in which most requests are answered
	echoed      = 32               // bytes of a message that are no longer a coincidence
)

// The codes of errors.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeAuthRequired   = -32000
	codeNotFound       = -32002
	codeVersion        = -32022
	codeCancelled      = -32800
)

func jsonrpcRules() []Rule {
	return []Rule{
		{
			ID: "RPC01", Severity: Error, Side: BySender, Versions: All, Page: "json-rpc-2.0", Strength: RPC,
			Summary:      `Each message has "jsonrpc": "2.0".`,
			Why:          "Strict peers refuse a message without it.",
			Requirements: []string{"ACP-TRANSPORT-001"},
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					if !isProtocol(m.Root) {
						return // TR02 reports it
					}
					c.Exercised()
					if v := m.Root.Get("jsonrpc"); !v.Exists() {
						c.Fail(m, Value{}, "jsonrpc is missing")
					} else if !v.Is("2.0") {
						c.Fail(m, v, `jsonrpc is not "2.0"`)
					}
				})
			},
		},
		{
			ID: "RPC02", Severity: Error, Side: BySender, Versions: All, Page: "schema/RequestId", Strength: Schema,
			Summary: "The method is a string, and the id is a string or a number.",
			Why:     "A peer cannot use anything else to find the method or to match the answer.",
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					c.Exercised()
					if v := m.Root.Get("method"); v.Exists() && !v.IsString() {
						c.Fail(m, v, "the method is %s", kindOf(v))
					}
					if k := m.ID.Kind(); m.ID.Set() && k != jtree.String && k != jtree.Number {
						c.Fail(m, m.ID, "the id is %s", kindOf(m.ID))
					}
				})
			},
		},
		{
			ID: "RPC03", Severity: Warn, Side: BySender, Versions: V1 | V2a, Page: "schema/RequestId", Strength: ShouldNot,
			Summary: "The id of a request is not null.",
			Why:     "In an answer, null means that the id is unknown, so the answer cannot be matched.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					c.Exercised()
					if m.ID.IsNull() {
						c.Fail(m, m.ID, "the id of the request is null")
					}
				})
			},
		},
		{
			ID: "RPC04", Severity: Warn, Side: BySender, Versions: V1 | V2a, Page: "schema/RequestId", Strength: ShouldNot,
			Summary: "A number as the id of a request has no fraction.",
			Why:     "Decimal fractions are not exact, so the answer may have another id.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					c.Exercised()
					if isFraction(m.ID) {
						c.Fail(m, m.ID, "the id has a fraction")
					}
				})
			},
		},
		{
			ID: "RPC05", Severity: Error, Side: BySender, Versions: V2b, Page: "schema-2.4.0/RequestId", Strength: MustNot,
			Summary: "The id of a request is a string or an integer.",
			Why:     "Null and fractions cannot be matched reliably, and version 2 forbids them.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					c.Exercised()
					switch {
					case m.ID.IsNull():
						c.Fail(m, m.ID, "the id of the request is null")
					case isFraction(m.ID):
						c.Fail(m, m.ID, "the id has a fraction")
					}
				})
			},
		},
		{
			ID: "RPC06", Severity: Error, Side: BySender, Versions: All, Page: "schema/RequestId", Strength: Must,
			Summary:      "An answer has the id of a request that is waiting for one, with the same type and value.",
			Why:          "The other side cannot match it, so the request never ends.",
			Requirements: []string{"ACP-JSONRPC-001"},
			Check:        checkAnswerID,
		},
		{
			ID: "RPC07", Severity: Error, Side: BySender, Versions: All, Page: "json-rpc-2.0", Strength: RPC,
			Summary: "A request gets one answer.",
			Why:     "Which of two answers counts is left to chance.",
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					if m.Kind != AnswerMessage || !m.ID.Set() {
						return
					}
					if m.Answers != nil {
						c.Exercised()
					} else if a := c.AnsweredLately(m.From.Peer(), Key(m.ID)); a != nil && a.Owed == 0 {
						c.Report(m.Frame, Finding{Text: "the request was answered before", Also: []int{a.Number}}, m.ID)
					}
				})
			},
		},
		{
			ID: "RPC08", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/overview", Strength: RPC,
			Summary:      "An answer has either a result or an error.",
			Why:          "With both or neither, nobody knows whether the request succeeded.",
			Requirements: []string{"ACP-JSONRPC-002"},
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					if m.Root.Get("method").Exists() || !isProtocol(m.Root) {
						return
					}
					c.Exercised()
					switch {
					case m.Result.Exists() && m.Error.Exists():
						c.Fail(m, m.Error, "the answer has a result and an error")
					case !m.Result.Exists() && !m.Error.Exists():
						c.Fail(m, Value{}, "the message has no method, no result and no error")
					}
				})
			},
		},
		{
			ID: "RPC09", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/overview", Strength: RPC,
			Summary:      "An error has an integer code and a message that is a string.",
			Why:          "Clients decide by the code and show the message.",
			Requirements: []string{"ACP-JSONRPC-002"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if !m.Error.Set() {
						return
					}
					c.Exercised()
					if !m.Error.IsObject() {
						c.Fail(m, m.Error, "the error is %s", kindOf(m.Error))
						return
					}
					if code := m.Error.Get("code"); !isInteger(code) {
						c.Fail(m, orElse(code, m.Error), "the code of the error is not an integer")
					}
					if text := m.Error.Get("message"); !text.IsString() {
						c.Fail(m, orElse(text, m.Error), "the message of the error is not a string")
					}
				})
			},
		},
		{
			ID: "RPC10", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/overview", Strength: RPC,
			Summary:      "A notification is never answered, not even with an error.",
			Why:          "The sender has nothing to match the answer with, and may take it for a broken connection.",
			Requirements: []string{"ACP-JSONRPC-003", "ACP-CANCEL-205", "ACP-EXT-201"},
			Check:        func(c *Checker) { checkAnsweredNotification(c, false) },
		},
		{
			ID: "RPC11", Severity: Warn, Side: BySender, Versions: All, Page: "json-rpc-2.0", Strength: RPC,
			Summary: "An error that belongs to no known request has the id null.",
			Why:     "Without the member it is not a JSON-RPC message, and strict peers refuse it.",
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					if m.Kind != AnswerMessage || !m.Error.Exists() {
						return
					}
					c.Exercised()
					if !m.ID.Exists() {
						c.Fail(m, Value{}, "the error has no id")
					}
				})
			},
		},
		{
			ID: "RPC12", Severity: Error, Side: BySender, Versions: All, Page: "schema-2.4.0/RequestId", Strength: MustNot,
			Summary: "The id of a request is not used again before the request is answered.",
			Why:     "The answers of the two requests cannot be told apart.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					if !m.ID.Set() {
						return
					}
					c.Exercised()
					if old, ok := c.Outstanding(m.From).Get(Key(m.ID)); ok && !old.Batch {
						c.Report(m.Frame, Finding{Text: "the id is that of an open " + quote(old.Method), Also: []int{old.Number}}, m.ID)
					}
				})
			},
		},
		{
			ID: "RPC13", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/extensibility", Strength: Should,
			Summary:      "An unknown method is answered with -32601.",
			Why:          "The sender tells by the code that a feature is missing, and otherwise reports a failure.",
			Requirements: []string{"ACP-JSONRPC-004"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Answers == nil || !c.unknown(m.Answers) {
						return
					}
					c.Exercised()
					switch code := m.ErrorCode(); {
					case !m.Failed():
					case code == codeParse, code == codeInvalidRequest, code == codeInternal:
						c.Report(m.Frame, Finding{Text: "unknown method " + quote(m.Method) + " is answered with another code than -32601", Also: []int{m.Answers.Number}}, m.Error.Get("code"))
					}
				})
				unanswered(c, func(r *Request, s Severity, why string) {
					if c.unknown(r) {
						c.ReportEnd(r.From.Peer(), s, r, "unknown method %s is not answered: %s", quote(r.Method), why)
					}
				})
			},
		},
		{
			ID: "RPC14", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/extensibility", Strength: Must,
			Summary:      "A request of an extension, whose name begins with an underscore, gets an answer even if it is unknown.",
			Why:          "The sender waits for it.",
			Requirements: []string{"ACP-EXT-001"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if isExtension(m.Method) {
						c.Exercised()
					}
				})
				unanswered(c, func(r *Request, s Severity, why string) {
					if isExtension(r.Method) {
						c.ReportEnd(r.From.Peer(), s, r, "%s is not answered: %s", quote(r.Method), why)
					}
				})
			},
		},
		{
			ID: "RPC15", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/extensibility", Strength: Should,
			Summary:      "An unknown notification is ignored: no answer, no disconnect.",
			Why:          "Otherwise a peer with a newer version or an extension cannot talk to it.",
			Requirements: []string{"ACP-EXT-201"},
			Check:        func(c *Checker) { checkAnsweredNotification(c, true) },
		},
		{
			ID: "RPC16", Severity: Error, Side: BySender, Versions: All, Page: "json-rpc-2.0", Strength: RPC,
			Summary: "Every request is answered before the stream ends.",
			Why:     "The sender waits for ever, or until it gives up.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Answers != nil {
						c.Exercised()
					}
				})
				unanswered(c, func(r *Request, s Severity, why string) {
					c.ReportEnd(r.From.Peer(), s, r, "%s is not answered: %s", quote(r.Method), why)
				})
			},
		},
		{
			ID: "RPC17", Severity: Error, Side: BySender, Versions: All, Page: "schema/*", Strength: Schema,
			Summary: "Params are an object, if there are any.",
			Why:     "The protocol has only named params.",
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					if m.Kind != RequestMessage && m.Kind != NotificationMessage || !m.Params.Set() {
						return
					}
					c.Exercised()
					if isExtension(m.Method) && m.Params.IsArray() {
						return // the page and the schema disagree about it
					}
					if !m.Params.IsObject() {
						c.Fail(m, m.Params, "the params are %s", kindOf(m.Params))
					}
				})
			},
		},
		{
			ID: "RPC18", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/extensibility", Strength: Must,
			Summary:      "A method is one of the negotiated version, or its name begins with an underscore.",
			Why:          "A later version may give the name another meaning.",
			Requirements: []string{"ACP-CLIENTCAP-202"},
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					if m.Kind != RequestMessage && m.Kind != NotificationMessage || c.Edition == nil {
						return
					}
					c.Exercised()
					switch name := m.Root.Get("method"); {
					case m.Known != nil:
					case slices.Contains(drafts, m.Method):
						c.Report(m.Frame, Finding{Severity: Warn, unknown: true, Text: "the method is of a draft, and no version has it"}, name)
					case isInvented(m.Method):
						c.Unknown(m, name, "no version has this method")
					}
				})
			},
		},
		{
			ID: "RPC19", Severity: Error, Side: BySender, Versions: All, Page: "schema/meta", Strength: Schema,
			Summary: "A method goes to the side that handles it.",
			Why:     "The other side does not have it.",
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					if m.Known == nil || m.Kind == AnswerMessage {
						return
					}
					c.Exercised()
					if m.Known.Handler&shape.Proxy == 0 && m.Known.Handler&handlerOf(m.From.Peer()) == 0 {
						c.Fail(m, m.Root.Get("method"), "the %s does not handle this method", m.From.Peer())
					}
				})
			},
		},
		{
			ID: "RPC20", Severity: Error, Side: BySender, Versions: All, Page: "schema/meta", Strength: Schema,
			Summary: "Requests have an id and notifications do not.",
			Why:     "A request without an id is never answered, and a notification with one makes the other side answer.",
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					if m.Known == nil || m.Kind == AnswerMessage {
						return
					}
					c.Exercised()
					switch {
					case m.Kind == RequestMessage && m.Known.Request == nil:
						c.Fail(m, m.ID, "%s is a notification and has no id", m.Method)
					case m.Kind == NotificationMessage && m.Known.Notification == nil:
						c.Fail(m, Value{}, "%s is a request and needs an id", m.Method)
					}
				})
			},
		},
		{
			ID: "RPC21", Severity: Error, Side: BySender, Versions: All, Page: "schema/*", Strength: Schema,
			Summary:      "Params and results fit the schema of the negotiated version.",
			Why:          "Peers refuse the message, or silently drop what does not fit.",
			Requirements: []string{"ACP-SCHEMA-001", "ACP-INIT-001", "ACP-PROMPT-002", "ACP-PROMPT-205"},
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					if m.Known == nil {
						return
					}
					c.Exercised()
					for _, p := range m.Problems() {
						switch p.Kind {
						case shape.Missing:
							c.Fail(m, p.At, "%s is missing", p.Name)
						case shape.Mismatch:
							c.Fail(m, p.At, "want %s", p.Want)
						}
					}
				})
			},
		},
		{
			ID: "RPC22", Severity: Info, Side: BySender, Versions: All, Page: "schema/ErrorCode", Strength: Hygiene,
			Summary: "An error code is a predefined one, or outside the range that JSON-RPC reserves.",
			Why:     "A reserved code may get another meaning.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					code := m.Error.Get("code")
					if !isInteger(code) {
						return
					}
					c.Exercised()
					if n := m.ErrorCode(); isReserved(n) {
						c.Fail(m, code, "%d is reserved by JSON-RPC", n)
					}
				})
			},
		},
		{
			ID: "RPC23", Severity: Info, Side: BySender, Versions: All, Page: "schema/Error", Strength: Should,
			Summary:      "The message of an error is one short line.",
			Why:          "Clients show it in a status line or a notification.",
			Requirements: []string{"ACP-ERROR-001"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					text := m.Error.Get("message")
					if !text.IsString() {
						return
					}
					c.Exercised()
					switch b := text.Bytes(); {
					case len(bytes.TrimSpace(b)) == 0:
						c.Fail(m, text, "the message of the error is empty")
					case bytes.ContainsAny(b, "\n\r"):
						c.Fail(m, text, "the message of the error has several lines")
					case len(b) > longMessage:
						c.Fail(m, text, "the message of the error has %d bytes", len(b))
					}
				})
			},
		},
		{
			ID: "RPC24", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/overview", Strength: Infer,
			Summary:      "The connection works on after a request that failed.",
			Why:          "One mistake of a peer should cost one request, not the whole session.",
			Requirements: []string{"ACP-JSONRPC-005"},
			Check:        checkSurvival,
		},
		{
			ID: "RPC25", Severity: Warn, Side: BySender, Versions: All, Strength: Security,
			Summary: "The data of an error does not repeat the request.",
			Why:     "Requests can hold tokens of environments and headers, which then end up in logs.",
			Check:   checkEcho,
		},
		{
			ID: "RPC26", Severity: Warn, Side: BySender, Versions: All, Page: "schema/ErrorCode", Strength: Hygiene,
			Summary: "A known method with params that do not fit is refused with -32602.",
			Why:     "With another code, the sender looks for the mistake in the wrong place.",
			Check: func(c *Checker) {
				type key struct {
					from Party
					id   string
				}
				wrong := NewBounded[key, bool](maxRequests)
				c.Request(func(m *Message) {
					if m.Known != nil && m.Mismatch() {
						wrong.Put(key{m.From, Key(m.ID)}, true)
					}
				})
				c.Answer(func(m *Message) {
					if m.Answers == nil {
						return
					}
					k := key{m.Answers.From, m.Answers.ID}
					if _, ok := wrong.Get(k); !ok {
						return
					}
					wrong.Delete(k)
					if !m.Failed() || m.missesSession() {
						return // a lenient peer, or one that has not looked
					}
					c.Exercised()
					if !slices.Contains([]int64{codeInvalidParams, codeNoMethod, codeAuthRequired, codeNotFound}, m.ErrorCode()) {
						c.Report(m.Frame, Finding{Text: "params that do not fit are answered with another code than -32602", Also: []int{m.Answers.Number}}, m.Error.Get("code"))
					}
				})
			},
		},
	}
}

func orElse(v, other Value) Value {
	if v.Exists() {
		return v
	}
	return other
}

func isInteger(v Value) bool {
	_, ok := v.Int()
	return ok
}

func isFraction(id Value) bool {
	f, ok := id.Float()
	return ok && f != math.Trunc(f)
}

// isReserved reports whether a code is in the range of JSON-RPC without a meaning. The
// codes from -32099 to -32000 are for implementations.
func isReserved(n int64) bool {
	return n >= -32768 && n <= -32100 && !slices.Contains([]int64{codeParse, codeInvalidRequest, codeNoMethod, codeInvalidParams, codeInternal}, n)
}
