package access

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	a, b := NewToken(), NewToken()
	if len(a.Reveal()) != 64 || a.Reveal() == b.Reveal() || !a.Equal(a.Reveal()) || a.Equal(b.Reveal()) || a.Equal("") {
		t.Error("tokens")
	}
	if zero := (Token{}); zero.Equal("") || !zero.IsZero() {
		t.Error("no token equals something")
	}
	for _, bad := range []string{"", "short", strings.Repeat("x", 1025), strings.Repeat("x", 40) + " y", strings.Repeat("\u00e9", 40), strings.Repeat("x", 40) + "\n"} {
		if _, err := ParseToken(bad); err == nil || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestATokenIsNeverPrinted(t *testing.T) {
	t.Parallel()
	token := NewToken()
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("x", "token", token, "guard", Guard{Token: token}, "client", Client{Token: token})
	fmt.Fprintf(&out, "%v %+v %#v %s %q %v", token, token, token, token, token, []any{Guard{Token: token}, &Client{Token: token}})
	if strings.Contains(out.String(), token.Reveal()) {
		t.Error(out.String())
	}
}

func TestTokenFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	token := NewToken()
	if err := os.WriteFile(path, []byte(" "+token.Reveal()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadToken(path); err != nil || got != token {
		t.Error(err)
	}
	os.Chmod(path, 0o640)
	if _, err := ReadToken(path); err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
		t.Error(err)
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://localhost:80/acp":  "http://localhost:80/acp",
		"ws://127.0.0.1/acp":       "http://127.0.0.1/acp",
		"wss://agents.example/acp": "https://agents.example/acp",
		"http://[::1]:8/x#y":       "http://[::1]:8/x",
		"http://127.9.9.9/":        "http://127.9.9.9/",
	} {
		if u, err := Parse(text); err != nil || u.String() != want {
			t.Errorf("%s: %v, %v", text, u, err)
		}
	}
	for _, text := range []string{"http://agents.example/acp", "ws://10.0.0.1/", "http://localhost.example/", "http://u:p@localhost/", "file:///x", "http:///", "//localhost/", "http://127.0.0.1.example/"} {
		if u, err := Parse(text); err == nil {
			t.Errorf("%s: %v", text, u)
		}
	}
}
