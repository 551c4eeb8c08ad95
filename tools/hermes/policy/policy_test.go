package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// today is the day of all tests.
func today() time.Time { return time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC) }

func read(t *testing.T, text string) *Policy {
	t.Helper()
	p, err := parse("/project/"+Name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p.now = today
	return p
}

// accept is an entry that is complete.
const accept = "[[accept]]\nrule = \"TR02\"\nreason = \"the banner goes in 2.0\"\nexpires = 2027-01-31\n"

// judge lints two lines that are not messages.
func judge(p *Policy, capture string) *lint.Report {
	var o lint.Options
	p.Apply(&o, capture)
	l := lint.New(o)
	for i, line := range []string{"ready", "listening"} {
		l.Add(lint.Record{From: lint.Agent, Bytes: []byte(line), Line: i + 1})
	}
	r := l.Report()
	p.Judged(r, capture)
	return r
}

func TestWhatAProjectWantsIsRead(t *testing.T) {
	t.Parallel()
	p := read(t, "# ours\nprofile = 'strict'\nfail-on = \"warn\"\n\n[severity]\nCAN02 = \"info\"\nTR02 = \"off\"\nACC01 = \"error\"\n"+accept)
	var o lint.Options
	p.Apply(&o, "a.jsonl")
	if p.FailOn != "warn" || o.Profile != lint.Strict || o.Severities["CAN02"] != lint.Info || o.Severities["ACC01"] != lint.Error {
		t.Errorf("%+v %+v", p, o)
	}
	if s, ok := o.Severities["TR02"]; !ok || s != 0 {
		t.Error("TR02 is used")
	}
	o = lint.Options{Profile: lint.Spec}
	p.Apply(&o, "a.jsonl")
	if o.Profile != lint.Spec {
		t.Errorf("the profile of the command line was replaced by %s", o.Profile)
	}
	if p = read(t, "severity = {CAN02 = \"info\"}\nseverity.CAN03 = \"off\"\n"); len(p.severities) != 2 {
		t.Errorf("%v", p.severities)
	}
}

func TestAnEntryAcceptsWhatItIsAboutUntilItExpires(t *testing.T) {
	t.Parallel()
	with := func(lines ...string) string { return accept + strings.Join(lines, "\n") }
	for _, c := range []struct {
		name, text string
		accepted   int
		found      string // rules about the file
	}{
		{"nothing", "", 0, ""},
		{"all of a rule", accept, 2, ""},
		{"of a side", with(`side = "agent"`), 2, ""},
		{"of the other side", with(`side = "client"`), 0, "ACC01"},
		{"of a file", with(`file = "a.*"`), 2, ""},
		{"of files in a folder", with(`file = "captures/*.jsonl"`), 2, ""},
		{"of another file, which was not judged", with(`file = "b.jsonl"`), 0, ""},
		{"with a text", with(`text = "invalid JSON"`), 2, ""},
		{"with another text", with(`text = "valid HTML"`), 0, "ACC01"},
		{"at a place", with(`pointer = ""`), 2, ""},
		{"at another place", with(`pointer = "/params/*"`), 0, "ACC01"},
		{"of another rule, which was not exercised", strings.Replace(accept, "TR02", "CAN02", 1), 0, ""},
		{"on its last day", strings.Replace(accept, "2027-01-31", "2026-11-22", 1), 2, ""},
		{"after its last day", strings.Replace(accept, "2027-01-31", "2026-11-21", 1), 0, "ACC02"},
		{"after its last day, and of nothing", strings.Replace(accept, "2027-01-31", `"2026-11-21"`, 1) + `side = "client"`, 0, "ACC02 ACC01"},
		{"of a rule that is off", accept + "[severity]\nTR02 = \"off\"\n", 0, ""},
	} {
		p := read(t, c.text)
		r := judge(p, "/project/captures/a.jsonl")
		if r.Accepted != c.accepted {
			t.Errorf("%s: %d findings are accepted, want %d", c.name, r.Accepted, c.accepted)
		}
		for _, rule := range strings.Fields(c.found) {
			if !strings.Contains(found(p), rule) {
				t.Errorf("%s: %s about the file, want %s", c.name, found(p), rule)
			}
		}
		if c.found == "" && found(p) != "" {
			t.Errorf("%s: %s about the file", c.name, found(p))
		}
	}
	p := read(t, "[severity]\nACC02 = \"error\"\n"+strings.Replace(accept, "2027", "2025", 1))
	judge(p, "a.jsonl")
	f := p.Report()
	if f == nil || f.Errors != 1 || f.Verdicts[1].Findings[0].Line != 3 || f.Verdicts[1].Findings[0].Text != "the entry for TR02 expired on 2025-01-31: mend what it accepts, or decide again" {
		t.Errorf("%+v", f)
	}
}

func found(p *Policy) string {
	r := p.Report()
	if r == nil {
		return ""
	}
	var ids []string
	for _, v := range r.Verdicts {
		if v.Failed > 0 {
			ids = append(ids, v.Rule.ID)
		}
	}
	return strings.Join(ids, " ")
}

func TestAMistakeIsNamedWithItsLineKeyAndRemedy(t *testing.T) {
	t.Parallel()
	const file = "/project/" + Name
	for _, c := range []struct{ name, text, want string }{
		{"no TOML", "profile = \"spec\"\nfail-on \"x\"\n", file + ":2: "},
		{"a value that never ends", "profile = \"spec", file + ":1: "},
		{"a key that is not known", "\ncolour = \"red\"\n", file + ":2: colour: no such key: want profile, rules, fail-on, [severity] or [[accept]]"},
		{"a table that is not known", "\n[rules]\n", file + ":2: rules: no such table: want [severity] or [[accept]]"},
		{"a list of severities", "[[severity]]\n", file + ":1: severity: no such table"},
		{"a profile that is not known", "profile = \"loose\"\n", file + `:1: profile: profile "loose": want spec, recommended or strict`},
		{"a profile that is not text", "profile = 1\n", file + `:1: profile: want text in quotes, such as profile = "…"`},
		{"a severity that is not known", "fail-on = \"bad\"\n", file + `:1: fail-on: severity "bad": want info, warn or error, or never`},
		{"a rule that is not known", "[severity]\n\nFS99 = \"off\"\n", file + ":3: severity.FS99: there is no rule FS99 (hermes lint --list --profile strict lists them)"},
		{"a severity of a rule", "[severity]\nFS03 = \"bad\"\n", file + `:2: severity.FS03: severity "bad": want info, warn or error, or off`},
		{"a key twice", "[severity]\nFS03 = \"off\"\nFS03 = \"warn\"\n", file + ":3: severity.FS03: it is set twice"},
		{"one bracket", "[accept]\n", file + ":1: accept: each accepted finding begins with [[accept]], in two brackets"},
		{"a list", "accept = []\n", file + ":1: accept: not a list; each accepted finding begins with [[accept]]"},
		{"an entry without a rule", "[[accept]]\nreason = \"x\"\nexpires = 2027-01-01\n", file + ":1: accept.rule: missing; name the rule"},
		{"an entry without a reason", accept + "[[accept]]\nrule = \"FS03\"\nexpires = 2027-01-01\n[severity]\n", file + ":5: accept.reason: missing; say why"},
		{"an entry without a date", "[[accept]]\nrule = \"FS03\"\nreason = \"x\"\n", file + ":1: accept.expires: missing; say until when"},
		{"an empty reason", "[[accept]]\nreason = \" \"\n", file + ":2: accept.reason: say why the finding is accepted"},
		{"a date that does not exist", "[[accept]]\nexpires = \"soon\"\n", file + ":2: accept.expires: want the last day, such as expires = 20"},
		{"an entry for no rule", "[[accept]]\nrule = \"FS99\"\n", file + ":2: accept.rule: there is no rule FS99"},
		{"a side that is not known", "[[accept]]\nside = \"server\"\n", file + `:2: accept.side: "server": want client or agent`},
		{"a broken pattern", "[[accept]]\nfile = \"[\"\n", file + `:2: accept.file: "[" is not a pattern`},
		{"a key of an entry that is not known", "[[accept]]\nmethod = \"x\"\n", file + ":2: accept.method: no such key: want rule, side, file, pointer, text, reason or expires"},
		{"a key of an entry outside of one", "accept.rule = \"FS03\"\n", file + ":1: accept.rule: no such key"},
	} {
		_, err := parse(file, []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %s", c.name, err, c.want)
		}
	}
}

func TestTheFileIsFoundInAFolderOrAboveIt(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	deep, other := filepath.Join(top, "a", "b"), t.TempDir()
	for _, dir := range []string{deep, filepath.Join(deep, Name)} { // a folder of that name is not the file
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(top, Name)
	if err := os.WriteFile(name, []byte("profile = \"spec\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		folders []string
		want    string
	}{{[]string{top}, name}, {[]string{deep}, name}, {[]string{other, deep}, name}, {[]string{other}, ""}} {
		if got, err := Find(c.folders...); err != nil || got != c.want {
			t.Errorf("%v: %q, %v", c.folders, got, err)
		}
	}
	if p, err := Read(name); err != nil || p.Profile != lint.Spec {
		t.Errorf("%+v, %v", p, err)
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add("profile = \"spec\"\n[severity]\nCAN02 = \"off\"\n" + accept)
	f.Add("accept = [{rule = \"TR02\"}]\n\"\\u0000\" = '''\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parse(Name, []byte(text))
		if err == nil {
			judge(p, "a.jsonl")
			p.Report()
		}
	})
}

func TestTheExampleInTheGuideIsRead(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(guide), "```toml\n")
	example, _, _ := strings.Cut(rest, "```")
	if p := read(t, example); !ok || p.Profile == "" || p.FailOn == "" || len(p.severities) == 0 || len(p.entries) != 1 {
		t.Errorf("the example is\n%s", example)
	}
}
