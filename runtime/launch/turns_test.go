package launch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A client that leaves cancels the running turns and answers their open requests. Idle
// sessions are not cancelled.
func TestALeavingClientCancelsTurnsAndAnswersRequests(t *testing.T) {
	t.Parallel()
	const (
		begin    = `> {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"a","prompt":[]}}`
		other    = `> {"jsonrpc":"2.0","id":"1","method":"session/prompt","params":{"sessionId":"b","prompt":[]}}`
		end      = `< {"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`
		failed   = `< {"error":{"code":1,"message":"m"},"jsonrpc":"2.0","id":1}`
		accepted = `< {"jsonrpc":"2.0","id":1,"result":{}}` // version 2
		working  = `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"state_update","state":"running"}}}`
		idle     = `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"state_update","state":"idle"}}}`
		behind   = `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"state_update","state":"idle","background":[{}]}}}`
		ask      = `< {"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"a"}}`
		elicit   = `< {"jsonrpc":"2.0","id":2,"method":"elicitation\/create","params":{"sessionId":"a"}}`
		read     = `< {"jsonrpc":"2.0","id":3,"method":"fs/read_text_file","params":{"sessionId":"a"}}`
		stop     = `> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"a"}}`
		answer   = `> {"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}`
		quoted   = `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"id\":1,\"result\":{\"stopReason\":\"end_turn\"}}"}}}}`

		cancelA   = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"a"}}`
		cancelB   = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"b"}}`
		denied    = `{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"cancelled"}}}`
		dismissed = `{"jsonrpc":"2.0","id":2,"result":{"action":"cancel"}}`
	)
	for name, test := range map[string]struct {
		said []string
		owed []string
	}{
		"nothing said":                  {nil, nil},
		"a turn":                        {[]string{begin, quoted}, []string{cancelA}},
		"a turn that ended":             {[]string{begin, end}, nil},
		"one that failed":               {[]string{begin, failed}, nil},
		"ids of two types":              {[]string{begin, other, end}, []string{cancelB}},
		"two prompts of a session":      {[]string{begin, strings.Replace(begin, `"id":1`, `"id":2`, 1), end}, []string{cancelA}},
		"another answer":                {[]string{begin, strings.Replace(end, `"id":1`, `"id":7`, 1)}, []string{cancelA}},
		"a cancelled turn":              {[]string{begin, other, stop}, []string{cancelB}},
		"a prompt after a cancel":       {[]string{begin, stop, strings.Replace(begin, `"id":1`, `"id":2`, 1)}, []string{cancelA}},
		"questions":                     {[]string{begin, ask, elicit, read}, []string{cancelA, denied, dismissed}},
		"an answered question":          {[]string{begin, ask, answer}, []string{cancelA}},
		"a question of an ended turn":   {[]string{begin, ask, end}, nil},
		"a question outside of turns":   {[]string{ask}, nil},
		"version 2, accepted":           {[]string{begin, accepted}, []string{cancelA}},
		"version 2, working":            {[]string{begin, working, accepted}, []string{cancelA}},
		"version 2, idle":               {[]string{begin, accepted, working, idle}, nil},
		"version 2, idle before answer": {[]string{begin, working, idle, accepted}, nil},
		"version 2, in the background":  {[]string{begin, accepted, behind}, []string{cancelA}},
		"not JSON":                      {[]string{begin, `< {"id":1,"result":`, `> /prompt"`}, []string{cancelA}},
	} {
		t.Run(name, func(t *testing.T) {
			var turns turns
			busy := 0
			turns.init(func(b bool) {
				if b {
					busy++
				} else {
					busy--
				}
			})
			for _, line := range test.said {
				if msg, ok := strings.CutPrefix(line, "> "); ok {
					turns.sent([]byte(msg))
				} else {
					turns.received([]byte(strings.TrimPrefix(line, "< ")))
				}
			}
			if running := len(test.owed) > 0; turns.running() != running || busy != map[bool]int{true: 1}[running] {
				t.Errorf("running: %v, busy: %d", turns.running(), busy)
			}
			msgs, idle := turns.leave()
			var owed []string
			for _, m := range msgs {
				owed = append(owed, string(m))
			}
			slices.Sort(owed)
			slices.Sort(test.owed)
			if !slices.Equal(owed, test.owed) || (idle == nil) != (len(owed) == 0) {
				t.Errorf("owed:\n%s\nwant:\n%s", strings.Join(owed, "\n"), strings.Join(test.owed, "\n"))
			}
		})
	}
}

// An agent cannot make a client remember an unbounded number of requests.
func TestRememberedQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	var turns turns
	turns.init(func(bool) {})
	turns.sent([]byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"a"}}`))
	for id := range 10 * maxAsked {
		turns.received(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission"}`, id))
	}
	if msgs, _ := turns.leave(); len(msgs) != 1+maxAsked {
		t.Errorf("%d messages", len(msgs))
	}
}
