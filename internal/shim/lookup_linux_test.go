//go:build amd64 || arm64

package shim

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// The variable lists names with their addresses: "a=192.0.2.1 b=::1". It belongs to the
// supervisors that tests start.
func init() {
	if list, ok := os.LookupEnv("SHIM_TEST_NAMES"); ok {
		lookUp = func(_ context.Context, _, host string) (found []netip.Addr, err error) {
			for _, word := range strings.Fields(list) {
				if name, address, _ := strings.Cut(word, "="); name == host {
					found = append(found, netip.MustParseAddr(address))
				}
			}
			if len(found) == 0 {
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			}
			return found, nil
		}
	}
}

// query is a lookup as a program sends it.
func query(name string, kind dnsmessage.Type) []byte {
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: 7, RecursionDesired: true})
	b.StartQuestions()
	b.Question(dnsmessage.Question{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET})
	text, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return text
}

func TestEachNameHasAnAddressThatStandsForIt(t *testing.T) {
	t.Parallel()
	n, err := newNames()
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	for _, c := range []struct {
		name string
		kind dnsmessage.Type
		code dnsmessage.RCode
		want string
	}{
		{"a.example.", dnsmessage.TypeA, 0, "198.18.0.1"},
		{"A.Example.", dnsmessage.TypeA, 0, "198.18.0.1"},
		{"b.", dnsmessage.TypeA, 0, "198.18.0.2"},
		{"a_b-c.example.", dnsmessage.TypeA, 0, "198.18.0.3"},
		{"a.example.", dnsmessage.TypeAAAA, 0, ""},
		{"a.example.", dnsmessage.TypeMX, dnsmessage.RCodeNameError, ""},
		{"1.0.18.198.in-addr.arpa.", dnsmessage.TypePTR, dnsmessage.RCodeNameError, ""},
		{"a\x1b[2J.example.", dnsmessage.TypeA, dnsmessage.RCodeServerFailure, ""},
		{"a b.example.", dnsmessage.TypeA, dnsmessage.RCodeServerFailure, ""},
		{".", dnsmessage.TypeA, dnsmessage.RCodeServerFailure, ""},
	} {
		text, err := n.answer(query(c.name, c.kind))
		if err != nil {
			t.Errorf("%q: %v", c.name, err)
			continue
		}
		var m dnsmessage.Message
		if err := m.Unpack(text); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, a := range m.Answers {
			got += netip.AddrFrom4(a.Body.(*dnsmessage.AResource).A).String()
		}
		if m.ID != 7 || !m.Response || m.RCode != c.code || got != c.want {
			t.Errorf("%q, %v: %v, %s", c.name, c.kind, m.Header, got)
		}
	}
	if name, ok := n.of(netip.MustParseAddr("198.18.0.1")); name != "a.example" || !ok {
		t.Errorf("198.18.0.1 is %q", name)
	}
	if _, ok := n.of(netip.MustParseAddr("198.18.9.9")); ok {
		t.Error("an address stands for no name")
	}
}

// A program has only as many names as there are addresses for.
func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	n, err := newNames()
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	for i := range maxNames + 1 {
		name := "n" + netip.AddrFrom4([4]byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}).String()
		a, ok := n.stand(name)
		if ok != (i < maxNames) || ok && !madeUp.Contains(a) {
			t.Fatalf("name %d: %v, %v", i, a, ok)
		}
	}
}

func FuzzLookups(f *testing.F) {
	for _, name := range []string{"a.example.", "a_b.example.", "."} {
		f.Add(query(name, dnsmessage.TypeA))
		f.Add(query(name, dnsmessage.TypeAAAA))
	}
	n, err := newNames()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(n.close)
	f.Fuzz(func(t *testing.T, text []byte) {
		answer, err := n.answer(text)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(answer); err != nil || !m.Response {
			t.Fatalf("%v: %x", err, answer)
		}
	})
}
