package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// loss is a kind of output of the agent that the user does not get.
type loss int

const (
	lostMessage   loss = iota // too large, broken, or not as the protocol defines it
	lostEarly                 // arrived before the session was known, and was too much to hold
	lostText                  // of an answer that is too long for the format quiet
	foreignText               // of another session than this run's
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

// add counts a loss; what describes it. The first of each kind is reported.
func (l *losses) add(kind loss, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count[kind]++; l.count[kind] == 1 {
		l.first[kind] = what
	}
}

// fault counts messages that the connection could not deliver. Lines that do not
// look like messages, such as a banner or a log, are not counted.
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

// turnEnded makes broken lines no longer count, because an agent that is being
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

// alsoLost adds what was lost to the error of the run. A turn that ended without
// its whole answer has its own exit status.
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
