//go:build unix

package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// F1: the agent may be killed at any byte of a turn. Messages that were complete are
// handled, the prompt fails soon and says how the agent ended, and nothing of the
// agent is left.
func TestAnAgentKilledAtAnyByteOfATurnFailsItsPromptAtOnce(t *testing.T) {
	leak.Check(t)
	path, text, _ := turn(t)
	soak.Repeat(t, func(t *testing.T, round int) {
		step := soak.Of(t, 1, 8)
		var cuts []int
		for n := 0; n <= len(text); n++ {
			if n%step == round%step || bytes.Contains(text[max(n-2, 0):min(n+1, len(text))], []byte("\n")) {
				cuts = append(cuts, n)
			}
		}

		var mu sync.Mutex
		var delays []time.Duration
		workers(len(cuts), func(i int) {
			d, ok := killAt(t, path, text, cuts[i])
			if ok {
				mu.Lock()
				delays = append(delays, d)
				mu.Unlock()
			}
		})
		slices.Sort(delays)
		t.Logf("%d kills: the prompt failed after %v (median), %v (worst)", len(delays), delays[len(delays)/2], delays[len(delays)-1])
	})
}

// F1: the same at each message boundary of turns that real agents had.
func TestAnAgentKilledAtAnyMessageOfARecordedTurnFailsItsPromptAtOnce(t *testing.T) {
	leak.Check(t)
	type cut struct {
		path, text string
		at         int
	}
	var cuts []cut
	turns := recordedTurns(t)
	for i, text := range turns {
		path := filepath.Join(t.TempDir(), strconv.Itoa(i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for at := 0; at <= len(text); at++ {
			if at == 0 || text[at-1] == '\n' {
				cuts = append(cuts, cut{path, text, at})
			}
		}
	}
	if len(turns) < 20 {
		t.Errorf("only %d turns", len(turns))
	}
	soak.Repeat(t, func(t *testing.T, _ int) {
		workers(len(cuts), func(i int) { killAt(t, cuts[i].path, []byte(cuts[i].text), cuts[i].at) })
	})
	t.Logf("%d cuts in %d turns", len(cuts), len(turns))
}

// recordedTurns returns the messages of agents in the turns of the recordings
// of package trace, in the session and with the id of killAt's prompt.
func recordedTurns(t *testing.T) (turns []string) {
	t.Helper()
	files, err := filepath.Glob("../../runtime/trace/testdata/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var prompt, session string // the id of the one that runs, and its session
		var turn strings.Builder
		for line := range bytes.Lines(data) {
			var r struct {
				Direction string
				Message   json.RawMessage
			}
			var m struct {
				ID     json.RawMessage
				Method string
				Params struct{ SessionID string }
				Result json.RawMessage
			}
			if json.Unmarshal(line, &r) != nil || json.Unmarshal(r.Message, &m) != nil {
				continue
			}
			switch {
			case m.Method == acp.MethodSessionPrompt:
				prompt, session = string(m.ID), m.Params.SessionID
				turn.Reset()
			case prompt == "" || r.Direction != "agent->client":
			case m.Method == "" && string(m.ID) == prompt:
				fmt.Fprintf(&turn, `{"jsonrpc":"2.0","id":1,"result":%s}`+"\n", m.Result)
				turns = append(turns, turn.String())
				prompt = ""
			default:
				turn.WriteString(strings.ReplaceAll(string(r.Message), strconv.Quote(session), `"s"`) + "\n")
			}
		}
	}
	return turns
}

// killAt has an agent die after n bytes. It returns how long the prompt took
// to fail, and whether it did. A prompt that waits for a limit of the connection or of the
// process waits for an hour.
func killAt(t *testing.T, path string, text []byte, n int) (time.Duration, bool) {
	last := "dying at " + strconv.Itoa(n)
	cmd := command(ready + "HEAR session/prompt\nERR " + last + "\nPART " + path + " " + strconv.Itoa(n) + "\nKILL")
	cmd.EOFWait, cmd.TermWait = time.Hour, time.Hour
	p, err := launch.Start(context.Background(), cmd)
	if err != nil {
		t.Error(err)
		return 0, false
	}
	w := newWitness()
	c := rpc.NewConn(p.Transport(), w, rpc.Options{Limits: rpc.Limits{Grace: time.Hour, Stall: time.Hour}})
	receive(t, "sign of life", w.ready)
	began := time.Now()
	err = receive(t, "end of the prompt", prompt(t.Context(), c))
	took := time.Since(began)

	var whole []string
	for _, l := range bytes.Split(text[:n], []byte("\n")) {
		if json.Valid(l) { // the last may lack its line end
			whole = append(whole, string(l))
		}
	}
	want, got := paramsOf(t, whole), w.seen()
	if len(got) != len(want) {
		t.Errorf("%s: %d updates, want %d", last, len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if string(got[i]) != want[i] {
			t.Errorf("%s: update %d is\n%s\nwant\n%s", last, i, got[i], want[i])
		}
	}
	answered := n >= len(text)-1
	if answered != (err == nil) {
		t.Errorf("%s: the prompt returned %v", last, err)
	}
	<-c.Done()
	if exit := exitOf(t, c.Err()); exit.Signal != "killed" || exit.Stderr != last {
		t.Errorf("%s: the connection ended with %+v", last, exit)
	}
	closed(t, last, c, p)
	return took, !answered
}

// F1, F7: an agent may fail at each message of the handshake too, and does so
// again when it is started again.
func TestAnAgentThatNeverCompletesTheHandshakeSaysWhyEachTime(t *testing.T) {
	leak.Check(t)
	answer := `LINE {"jsonrpc":"2.0","id":$ID,"result":`
	scripts := map[string]string{
		"exits at once":                "ERR no key\nEXIT 3",
		"prints help":                  "LINE Usage: agent [OPTIONS]\nERR no key\nEXIT 3",
		"exits when it is spoken to":   "HEAR\nERR no key\nEXIT 3",
		"exits with half an answer":    "HEAR\n" + `PUT "{\"jsonrpc\":\"2.0\",\"id\":1,\"resu"` + "\nERR no key\nEXIT 3",
		"exits when a session is due":  "HEAR\n" + answer + `{"protocolVersion":1}}` + "\nHEAR\nERR no key\nEXIT 3",
		"leaves a child with its pipe": "CHILD\nERR no key\nEXIT 3",
	}
	soak.Repeat(t, func(t *testing.T, _ int) {
		for name, script := range scripts {
			for again := range 5 { // a crash loop
				p := start(t, script)
				c := rpc.NewConn(p.Transport(), nil, rpc.Options{})
				err := c.Call(t.Context(), "initialize", nil, nil)
				if err == nil {
					err = c.Call(t.Context(), "session/new", nil, nil)
				}
				exit := exitOf(t, err)
				if exit.Code != 3 || exit.Stderr != "no key" || (name == "prints help" && exit.Stdout != "Usage: agent [OPTIONS]") {
					t.Errorf("%s, start %d: %v", name, again, fmt.Sprintf("%+v", exit))
				}
				closed(t, name, c, p)
			}
		}
	})
}
