//go:build amd64 || arm64

package shim_test

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// host is a program outside. It answers HTTP, and a line that is none with "here".
func host(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				line, _ := in.ReadString('\n')
				if strings.Contains(line, "HTTP/") {
					fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhere\n")
				} else if line != "" {
					fmt.Fprint(c, "here\n")
				}
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// A question about a connection names the host as the program does. Where the name leads is
// looked up after a yes; to a program on this machine, for example, which is asked about, too.
func TestAQuestionNamesTheHost(t *testing.T) {
	t.Parallel()
	port := host(t)
	for _, c := range []struct {
		name    string
		command []string
		asked   []string // before PORT
		said    string
		refused string // after a no
	}{
		{
			"the C library", []string{"bash", "-c", "exec 3<>/dev/tcp/far.example/PORT && echo a >&3 && head -n 1 <&3"},
			[]string{"connect far.example", "connect 127.0.0.1"}, "here\n", "Permission denied",
		},
		{"a proxy", []string{"HELPER", "helper", "get", "http://Far.Example:PORT/"}, []string{"connect far.example", "connect 127.0.0.1"}, "200 here\n", "403 hermes: a connection to far.example:PORT is not allowed: no"},
		{"a tunnel", []string{"HELPER", "helper", "tunnel", "far.example:PORT"}, []string{"connect far.example", "connect 127.0.0.1"}, "here\n", "hermes: a connection to far.example:PORT is not allowed: no"},
		{"an address by a tunnel", []string{"HELPER", "helper", "tunnel", "127.0.0.1:PORT"}, []string{"connect 127.0.0.1"}, "here\n", "hermes: a connection to 127.0.0.1:PORT is not allowed: no"},
		{"this machine by a tunnel", []string{"HELPER", "helper", "tunnel", "localhost:PORT"}, []string{"connect 127.0.0.1"}, "here\n", "hermes: a connection to 127.0.0.1:PORT is not allowed: no"},
		{"nobody by a tunnel", []string{"HELPER", "helper", "tunnel", "nobody.example:PORT"}, []string{"connect nobody.example"}, "hermes: look up nobody.example: lookup nobody.example: no such host\n", "hermes: a connection to nobody.example:PORT is not allowed: no"},
		{"no name", []string{"HELPER", "helper", "tunnel", "a..b:PORT"}, nil, "hermes: \"a..b\" is not the name of a host\n", ""},
		{"nobody", []string{"bash", "-c", "exec 3<>/dev/tcp/nobody.example/PORT"}, []string{"connect nobody.example"}, "No route to host", "Permission denied"},
		{"only a lookup", []string{"getent", "ahostsv4", "far.example"}, nil, "198.18.0.1", ""},
		{"a short name", []string{"getent", "ahostsv4", "far"}, nil, "far", ""},
	} {
		for _, allow := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, " ", allow), func(t *testing.T) {
				t.Parallel()
				s := newShimmed(t)
				s.env = append(s.env, "SHIM_TEST_NAMES=far.example=127.0.0.1 localhost=127.0.0.1", "HTTP_PROXY=", "HTTPS_PROXY=", "http_proxy=", "https_proxy=")
				s.config.Gate = &shim.Gate{Effects: true}
				s.confined(confine.Rules{})
				reports := s.editor(func(feed.Report) error {
					if !allow {
						return errors.New("no")
					}
					return nil
				})
				fill := strings.NewReplacer("PORT", port)
				command := slices.Clone(c.command)
				for i := range command {
					command[i] = fill.Replace(command[i])
				}
				said, _ := s.run(command...)
				var want, asked []string
				for _, a := range c.asked {
					want = append(want, a+":"+port)
				}
				says := c.said
				if !allow {
					says = cmp.Or(c.refused, c.said)
					want = want[:min(1, len(want))]
				}
				for _, r := range reports() {
					if q := s.effect(r); r.Kind == feed.Connect && !slices.Contains(asked, q) { // a yes is reported, too
						asked = append(asked, q)
					}
				}
				if !strings.Contains(said, fill.Replace(says)) || !slices.Equal(asked, want) {
					t.Errorf("asked %q, want %q\n%s", asked, want, said)
				}
			})
		}
	}
}

// The proxy of the user is used, and asked for nothing that was not allowed.
func TestTheProxyOfTheUserIsUsed(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var heard []string
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		heard = append(heard, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		mu.Unlock()
		if r.Method != http.MethodConnect {
			fmt.Fprintln(w, "here")
			return
		}
		c, in, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\n")
		io.Copy(io.Discard, in)
		fmt.Fprint(c, "here\n")
	})}
	go proxy.Serve(l)
	t.Cleanup(func() { proxy.Close() })
	for command, want := range map[string]string{"get http://far.example/": "GET far.example Basic bWU6c2VjcmV0", "tunnel far.example:443": "CONNECT far.example:443 Basic bWU6c2VjcmV0"} {
		for _, allow := range []bool{true, false} {
			heard = nil
			s := newShimmed(t)
			s.env = append(s.env, "SHIM_TEST_NAMES=", "HTTP_PROXY=http://me:secret@"+l.Addr().String(), "HTTPS_PROXY=http://me:secret@"+l.Addr().String())
			s.config.Gate = &shim.Gate{Effects: true}
			s.confined(confine.Rules{})
			reports := s.editor(func(feed.Report) error {
				if !allow {
					return errors.New("no")
				}
				return nil
			})
			said, _ := s.run(append([]string{"HELPER", "helper"}, strings.Fields(command)...)...)
			mu.Lock()
			got := strings.Join(heard, "; ")
			mu.Unlock()
			if allow != strings.Contains(said, "here") || got != map[bool]string{true: want}[allow] || len(reports()) == 0 || strings.Contains(said, "secret") {
				t.Errorf("%s, %v: the proxy heard %q, questions: %d\n%s", command, allow, got, len(reports()), said)
			}
		}
	}
}

// The proxy serves the programs in the gate, and nobody else.
func TestTheProxyServesNobodyElse(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.config.Gate = &shim.Gate{Effects: true}
	s.confined(confine.Rules{})
	s.editor(nil)
	cmd := s.command("sh", "-c", `echo "$HTTPS_PROXY"; read -r end`)
	end, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	proxy, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSpace(proxy), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "CONNECT far.example:443 HTTP/1.1\r\nHost: far.example:443\r\n\r\n")
	if said, _ := io.ReadAll(c); len(said) > 0 {
		t.Errorf("it says %q", said)
	}
	end.Close()
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Error(err)
	}
}
