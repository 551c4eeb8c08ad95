package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// fault is something that a proxy does to some messages on purpose.
type fault struct {
	text   string // as it was given
	kind   string
	from   trace.Direction // of the messages; empty: both
	method string          // may end in *; empty: any
	what   string          // request, answer or notification; empty: any
	first  int             // of the messages that fit, from 1
	last   int             // 0: no end
	wait   time.Duration   // of a delay
	fits   int             // so far
}

const faultUsage = "break the line on purpose, `KIND:SPEC`: KIND is drop, duplicate, delay, cut, half-close, reorder, restart or truncate, and SPEC says which messages, " +
	"separated by commas: from=client|agent, method=NAME (for an answer, the method of its request; a final * matches any ending), " +
	"kind=request|answer|notification, n=2 or n=2-5 or n=2- (of those that fit), and time=500ms for delay; may be repeated"

var faultKinds = []string{"drop", "duplicate", "delay", "cut", "half-close", "reorder", "restart", "truncate"}

func parseFault(text string) (*fault, error) {
	f := &fault{text: text, first: 1, wait: time.Second}
	kind, spec, _ := strings.Cut(text, ":")
	if kind == "restart" {
		f.last = 1 // an agent that talks first would start again and again
	}
	if f.kind = kind; !slices.Contains(faultKinds, kind) {
		return nil, fmt.Errorf("%q is not one of %s", kind, strings.Join(faultKinds, ", "))
	}
	for _, part := range strings.FieldsFunc(spec, func(r rune) bool { return r == ',' }) {
		name, value, _ := strings.Cut(part, "=")
		ok := value != ""
		if kind == "truncate" && name != "n" {
			return nil, fmt.Errorf("%q: truncate is about what session/load, or session/resume with replayFrom, replays, so it has only n", part)
		}
		switch name {
		case "from":
			f.from = map[string]trace.Direction{"client": trace.ToAgent, "agent": trace.ToClient}[value]
			ok = f.from != ""
		case "method":
			f.method = value
		case "kind":
			f.what = value
			ok = value == "request" || value == "answer" || value == "notification"
		case "n":
			ok = f.number(value)
		case "time":
			d, err := time.ParseDuration(value)
			f.wait, ok = d, err == nil && d > 0 && kind == "delay"
		default:
			ok = false
		}
		if !ok {
			return nil, fmt.Errorf("%q does not say which messages", part)
		}
	}
	return f, nil
}

// number reads 2, 2-5 or 2-.
func (f *fault) number(value string) bool {
	from, to, some := strings.Cut(value, "-")
	var err1, err2 error
	f.first, err1 = strconv.Atoi(from)
	if f.last = f.first; some {
		if f.last = 0; to != "" {
			f.last, err2 = strconv.Atoi(to)
		}
	}
	return err1 == nil && err2 == nil && f.first > 0 && (f.last == 0 || f.last >= f.first)
}

// faults break a line. The zero value breaks nothing, and neither does nil.
type faults struct {
	list []*fault
	// got is called with each message that is passed on, and closed when a way was
	// cut.
	got    func(way trace.Direction, r lint.Record)
	closed func(way trace.Direction)
	// born is called when another process of the agent begins, before anything reaches
	// it.
	born  func()
	agent *lives

	mu      sync.Mutex
	asked   map[string]asked // requests without an answer, by way and id
	replays map[string]int   // updates so far of sessions that are being loaded
}

// asked is what a request is about.
type asked struct{ method, session string }

func (f *faults) String() string { return "" }

// Set implements flag.Value.
func (f *faults) Set(text string) error {
	one, err := parseFault(text)
	if err == nil {
		f.list = append(f.list, one)
	}
	return err
}

// maxAsked bounds the requests whose methods are known.
const maxAsked = 4096

// choose returns the first fault that a line is for, nil if there is none.
func (f *faults) choose(way trace.Direction, line []byte) *fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, _ := envelope.Parse(line)
	method, what := string(e.Method), ""
	switch {
	case e.IsRequest():
		what = "request"
		if f.asked == nil || len(f.asked) >= maxAsked {
			f.asked, f.replays = map[string]asked{}, map[string]int{}
		}
		f.asked[string(way)+string(e.ID)] = asked{method, string(e.SessionID)}
		if way == trace.ToAgent && replays(&e) {
			f.replays[string(e.SessionID)] = 0
		}
	case e.IsAnswer():
		what = "answer"
		back := trace.ToAgent
		if way == back {
			back = trace.ToClient
		}
		request := f.asked[string(back)+string(e.ID)]
		if method = request.method; way == trace.ToClient {
			delete(f.replays, request.session) // whatever it asked for: the history comes first
		}
		delete(f.asked, string(back)+string(e.ID))
	case e.Method != nil:
		what = "notification"
	}
	replayed := 0 // which of the updates of a replay it is
	if n, ok := f.replays[string(e.SessionID)]; ok && way == trace.ToClient && method == acp.MethodSessionUpdate {
		replayed = n + 1
		f.replays[string(e.SessionID)] = replayed
	}
	var chosen *fault
	for _, one := range f.list {
		prefix, open := strings.CutSuffix(one.method, "*")
		if one.from != "" && one.from != way || one.what != "" && one.what != what ||
			!open && prefix != "" && prefix != method || open && !strings.HasPrefix(method, prefix) {
			continue
		}
		if one.kind == "truncate" {
			if one.fits = replayed; replayed == 0 {
				continue
			}
		} else {
			one.fits++
		}
		if chosen == nil && one.fits >= one.first && (one.last == 0 || one.fits <= one.last) {
			chosen = one
		}
	}
	return chosen
}

// replays reports whether a request asks for the history of a session.
func replays(e *envelope.Envelope) bool {
	switch string(e.Method) {
	case acp.MethodSessionLoad:
		return true
	case acp.MethodSessionResume:
		var p struct{ ReplayFrom json.RawMessage }
		json.Unmarshal(e.Params, &p)
		return len(p.ReplayFrom) > 0 && string(p.ReplayFrom) != "null"
	}
	return false
}

// copy is copyLines with the faults. The recording has the lines as the sender wrote
// them, and a note about each fault. A line that is longer than lint.MaxMessage
// passes unchanged.
func (f *faults) copy(to io.Writer, from io.Reader, l lines) (ended bool) {
	if f == nil || len(f.list) == 0 {
		return copyLines(to, from, l)
	}
	defer l.end()
	pass := func(line []byte) bool {
		text, whole := bytes.CutSuffix(line, []byte("\n"))
		told := func() { f.got(l.way, lint.Record{Bytes: text, Cut: !whole}) }
		var err error
		if agent, ok := to.(*lives); ok {
			_, err = agent.pass(line, told)
		} else {
			told()
			_, err = to.Write(line)
		}
		return err == nil
	}
	in := bufio.NewReaderSize(from, 64<<10)
	var held []byte // back, until the next one has passed
	long := 0       // bytes of a line that is too long, so far
	for {
		line, err := nextLine(in)
		l.write(line)
		if more := err == bufio.ErrBufferFull; more || long > 0 {
			long += len(line)
			if _, e := to.Write(line); e != nil {
				return false
			}
			if more {
				continue
			}
			f.got(l.way, lint.Record{Left: long})
			long = 0
			if held != nil && !pass(held) {
				return false
			}
			held = nil
			continue
		}
		if len(line) == 0 {
			return len(held) == 0 || pass(held)
		}
		chosen := f.choose(l.way, line)
		if chosen != nil {
			l.w.Note("fault: %s: the message before (%s)", chosen.text, l.way)
		}
		switch {
		case chosen == nil:
		case chosen.kind == "drop", chosen.kind == "truncate":
			continue
		case chosen.kind == "restart":
			if l.way == trace.ToClient {
				f.agent.kill() // first: an answer of the client to this line is for the next process
			}
			if !pass(line) || held != nil && !pass(held) {
				return false
			}
			held = nil
			if l.way == trace.ToClient {
				return false // its next lines are lost
			}
			f.agent.kill()
			if f.agent.settled(); err != nil {
				return true
			}
			continue
		case chosen.kind == "delay":
			time.Sleep(chosen.wait)
		case chosen.kind == "reorder" && held == nil:
			held = line
			continue
		case chosen.kind == "duplicate":
			if !pass(line) {
				return false
			}
		case chosen.kind == "cut":
			pass(line[:len(line)/2])
			f.closed(l.way)
			return false
		case chosen.kind == "half-close":
			_ = pass(line) && held != nil && pass(held)
			f.closed(l.way)
			return false
		}
		if !pass(line) || held != nil && !pass(held) {
			return false
		}
		held = nil
		if err != nil {
			return true
		}
	}
}

// nextLine reads a line. If it is longer than lint.MaxMessage, nextLine returns a part,
// with bufio.ErrBufferFull unless the part is the last.
func nextLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if err != bufio.ErrBufferFull || len(line) > lint.MaxMessage {
			return line, err
		}
	}
}
