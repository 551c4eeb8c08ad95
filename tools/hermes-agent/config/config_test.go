package config

import (
	"strings"
	"testing"
)

func TestTheEnvironmentIsEnough(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ url, key, want, err string }{
		{"http://127.0.0.1:8080/v1", "", "http://127.0.0.1:8080/v1", ""},
		{"", "k", "https://api.openai.com/v1", ""},
		{"", "", "", "no model"},
		{"localhost:8080", "", "", "not an http address"},
	} {
		env := map[string]string{"OPENAI_BASE_URL": test.url, "OPENAI_API_KEY": test.key, "XDG_STATE_HOME": "/s"}
		c, err := FromEnvironment(func(name string) string { return env[name] })
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || err == nil && c.BaseURL != test.want {
			t.Errorf("%+v: %+v, %v", test, c, err)
		}
	}
}
