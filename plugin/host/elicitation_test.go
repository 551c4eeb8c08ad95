package host

import (
	"encoding/json"
	"strings"
	"testing"
)

// pages are links that an agent may want the user to visit; a link is refused
// for the reason why, or shown with its host.
var pages = []struct{ url, host, why string }{
	{"https://example.com/login?a=b#c", "example.com", ""},
	{"HTTPS://Example.COM/x", "example.com", ""},
	{"http://127.0.0.1:8080/cb", "127.0.0.1:8080", ""},
	{"https://[::1]:9/x", "[::1]:9", ""},
	{"https://xn--pple-43d.com/", "xn--pple-43d.com", ""},
	{"https://example.com/?next=https%3A%2F%2Fevil.example%2F", "example.com", ""},
	{"https://" + strings.Repeat("a.", 100) + "example.com/", strings.Repeat("a.", 100) + "example.com", ""},
	{"mailto:someone@example.com?subject=hi", "", ""},

	{"https://github.com:" + strings.Repeat("a", 300) + "@evil.example/login", "", "user name"},
	{"https://github.com@evil.example/", "", "user name"},
	{"https://g\u0456thub.com/", "", "escaped"}, // a Cyrillic letter
	{`https://x\@evil/`, "", "escaped"},
	{"https:///evil", "", "no host"},
	{"https://example.com/\u202egnp.exe", "", "escaped"},
	{"https://example.com/a b", "", "escaped"},
	{"https://example.com/\nhttps://evil.example/", "", "escaped"},
	{"https://example.com/\u0000", "", "escaped"},
	{"https://example.com/`id`", "", "escaped"},
	{"https://ex%61mple.com/", "", "not a URL"},
	{"https://example.com/" + strings.Repeat("x", 9000), "", "longer"},
	{"javascript:alert(1)", "", "scheme"},
	{"file:///etc/passwd", "", "scheme"},
	{"vim:edit", "", "scheme"},
	{"mailto:a@b?attach=/etc/passwd", "", "attaches"},
	{"-x", "", "scheme"},
	{"", "", "scheme"},
}

// T27 of the conformance list.
func TestOnlyCheckedLinksAreShownAndOpened(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.script("link_dialogs")
		for _, page := range pages {
			e.lua(`opened, shown = {}, {}
for i = #notes, 1, -1 do notes[i] = nil end
for i = #seen, 1, -1 do seen[i] = nil end`)
			params, err := json.Marshal(map[string]string{"sessionId": "s1", "mode": "url", "message": "Sign in", "elicitationId": "e", "url": page.url, "host": "trusted.example"})
			if err != nil {
				t.Fatal(err)
			}
			e.prompt("CALL elicitation/create " + string(params))
			if page.why != "" {
				e.is("said()", `CALL {"action":"decline"}`)
				e.until(`table.concat(notes, "\n"):find(` + luaText(page.why) + `, 1, true)`)
				e.is(`#shown + #opened + #of("UrlElicitation")`, 0)
				continue
			}
			e.is("said()", `CALL {"action":"accept"}`)
			e.is("opened", []string{page.url})
			e.is(`of("UrlElicitation")[1].host`, page.host)
			first := "URL: " + page.url
			if page.host != "" {
				first = "Host: " + page.host
			}
			// Long ones go on in the next line.
			e.is(`vim.startswith((table.concat(shown[1], "\n"):gsub("\n  ", "")), `+luaText(first+"\n")+`)`, true)
		}
	})
}
