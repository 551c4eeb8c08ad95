package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// loss is a kind of thing that the agent said and the user does not get.
type loss int

const (
	lostMessage   loss = iota // too large, broken, or of another form than the protocol says
	lostEarly                 // came before the session was known, and was too much to hold
	lostText                  // of an answer that is too long for the format quiet
	foreignText               // of a session that is not the one of this run
	foreignUpdate             // any other update of such a session
	lossKinds
)

var lossTexts = [lossKinds]string{
	"%d message(s) of the agent were lost (%s)",
	"%d update(s) that came before the answer to session/new were lost%s",
	"%[2]s bytes of the last message were lost, it is too long for --format quiet",
	"%d piece(s) of text for other sessions were not shown (%s)",
	"%d update(s) of other sessions were not shown (%s)",
}

// losses counts what the user does not get. It is safe for concurrent use.
type losses struct {
	mu    sync.Mutex
	count [lossKinds]int
	first [lossKinds]string
	over  bool
}

// add counts a loss; what describes it, and the first of its kind is reported.
func (l *losses) add(kind loss, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count[kind]++; l.count[kind] == 1 {
		l.first[kind] = what
	}
}

// fault counts what the connection could not hand on. Lines that do not look
// like messages, such as a banner or a log, are not counted.
func (l *losses) fault(f rpc.Fault) {
	switch f.Kind {
	case rpc.FaultParams, rpc.FaultHandler:
		// A message of no session may be decoded after the turn has ended.
		l.add(lostMessage, f.Err.Error())
		return
	case rpc.FaultTooLarge:
	case rpc.FaultParse, rpc.FaultInvalid:
		if !bytes.Contains(f.Line, []byte(`"jsonrpc"`)) {
			return
		}
	default:
		return
	}
	l.mu.Lock()
	over := l.over
	l.mu.Unlock()
	if !over {
		l.add(lostMessage, f.Err.Error())
	}
}

// turnEnded says that broken lines no longer count: an agent that is being
// stopped may leave half a message.
func (l *losses) turnEnded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}

// summary describes what was lost, and whether it was part of the answer.
func (l *losses) summary() (note string, incomplete bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var notes []string
	for kind, n := range l.count {
		if n == 0 {
			continue
		}
		notes = append(notes, fmt.Sprintf(lossTexts[kind], n, l.first[kind]))
		incomplete = incomplete || loss(kind) != foreignUpdate
	}
	return strings.Join(notes, "; "), incomplete
}

// alsoLost adds to the error of the run what was lost. A turn that ended without
// its whole answer has an exit status of its own.
func alsoLost(err error, note string, incomplete bool) error {
	if err == nil {
		return &exit{statusIncomplete, errors.New(note)}
	}
	var e *exit
	if incomplete && errors.As(err, &e) && e.Status == statusDenied {
		return &exit{statusIncomplete, fmt.Errorf("%w; %s", e.Err, note)}
	}
	return fmt.Errorf("%w; %s", err, note)
}
