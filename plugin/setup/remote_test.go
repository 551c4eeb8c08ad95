package setup

import (
	"strings"
	"testing"
)

func TestWhatARemoteAgentNeedsIsNamed(t *testing.T) {
	t.Parallel()
	h := new(Agents)
	for want, r := range map[string]Remote{
		"needs path":                {Protocol: "socket"},
		"needs path, the absolute":  {Protocol: "socket", Path: "relative"},
		"needs host":                {Protocol: "tcp"},
		"port, 1 to 65535, not 0":   {Protocol: "tcp", Host: "h"},
		"needs token":               {Protocol: "tcp", Host: "h", Port: 1},
		"websocket needs url":       {Protocol: "websocket"},
		"http needs url":            {Protocol: "http", URL: "ftp://h"},
		"token: ":                   {Protocol: "http", URL: "http://localhost", Token: "short"},
		`unknown protocol "pigeon"`: {Protocol: "pigeon"},
		"need a protocol: socket":   {URL: "http://localhost"},
	} {
		_, err := h.Resolve("far", Command{Remote: r})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `agent "far"`) {
			t.Errorf("%+v: %v, want %s", r, err, want)
		}
		if err != nil && r.Token != "" && strings.Contains(err.Error(), r.Token+`"`) {
			t.Errorf("the token is told: %v", err)
		}
	}
}

func TestReconnectIsTurnedOffBySetupAndByTheAgent(t *testing.T) {
	for _, tc := range []struct {
		settings Config
		agent    Command
		want     bool
	}{
		{Config{}, Command{}, false},
		{Config{}, Command{Remote: Remote{Protocol: "tcp"}}, true},
		{Config{Reconnect: Reconnect{Process: true}}, Command{}, true},
		{Config{Reconnect: Reconnect{Remote: new(bool)}}, Command{Remote: Remote{Protocol: "tcp"}}, false},
		{Config{Reconnect: Reconnect{Process: true}}, Command{Reconnect: new(bool)}, false},
		{Config{}, Command{Remote: Remote{Protocol: "tcp"}, Reconnect: new(bool)}, false},
	} {
		if got := tc.settings.Reconnects(tc.agent); got != tc.want {
			t.Errorf("%+v with %+v: %v", tc.agent, tc.settings, got)
		}
	}
}
