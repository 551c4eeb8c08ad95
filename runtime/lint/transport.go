package lint

import (
	"bytes"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/internal/shape"
)

const (
	largeMessage = 10 << 20        // bytes from which some peers drop the connection
	deepMessage  = 100             // levels from which some peers refuse a message
	muchStderr   = 1 << 20         // bytes on standard error that are worth a remark
	exitTime     = 5 * time.Second // an agent has to exit after its input was closed
	maxPending   = 256             // lines of one message that are put together
	maxPendingB  = 256 << 10       // their bytes
)

func transportRules() []Rule {
	return []Rule{
		{
			ID: "TR01", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/transports", Strength: Must,
			Summary:      "Every byte on the wire is part of UTF-8 text.",
			Why:          "Readers replace or reject bytes that are not UTF-8, so the text or the whole message is lost.",
			Requirements: []string{"ACP-TRANSPORT-002"},
			Check: func(c *Checker) {
				c.Frame(func(f *Frame) {
					c.Exercised()
					if f.Err != nil && !utf8.Valid(f.Bytes) {
						c.FailFrame(f, Value{}, "the line is not UTF-8, first at byte %d", firstInvalid(f.Bytes))
					}
				})
			},
		},
		{
			ID: "TR02", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/transports", Strength: MustNot,
			Summary:      "The agent writes nothing but protocol messages to its standard output.",
			Why:          "A banner or log line between messages is a parse error for the client, and some clients disconnect.",
			Requirements: []string{"ACP-TRANSPORT-001"},
			Check:        func(c *Checker) { checkNoise(c, Agent) },
		},
		{
			ID: "TR03", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/transports", Strength: MustNot,
			Summary: "The client writes nothing but protocol messages to the agent's standard input.",
			Why:     "The agent has to take every line for a message, so it answers with parse errors or stops.",
			Check:   func(c *Checker) { checkNoise(c, Client) },
		},
		{
			ID: "TR04", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/transports", Strength: MustNot,
			Summary:      "A message is one line; it has no line breaks.",
			Why:          "The reader takes each line for a message, so pretty-printed JSON is a row of parse errors.",
			Requirements: []string{"ACP-TRANSPORT-001", "ACP-TRANSPORT-203"},
			Check: func(c *Checker) {
				lines := newLines(c)
				lines.split = func(f Finding, n int) { c.Add(f) }
				c.Frame(func(f *Frame) {
					if f.Root.IsObject() {
						c.Exercised()
					}
					lines.add(f)
				})
				c.End(lines.flush)
			},
		},
		{
			ID: "TR05", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/transports", Strength: Infer,
			Summary: "The stream does not end in the middle of a line.",
			Why:     "The writer died or stopped inside a message, which is lost.",
			Check: func(c *Checker) {
				c.Frame(func(f *Frame) {
					c.Exercised()
					if f.Cut {
						c.FailFrame(f, Value{}, "the stream ends after %d bytes of a line", len(f.Bytes))
					}
				})
			},
		},
		{
			ID: "TR06", Severity: Error, Side: BySender, Versions: V1 | V2b, Page: "v1/transports", Strength: Infer,
			Summary: "Messages are sent one by one, not as a JSON-RPC batch.",
			Why:     "This version has no batches; the official SDKs refuse them as a whole.",
			Check: func(c *Checker) {
				c.Frame(func(f *Frame) {
					c.Exercised()
					if f.Root.IsArray() {
						c.FailFrame(f, f.Root, "a batch of %d", f.Root.Len())
					}
				})
			},
		},
		{
			ID: "TR07", Severity: Info, Side: BySender, Versions: All, Page: "v1+v2/transports", Strength: Hygiene,
			Summary: "Lines have no byte order mark, no white space in front, no carriage return, and are not blank.",
			Why:     "Some peers tolerate these and others reject the line.",
			Check: func(c *Checker) {
				c.Frame(func(f *Frame) {
					c.Exercised()
					if what := untidy(f.Bytes); what != "" && f.Left == 0 {
						c.FailFrame(f, Value{}, "%s", what)
					}
				})
			},
		},
		{
			ID: "TR08", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/transports", Strength: Hygiene,
			Summary: "A message is not larger than 10 MiB.",
			Why:     "Peers with smaller buffers drop the connection; one of the official SDKs does above 10 MiB.",
			Check: func(c *Checker) {
				c.Frame(func(f *Frame) {
					c.Exercised()
					switch {
					case errors.Is(f.Err, errTooLarge), errors.Is(f.Err, jtree.ErrValues):
						c.Report(f, Finding{Text: "the message was not read: " + f.Err.Error()}, Value{})
					case len(f.Bytes) > largeMessage:
						c.FailFrame(f, Value{}, "the message has %d bytes", len(f.Bytes))
					}
				})
			},
		},
		{
			ID: "TR09", Severity: Warn, Side: BySender, Versions: All, Strength: Hygiene,
			Summary: "JSON is not nested deeper than 100 levels.",
			Why:     "Some peers answer with a parse error near 128 levels, and others recurse until their stack ends.",
			Check: func(c *Checker) {
				c.Frame(func(f *Frame) {
					c.Exercised()
					if f.Tree.Depth() > deepMessage || f.Err != nil && jx.Deeper(f.Bytes, deepMessage) {
						c.FailFrame(f, Value{}, "the message is nested deeper than %d levels", deepMessage)
					}
				})
			},
		},
		{
			ID: "TR10", Severity: Error, Side: BySender, Versions: All, Page: "json-rpc-2.0", Strength: Security,
			Summary: "No object has two members with the same name.",
			Why:     "Parsers disagree about which one wins, so a reviewer and an executor can see different values.",
			Check: func(c *Checker) {
				c.Frame(func(f *Frame) {
					c.Exercised()
					for _, v := range f.Tree.Duplicates() {
						c.FailFrame(f, v, "the object has this member twice")
					}
				})
			},
		},
		{
			ID: "TR11", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/overview", Strength: Security,
			Summary: "No member has a name that differs from one of the protocol only by the case of its letters.",
			Why:     "Decoders that ignore case accept it and others do not, so two readers see different messages.",
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					c.Exercised()
					for name, v := range m.Root.Members() {
						if isEnvelopeName(name) {
							continue
						}
						for _, want := range envelopeNames {
							if len(name) == len(want) && string(name) != want && strings.EqualFold(string(name), want) {
								c.Fail(m, v, "%q is not %q", name, want)
							}
						}
					}
					for _, p := range m.Problems() {
						if p.Kind == shape.Undeclared && p.Want != "" && strings.EqualFold(p.Name, p.Want) {
							c.Fail(m, p.At, "%q is not %q", p.Name, p.Want)
						}
					}
				})
			},
		},
		{
			ID: "TR12", Severity: Warn, Side: BySender, Versions: All, Strength: Hygiene,
			Summary: "Integers in ids and counted fields are within 2^53-1.",
			Why:     "JavaScript peers round larger ones silently.",
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					c.Exercised()
					if !m.Tree.Odd() {
						return
					}
					for v := range m.Root.Below() {
						if v.Kind() == jtree.Number && tooPrecise(v.Text()) && !isForeign(v.Pointer()) {
							c.Fail(m, v, "%s is beyond 2^53-1", v.Text())
						}
					}
				})
			},
		},
		{
			ID: "TR13", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/transports", Strength: Hygiene,
			Summary: "Strings have no unpaired surrogate escapes.",
			Why:     "Several strict decoders reject the whole line, and others replace the character.",
			Check: func(c *Checker) {
				c.Frame(func(f *Frame) {
					c.Exercised()
					if !f.Tree.Odd() {
						return
					}
					for v := range f.Root.Below() {
						if v.IsString() && !bytes.Equal(jx.Paired(bytes.Clone(v.Text())), v.Text()) {
							c.FailFrame(f, v, "half of a surrogate pair")
						}
					}
				})
			},
		},
		{
			ID: "TR14", Severity: Info, Side: ByAgent, Versions: All, Page: "v1+v2/transports", Strength: Hygiene,
			Summary:      "The agent's standard error is UTF-8 text of a sane amount.",
			Why:          "Clients keep and show it, and it is the first thing people look at when an agent fails.",
			Requirements: []string{"ACP-STDERR-001"},
			Check:        checkStderr,
		},
		{
			ID: "TR16", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/transports", Strength: Must,
			Summary: "A transport other than standard input and output carries whole JSON-RPC messages, too.",
			Why:     "Peers and proxies rely on the message format being the same everywhere.",
			Check: func(c *Checker) {
				c.Frame(func(f *Frame) {
					if isStdio(&f.Record) {
						return
					}
					c.Exercised()
					if isNoise(f) {
						c.FailFrame(f, f.Root, "not a message: %s", noise(f))
					}
				})
			},
		},
		{
			ID: "TR18", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1/transports", Strength: Infer,
			Summary:      "The agent exits soon after its standard input was closed.",
			Why:          "Otherwise each closed editor leaves a process behind.",
			Requirements: []string{"ACP-SHUTDOWN-001"},
			Check:        checkExit,
		},
		{
			ID: "TR19", Severity: Error, Side: ByAgent, Versions: All, Page: "v1/draft/observability", Strength: MustNot,
			Summary: "The agent does not write telemetry to its standard output.",
			Why:     "The client takes it for a message.",
			Check: func(c *Checker) {
				c.Frame(func(f *Frame) {
					if f.From != Agent || !isStdio(&f.Record) {
						return
					}
					c.Exercised()
					if isTelemetry(f.Root) {
						c.FailFrame(f, Value{}, "OpenTelemetry data")
					}
				})
			},
		},
	}
}

// isEnvelopeName reports whether a name is one of them.
func isEnvelopeName(name []byte) bool {
	switch string(name) {
	case "jsonrpc", "method", "params", "id", "result", "error":
		return true
	}
	return false
}

var envelopeNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}

func isStdio(r *Record) bool { return r.Transport == "" || r.Transport == "stdio" }

// isNoise reports whether a line is neither a message nor a batch.
func isNoise(f *Frame) bool {
	if f.Root.IsArray() || errors.Is(f.Err, errTooLarge) || errors.Is(f.Err, jtree.ErrValues) {
		return false
	}
	return len(bytes.TrimSpace(f.Bytes)) > 0 && !isProtocol(f.Root)
}

// isProtocol reports whether an object wants to be a message.
func isProtocol(root Value) bool {
	for name := range root.Members() {
		switch string(name) {
		case "jsonrpc", "method", "result", "error":
			return true
		}
	}
	return false
}

// isTelemetry recognizes OTLP in JSON.
func isTelemetry(root Value) bool {
	return root.IsObject() && !isProtocol(root) &&
		(root.Get("resourceSpans").IsArray() || root.Get("resourceLogs").IsArray() || root.Get("resourceMetrics").IsArray())
}

// noise says why a line is not a message.
func noise(f *Frame) string {
	if f.Err != nil {
		return f.Err.Error()
	}
	if f.Root.IsObject() {
		return "an object without jsonrpc, method, result and error"
	}
	return "a JSON " + f.Root.Kind().String()
}

func checkNoise(c *Checker, from Party) {
	lines := newLines(c)
	lines.noise = func(f Finding) { c.Add(f) }
	c.Frame(func(f *Frame) {
		if f.From != from || !isStdio(&f.Record) {
			return
		}
		c.Exercised()
		if !isTelemetry(f.Root) || from != Agent {
			lines.add(f)
		}
	})
	c.End(lines.flush)
}

// lines puts together messages that were spread over lines, and separates them from
// lines that are not messages.
type lines struct {
	c     *Checker
	split func(first Finding, lines int)
	noise func(Finding)
	sides [3]pending
}

// pending are lines of one party that may be the beginning of a message.
type pending struct {
	found []Finding // one for each line
	text  []byte
	depth int
	quote bool // inside a string
}

func newLines(c *Checker) *lines {
	return &lines{c: c, split: func(Finding, int) {}, noise: func(Finding) {}}
}

func (l *lines) add(f *Frame) {
	p := &l.sides[f.From]
	if !isNoise(f) {
		if len(bytes.TrimSpace(f.Bytes)) > 0 {
			l.give(p)
		}
		return
	}
	text := bytes.TrimSpace(f.Bytes)
	starts := f.Err != nil && (text[0] == '{' || text[0] == '[')
	if len(p.found) == 0 && !starts {
		l.noise(l.c.Describe(f, Value{}, "not a message: %s", noise(f)))
		return
	}
	if len(p.found) == maxPending || len(p.text)+len(text) > maxPendingB {
		l.give(p)
	}
	p.found = append(p.found, l.c.Describe(f, Value{}, "not a message: %s", noise(f)))
	p.add(text)
	if p.depth > 0 || p.quote {
		return
	}
	var tree jtree.Tree
	if len(p.found) > 1 && tree.Parse(p.text) == nil && isProtocol(tree.Root()) {
		first := p.found[0]
		first.Text = "the message is spread over " + string(appendInt(nil, int64(len(p.found)))) + " lines"
		l.split(first, len(p.found))
		*p = pending{}
		return
	}
	l.give(p)
}

// give gives up on lines, which are not messages.
func (l *lines) give(p *pending) {
	for _, f := range p.found {
		l.noise(f)
	}
	*p = pending{}
}

func (l *lines) flush() {
	for i := range l.sides {
		l.give(&l.sides[i])
	}
}

// add appends a line and counts its brackets.
func (p *pending) add(text []byte) {
	p.text = append(append(p.text, text...), '\n')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case p.quote && c == '\\':
			i++
		case c == '"':
			p.quote = !p.quote
		case p.quote:
		case c == '{' || c == '[':
			p.depth++
		case c == '}' || c == ']':
			p.depth--
		}
	}
	p.quote = false // no string spans lines
}

func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

func untidy(b []byte) string {
	switch {
	case len(bytes.TrimSpace(b)) == 0:
		return "a blank line"
	case bytes.HasPrefix(b, byteOrderMark):
		return "a byte order mark"
	case b[len(b)-1] == '\r':
		return "a carriage return at the end of the line"
	case b[0] == ' ' || b[0] == '\t':
		return "white space at the start of the line"
	}
	return ""
}

// tooPrecise reports whether a number is an integer beyond 2^53-1.
func tooPrecise(text []byte) bool {
	digits := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("-")), "0")
	if bytes.ContainsAny(digits, ".eE") {
		return false
	}
	const most = "9007199254740991"
	return len(digits) > len(most) || len(digits) == len(most) && string(digits) > most
}

// isForeign reports whether a pointer leads into data that is not of the protocol.
func isForeign(pointer string) bool {
	for _, name := range []string{"/rawInput", "/rawOutput", "/_meta", "/data"} {
		if strings.Contains(pointer, name+"/") || strings.HasSuffix(pointer, name) {
			return true
		}
	}
	return false
}

func checkStderr(c *Checker) {
	size, bad := 0, 0
	c.StderrLine(func(r *Record) {
		c.Exercised()
		size += len(r.Bytes) + 1
		if !utf8.Valid(r.Bytes) {
			if bad++; bad == 1 {
				c.Add(Finding{By: Agent, Line: r.Line, Time: r.Time, Text: "a line on standard error is not UTF-8"})
			}
		}
	})
	c.End(func() {
		if size > muchStderr {
			c.FailEnd(Agent, nil, "%d bytes on standard error", size)
		}
	})
}

func checkExit(c *Checker) {
	var closed time.Time
	exited := false
	c.OnClose(func(r *Record) {
		switch {
		case r.From == Client && closed.IsZero():
			closed = r.Time
		case r.From == Agent && !exited:
			exited = true
			if closed.IsZero() || r.Time.IsZero() {
				return
			}
			c.Exercised()
			if took := r.Time.Sub(closed); took > exitTime {
				c.FailEnd(Agent, nil, "the agent exited %s after its input was closed", took.Round(time.Millisecond))
			}
		}
	})
	c.End(func() {
		if closed.IsZero() || exited || c.LastTime.Sub(closed) <= exitTime {
			return
		}
		c.Exercised()
		c.FailEnd(Agent, nil, "the agent still ran %s after its input was closed", c.LastTime.Sub(closed).Round(time.Millisecond))
	})
}
