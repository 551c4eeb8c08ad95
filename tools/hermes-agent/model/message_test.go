package model

import (
	"fmt"
	"strings"
	"testing"
)

func TestRepairedHistoriesAreWhatEndpointsAccept(t *testing.T) {
	t.Parallel()
	call := func(ids ...string) Message {
		m := Message{Role: Assistant}
		for _, id := range ids {
			m.Calls = append(m.Calls, Call{ID: id})
		}
		return m
	}
	result := func(id string) Message { return Message{Role: Tool, CallID: id} }
	user := Message{Role: User}
	for _, test := range []struct {
		history []Message
		want    string
	}{
		{nil, ""},
		{[]Message{user, call("1", "2"), result("1"), result("2"), user}, "user assistant 1 2 user"},
		{[]Message{user, call("1", "2"), result("1")}, "user assistant 1 2!"},
		{[]Message{user, call("1"), user, call("2")}, "user assistant 1! user assistant 2!"},
		{[]Message{user, call("1"), result("1"), result("1"), result("3")}, "user assistant 1"},
		{[]Message{result("1"), user}, "user"},
	} {
		var got []string
		for _, m := range Repair(test.history) {
			word := string(m.Role)
			if m.Role == Tool {
				word = m.CallID
			}
			if m.Failed {
				word += "!"
			}
			got = append(got, word)
		}
		if g := strings.Join(got, " "); g != test.want {
			t.Errorf("%s: got %q, want %q", fmt.Sprint(test.history), g, test.want)
		}
	}
}
