package access

import (
	"fmt"
	"net"
	"net/http"
	"strings"
)

// Guard decides which HTTP requests a server answers. The zero value answers
// none, because it has no token, and says so to every client.
//
// The Host header must name this machine (localhost or a loopback address) or
// be in Hosts, which keeps out web pages that rebind a name to this machine. A
// request with an Origin header comes from a web page and is refused unless the
// origin is in Origins. Every request needs the token as
// "Authorization: Bearer TOKEN".
type Guard struct {
	Token Token
	// Hosts are further names of the server, with a port or for any port.
	Hosts []string
	// Origins are the origins of allowed web pages, such as
	// "https://app.example.com".
	Origins []string
}

// Refusal says why a request is refused, and with which status.
type Refusal struct {
	Status int
	Reason string
}

func (e *Refusal) Error() string { return e.Reason }

// Write sends the refusal.
func (e *Refusal) Write(w http.ResponseWriter) {
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, e.Reason, e.Status)
}

// Check returns a *Refusal, or nil when the request may be answered.
func (g *Guard) Check(r *http.Request) *Refusal {
	if refusal := g.checkPage(r); refusal != nil {
		return refusal
	}
	if g.Token.IsZero() {
		return &Refusal{http.StatusForbidden, "this server refuses everybody: its access.Guard has no token"}
	}
	given := r.Header.Values("Authorization")
	if len(given) != 1 {
		return &Refusal{http.StatusUnauthorized, "a token is needed: Authorization: Bearer TOKEN"}
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || !g.Token.Equal(strings.TrimSpace(token)) {
		return &Refusal{http.StatusUnauthorized, "wrong token"}
	}
	return nil
}

// checkPage checks what browsers put into requests on their own.
func (g *Guard) checkPage(r *http.Request) *Refusal {
	if !g.serves(r.Host) {
		return &Refusal{http.StatusForbidden, fmt.Sprintf("host %.100q is not served here", r.Host)}
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && !g.allows(origins[0]) {
		return &Refusal{http.StatusForbidden, fmt.Sprintf("origin %.100q is not allowed", origins[0])}
	}
	return nil
}

func (g *Guard) serves(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if Loopback(name) {
		return true
	}
	name = strings.Trim(name, "[]")
	for _, allowed := range g.Hosts {
		if strings.EqualFold(allowed, host) || strings.EqualFold(strings.Trim(allowed, "[]"), name) {
			return name != ""
		}
	}
	return false
}

func (g *Guard) allows(origin string) bool {
	for _, allowed := range g.Origins {
		if strings.EqualFold(strings.TrimSuffix(allowed, "/"), origin) {
			return true
		}
	}
	return false
}

// The headers that pages of allowed origins may send and see.
const (
	corsMethods = "GET, POST, DELETE"
	corsRequest = "Authorization, Content-Type, Acp-Connection-Id, Acp-Session-Id, Last-Event-ID"
	corsAnswer  = "Acp-Connection-Id"
)

// Wrap returns h behind the guard. Refusals are written and passed to refused,
// which may be nil. Pages of allowed origins get the CORS headers they need.
func (g *Guard) Wrap(h http.Handler, refused func(*http.Request, *Refusal)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refusal := g.Check(r)
		if origin := r.Header.Get("Origin"); origin != "" && g.checkPage(r) == nil {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Expose-Headers", corsAnswer)
			w.Header().Add("Vary", "Origin")
			if r.Method == http.MethodOptions {
				w.Header().Set("Access-Control-Allow-Methods", corsMethods)
				w.Header().Set("Access-Control-Allow-Headers", corsRequest)
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		if refusal == nil {
			h.ServeHTTP(w, r)
			return
		}
		if refused != nil {
			refused(r, refusal)
		}
		refusal.Write(w)
	})
}
