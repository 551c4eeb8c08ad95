//go:build unix

package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/soak"
)

// T02, S1: while an attacker keeps replacing a directory and a file with links
// that lead outside or to a protected place, nothing there is read or written.
func TestSwappedLinksLeadNowhere(t *testing.T) {
	t.Parallel()
	base := tree(t)
	ws, out := base+"/ws", base+"/out"
	must(t, os.Mkdir(ws+"/real", 0o755))
	must(t, os.WriteFile(ws+"/real/secret.txt", []byte("public\n"), 0o644))
	must(t, os.Mkdir(ws+"/.git/hooks", 0o755))
	must(t, os.Symlink(out, ws+"/bad1"))
	must(t, os.Symlink(".git/hooks", ws+"/bad2"))
	must(t, os.Symlink(out+"/secret.txt", ws+"/bad3"))
	before, hooks := state(t, out), state(t, ws+"/.git")
	w := open(t, Options{}, ws)

	stop := make(chan struct{})
	var swaps, tried, served, written atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		// rename is the only way to exchange a directory for a link at once
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			bad := []string{"/bad1", "/bad2"}[i%2]
			os.Rename(ws+"/real", ws+"/kept")
			os.Rename(ws+bad, ws+"/real")
			os.Rename(ws+"/real", ws+bad)
			os.Rename(ws+"/kept", ws+"/real")
			os.Remove(ws + "/file")
			os.Link(ws+"/bad3", ws+"/file") // a second name of the link
			os.Remove(ws + "/file")
			os.WriteFile(ws+"/file", []byte("public\n"), 0o644)
			swaps.Add(1)
		}
	})
	for i := range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, name := range []string{"/real/secret.txt", "/file"} {
					tried.Add(1)
					text, err := w.ReadText(ws+name, Range{})
					if err == nil {
						served.Add(1)
					}
					if strings.Contains(text, "secret\n") {
						t.Errorf("read the secret through %s", name)
						return
					}
				}
				if i == 0 {
					w.WriteText(ws+"/real/secret.txt", "public\n")
					w.WriteText(ws+"/real/made.txt", "public\n")
					written.Add(2)
				}
			}
		})
	}
	time.Sleep(soak.Duration(t))
	patience.True(t, "the race", func() bool { return swaps.Load() >= 1000 && served.Load() >= 1000 })
	close(stop)
	wg.Wait()
	if after := state(t, out); after != before {
		t.Errorf("outside changed:\n%s\nwas\n%s", after, before)
	}
	if after := state(t, ws+"/.git"); after != hooks {
		t.Errorf("protected files changed:\n%s\nwas\n%s", after, hooks)
	}
	t.Logf("%d swaps, %d reads, %d of them successful, %d writes", swaps.Load(), tried.Load(), served.Load(), written.Load())
}

// The permitted file is the one that is read and written, even if the path to it
// changes.
func TestAFileIsServedWhereItWasPermitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"open", "closed"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name, "f"), []byte(name), 0o644))
	}
	link := filepath.Join(dir, "link")
	swap := func(target string) {
		os.Remove(link)
		must(t, os.Symlink(target, link))
	}
	var asked []string
	refused := errors.New("not here")
	w := open(t, Options{Permit: func(path string, at Location, write bool) error {
		asked = append(asked, fmt.Sprint(strings.TrimPrefix(path, dir), " ", at.Name, " ", write))
		if strings.HasPrefix(at.Name, "closed") {
			return refused
		}
		swap("closed")
		return nil
	}}, dir)
	swap("open")
	if text, err := w.ReadText(link+"/f", Range{}); err != nil || text != "open" {
		t.Errorf("read %q, %v", text, err)
	}
	swap("open")
	must(t, w.WriteText(link+"/f", "new"))
	if _, err := w.ReadText(link+"/f", Range{}); !errors.Is(err, refused) {
		t.Errorf("read: %v", err)
	}
	if err := w.WriteText(link+"/f", "new"); !errors.Is(err, refused) {
		t.Errorf("written: %v", err)
	}
	loc, err := w.Resolve(link + "/f")
	must(t, err)
	if err := w.WriteApproved(loc, "new"); !errors.Is(err, refused) {
		t.Errorf("written with approval: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "closed", "f")); err != nil || string(text) != "closed" {
		t.Errorf("%q, %v", text, err)
	}
	if want := []string{"/link/f open/f false", "/link/f open/f true", "/link/f closed/f false", "/link/f closed/f true", "/closed/f closed/f true"}; !slices.Equal(asked, want) {
		t.Errorf("%q", asked)
	}
}
