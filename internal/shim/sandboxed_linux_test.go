//go:build amd64 || arm64

package shim_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// confined puts a program into a gate and a sandbox. Besides the project it may change the
// folder that it knows as TMPDIR, and not the one that it knows as OUT.
func (s *shimmed) confined(rules confine.Rules) (out string) {
	s.t.Helper()
	if lacks := rules.Missing(); len(lacks) > 0 {
		s.t.Skip(lacks)
	}
	base := filepath.Dir(s.root)
	out = filepath.Join(base, "out")
	s.env = append(s.env, "TMPDIR="+base+"/tmp", "OUT="+out, "HOME="+base+"/home")
	for _, dir := range []string{"tmp", "out", "home"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	s.write("../home/secret", "SECRET")
	rules.Hide = []string{base + "/home"}
	box, err := (&confine.Sandbox{Rules: &rules}).Box(nil, s.env, s.root)
	if err != nil {
		s.t.Fatal(err)
	}
	s.config.Sandbox = box.Rules
	return out
}

// tree lists what is in a folder, with modes and contents.
func (s *shimmed) tree(dir string) (list []string) {
	s.t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, _ := os.ReadFile(path)
		link, _ := os.Readlink(path)
		list = append(list, fmt.Sprintf("%s %s %q%s", strings.TrimPrefix(path, dir), info.Mode(), text, link))
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// In a gate and a sandbox, what is in the project is asked about, what the sandbox lets a
// program change it changes, and nothing else.
func TestAGateAndASandboxHoldTogether(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][]string{
		// In the project.
		`echo two > f`:                    {`write f "one\n" "two\n"`},
		`rm f`:                            {`remove f "one\n"`},
		`mkdir d; ln -s f l; chmod 600 f`: {"mkdir d", "symlink l absent ->f", `chmod f "one\n" 644 "one\n" 600`},
		`echo two > "$TMPDIR/n"; mv "$TMPDIR/n" f`:         {`write f "one\n" "two\n"`},
		`mv f "$TMPDIR/n"; cat "$TMPDIR/n"`:                {`remove f "one\n"`},
		`ln -s "$PWD/f" "$TMPDIR/l"; echo x > "$TMPDIR/l"`: {`write f "one\n" "x\n"`},
		`echo x > ignored/f; mkdir ignored/d`:              nil,
		// What may be changed.
		`cd "$TMPDIR"; echo x > a; mv a b; mkdir d; ln -s b c; ln b e; chmod 600 b; truncate -s 1 b; rm c; rmdir d; mkfifo p`: nil,
		`cd "$TMPDIR"; exec 5<> x; rm x; echo y > /proc/self/fd/5`:                                                            nil,
		`echo x > /dev/null; echo x > /dev/fd/1 | cat; mkdir -p "$TMPDIR/a/b"`:                                                nil,
		// What may not.
		`! echo x > "$OUT/f"`: nil, `! echo x >> "$OUT/f"`: nil, `! echo x > "$OUT/g"`: nil, `! rm "$OUT/f"`: nil, `! mkdir "$OUT/d"`: nil, `! rmdir "$OUT/e"`: nil,
		`! chmod 600 "$OUT/f"`: nil, `! truncate -s 0 "$OUT/f"`: nil, `! ln -s x "$OUT/l"`: nil, `! mv "$OUT/f" "$TMPDIR/f"`: nil, `! ln "$OUT/f" "$TMPDIR/f"`: nil,
		`! mkfifo "$OUT/p"`: nil, `! mv "$OUT/e" "$OUT/n"`: nil, `! chmod 700 "$OUT"`: nil, `! rmdir "$TMPDIR"`: nil, `! mv "$TMPDIR" "$OUT/t"`: nil,
		`! mv f "$OUT/n"`: nil, `! ln f "$OUT/n"`: nil, `ln -s "$OUT/f" "$TMPDIR/l"; ! echo x > "$TMPDIR/l"`: nil, `ln -s "$OUT" "$TMPDIR/l"; ! rm "$TMPDIR/l/f"`: nil,
		`! echo 1 > /proc/$$/oom_score_adj`: nil, `! echo x > /dev/shm/hermes-gate`: nil, `exec 5< "$OUT/f"; ! echo y > /proc/self/fd/5`: nil,
		// What may not be read.
		`! cat "$HOME/secret"`: nil, `ln -s "$HOME/secret" "$TMPDIR/l"; ! cat "$TMPDIR/l"`: nil, `! ln "$HOME/secret" "$TMPDIR/l" || ! cat "$TMPDIR/l"`: nil, `! exec 5<> "$HOME/secret"`: nil,
		`mkdir "$TMPDIR/d"; ! mv "$HOME/secret" "$TMPDIR/d/"`: nil,
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			for _, allow := range []bool{true, false} {
				s := newShimmed(t)
				s.config.Gate = &shim.Gate{}
				out := s.confined(confine.Rules{})
				for name, text := range map[string]string{"f": "one\n", "ignored/x": "", ".gitignore": "ignored\n", ".git/HEAD": "", "../out/f": "out\n", "../out/e/x": ""} {
					s.write(name, text)
				}
				if err := os.Remove(filepath.Join(out, "e/x")); err != nil {
					t.Fatal(err)
				}
				reports := s.editor(func(r feed.Report) error {
					if r.Phase == feed.Ask && !allow {
						return errors.New("no")
					}
					return nil
				})
				project, outside := s.tree(s.root), s.tree(out)
				said, status := s.run("bash", "-c", "set -e; "+script)
				if now := s.tree(out); !slices.Equal(now, outside) {
					t.Errorf("outside there was\n  %s\nand is\n  %s", strings.Join(outside, "\n  "), strings.Join(now, "\n  "))
				}
				if strings.Contains(said, "SECRET") {
					t.Errorf("it told a secret:\n%s", said)
				}
				got := s.lines(journal.Post)
				if now := s.tree(s.root); len(want) > 0 && !allow && (!slices.Equal(now, project) || len(got) > 0) {
					t.Errorf("nobody allowed it, and the project was\n  %s\nand is\n  %s\n%q", strings.Join(project, "\n  "), strings.Join(now, "\n  "), got)
				}
				if allow && (status != 0 || !slices.Equal(got, want)) {
					t.Errorf("exit status %d, %q, want %q\n%s", status, got, want, said)
				}
				if asked := slices.ContainsFunc(reports(), func(r feed.Report) bool { return r.Phase == feed.Ask }); asked != (len(want) > 0) {
					t.Errorf("asked: %v", asked)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// Paths are swapped while calls are under way: the supervisor leaves to the kernel what the
// sandbox does not grant, and the kernel finds another file.
func TestASwappedPathLeadsOutOfNoSandbox(t *testing.T) {
	t.Parallel()
	program, err := static()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ways, texts [2]string // where the path leads, and what its text is
		tries       int
	}{
		{[2]string{"tmp", "out"}, [2]string{"../tmp/f", "../out/f"}, *swaps},
		{[2]string{"tmp", "p"}, [2]string{"../tmp/f", "./../p/f"}, *swaps},
		{[2]string{"out", "p"}, [2]string{"../out/f", "./../p/f"}, *swaps/100 + 1}, // 1000 times as often if none gets through
	} {
		t.Run(strings.Join(c.ways[:], " "), func(t *testing.T) {
			t.Parallel()
			s := newShimmed(t)
			s.confined(confine.Rules{})
			s.config.Gate = &shim.Gate{}
			s.write("f", "kept")
			s.write("../out/f", "kept")
			s.write("../tmp/f", "")
			base := filepath.Dir(s.root)
			for i, to := range c.ways {
				if err := os.Symlink(filepath.Join(base, to), filepath.Join(base, "way"+strconv.Itoa(i))); err != nil {
					t.Fatal(err)
				}
			}
			stop := s.swap(filepath.Join(base, "way0"), filepath.Join(base, "way1"))
			said, status := s.run(program, "race", strconv.Itoa(c.tries), "../way0/f", c.texts[0], c.texts[1])
			count := stop()
			if status != 0 {
				t.Fatalf("exit status %d\n%s", status, said)
			}
			for _, name := range []string{"f", "../out/f"} {
				if data, _ := os.ReadFile(filepath.Join(s.root, name)); string(data) != "kept" {
					t.Errorf("%s has %q", name, data)
				}
			}
			t.Logf("%d swaps, %s", count, said)
		})
	}
}

// A socket that gets a path is a name in a folder, which a gate lets through only where it
// was allowed. Where it may be, it has the address that the program gave.
func TestAGateKnowsWhereSocketsAre(t *testing.T) {
	t.Parallel()
	for _, sandboxed := range []bool{false, true} {
		for _, c := range []struct{ address, want string }{
			{"s", "permission denied"},
			{"./free/s", "bound ./free/s"},
			{"ignored/s", "bound ignored/s"},
			{"{TMP}/s", "bound {TMP}/s"},
			{"{TMP}/up/s", "permission denied"}, // a link to the project
			{"@hermes-{RANDOM}", "bound @hermes-{RANDOM}"},
			{"{OUT}/s", map[bool]string{true: "permission denied", false: "bound {OUT}/s"}[sandboxed]},
			{"none/s", "no such file or directory"},
			{"127.0.0.1:0", "bound 127.0.0.1:"},
		} {
			t.Run(fmt.Sprint(c.address, sandboxed), func(t *testing.T) {
				t.Parallel()
				s := newShimmed(t)
				s.config.Gate = &shim.Gate{Allow: []string{filepath.Join(s.root, "free")}}
				base := sockdir.New(t) // addresses are short
				for _, dir := range []string{"tmp", "out"} {
					if err := os.Mkdir(filepath.Join(base, dir), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				if sandboxed {
					s.confined(confine.Rules{Write: []string{base + "/tmp"}, Net: confine.Net{All: true}, Sockets: true})
				}
				for name, text := range map[string]string{"free/x": "", "ignored/x": "", ".gitignore": "ignored\n", ".git/HEAD": ""} {
					s.write(name, text)
				}
				if err := os.Symlink(s.root, base+"/tmp/up"); err != nil {
					t.Fatal(err)
				}
				fill := strings.NewReplacer("{TMP}", base+"/tmp", "{OUT}", base+"/out", "{RANDOM}", filepath.Base(base))
				said, status := s.run("HELPER", "helper", "bind", fill.Replace(c.address))
				if want := fill.Replace(c.want); !strings.HasPrefix(said, want) || status != 0 {
					t.Errorf("exit status %d, %q, want %q", status, said, want)
				}
			})
		}
	}
}

// A gate makes connections itself, and only those that the sandbox allows.
func TestAGateConnectsOnlyWhereTheSandboxAllows(t *testing.T) {
	t.Parallel()
	listening := func() (address string, port uint16) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.Addr().String(), uint16(l.Addr().(*net.TCPAddr).Port)
	}
	named, port := listening()
	other, _ := listening()
	for _, sockets := range []bool{false, true} {
		for _, c := range []struct {
			net     confine.Net
			address string
			want    string
		}{
			{confine.Net{}, named, "permission denied\n"},
			{confine.Net{All: true}, named, "connected\n"},
			{confine.Net{Ports: []uint16{port}}, named, "connected\n"},
			{confine.Net{Ports: []uint16{port}}, other, "permission denied\n"},
		} {
			t.Run(fmt.Sprint(c.net, c.address == other, sockets), func(t *testing.T) {
				t.Parallel()
				s := newShimmed(t)
				s.config.Gate = &shim.Gate{}
				s.confined(confine.Rules{Net: c.net, Sockets: sockets})
				if said, status := s.run("HELPER", "helper", "dial", c.address); said != c.want || status != 0 {
					t.Errorf("exit status %d, %q, want %q", status, said, c.want)
				}
			})
		}
	}
}

// A pipe, a socket or a device is nothing that a question could show.
func TestAGateLetsNoPipeIntoTheProject(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.config.Gate = &shim.Gate{Allow: []string{filepath.Join(s.root, "free")}}
	s.editor(nil)
	s.write("free/x", "")
	if said, status := s.run("sh", "-c", `mkfifo free/p && mkfifo ../q && ! mkfifo p`); status != 0 {
		t.Errorf("exit status %d\n%s", status, said)
	}
	if _, err := os.Lstat(filepath.Join(s.root, "p")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	var denied []string
	for _, e := range s.events() {
		if e.Phase == journal.Denied {
			denied = append(denied, e.Text)
		}
	}
	if want := []string{"no review would show a pipe, a socket or a device"}; !slices.Equal(denied, want) {
		t.Errorf("%q", denied)
	}
}

// swap exchanges two paths until it is stopped.
func (s *shimmed) swap(a, b string) (stop func() int) {
	done, count := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-done:
				count <- n
				return
			default:
			}
			if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
				n++
			}
		}
	}()
	return func() int { close(done); return <-count }
}
