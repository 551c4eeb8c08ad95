//go:build unix

package hostile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

// How the TCP connection of an event stream ends.
const (
	cutOff    = "is cut"
	reset     = "is reset"
	halfClose = "is half closed"
	swallowed = "is swallowed" // cut, but for a while the server assumes that the rest was sent
	dripping  = "drips"        // it does not end, but continues byte by byte for a while
)

// headers is more than the headers of an event stream have, in bytes.
const headers = 250

// saboteur is a server that does one thing wrong.
type saboteur struct {
	http.Handler
	how    string // how an event stream ends
	whose  string // "session" or "connection"
	after  int    // bytes of its connection, headers included
	status int    // how what comes next is answered; 0: as it should be
	verb   string // GET or POST, what comes next
	slow   time.Duration

	mu                sync.Mutex
	armed             bool
	struck            atomic.Bool  // the stream has ended
	answered          atomic.Int32 // with the wrong status
	begun, farewelled map[string]bool
}

type connKey struct{}

// victim is a TCP connection that may be broken.
type victim struct {
	*net.TCPConn
	mu   sync.Mutex
	s    *saboteur // nil: nothing happens
	left int

	dripped int // owned by Write
}

func (v *victim) arm(s *saboteur) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s, v.left = s, s.after
}

func (v *victim) Write(b []byte) (int, error) {
	v.mu.Lock()
	s, n := v.s, len(b)
	if s != nil {
		n = min(n, v.left)
		v.left -= n
	}
	over := s != nil && v.left == 0
	v.mu.Unlock()
	if over && s.how == swallowed && s.struck.Load() {
		return len(b), nil
	}
	done, err := v.TCPConn.Write(b[:n])
	if !over || err != nil {
		return done, err
	}
	s.struck.Store(true)
	switch s.how {
	case dripping:
		for ; n < len(b) && v.dripped < 200; n++ {
			time.Sleep(100 * time.Microsecond)
			if _, err := v.TCPConn.Write(b[n : n+1]); err != nil {
				return n, err
			}
			v.dripped++
		}
		done, err := v.TCPConn.Write(b[n:])
		return n + done, err
	case reset:
		v.SetLinger(0)
		v.TCPConn.Close()
	case halfClose:
		v.CloseWrite()
	case swallowed:
		v.TCPConn.Close()
		return len(b), nil
	default:
		v.TCPConn.Close()
	}
	return n, net.ErrClosed
}

// Read delays the end of a connection, as a proxy in front of a server does.
func (v *victim) Read(b []byte) (int, error) {
	n, err := v.TCPConn.Read(b)
	v.mu.Lock()
	late := v.s != nil && v.left == 0 && v.s.how == swallowed
	v.mu.Unlock()
	if err != nil && late {
		time.Sleep(250 * time.Millisecond)
	}
	return n, err
}

type victims struct{ *net.TCPListener }

func (l victims) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	return &victim{TCPConn: c}, err
}

func (s *saboteur) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, session := r.Header.Get("Acp-Connection-Id"), r.Header.Get("Acp-Session-Id")
	whose := "connection"
	if session != "" {
		whose = "session"
	}
	if r.Method == http.MethodDelete {
		s.mu.Lock()
		s.farewelled[id] = true
		s.mu.Unlock()
	}
	if s.struck.Load() && r.Method == s.verb && id != "" {
		time.Sleep(s.slow)
		if s.status != 0 && s.answered.CompareAndSwap(0, 1) {
			http.Error(w, "not today", s.status)
			return
		}
	}
	s.mu.Lock()
	if r.Method == http.MethodGet && whose == s.whose && !s.armed {
		s.armed = true
		r.Context().Value(connKey{}).(*victim).arm(s)
	}
	s.mu.Unlock()
	s.Handler.ServeHTTP(&noting{w, s}, r)
}

// noting notes what the server answers.
type noting struct {
	http.ResponseWriter
	s *saboteur
}

func (w *noting) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *noting) WriteHeader(status int) {
	if id := w.Header().Get("Acp-Connection-Id"); id != "" {
		w.s.mu.Lock()
		w.s.begun[id] = true
		w.s.mu.Unlock()
	}
	w.ResponseWriter.WriteHeader(status)
}

// F9: an event stream may end at any place and in any way, and the server may then
// answer anything. No update is lost or repeated once the turn, or the load of its
// session on the next connection, is over. Every connection ends with a DELETE.
func TestNoUpdateIsLostOrRepeatedOverHTTP(t *testing.T) {
	leak.Check(t)
	const updates, length = 8, 1900 // bytes of their stream, about
	hows := []string{cutOff, reset, halfClose, swallowed, dripping}
	next := []saboteur{
		{}, {verb: "GET", status: 500}, {verb: "GET", status: 401}, {verb: "GET", status: 404}, {verb: "GET", status: 503},
		{verb: "GET", slow: 50 * time.Millisecond},
		{verb: "POST", status: 500}, {verb: "POST", status: 401}, {verb: "POST", status: 404}, {verb: "POST", slow: 50 * time.Millisecond},
	}
	var runs, struck, wrong, again atomic.Int32
	soak.Repeat(t, func(t *testing.T, round int) {
		const n = 80
		workers(n, func(i int) {
			k := round*n + i
			s := &saboteur{
				how: hows[k%len(hows)], whose: "session", after: k * 101 % length, // each byte in the end
				verb: next[k/3%len(next)].verb, status: next[k/3%len(next)].status, slow: next[k/3%len(next)].slow,
				begun: map[string]bool{}, farewelled: map[string]bool{},
			}
			if k%7 == 6 {
				s.whose, s.after = "connection", k*101%600
			}
			name := fmt.Sprintf("the stream of the %s %s after %d bytes, next %s %d %v", s.whose, s.how, s.after, s.verb, s.status, s.slow)
			again.Add(int32(overHTTP(t, name, s, updates)))
			runs.Add(1)
			if s.struck.Load() {
				struck.Add(1)
			}
			wrong.Add(s.answered.Load())
		})
	})
	t.Logf("%d runs: %d streams ended, %d wrong answers, %d new connections", runs.Load(), struck.Load(), wrong.Load(), again.Load())
	if struck.Load() < runs.Load()*3/4 || wrong.Load() < runs.Load()/5 || again.Load() < runs.Load()/10 {
		t.Error("too few: the faults were not tried")
	}
}

// overHTTP runs two turns over a server with a fault, and returns how often the
// client connected again.
func overHTTP(t *testing.T, name string, s *saboteur, updates int) (again int) {
	store, heard := &testagent.Agent{Mode: "resume"}, new(testagent.Client)
	server := &httpstream.Server{Guard: access.Guard{Token: access.NewToken()}, Handle: store.Serve, Abandon: time.Minute}
	s.Handler = server
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Error(err)
		return 0
	}
	web := &httptest.Server{Listener: victims{l}, Config: &http.Server{Handler: s, ConnContext: func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, c)
	}}}
	web.Start()
	defer web.Close()
	defer web.CloseClientConnections()

	ctx := patience.Context(t, patience.Soon)
	var session atomic.Pointer[acp.SessionID]
	var connected, lost atomic.Int32
	c, err := redial.Connect(ctx, redial.Options{
		Dial: func(ctx context.Context) (transport.Transport, error) {
			if id := session.Load(); id != nil { // a history that is still growing cannot be compared
				for end := time.Now().Add(patience.Soon); len(store.Texts(*id))%updates != 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
				}
			}
			return httpstream.Dial(web.URL, access.Client{Token: server.Guard.Token})
		},
		Versions: []rpc.ClientVersion{{Protocol: acp.V1, Params: &acp.InitializeRequest{}, Handler: acp.ClientSide(heard)}},
		Pause:    time.Millisecond,
		OnEvent: func(e redial.Event) {
			switch e.Kind {
			case redial.Replaying:
				heard.Forget(e.Session)
			case redial.Connected:
				connected.Add(1)
			case redial.Lost:
				lost.Add(1)
			}
		},
	})
	if err != nil {
		if s.whose == "session" || isA[*acp.Error](err) {
			t.Errorf("%s: connect: %v", name, err)
		}
		return 0
	}
	defer func() {
		c.Close()
		again = int(connected.Load())
		s.mu.Lock()
		defer s.mu.Unlock()
		for id := range s.begun {
			if !s.farewelled[id] {
				t.Errorf("%s: no DELETE for a connection", name)
			}
		}
	}()
	r, err := acp.Agent{Conn: c}.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/w", MCPServers: []acp.MCPServer{}})
	if err != nil { // the connection broke, or the request was refused: nothing to lose
		if s.struck.Load() && (isA[*rpc.ClosedError](err) || s.answered.Load() > 0) {
			return
		}
		t.Errorf("%s: session: %v", name, err)
		return
	}
	id := r.SessionID
	session.Store(&id)
	for turn := range 3 {
		beside := make(chan error, 1)
		go func() { // so that something is posted in mid-turn
			_, err := acp.Agent{Conn: c}.ListSessions(ctx, &acp.ListSessionsRequest{})
			beside <- err
		}()
		_, err := testagent.Prompt(ctx, c, id, fmt.Sprintf("COUNT %d", updates))
		if other := <-beside; other != nil && !isA[*rpc.ClosedError](other) && !(isA[*acp.Error](other) && s.answered.Load() > 0) {
			t.Errorf("%s: the call beside: %v", name, other)
		}
		var refused *acp.Error
		switch {
		case err == nil:
		case isA[*rpc.ClosedError](err):
			if err := await(c, ctx); err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
		case errors.As(err, &refused) && strings.Contains(string(refused.Data), fmt.Sprintf(`"status":%d`, cmp.Or(s.status, -1))):
			// The agent never got it.
		case errors.As(err, &refused) && strings.Contains(refused.Message, "the answer was lost") && s.after < headers:
			continue // the stream never was; the next turn opens it
		default:
			t.Errorf("%s: turn %d: %v", name, turn, err)
			return
		}
		if got, want := heard.Texts(id), store.Texts(id); !slices.Equal(got, want) {
			t.Errorf("%s: turn %d (%v):\nheard %q\nsaid  %q", name, turn, err, got, want)
			return
		}
	}
	if n := len(heard.Texts(id)); n < updates || lost.Load() > 0 {
		t.Errorf("%s: only %d updates after three turns", name, n)
	}
	return
}

// await waits until a client is connected again, with its sessions.
func await(c *redial.Client, ctx context.Context) error {
	_, err := acp.Agent{Conn: c}.ListSessions(ctx, &acp.ListSessionsRequest{})
	return err
}
