//go:build amd64 || arm64

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// shimHere skips the test where there is no shim.
func shimHere(t *testing.T) {
	t.Helper()
	out, errs, status := end(t, hermes(t, t.TempDir(), "shim", "doctor"))
	switch {
	case status == 0:
	case os.Getenv("CI") != "":
		t.Fatal(out + errs)
	default:
		t.Skip(out + errs)
	}
}

// pending lists the files with pending changes. A session of a shim is different in
// each run, and only its agent is left here.
func (r *reviewed) pending() string {
	out, _, _ := r.hermes("", "", "files")
	return ofRun.ReplaceAllString(out, "$1")
}

var ofRun = regexp.MustCompile(`(\w+)/\w+-[0-9a-f]{8}\b`)

func TestTheEditorReviewsWhatAProgramInAShimChanges(t *testing.T) {
	t.Parallel()
	shimHere(t)
	r := underReview(t)
	stop, err := r.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	cmd := hermes(t, filepath.Join(r.root, "deep"), "shim", "--", "sh", "-c", "echo two >> a; printf 'b\\nnew\\n' > t; mv t ../b; rm ../b; echo x > new; exit 9")
	cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+filepath.Dir(filepath.Dir(r.state)), "NVIM_APPNAME=")
	out, errs, status := end(t, cmd)
	if status != 9 || out+errs != "" {
		t.Fatalf("exit status %d\n%s%s", status, out, errs)
	}
	want := "b\tdeleted, +0 -1\tsh\ndeep/a\tchanged, +1 -0\tsh\ndeep/new\tcreated, +1 -0\tsh\n"
	for until := time.Now().Add(patience.Soon); ; time.Sleep(10 * time.Millisecond) {
		r.wait()
		got := r.pending()
		if got == want {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("got\n%swant\n%s", got, want)
		}
	}
	if out, _, _ := r.hermes("", "", "show"); !strings.Contains(out, "source shim, exact") {
		t.Error(out)
	}
	journals, err := filepath.Glob(filepath.Join(store.Dir(r.state, r.root), "shim", "*", "events.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("journals: %v, %v", journals, err)
	}
	dir := filepath.Dir(journals[0])
	names := regexp.MustCompile(`"phase":"post","op":"write","path":"[^"]*/deep/new",.*"after":{"size":\d+,"hash":"(\w+)"`).FindStringSubmatch(readFile(t, journals[0]))
	if len(names) != 2 {
		t.Fatalf("%s", readFile(t, journals[0]))
	}
	for _, c := range []struct {
		hash, out, errs string
		status          int
	}{
		{names[1], readFile(t, filepath.Join(r.root, "deep/new")), "", 0},
		{strings.Repeat("0", 64), "", dir + " has no content 000", 1},
		{"00", "", "not a hash: 2 characters, want 64", 2},
	} {
		out, errs, status := end(t, hermes(t, r.root, "shim", "content", dir, c.hash))
		if out != c.out || status != c.status || !strings.Contains(errs, c.errs) {
			t.Errorf("content %s: %d\n%s%s", c.hash, status, out, errs)
		}
	}
}

// comparing is what a record of compared files lacks.
const comparing = shim.Comparing

// Only one supervisor can be active, so a shim in a shim compares files. It says what its record
// lacks when it starts and when it ends, and the review says it meanwhile and later.
func TestARecordOfComparedFilesSaysSo(t *testing.T) {
	t.Parallel()
	shimHere(t)
	state, root := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, ".git", "HEAD"), "")
	write(t, filepath.Join(root, "a"), "one\n")
	inner := hermes(t, root, "shim", "--agent", "ci", "--state", state, "--", "sh", "-c", `echo two >> a; "$0" review --state "$1" > "$1/meanwhile" 2>&1; exit 9`, "", state)
	inner.Args[len(inner.Args)-2] = inner.Path
	outer := hermes(t, root, append([]string{"shim", "--state", t.TempDir(), "--root", t.TempDir(), "--", inner.Path}, inner.Args[1:]...)...)
	_, errs, status := end(t, outer)
	if status != 9 || !strings.Contains(errs, "changes are found by watching files") || !strings.HasSuffix(errs, "\nhermes shim: "+comparing+"\n") {
		t.Errorf("exit status %d\n%s", status, errs)
	}
	_, later, _ := end(t, hermes(t, root, "review", "--state", state))
	for _, said := range []string{readFile(t, filepath.Join(state, "meanwhile")), later} {
		if !strings.Contains(ofRun.ReplaceAllString(said, "$1"), "hermes review: changes of ci: "+comparing+"\n") {
			t.Errorf("the review says\n%s", said)
		}
	}
}

// A machine without an editor, such as a job in CI, has only this program.
func TestAShellReviewsWhatAProgramInAShimChanged(t *testing.T) {
	t.Parallel()
	shimHere(t)
	state, root := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, ".git", "HEAD"), "")
	write(t, filepath.Join(root, "a"), "one\n")
	run := func(args ...string) (string, string, int) {
		t.Helper()
		cmd := hermes(t, root, args...)
		cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+state, "NVIM_APPNAME=")
		return end(t, cmd)
	}
	is := func(name, want string) {
		t.Helper()
		if text := readFile(t, filepath.Join(root, name)); text != want {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
	}
	says := func(status int, want string, args ...string) string {
		t.Helper()
		out, errs, got := run(append([]string{"review"}, args...)...)
		if got != status || !strings.Contains(ofRun.ReplaceAllString(out+errs, "$1"), want) || want == "" && out+errs != "" {
			t.Errorf("%v: %d\n%s%s\nwant %d %s", args, got, out, errs, status, want)
		}
		return out
	}
	shim := func(script string) {
		t.Helper()
		if out, errs, status := run("shim", "--agent", "ci", "--", "sh", "-c", script); status != 0 {
			t.Fatal(out, errs)
		}
	}
	shim("echo two >> a")
	says(0, root+"\n", "projects")
	says(0, "a\tchanged, +1 -0\tci\n")
	says(0, "+two\n", "show", "a")
	says(0, "", "accept", "--all")
	is("a", "one\ntwo\n")
	says(1, "nothing is pending in "+root, "reject", "--all")
	if out, errs, status := run("shim", "--agent", "acp", "--session", "", "--", "sh", "-c", "echo x > acp"); status != 0 {
		t.Fatal(out, errs)
	}
	says(0, "acp\tcreated, +1 -0\tacp\n", "files")
	says(0, "", "reject", "acp")
	shim("echo three >> a; echo x > new")
	says(0, "", "reject", "--all") // the first that looks
	is("a", "one\ntwo\n")
	if _, err := os.Stat(filepath.Join(root, "new")); err == nil {
		t.Error("what the program made is still there")
	}
	says(0, "", "files")
}

func TestAShimWritesAPatchOfWhatItsProgramChanged(t *testing.T) {
	t.Parallel()
	shimHere(t)
	state, root, out := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, ".git", "HEAD"), "")
	write(t, filepath.Join(root, "a"), "one\n")
	write(t, filepath.Join(root, "gone"), "x\n")
	write(t, filepath.Join(root, "mine"), "x\n")
	run := func(file, script string) (string, int) {
		t.Helper()
		cmd := hermes(t, root, "shim", "--agent", "ci", "--review", file, "--", "sh", "-c", script)
		cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+state, "NVIM_APPNAME=", "TMPDIR="+out)
		stdout, errs, status := end(t, cmd)
		return stdout + errs, status
	}
	file := filepath.Join(out, "p.patch")
	if said, status := run(file, "echo two >> a; chmod +x a; rm gone; printf 'a\\0b' > binary; ln -s a link; exit 7"); status != 7 || said != "" {
		t.Fatalf("%d %s", status, said)
	}
	patch := readFile(t, file)
	for _, want := range []string{"# hermes shim, agent ci\n", "# a: changed, +1 -0\n# [1] session ci/ci-", "source shim, exact\n", "GIT binary patch"} {
		if !strings.Contains(patch, want) {
			t.Errorf("no %q in\n%s", want, patch)
		}
	}
	gitApply(t, root, patch, "-R")
	if readFile(t, filepath.Join(root, "a")) != "one\n" || readFile(t, filepath.Join(root, "gone")) != "x\n" {
		t.Error(patch)
	}
	if left, _ := filepath.Glob(filepath.Join(root, "[bl]*")); len(left) > 0 {
		t.Error(left)
	}
	if said, status := run(file, "true"); status != 0 || said != "" || readFile(t, file) != "" {
		t.Errorf("%d %s%s", status, said, readFile(t, file))
	}
	for _, bad := range []string{"-", filepath.Join(out, "none", "p.patch")} {
		if said, status := run(bad, "touch started"); status != statusNoShim || !strings.Contains(said, "--review "+bad) {
			t.Errorf("%d %s", status, said)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "started")); err == nil {
		t.Error("the program was started")
	}
	if left, _ := filepath.Glob(filepath.Join(out, "hermes-*")); len(left) > 0 {
		t.Error(left)
	}
}

func TestThePatchOfAShimNamesAChangeOfWhatGitObeys(t *testing.T) {
	t.Parallel()
	shimHere(t)
	namesWhatGitObeys(t, []string{"shim", "--review", "p.patch", "--", "sh", "-c", changesWhatGitObeys})
}

// Text that somebody writes in another terminal while an agent in a shim runs is the
// user's, wherever the journal is and whoever reads it.
func TestWhatIsWrittenBesideAShimIsTheUsers(t *testing.T) {
	t.Parallel()
	shimHere(t)
	for _, test := range []struct {
		name   string
		flags  func(dir string) []string
		editor bool // has the project while the agent runs
	}{
		{"an editor", func(string) []string { return nil }, true},
		{"an editor, and a journal elsewhere", func(dir string) []string { return []string{"--journal", filepath.Join(dir, "j")} }, true},
		{"an editor that comes later", func(string) []string { return nil }, false},
		{"an editor that comes later, and a journal elsewhere", func(dir string) []string { return []string{"--journal", filepath.Join(dir, "j")} }, false},
		{"a patch", func(dir string) []string { return []string{"--review", filepath.Join(dir, "patch")} }, false},
		{"a patch, and a journal elsewhere", func(dir string) []string {
			return []string{"--review", filepath.Join(dir, "patch"), "--journal", filepath.Join(dir, "j")}
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := underReview(t)
			stop := func() {}
			listen := func() {
				t.Helper()
				var err error
				if stop, err = r.Listen(); err != nil {
					t.Fatal(err)
				}
			}
			if test.editor {
				listen()
			} else {
				r.Close()
			}
			defer func() { stop() }()
			dir := t.TempDir()
			begin, go2 := filepath.Join(dir, "begin"), filepath.Join(dir, "go")
			for _, fifo := range []string{begin, go2} {
				if err := syscall.Mkfifo(fifo, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a := filepath.Join(r.root, "deep", "a")
			old := readFile(t, a)
			flags := test.flags(dir)
			cmd := hermes(t, filepath.Join(r.root, "deep"), slices.Concat([]string{"shim"}, flags, []string{"--", "sh", "-c",
				"echo one >> a; : > " + begin + "; read x < " + go2 + "; echo two >> a; mkdir -p m/n; echo x > m/n/f"})...)
			cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+filepath.Dir(filepath.Dir(r.state)), "NVIM_APPNAME=")
			done := make(chan string, 1)
			go func() {
				out, errs, status := end(t, cmd)
				done <- fmt.Sprint(out, errs, status)
			}()
			files := func(want string) {
				t.Helper()
				for until := time.Now().Add(patience.Soon); ; time.Sleep(10 * time.Millisecond) {
					r.wait()
					got, _, _ := r.hermes("", "", "files")
					if got = ofRun.ReplaceAllString(got, "$1"); got == want {
						return
					}
					if time.Now().After(until) {
						t.Fatalf("got\n%swant\n%s", got, want)
					}
				}
			}
			readFile(t, begin)
			patience.True(t, "the first change in the journal", func() bool {
				journals, _ := filepath.Glob(filepath.Join(store.Dir(r.state, r.root), "shim", "*", "events.jsonl"))
				elsewhere, _ := filepath.Glob(filepath.Join(dir, "j", "events.jsonl"))
				for _, journal := range append(journals, elsewhere...) {
					if strings.Contains(readFile(t, journal), `"phase":"post","op":"write"`) {
						return true
					}
				}
				return false
			})
			if test.editor {
				files("deep/a\tchanged, +1 -0\tsh\n")
			}
			write := func(path, text string) {
				f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
				if err == nil {
					_, err = f.WriteString(text)
					f.Close()
				}
				if err != nil {
					t.Error(err)
				}
			}
			write(a, "me\n")
			write(go2, "\n")
			if got := patience.Value(t, "end of the shim", done); got != "0" {
				t.Fatal(got)
			}
			if flags != nil && flags[0] == "--review" {
				patch := readFile(t, filepath.Join(dir, "patch"))
				if !strings.Contains(patch, "\n+one\n me\n+two\n") || !strings.Contains(patch, "source shim, exact\n") || strings.Contains(patch, "compared") {
					t.Errorf("the patch is\n%s", patch)
				}
				gitApply(t, r.root, patch, "-R")
				if got := readFile(t, a); got != old+"me\n" {
					t.Errorf("without the patch, a is %q", got)
				}
				return
			}
			if !test.editor {
				r.open()
				listen()
			}
			files("deep/a\tchanged, +2 -0\tsh\ndeep/m/n/f\tcreated, +1 -0\tsh\n")
			plan, err := r.Reject(review.Selection{}, false)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Apply(plan, nil); err != nil {
				t.Fatal(err)
			}
			if got := readFile(t, a); got != old+"me\n" {
				t.Errorf("%q", got)
			}
			if _, err := os.Stat(filepath.Join(r.root, "deep", "m")); !os.IsNotExist(err) {
				t.Errorf("the folders of the agent are there: %v", err)
			}
		})
	}
}

func TestTheNextEditorReviewsWhatHappenedWithoutOne(t *testing.T) {
	t.Parallel()
	shimHere(t)
	r := underReview(t)
	r.Close()
	for _, c := range []struct {
		name    string
		scripts []string
		user    string // what a is at last
		want    string
	}{
		{"new changes", []string{"echo two >> a", "echo three >> a; rm ../b"}, "", "b\tdeleted, +0 -1\tsh\ndeep/a\tchanged, +2 -0\tsh sh\n"},
		{"nothing new", nil, "", "b\tdeleted, +0 -1\tsh\ndeep/a\tchanged, +2 -0\tsh sh\n"},
		{"changes of files with pending ones", []string{"echo four >> a; printf 'b\\nnew\\n' > ../b", "echo five >> a"}, "",
			"b\tchanged, +1 -0\tsh\ndeep/a\tchanged, +4 -0\tsh sh sh sh\n"},
		{"changes before one of the user", []string{"echo six >> a"}, "user\n1\n2\n3\ntwo\nthree\nfour\nfive\nsix\n", "b\tchanged, +1 -0\tsh\ndeep/a\tchanged, +5 -0\tsh sh sh sh sh\n"},
	} {
		for _, script := range c.scripts {
			cmd := hermes(t, filepath.Join(r.root, "deep"), "shim", "--", "sh", "-c", script)
			cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+filepath.Dir(filepath.Dir(r.state)), "NVIM_APPNAME=")
			if out, errs, status := end(t, cmd); status != 0 {
				t.Fatal(out, errs)
			}
		}
		if c.user != "" {
			write(t, filepath.Join(r.root, "deep/a"), c.user)
		}
		r.open()
		stop, err := r.Listen()
		if err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(patience.Soon); ; time.Sleep(10 * time.Millisecond) {
			r.wait()
			got := r.pending()
			if got == c.want {
				break
			}
			if time.Now().After(until) {
				t.Fatalf("%s: got\n%swant\n%s", c.name, got, c.want)
			}
		}
		stop()
		r.Close()
	}
}

func TestAShimWithoutACommandOrAProjectDoesNotStart(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), t.TempDir()
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"shim", 2, "which command? Give it after --"},
		{"shim content", 2, "Give the folder of the journal, and the hash of an event"},
		{"shim content . " + strings.Repeat("0", 64), 1, "journal: open events.jsonl: no such file"},
		{"shim x -- true", 2, `unexpected argument "x"; a command follows --`},
		{"shim --deny x -- true", 2, "--allow and --deny need --gate"},
		{`shim --gate --sandbox=["env"] -- true`, 2, "--gate goes with a --sandbox of rules, not with one that is a command"},
		{`shim --sandbox={"bogus":1} -- true`, 2, `invalid value "{\"bogus\":1}" for -sandbox: sandbox: json: unknown field`},
		{`shim --sandbox=["no-such-wrapper"] -- true`, 125, `"no-such-wrapper": executable file not found`},
		{"shim --root none -- true", 125, "none: no such file"},
		{"shim --journal " + filepath.Join(dir, "file/x") + " --root " + root + " -- true", 125, "journal: mkdir"},
		{"shim --journal deep/j -- true", 2, "deep/j is in the project " + dir},
		{"shim --journal . -- true", 2, " is in the project " + dir},
		{"shim -- no-such-program-of-anybody", 127, "not found"},
		{"shim -- ./file", 126, "permission denied"},
	} {
		write(t, filepath.Join(dir, "file"), "")
		out, errs, status := end(t, hermes(t, dir, strings.Fields(c.args)...))
		if status != c.status || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("hermes %s: %d\n%s%s", c.args, status, out, errs)
		}
	}
	homeless := hermes(t, dir, "shim", "--", "true")
	homeless.Env = slices.DeleteFunc(homeless.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "XDG_STATE_HOME=")
	})
	if out, errs, status := end(t, homeless); status != 125 || !strings.Contains(errs, "--state") || out != "" {
		t.Errorf("without HOME: %d\n%s%s", status, out, errs)
	}
}

// Only one supervisor can be active. The inner shim says in one line what it does
// instead, and has no gate.
// Journals are kept for the last runs. One that somebody still writes is kept as well, and
// nothing is forgotten without a word.
func TestOnlyJournalsOfOlderRunsThatHaveEndedAreForgotten(t *testing.T) {
	t.Parallel()
	shimHere(t)
	state, root, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := hermes(t, root, append([]string{"shim"}, args...)...)
		cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+state, "NVIM_APPNAME=")
		out, errs, status := end(t, cmd)
		if status != 0 {
			t.Fatal(out, errs)
		}
		return errs
	}
	run("--journal", filepath.Join(elsewhere, "j"), "--", "sh", "-c", "echo one > a")
	dir := filepath.Join(store.Dir(filepath.Join(state, "nvim", "hermes"), root), "shim")
	names := func() (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	unheard := names()[0]
	if err := os.Rename(filepath.Join(dir, unheard), filepath.Join(dir, "20010101T000000-99999999")); err != nil {
		t.Fatal(err)
	}
	running := fmt.Sprintf("20020101T000000-%d", os.Getpid())
	empty := func(i int) string { return fmt.Sprintf("2003010%dT0000%02d-99999999", i/30, i%30) }
	for _, name := range append([]string{running}, empty(0), empty(1)) {
		write(t, filepath.Join(dir, name, "events.jsonl"), "")
	}
	for i := range keptJournals - 1 {
		write(t, filepath.Join(dir, empty(i+2), "events.jsonl"), "")
	}
	said := run("--", "true")
	if !strings.Contains(said, "older runs that no editor has heard of are forgotten: 1;") {
		t.Errorf("%q", said)
	}
	left := names()
	if len(left) != keptJournals+2 || left[0] != running || left[1] != empty(1) { // the newest before, and the new one
		t.Errorf("%d are left: %q", len(left), left)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "j", "events.jsonl")); err != nil {
		t.Errorf("a journal elsewhere is not ours to remove: %v", err)
	}
	if said := run("--", "true"); said != "" {
		t.Errorf("%q", said)
	}
}

func TestAShimInAShimComparesFiles(t *testing.T) {
	t.Parallel()
	shimHere(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "p", "a"), "one\n")
	shim := func(journal string, flags ...string) []string {
		return slices.Concat([]string{"shim", "--root", "p", "--state", "state", "--journal", journal}, flags, []string{"--"})
	}
	for _, c := range []struct {
		flags  []string
		status int
		want   string
		ended  string // the output at the end
	}{
		{nil, 7, "another program supervises this one already, such as a shim around this one; changes are found by watching files", "hermes shim: " + comparing + "\n"},
		{[]string{"--gate"}, 125, "another program supervises this one already", ""},
	} {
		name := strings.Join(append([]string{"outer"}, c.flags...), "")
		args := slices.Concat(shim(name), []string{self(t)}, shim(name+"-inner", c.flags...), []string{"sh", "-c", "echo two > p/a; exit 7"})
		out, errs, status := end(t, hermes(t, dir, args...))
		began, said := strings.CutSuffix(errs, c.ended)
		if status != c.status || out != "" || strings.Count(began, "\n") != 1 || !strings.Contains(began, c.want) || !said {
			t.Errorf("%v: exit status %d\n%s%s", c.flags, status, out, errs)
		}
		if c.status != 7 {
			continue
		}
		for journal, inferred := range map[string]bool{"outer": false, "outer-inner": true} {
			text := readFile(t, filepath.Join(dir, journal, "events.jsonl"))
			if !strings.Contains(text, `"phase":"post","op":"write"`) || strings.Contains(text, `"inferred":true`) != inferred {
				t.Errorf("%s: %s", journal, text)
			}
		}
	}
}

// The shim sees what a confined program does, and the program cannot change what the
// shim has kept.
func TestAShimConfinesItsProgram(t *testing.T) {
	t.Parallel()
	shimHere(t)
	for _, gate := range [][]string{nil, {"--gate", "--allow", "by-agent"}} {
		t.Run(strings.Join(gate, " "), func(t *testing.T) {
			t.Parallel()
			s := newSandboxes(t)
			journal := filepath.Join(s.outside, "journal")
			cmd := hermes(t, s.work, slices.Concat([]string{"shim", "--sandbox", "--root", s.work, "--state", s.outside, "--journal", journal}, gate, []string{
				"--", "sh", "-c", `sh try.sh "$0" by-agent; echo x > "$0/journal/events.jsonl" && echo changed outside; echo x > other && echo changed other; exit 7`, s.outside})...)
			cmd.Env = append(cmd.Environ(), "TMPDIR="+s.tmp)
			out, errs, status := end(t, cmd)
			if status != 7 {
				t.Fatalf("exit status %d\n%s\n%s", status, out, errs)
			}
			s.says(t, "the program", out, true)
			if strings.Contains(out, "changed other") != (gate == nil) {
				t.Errorf("a file of the project that nobody has allowed:\n%s", out)
			}
			until := time.Now().Add(patience.Soon)
			for !strings.Contains(readFile(t, filepath.Join(journal, "events.jsonl")), filepath.Join(s.work, "by-agent")) {
				if time.Now().After(until) {
					t.Fatalf("the journal has no change of the program:\n%s", readFile(t, filepath.Join(journal, "events.jsonl")))
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

func TestTheDoctorTriesTheShim(t *testing.T) {
	t.Parallel()
	shimHere(t)
	out, errs, status := end(t, hermes(t, t.TempDir(), "shim", "doctor"))
	if status != 0 || errs != "" || !strings.HasPrefix(out, "observe   yes\ngate      yes\nconfine   ") {
		t.Errorf("exit status %d\n%s%s", status, out, errs)
	}
}
