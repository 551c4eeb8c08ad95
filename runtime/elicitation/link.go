package elicitation

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// MaxLink is the length of the longest acceptable link, in bytes.
const MaxLink = 8 << 10

// ErrLink is the error of a link that must not be shown or opened.
var ErrLink = errors.New("link refused")

// Link is a link that may be shown to the user, and opened if the user agrees:
// with an argument vector, never through a shell. Show all of Text, and Host
// beside it.
type Link struct {
	Text string // as the agent wrote it
	Host string // in ASCII, Punycode included, with the port; empty for mail
}

const linkChars = "-._~:/?#[]@!$&'()*+,;=%"

// ParseLink checks a link. Only https, http and mailto are acceptable, in ASCII
// as RFC 3986 demands, so that the user reads what opens. It refuses a user name
// or password before the host, which makes one site look like another, and mail
// that attaches files.
func ParseLink(text string) (*Link, error) {
	refuse := func(format string, args ...any) (*Link, error) {
		return nil, fmt.Errorf("%w: %s", ErrLink, fmt.Sprintf(format, args...))
	}
	if len(text) > MaxLink {
		return refuse("longer than %d bytes", MaxLink)
	}
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(linkChars, r) {
			return refuse("it contains %q, which must be escaped", r)
		}
	}
	u, err := url.Parse(text)
	if err != nil {
		return refuse("it is not a URL")
	}
	switch u.Scheme {
	case "https", "http":
		switch {
		case u.User != nil:
			return refuse("it hides its host behind a user name")
		case u.Hostname() == "":
			return refuse("it has no host")
		case strings.Contains(u.Host, "%") || !ascii(u.Host):
			return refuse("its host must be written in ASCII (Punycode)")
		}
		return &Link{Text: text, Host: strings.ToLower(u.Host)}, nil
	case "mailto":
		query := u.Query()
		for name := range query {
			if strings.HasPrefix(strings.ToLower(name), "attach") {
				return refuse("it attaches files to mail")
			}
		}
		if u.Opaque == "" && query.Get("to") == "" {
			return refuse("it has no address")
		}
		return &Link{Text: text}, nil
	case "":
		return refuse("it has no scheme; https, http and mailto are accepted")
	}
	return refuse("the scheme %q is not among https, http and mailto", u.Scheme)
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > '~' }) < 0
}
