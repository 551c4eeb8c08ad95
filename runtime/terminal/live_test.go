//go:build unix

package terminal

import (
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
)

// recorder records the callbacks.
type recorder struct {
	mu      sync.Mutex
	text    strings.Builder
	skipped int
	exits   []Status
	bad     string
	exited  chan struct{}
}

func newRecorder() *recorder { return &recorder{exited: make(chan struct{})} }

func (r *recorder) data(_ acp.TerminalID, text string, skipped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !utf8.ValidString(text) {
		r.bad += "not UTF-8: " + text
	}
	r.text.WriteString(text)
	r.skipped += skipped
}

func (r *recorder) exit(_ acp.TerminalID, s Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exits = append(r.exits, s)
	if len(r.exits) == 1 {
		close(r.exited)
	}
}

func TestLiveOutputIsWholeAndBeforeTheExit(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	m := manager(t, Options{OnData: r.data, OnExit: r.exit})
	// a character that arrives in two writes
	id := create(t, m, "sh", "-c", "printf 'a\\303'; sleep 0.1; printf '\\244b'; exit 4")
	<-r.exited
	r.mu.Lock()
	if got := r.text.String(); got != "aäb" || r.skipped != 0 || r.bad != "" || r.exits[0].Code != 4 {
		t.Errorf("%q, %d skipped, %v %s", got, r.skipped, r.exits, r.bad)
	}
	r.mu.Unlock()
	if err := m.Release(id); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if len(r.exits) != 1 {
		t.Errorf("%d exits", len(r.exits))
	}
}

func TestASlowListenerDoesNotHoldUpTheCommand(t *testing.T) {
	t.Parallel()
	const size = 5_000_000
	r := newRecorder()
	hold := make(chan struct{})
	m := manager(t, Options{OnExit: r.exit, OnData: func(id acp.TerminalID, text string, skipped int) {
		<-hold
		r.data(id, text, skipped)
	}})
	id := create(t, m, "sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x")
	if s := wait(t, m, id); s != (Status{}) {
		t.Error(s)
	}
	close(hold)
	<-r.exited
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.text.Len()+r.skipped != size || r.skipped == 0 || r.text.Len() > 2*maxPending {
		t.Errorf("%d bytes and %d skipped", r.text.Len(), r.skipped)
	}
}

func TestPseudoTerminal(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	m := manager(t, Options{PTY: &Size{Rows: 33, Cols: 77}, OnExit: r.exit, OnData: r.data})
	id := create(t, m, "sh", "-c", "stty size; test -t 0 && test -t 1 && test -t 2 && echo tty; exit 5")
	if s := wait(t, m, id); s.Code != 5 {
		t.Error(s)
	}
	if text, _, _ := output(t, m, id); text != "33 77\r\ntty\r\n" {
		t.Errorf("%q", text)
	}
	<-r.exited
	long := create(t, m, "sh", "-c", "(trap '' HUP; sleep 1000) & echo $!; sleep 1000")
	pid := pidOf(t, m, long)
	if err := m.Release(long); err != nil {
		t.Error(err)
	}
	if err := patience.Ends(t, "Close", m.Close); err != nil {
		t.Error(err)
	}
	gone(t, pid)
}

func TestAWrapperRunsEveryCommand(t *testing.T) {
	t.Parallel()
	m := manager(t, Options{Wrapper: []string{"/usr/bin/env", "WRAPPED=yes"}})
	for command, args := range map[string][]string{
		"sh":                          {"-c", `echo "$WRAPPED: $1"`, "sh", "a b"},
		`echo "$WRAPPED:" 'a b' |cat`: nil, // a whole shell line
	} {
		id := create(t, m, command, args...)
		wait(t, m, id)
		if text, _, _ := output(t, m, id); text != "yes: a b\n" {
			t.Errorf("%s: %q", command, text)
		}
	}
}
