package confine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
)

func TestASandboxIsFalseTrueRulesOrACommand(t *testing.T) {
	t.Parallel()
	all := confine.Net{All: true}
	for text, want := range map[string]confine.Sandbox{
		`false`:                 {},
		`null`:                  {},
		`true`:                  {Rules: &confine.Rules{Net: all}},
		`{}`:                    {Rules: &confine.Rules{Net: all}},
		`{"write":["/a"]}`:      {Rules: &confine.Rules{Write: []string{"/a"}, Net: all}},
		`{"net":false}`:         {Rules: &confine.Rules{}},
		`{"net":[443]}`:         {Rules: &confine.Rules{Net: confine.Net{Ports: []uint16{443}}}},
		`{"sockets":true}`:      {Rules: &confine.Rules{Net: all, Sockets: true}},
		`{"best_effort":true}`:  {Rules: &confine.Rules{Net: all, BestEffort: true}},
		`["bwrap","--ro-bind"]`: {Wrapper: []string{"bwrap", "--ro-bind"}},
	} {
		var got confine.Sandbox
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if got.On() != (text != "false" && text != "null") {
			t.Errorf("%s: on is %v", text, got.On())
		}
	}
	for text, want := range map[string]string{
		`"yes"`:            `must be true, false, an object of rules or a list with a command, not "yes"`,
		`7`:                "not 7",
		`[]`:               "not []",
		`[1]`:              "not [1]",
		`{"writ":["/a"]}`:  `unknown field "writ"`,
		`{"net":"some"}`:   "net must be true, false or a list of ports",
		`{"write":"/a"}`:   "write",
		`{"net":[443],}}}`: "invalid",
	} {
		var got confine.Sandbox
		if err := json.Unmarshal([]byte(text), &got); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if (*confine.Sandbox)(nil).On() {
		t.Error("no sandbox is on")
	}
}

func TestABoxNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	dir, none := t.TempDir(), filepath.Join(t.TempDir(), "none")
	home := filepath.Join(dir, "home")
	write(t, filepath.Join(home, ".ssh", "id"))
	for _, c := range []struct {
		text string
		more []string
		want string
	}{
		{`["no-such-wrapper"]`, nil, `"no-such-wrapper": executable file not found`},
		{`{"write":["` + none + `"]}`, nil, none + ": no such file"},
		{`{"write":["relative"]}`, nil, `write "relative": not an absolute path`},
		{`{"read":["relative"]}`, nil, `read "relative": not an absolute path`},
		{`{"hide":["relative"]}`, nil, `hide "relative": not an absolute path`},
		{`true`, []string{none}, none + ": no such file"},
		{`{"hide":["` + home + `/.ssh"]}`, []string{home}, home + "/.ssh cannot be hidden inside of " + home},
		{`{"hide":["` + home + `/.ssh"],"read":["/usr"],"write":["` + home + `"]}`, nil, "cannot be hidden inside"},
	} {
		var s confine.Sandbox
		if err := json.Unmarshal([]byte(c.text), &s); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Box([]string{"launcher"}, []string{"TMPDIR=" + t.TempDir()}, c.more...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %v: %v, want %q", c.text, c.more, err, c.want)
		}
	}
	// A path in hide may be in write, too, and a path that does not exist hides
	// nothing.
	for _, text := range []string{`{"hide":["` + home + `/.ssh"],"write":["` + home + `/.ssh"]}`, `{"hide":["` + home + `/none"],"write":["` + home + `"]}`} {
		var s confine.Sandbox
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Box([]string{"launcher"}, []string{"TMPDIR=" + t.TempDir()}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestABoxCoversTheFoldersThatMayBeChanged(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	dir := t.TempDir()
	for _, d := range []string{"root/sub", "rooted", "tmp", "other"} {
		write(t, filepath.Join(dir, d, "file"))
	}
	if err := os.Symlink(dir+"/other", dir+"/root/out"); err != nil {
		t.Fatal(err)
	}
	s := confine.Sandbox{Rules: &confine.Rules{}}
	b, err := s.Box([]string{"launcher"}, []string{"TMPDIR=" + dir + "/tmp"}, dir+"/root", dir+"/root/sub")
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range map[string]bool{"root": true, "root/sub": true, "tmp": true, "rooted": false, "other": false, "root/out": false, "missing": true} {
		if b.Covers(filepath.Join(dir, d)) != want {
			t.Errorf("%s: %v", d, !want)
		}
	}
	if len(b.Rules.Write) != 2 {
		t.Errorf("what is inside of another folder is listed: %q", b.Rules.Write)
	}
	var none *confine.Box
	if !none.Covers(dir) || none.Wrapper() != nil {
		t.Error("no box confines")
	}
}

// An agent's own state may be in a folder that may be changed, and would be hidden from others.
func TestWhatIsNamedIsNotHidden(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tmp", "state", "login"))
	write(t, filepath.Join(dir, "tmp", "others", "login"))
	box := func(hide string) error {
		s := confine.Sandbox{Rules: &confine.Rules{Hide: []string{filepath.Join(dir, hide)}}}
		_, err := s.Box([]string{"launcher"}, []string{"TMPDIR=" + dir + "/tmp"}, dir+"/tmp/state")
		return err
	}
	if err := box("tmp/state"); err != nil {
		t.Error(err)
	}
	for _, hide := range []string{"tmp/state/login", "tmp/others"} {
		if err := box(hide); err == nil || !strings.Contains(err.Error(), "cannot be hidden inside of") {
			t.Errorf("%s: %v", hide, err)
		}
	}
}

func write(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
}
