package lint

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// eachURL calls f with the URLs that the user is to visit.
func eachURL(c *Checker, f func(m *Message, at Value, u *url.URL)) {
	eachQuestion(c, func(m *Message, mode string) {
		at := m.Params.Get("url")
		if mode != "url" || !at.IsString() || !hasScheme(at.Bytes()) {
			return
		}
		if u, err := url.Parse(at.Str()); err == nil {
			f(m, at, u)
		}
	})
}

// isLoopback reports whether a host is this computer.
func isLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// grants says what in a URL acts for a user.
func grants(u *url.URL) string {
	if u.User != nil {
		return "a user"
	}
	fragment, _ := url.ParseQuery(u.Fragment)
	for _, query := range []url.Values{u.Query(), fragment} {
		for name, values := range query {
			if len(values) == 0 || values[0] == "" {
				continue
			}
			switch strings.ToLower(name) {
			case "token", "access_token", "id_token", "refresh_token", "auth_token", "api_key", "apikey", "password", "client_secret":
				return "a token in " + quote(name)
			case "x-amz-signature", "x-goog-signature":
				return "a signature in " + quote(name)
			}
			if slices.ContainsFunc(values, func(v string) bool { return mailAddress().MatchString(v) && !strings.Contains(v, "://") }) {
				return "an e-mail address in " + quote(name)
			}
		}
	}
	return ""
}

// issued follows the ids of elicitations, wherever the agent names them.
func issued(c *Checker) *Bounded[string, bool] {
	ids := NewBounded[string, bool](maxRequests)
	word := mark{"elicitation", 'I', "d"}
	c.Message(sentBy(Agent, func(m *Message) {
		if m.Method == "elicitation/complete" || !marked(m.Bytes, word) {
			return
		}
		for v := range m.Root.Below() {
			if id := v.Get("elicitationId"); id.IsString() {
				ids.Put(bounded(id.Bytes()), true)
			}
		}
	}))
	return ids
}

// checkLateCompletion looks for an error without an id as the next thing that the
// client says.
func checkLateCompletion(c *Checker) {
	ids, done := issued(c), NewBounded[string, bool](maxRequests)
	late := 0 // number of the notification
	c.Notification(sentBy(Agent, func(m *Message) {
		id := m.Params.Get("elicitationId")
		if !id.IsString() {
			return
		}
		key := bounded(id.Bytes())
		_, known := ids.Get(key)
		_, again := done.Get(key)
		if again || !known && c.Whole && !ids.Lost() {
			late = m.Number
			c.Exercised()
		}
		done.Put(key, true)
	}), "elicitation/complete")
	c.Message(sentBy(Client, func(m *Message) {
		if late > 0 && m.Kind == AnswerMessage && m.Failed() && (m.ID.IsNull() || !m.ID.Exists()) {
			c.Report(m.Frame, Finding{Text: "the notification is answered with an error", Also: []int{late}}, m.Error)
		}
		late = 0
	}))
}
