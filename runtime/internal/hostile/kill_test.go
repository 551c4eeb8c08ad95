//go:build unix

package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/runtime"
	"github.com/hermes-nvim/hermes/runtime/internal/leak"
	"github.com/hermes-nvim/hermes/runtime/internal/soak"
)

// F1: whatever byte of a turn is the agent's last, what came whole before it is
// handled, the prompt fails soon and says how the agent ended, and nothing of
// the agent is left.
func TestAnAgentKilledAtAnyByteOfATurnFailsItsPromptAtOnce(t *testing.T) {
	leak.Check(t)
	path, text, _ := turn(t)
	soak.Repeat(t, func(t *testing.T, round int) {
		step := 1
		if testing.Short() {
			step = 16
		}
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
		slow, _ := slices.BinarySearch(delays, 200*time.Millisecond)
		t.Logf("%d kills: the prompt failed after %v (median), %v (worst)", len(delays), delays[len(delays)/2], delays[len(delays)-1])
		if over := len(delays) - slow; over > 1+len(delays)/1000 {
			t.Errorf("%d of %d prompts took longer than 200 ms to fail", over, len(delays))
		}
	})
}

// killAt has an agent die after n bytes. It returns how long the prompt took
// to fail, and whether it did.
func killAt(t *testing.T, path string, text []byte, n int) (time.Duration, bool) {
	last := "dying at " + strconv.Itoa(n)
	p := start(t, ready+"hear session/prompt\nerr "+last+"\npart "+path+" "+strconv.Itoa(n)+"\nkill")
	w := newWitness()
	c := runtime.NewConn(p.Transport(), w, runtime.Options{})
	receive(t, "sign of life", w.ready)
	began := time.Now()
	err := receive(t, "end of the prompt", prompt(t.Context(), c))
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
func TestAnAgentThatNeverGetsThroughTheHandshakeSaysWhyEachTime(t *testing.T) {
	leak.Check(t)
	answer := `say {"jsonrpc":"2.0","id":$ID,"result":`
	scripts := map[string]string{
		"exits at once":                "err no key\nexit 3",
		"prints help":                  "say Usage: agent [OPTIONS]\nerr no key\nexit 3",
		"exits when it is spoken to":   "hear\nerr no key\nexit 3",
		"exits with half an answer":    "hear\n" + `put "{\"jsonrpc\":\"2.0\",\"id\":1,\"resu"` + "\nerr no key\nexit 3",
		"exits when a session is due":  "hear\n" + answer + `{"protocolVersion":1}}` + "\nhear\nerr no key\nexit 3",
		"leaves a child with its pipe": "child\nerr no key\nexit 3",
	}
	soak.Repeat(t, func(t *testing.T, _ int) {
		for name, script := range scripts {
			for again := range 5 { // a crash loop
				p := start(t, script)
				c := runtime.NewConn(p.Transport(), nil, runtime.Options{})
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
