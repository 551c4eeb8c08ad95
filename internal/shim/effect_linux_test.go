//go:build amd64 || arm64

package shim_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// effect is what a question is about, with OUT for the folder outside.
func (s *shimmed) effect(r feed.Report) string {
	what := map[feed.Kind]string{feed.Write: "write", feed.Remove: "remove", feed.Rename: "rename " + r.From + " to", feed.Connect: "connect", feed.Accept: "accept"}[r.Kind]
	if r.Kind == feed.Write && r.Before != nil && r.Before.Absent {
		what = "create"
	}
	name := strings.NewReplacer(filepath.Dir(s.root)+"/out", "OUT", s.root+"/", "")
	return name.Replace(what + " " + r.Path + r.Host)
}

// A gate for effects asks about what is outside and about what others run or trust, and about
// nothing else. What is denied does not happen, and nothing is recorded.
func TestAGateForEffectsAsksAboutThem(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][]string{
		// Work in the project, and in the folders of the sandbox.
		`echo x > f; rm g; mkdir -p d/e; mv f d/f; chmod 600 d/f; ln -s d/f l; ln d/f h; truncate -s 0 d/f; rmdir d/e; mkfifo p`: nil,
		`cd "$TMPDIR"; echo x > a; mv a b; mkdir d; ln -s b c; ln b e; chmod 600 b; rm c; rmdir d; exec 5<> x; rm x; echo y >&5`: nil,
		`echo x > h; mv h "$TMPDIR/f"; mv "$TMPDIR/f" n; ln n "$TMPDIR/m"; echo x > "$TMPDIR/m"`:                                 nil,
		`git add . && git -c user.name=t -c user.email=t@example.com commit -qm x && git switch -qc other && git stash list`:     nil,
		`mkdir -p ignored/x; echo '{}' > ignored/x/package.json; rm -r ignored`:                                                  nil,
		`sed -i s/one/two/ f; grep two f`: nil,
		// What others run or trust.
		`echo x > Makefile`:                                 {"create Makefile"},
		`echo x >> package.json`:                            {"write package.json"},
		`rm package.json`:                                   {"remove package.json"},
		`mv f .envrc`:                                       {"rename f to .envrc"},
		`mkdir .vscode; echo x > .vscode/tasks.json`:        {"create .vscode", "create .vscode/tasks.json"},
		`git config core.pager less`:                        {"rename .git/config.lock to .git/config"},
		`mkdir -p .git/hooks; echo x > .git/hooks/pre-push`: {"create .git/hooks", "create .git/hooks/pre-push"},
		`ln package.json n`:                                 {"write package.json"},
		`ln -s package.json n; echo x > n`:                  {"write package.json"},
		`echo A=1 > .env`:                                   {"create .env"},
		`chmod 755 package.json`:                            {"write package.json"},
		`mv .git other`:                                     {"rename .git to other"},
		// What is outside.
		`echo x > "$OUT/f"`:                             {"write OUT/f"},
		`echo x >> "$OUT/f"`:                            {"write OUT/f"},
		`echo x > "$OUT/n"`:                             {"create OUT/n"},
		`rm "$OUT/f"`:                                   {"remove OUT/f"},
		`mkdir "$OUT/d"; rmdir "$OUT/d"`:                {"create OUT/d", "remove OUT/d"},
		`mv "$OUT/f" n`:                                 {"rename OUT/f to n"},
		`mv f "$OUT/n"`:                                 {"rename f to OUT/n"},
		`ln "$OUT/f" n; echo x > n`:                     {"write OUT/f"},
		`ln f "$OUT/n"`:                                 {"create OUT/n"},
		`ln -s "$OUT/f" n; echo x > n`:                  {"write OUT/f"},
		`ln -s "$OUT" n; rm n/f`:                        {"remove OUT/f"},
		`exec 5< "$OUT/f"; echo x > /proc/self/fd/5`:    {"write OUT/f"},
		`chmod 600 "$OUT/f"`:                            {"write OUT/f"},
		`truncate -s 0 "$OUT/f"`:                        {"write OUT/f"},
		`mkfifo "$OUT/p"`:                               {"create OUT/p"},
		`touch "$OUT/a" "$OUT/b"; rm "$OUT/a" "$OUT/b"`: {"create OUT/a", "create OUT/b", "remove OUT/a", "remove OUT/b"},
		// Nothing happens, whatever the answer would be.
		`! mkdir "$OUT"; mkdir -p "$OUT"; ! rm "$OUT/none"; ! mv "$OUT/none" n; ! ln "$OUT/none" n; ! rmdir "$OUT/f"; ! unlink "$OUT"; set -C; ! echo x > "$OUT/f"`: nil,
		`cat "$OUT/f" > n; [ -w "$OUT/f" ]; ls "$OUT" > /dev/null; exec 5< "$OUT/f"`:                                                                                nil,
		`$ORDINARY sh -c '! echo x > "$OUT/other"; ! echo x > "$OUT/theirs/f"; ! rm "$OUT/theirs/x"'`:                                                               nil,
		// The kernel decides.
		`echo x > /dev/null; ! echo 1 > /proc/$$/oom_score_adj; ! echo x > /dev/shm/hermes-effects`: nil,
		`! cat "$HOME/secret"`: nil,
		// Never.
		`! rm never; ! echo x > never; ! mv never n; ! ln never n`: nil,
		`! mv "$PWD" "$PWD/../q"`:                                  nil,
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			for _, allow := range []bool{true, false} {
				s := newShimmed(t)
				s.config.Gate = &shim.Gate{Effects: true, Deny: []string{filepath.Join(s.root, "never")}}
				out := s.confined(confine.Rules{Sockets: true})
				for name, text := range map[string]string{"f": "one\n", "g": "", "package.json": "{}", ".gitignore": "ignored\n", "never": "", "../out/f": "out\n", "../out/other": "theirs\n", "../out/theirs/x": ""} {
					s.write(name, text)
				}
				init := exec.Command("git", "init", "-q", s.root)
				init.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
				if err := errors.Join(init.Run(), os.RemoveAll(filepath.Join(s.root, ".git/hooks"))); err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"other", "theirs"} {
					if err := os.Chmod(filepath.Join(out, name), 0o555); err != nil {
						t.Fatal(err)
					}
				}
				t.Cleanup(func() { os.Chmod(filepath.Join(out, "theirs"), 0o755) })
				if os.Getuid() == 0 { // whom modes do not bind
					s.env = append(s.env, "ORDINARY=setpriv --bounding-set -all --")
				}
				var asked []string
				reports := s.editor(func(r feed.Report) error {
					if r.Phase == feed.Ask && !allow {
						return errors.New("no")
					}
					return nil
				})
				project, outside := s.tree(s.root), s.tree(out)
				said, status := s.run("bash", "-c", "set -e; "+script)
				for _, r := range reports() {
					if line := s.effect(r); r.Phase == feed.Ask && !slices.Contains(asked, line) {
						asked = append(asked, line)
					}
				}
				switch {
				case allow || want == nil:
					if status != 0 || !slices.Equal(asked, want) {
						t.Errorf("allowed %v: exit status %d, asked %q, want %q\n%s", allow, status, asked, want, said)
					}
				case len(asked) == 0:
					t.Errorf("denied: nothing was asked\n%s", said)
				default:
					special := func(list []string) []string {
						return slices.DeleteFunc(list, func(line string) bool {
							return !slices.ContainsFunc([]string{"/package.json", "/Makefile", "/.env", "/.vscode/", "/.git/config ", "/.git/hooks", "/never"}, func(name string) bool { return strings.HasPrefix(line, name) })
						})
					}
					if now := s.tree(out); !slices.Equal(now, outside) {
						t.Errorf("denied: outside there was\n  %s\nand is\n  %s", strings.Join(outside, "\n  "), strings.Join(now, "\n  "))
					}
					if was, is := special(project), special(s.tree(s.root)); !slices.Equal(is, was) {
						t.Errorf("denied: the project was\n  %s\nand is\n  %s", strings.Join(was, "\n  "), strings.Join(is, "\n  "))
					}
				}
				if strings.Contains(said, "SECRET") {
					t.Errorf("it told a secret:\n%s", said)
				}
				if lines := s.lines(journal.Pre, journal.Post); len(lines) > 0 {
					t.Errorf("recorded: %q", lines)
				}
			}
		})
	}
}

// What a program writes does not hide from the questions what others run.
func TestNoPatternHidesWhatAGateForEffectsAsksAbout(t *testing.T) {
	t.Parallel()
	ways := maps.Clone(hidings)
	ways["a folder from elsewhere"] = `mkdir ../s; cp src/a ../s; echo '*' > ../s/.gitignore; mv ../s src/deep`
	ways["a folder that was there"] = `mv pack src/deep`
	ways["one that was there elsewhere"] = `mv "$TMPDIR/pack" src/deep`
	for name, hide := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShimmed(t)
			s.repository()
			s.write("pack/.gitignore", "*\n")
			s.write("../tmp/pack/.gitignore", "*\n")
			s.config.Gate = &shim.Gate{Effects: true}
			s.confined(confine.Rules{})
			reports := s.editor(func(r feed.Report) error {
				if r.Phase == feed.Ask && strings.HasSuffix(r.Path, "/src/deep/er/.envrc") {
					return errors.New("no")
				}
				return nil
			})
			out, _ := s.run("sh", "-c", hide+"\nmkdir -p src/deep/er; echo x > src/deep/er/.envrc")
			if !slices.ContainsFunc(reports(), func(r feed.Report) bool { return s.effect(r) == "create src/deep/er/.envrc" }) {
				t.Errorf("not asked about .envrc\n%s", out)
			}
			if _, err := os.Lstat(filepath.Join(s.root, "src/deep/er/.envrc")); err == nil {
				t.Errorf("it was made\n%s", out)
			}
		})
	}
}

// Connections that the sandbox does not allow are asked about, and made after a yes.
func TestAGateForEffectsAsksAboutConnections(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	host := l.Addr().String()
	for _, c := range []struct {
		name, address string
		rules         confine.Rules
		inside, deny  bool
		asked         string
	}{
		{"a host", host, confine.Rules{Sockets: true}, false, false, "connect " + host},
		{"a host without sockets", host, confine.Rules{}, false, false, "connect " + host},
		{"a host that is allowed", host, confine.Rules{Net: confine.Net{All: true}}, false, false, ""},
		{"a socket", "DIR/s", confine.Rules{Sockets: true}, false, false, "connect DIR/s"},
		{"a socket that is denied", "DIR/s", confine.Rules{Sockets: true}, false, true, ""},
		{"an abstract socket", "@hermes-ID", confine.Rules{Sockets: true}, false, false, "connect @hermes-ID"},
		{"its own socket", "DIR/tmp/s", confine.Rules{Sockets: true}, true, false, ""},
	} {
		for _, allow := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, " ", allow), func(t *testing.T) {
				t.Parallel()
				s := newShimmed(t)
				dir := sockdir.New(t)
				named := strings.NewReplacer("DIR", dir, "ID", filepath.Base(dir))
				if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
					t.Fatal(err)
				}
				if address := named.Replace(c.address); address != host && !c.inside {
					s.daemon(address)
				}
				s.config.Gate = &shim.Gate{Effects: true}
				if c.deny {
					s.config.Gate.Deny = []string{dir}
				}
				rules := c.rules
				rules.Write = []string{filepath.Join(dir, "tmp")}
				s.confined(rules)
				reports := s.editor(func(feed.Report) error {
					if !allow {
						return errors.New("no")
					}
					return nil
				})
				words := []string{"HELPER", "helper", "dial", named.Replace(c.address)}
				if c.inside {
					words = append(words, "1")
				}
				said, status := s.run(words...)
				want := "permission denied\n"
				if allow && !c.deny || c.asked == "" && !c.deny {
					want = "connected\n"
				}
				if said != want || status != 0 {
					t.Errorf("exit status %d, %q, want %q", status, said, want)
				}
				asked := ""
				for _, r := range reports() {
					if r.Kind == feed.Connect {
						asked = s.effect(r)
					}
				}
				if asked != named.Replace(c.asked) {
					t.Errorf("asked %q, want %q", asked, named.Replace(c.asked))
				}
			})
		}
	}
}

// Programs serve themselves by the addresses of this machine that no other one reaches. What
// others reach is asked about, and so is a program outside.
func TestAGateForEffectsLetsProgramsServeThemselves(t *testing.T) {
	t.Parallel()
	shared, err := (&net.ListenConfig{Control: shareable}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shared.Close() })
	_, port, _ := net.SplitHostPort(shared.Addr().String())
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for name, c := range map[string]struct {
		words []string
		asked string
		said  string // after a no, if it is not that it is not permitted
	}{
		"the loopback":             {[]string{"serve", "127.0.0.1:0", "127.0.0.1"}, "", ""},
		"its other address":        {[]string{"serve", "127.5.6.7:0", "127.5.6.7"}, "", ""},
		"that of IPv6":             {[]string{"serve", "[::1]:0", "::1"}, "", ""},
		"that of IPv6, as of IPv4": {[]string{"serve", "[::ffff:127.0.0.1]:0", "127.0.0.1"}, "", ""},
		"nowhere is here":          {[]string{"serve", "127.0.0.1:0", "0.0.0.0"}, "", ""},
		"all addresses":            {[]string{"serve", "0.0.0.0:0", "127.0.0.1"}, "accept 0.0.0.0:0", ""},
		"all addresses of IPv6":    {[]string{"serve", "[::]:0", "::1"}, "accept [::]:0", ""},
		"no address":               {[]string{"serve", "", "127.0.0.1"}, "accept any port", ""},
		"a port of somebody, too":  {[]string{"serve", "127.0.0.1:" + port, "127.0.0.1"}, "connect 127.0.0.1:" + port, ""},
		"nobody":                   {[]string{"dial", closed.Addr().String()}, "", "connection refused\n"},
	} {
		for _, allow := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " ", allow), func(t *testing.T) {
				t.Parallel()
				s := newShimmed(t)
				s.config.Gate = &shim.Gate{Effects: true}
				s.confined(confine.Rules{})
				reports := s.editor(func(feed.Report) error {
					if !allow {
						return errors.New("no")
					}
					return nil
				})
				said, status := s.run(append([]string{"HELPER", "helper"}, c.words...)...)
				want := cmp.Or(c.said, "permission denied\n")
				if c.said == "" && (allow || c.asked == "") {
					want = "connected\n"
				}
				if said != want || status != 0 {
					t.Errorf("exit status %d, %q, want %q", status, said, want)
				}
				asked := ""
				for _, r := range reports() {
					if r.Kind == feed.Connect || r.Kind == feed.Accept {
						asked = s.effect(r)
					}
				}
				if asked != c.asked {
					t.Errorf("asked %q, want %q", asked, c.asked)
				}
			})
		}
	}
}

// A gate for effects is nothing without a sandbox: the kernel would hide no secret.
func TestAGateForEffectsNeedsASandbox(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.config.Gate = &shim.Gate{Effects: true}
	if out, status := s.run("true"); status == 0 || !strings.Contains(out, "a gate for effects needs a sandbox") {
		t.Errorf("exit status %d\n%s", status, out)
	}
}
