package elicitation

import (
	"errors"
	"strings"
	"testing"
)

// T27.
func TestOnlyPlainWebAndMailLinksAreAccepted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, host, why string }{
		{"https://example.com/login?a=b#c", "example.com", ""},
		{"http://127.0.0.1:8080/cb", "127.0.0.1:8080", ""},
		{"HTTPS://Example.COM", "example.com", ""},
		{"https://[::1]:9/x", "[::1]:9", ""},
		{"https://xn--pple-43d.com/", "xn--pple-43d.com", ""},
		{"mailto:someone@example.com?subject=hi", "", ""},
		{"mailto:?to=someone@example.com", "", ""},

		{"", "", "no scheme"},
		{"example.com", "", "no scheme"},
		{"//example.com/x", "", "no scheme"},
		{"file:///etc/passwd", "", "scheme"},
		{"FILE:///etc/passwd", "", "scheme"},
		{"javascript:alert(1)", "", "scheme"},
		{"JaVaScRiPt:alert(1)", "", "scheme"},
		{"vim:edit", "", "scheme"},
		{"vscode://x/y", "", "scheme"},
		{"data:text/html,x", "", "scheme"},
		{"ssh://host/", "", "scheme"},
		{"ms-msdt:/id", "", "scheme"},
		{"https:", "", "no host"},
		{"https://", "", "no host"},
		{"https:///path", "", "no host"},
		{"https:example.com", "", "no host"},
		{"https://:443/", "", "no host"},
		{"https://good.example@evil.example/", "", "user name"},
		{"https://good.example:80@evil.example/", "", "user name"},
		{"https://good.example%2f@evil.example/", "", "user name"},
		{"https://аpple.com/", "", "escaped"}, // Cyrillic a
		{"https://ex%61mple.com/", "", "not a URL"},
		{"https://%D0%B0pple.com/", "", "ASCII"},
		{"https://evil.example\\@good.example/", "", "escaped"},
		{"https://example.com/a b", "", "escaped"},
		{"https://example.com/\n", "", "escaped"},
		{"\thttps://example.com/", "", "escaped"},
		{"java\nscript:alert(1)", "", "escaped"},
		{"https://example.com/\x00", "", "escaped"},
		{"https://example.com/\u202egnp", "", "escaped"},
		{"https://example.com/\xff", "", "escaped"},
		{"https://example.com/`id`", "", "escaped"},
		{"https://example.com/\"><x", "", "escaped"},
		{"https://example.com/%zz", "", "not a URL"},
		{"https://example.com:port/", "", "not a URL"},
		{"mailto:", "", "no address"},
		{"mailto:a@b?attach=/etc/passwd", "", "attaches"},
		{"mailto:a@b?ATTACHMENT=/etc/passwd", "", "attaches"},
		{"https://example.com/" + strings.Repeat("x", MaxLink), "", "longer"},
	} {
		link, err := ParseLink(test.text)
		switch {
		case test.why == "" && err != nil:
			t.Errorf("%q: %v", test.text, err)
		case test.why == "" && (link.Host != test.host || link.Text != test.text):
			t.Errorf("%q: %+v", test.text, link)
		case test.why != "" && (!errors.Is(err, ErrLink) || !strings.Contains(err.Error(), test.why)):
			t.Errorf("%q: %v, want %q", test.text, err, test.why)
		}
	}
}

func FuzzParseLink(f *testing.F) {
	for _, s := range []string{"https://example.com/a", "mailto:a@b", "https://a@b", "https://[::1]/", "https://%41"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		link, err := ParseLink(text)
		if err != nil {
			return
		}
		low := strings.ToLower(text)
		switch {
		case strings.HasPrefix(low, "mailto:"):
		case strings.HasPrefix(low, "https://"+link.Host), strings.HasPrefix(low, "http://"+link.Host):
			rest := low[strings.Index(low, "//")+2+len(link.Host):]
			if link.Host == "" || rest != "" && !strings.ContainsRune("/?#", rune(rest[0])) {
				t.Errorf("%q is shown with the host %q", text, link.Host)
			}
		default:
			t.Errorf("%q is accepted, with the host %q", text, link.Host)
		}
	})
}
