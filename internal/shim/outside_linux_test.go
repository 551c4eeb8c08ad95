//go:build amd64 || arm64

package shim_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/internal/sockdir"
)

// daemon is a program outside, which changes a file for whoever asks.
func (s *shimmed) daemon(address string) {
	s.t.Helper()
	l, err := net.Listen("unix", address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if text, _ := io.ReadAll(c); len(text) > 0 {
				os.WriteFile(filepath.Join(s.root, "f"), text, 0o644)
			}
			c.Close()
		}
	}()
}

// A supervised program that has its work done outside is named once, and refused in a
// gate.
func TestAProgramThatWorksOutsideIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, address, dial string // DIR is a folder, ID of the run
		inside              bool
	}{
		{"by a path", "DIR/s", "DIR/s", false},
		{"by a link", "DIR/s", "DIR/link/s", false},
		{"by a relative path", "DIR/s", "./s", false},
		{"by an abstract name", "@hermes-ID", "@hermes-ID", false},
		{"of its own", "", "DIR/mine", true},
		{"of its own, abstract", "", "@hermes-mine-ID", true},
	} {
		for _, gated := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, ", gate ", gated), func(t *testing.T) {
				t.Parallel()
				s := newShimmed(t)
				dir := sockdir.New(t)
				if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
					t.Fatal(err)
				}
				named := strings.NewReplacer("DIR", dir, "ID", filepath.Base(dir))
				if !c.inside {
					s.daemon(named.Replace(c.address))
				}
				if gated {
					s.config.Gate = &shim.Gate{}
				}
				s.env = []string{"AT=" + named.Replace(c.dial), "DIR=" + dir, "INSIDE=" + map[bool]string{true: "1"}[c.inside]}
				out, _ := s.run("sh", "-c", `cd "$DIR"; for i in 1 2 3; do $HELPER helper dial "$AT" $INSIDE; done`)
				want := "connected\n"
				if gated && !c.inside {
					want = "permission denied\n"
				}
				if out != strings.Repeat(want, 3) {
					t.Errorf("%s", out)
				}
				holes, refused := 0, 0
				for _, e := range s.events() {
					switch says := strings.Contains(e.Text, fmt.Sprintf("process %d (", os.Getpid())) && strings.Contains(e.Text, "not watched"); {
					case e.Op == journal.Unseen && says && e.Phase == journal.Post:
						holes++
					case e.Op == journal.Connect && says && e.Phase == journal.Denied:
						refused++
					case e.Op == journal.Unseen, e.Op == journal.Connect:
						t.Errorf("%+v", e)
					}
				}
				wantHoles, wantRefused := 0, 0
				switch {
				case c.inside:
				case gated:
					wantRefused = 3
				default:
					wantHoles = 1
				}
				if holes != wantHoles || refused != wantRefused {
					t.Errorf("%d notes and %d refusals: %+v", holes, refused, s.events())
				}
			})
		}
	}
}

// A program may connect to sockets that the list of a gate allows. Networks are none
// of the gate's business.
func TestAGateLetsConnectToWhatItAllows(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	dir := sockdir.New(t)
	s.daemon(dir + "/s")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s.config.Gate = &shim.Gate{Allow: []string{dir}}
	out, _ := s.run("sh", "-c", fmt.Sprintf("$HELPER helper dial %s/s; $HELPER helper dial %s; $HELPER helper dial 127.0.0.1:1; $HELPER helper dial %s/none", dir, l.Addr(), dir))
	if out != "connected\nconnected\nconnection refused\nno such file or directory\n" {
		t.Error(out)
	}
}

// A connection that cannot be followed is counted, and made.
func TestAConnectionThatCannotBeFollowedIsCounted(t *testing.T) {
	t.Parallel()
	for _, user := range users() {
		if user == 0 {
			continue // it sees everything
		}
		s := newShimmed(t)
		s.user = user
		address := fmt.Sprintf("@hermes-hidden-%d-%d", os.Getpid(), user)
		s.daemon(address)
		if out, status := s.run("sh", "-c", "$HELPER helper hidden dial "+address); status != 0 || out != "connected\n" {
			t.Errorf("user %d: ended with %d\n%s", user, status, out)
		}
		missing, err := journal.MissingIn(s.config.Journal)
		if err != nil || missing.Count != 1 || !strings.HasPrefix(missing.Reason, "a connection could not be followed: ") {
			t.Errorf("user %d: the record lacks %+v, %v", user, missing, err)
		}
	}
}
