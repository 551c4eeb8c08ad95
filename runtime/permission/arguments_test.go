package permission

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/gobuild"
)

const (
	read    = acp.ToolKindRead
	edit    = acp.ToolKindEdit
	search  = acp.ToolKindSearch
	execute = acp.ToolKindExecute
)

func allowPath(kind acp.ToolKind, path string) Rule {
	return Rule{Action: Allow, Kind: kind, Path: path}
}

func denyPath(path string) Rule { return Rule{Action: Deny, Path: path} }

func TestAPathRuleAllowsOnlyWhenEveryPathIsKnown(t *testing.T) {
	t.Parallel()
	for _, member := range strings.Fields(`destination new_path old_path newPath target target_file notebook_path uri url dir directory folder cwd workdir
		root source src dst to from output glob pattern include file_glob workspace path2 whatever _path PATH`) {
		for _, value := range []string{`"/etc/x"`, `["/etc/x"]`, `{"a":"/etc/x"}`, `[{"b":["/etc/x"]}]`, `"file:///etc/x"`, `"~/x"`, `"../x"`, `"a/../../x"`} {
			input := `{"path":"/w/a","` + member + `":` + value + `}`
			if got := decide(t, call(read, input), allowPath(read, "/w/**")); got != Ask {
				t.Errorf("%s: %v", input, got)
			}
		}
	}
	for _, input := range []string{
		`{"path":"/w/a","paths":["/etc/x"]}`, `{"path":"/w/a","files":["/w/b","x"]}`, `{"path":"/w/a","edits":[{"path":"/etc/x"}]}`,
		`{"path":"/w/a","edits":[{"old":"a","in":"x/y"}]}`, `{"path":"/w/a","changes":{"/etc/x":{"type":"update"}}}`,
		`{"path":"/w/a","more":"x/y"}`, `{"path":"/w/a","more":"x\\y"}`, `{"path":"/w/a","more":"file:x"}`, `{"path":"/w/a","more":".."}`, `{"path":"/w/a","more":"vscode-remote://x"}`,
		`{"path":"/w/a","patch":"*** Update File: /etc/x"}`, `{"path":"/w/a","content":[{"type":"resource","uri":"file:///etc/x"}]}`,
		`{"path":"/w/a","command":"cat /etc/shadow"}`, `{"path":"/w/a","command":"ls"}`, `{"path":"/w/a","args":["x"]}`, `{"path":"/w/a","script":"x"}`, `{"path":"/w/a","cmd":["x"]}`,
		`{"file_path":"~/x"}`, `{"file_path":"w/a"}`, `{"uri":"file:///w/a"}`, `{"file_path":"//server/x"}`, `{"path":"/w/a\u0000"}`, `{}`, `[]`, `"/w/a"`, `["/w/a"]`, `{"path":7}`,
	} {
		if got := decide(t, call(read, input), allowPath(read, "/w/**")); got != Ask {
			t.Errorf("%s: %v", input, got)
		}
	}
	if got := decide(t, call(execute, `{"cwd":"/w"}`, "/w/a"), allowPath("", "/w/**")); got != Ask {
		t.Errorf("a command whose words are not known: %v", got)
	}
	many := make([]string, 3000)
	for i := range many {
		many[i] = "/w/a"
	}
	if got := decide(t, call(read, `{"path":"/w/a"}`, many...), allowPath(read, "/w/**")); got != Ask {
		t.Errorf("more paths than are looked at: %v", got)
	}
}

func TestTheArgumentsOfUsualToolsSayEveryPath(t *testing.T) {
	t.Parallel()
	for input, kind := range map[string]acp.ToolKind{
		`{"file_path":"/w/a"}`: read, `{"path":"/w/a","offset":1,"limit":20}`: read, `{"absolute_path":"/w/a"}`: read, `{"paths":["/w/a","/w/b"]}`: read,
		`{"file_path":"/w/a","old_string":"/etc/x","new_string":"~/y","replace_all":false}`:                   edit,
		`{"file_path":"/w/a","content":"#!/bin/sh\ncat /etc/passwd\n"}`:                                       edit,
		`{"filePath":"/w/a","oldString":"a/b","newString":"c/d"}`:                                             edit,
		`{"path":"/w/a","old_str":"a/b","new_str":"","file_text":"x/y"}`:                                      edit,
		`{"file_path":"/w/a","edits":[{"old_string":"a/b","new_string":"c"}]}`:                                edit,
		`{"notebook_path":"/w/a.ipynb","new_source":"open('/etc/x')","cell_id":"c1"}`:                         edit,
		`{"source":"/w/a","destination":"/w/b"}`:                                                              edit,
		`{"changes":{"/w/a":{"type":"update","move_path":null}}}`:                                             edit,
		`{"pattern":"TODO","path":"/w/src","glob":"*.go","output_mode":"content","-n":true,"head_limit":100}`: search,
		`{"pattern":"**/*.go","path":"/w"}`:                                                                   search,
		`{"path":"/w/a","description":"Reads a/b and ~/c","see":"https://example.com/docs"}`:                  read,
	} {
		if got := decide(t, call(kind, input), allowPath(kind, "/w/**")); got != Allowed {
			t.Errorf("%s: %v", input, got)
		}
	}
}

func TestARequestThatMightMeanADeniedPathIsAsked(t *testing.T) {
	t.Parallel()
	for input, kind := range map[string]acp.ToolKind{
		`{"paths":"x/y"}`: search, `{"glob":"*"}`: search, `{"uri":"https://x"}`: search, `{}`: search, ``: search, `{"path":"/w"}`: search, `{"pattern":"x","path":"/w/src"}`: search,
		`{"command":"cat .env"}`: execute, `{"command":"cat x/.env"}`: execute, `{"command":"cat ./*"}`: execute, `{"command":["cat","a"]}`: execute, `{"command":"ls"}`: execute,
		`{"command":["tar","--file=.env"]}`: execute, `{"command":"sh x"}`: execute, `{"a":1}`: execute,
		`{"path":"/w/a","more":"x/y"}`: read, `{"path":"a"}`: read, `{"path":"/w/a","name":".env"}`: read, `{"path":"/w/a","names":["a",".ENV"]}`: edit, `{"path":"/w","pattern":".env"}`: read,
		`{"path":"/w/"}`: acp.ToolKindDelete, `{"path":"/w/a","to":"b/c"}`: acp.ToolKindMove, `{"x":1}`: acp.ToolKindOther, `{"url":"x/y"}`: acp.ToolKindFetch,
		`{"path":"/w/a","command":"cat .env"}`: read, `{"path":"/w/a","whatever":"~/.env"}`: acp.ToolKindThink,
	} {
		if got := decide(t, call(kind, input), Rule{Action: Allow, Kind: kind}, denyPath(".env*")); got != Ask {
			t.Errorf("%s %s: %v", kind, input, got)
		}
	}
	for input, kind := range map[string]acp.ToolKind{
		`{"destination":"/w/.env"}`: edit, `{"paths":["/w/a","/w/.env.local"]}`: search, `{"uri":"file:///w/%2eenv"}`: read, `{"path":".env"}`: read, `{"changes":{"/w/.env":{}}}`: edit,
		`{"path":"~/.env"}`: read, `{"path":"/w/x/../.env"}`: read, `{"path":"/w/.ENV"}`: read,
	} {
		if got := decide(t, call(kind, input), Rule{Action: Allow, Kind: kind}, denyPath(".env*")); got != Denied {
			t.Errorf("%s %s: %v", kind, input, got)
		}
	}
	for input, kind := range map[string]acp.ToolKind{
		`{"path":"/w/a"}`: read, `{"path":"/w/a","content":"cat .env"}`: edit, `{"path":"/w/a","mode":"fast"}`: read, `{"url":"https://x/.env"}`: acp.ToolKindFetch,
		`{"todos":[{"text":"x","status":"pending"}]}`: acp.ToolKindThink, `{"path":"/w/a","to":"/w/b"}`: acp.ToolKindMove,
	} {
		if got := decide(t, call(kind, input), Rule{Action: Allow, Kind: kind}, denyPath("/w/secret/**")); got != Allowed {
			t.Errorf("%s %s: %v", kind, input, got)
		}
	}
}

// A command may read files that it does not name. A rule that names the command
// still allows it.
func TestARuleForACommandAllowsItDespiteADeniedPath(t *testing.T) {
	t.Parallel()
	test := Rule{Action: Allow, Command: []string{"go", "test"}}
	for line, want := range map[string]Outcome{
		`go test ./...`: Allowed, `go test -run ^TestX$ ./a`: Ask, `go test -run '^TestX$' ./a`: Allowed,
		`go test .env`: Ask, `go test -env=x/.env`: Ask, `go test -x.env.local`: Ask, `go test "a b/.env"`: Ask, `go test '*'`: Ask,
	} {
		if got := decide(t, run(t, line), test, denyPath(".env*")); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	for line, want := range map[string]Outcome{`go test ./a`: Allowed, `go test ../secret/b`: Ask, `go test /w/secret/b`: Ask} {
		if got := decide(t, call(execute, `{"command":"`+line+`","cwd":"/w/src"}`), test, denyPath("/w/secret/**")); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

// folders makes a folder that a user trusts, a link to it, a folder that the user does
// not trust, and a link from the first to the second.
func folders(t *testing.T) (trusted, other string) {
	t.Helper()
	dir := t.TempDir()
	trusted, other = filepath.Join(dir, "trusted"), filepath.Join(dir, "other")
	for _, d := range []string{trusted, other, filepath.Join(other, "deep")} {
		must(t, os.Mkdir(d, 0o755))
	}
	for _, f := range []string{filepath.Join(trusted, "a"), filepath.Join(other, "secret"), filepath.Join(other, ".env")} {
		must(t, os.WriteFile(f, []byte("x"), 0o644))
	}
	for name, target := range map[string]string{
		"trusted/file": "../other/secret", "trusted/folder": other, "trusted/inside": "a", "trusted/nowhere": filepath.Join(dir, "none"), "trusted/loop": "loop",
		"also": trusted, "trusted/settings": "../other/.env",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	return trusted, other
}

func TestAPathIsJudgedByWhereItEnds(t *testing.T) {
	t.Parallel()
	trusted, other := folders(t)
	also := filepath.Join(filepath.Dir(trusted), "also")
	for path, want := range map[string]Outcome{
		trusted + "/a": Allowed, trusted + "/inside": Allowed, trusted + "/new": Allowed, trusted + "/new/deep": Allowed, also + "/a": Allowed, also + "/new": Allowed,
		trusted + "/file": Ask, trusted + "/folder/secret": Ask, trusted + "/folder/new": Ask, trusted + "/folder": Ask, trusted + "/nowhere": Ask, trusted + "/nowhere/x": Ask,
		trusted + "/loop": Ask, trusted + "/a/x": Ask, also + "/file": Ask, trusted + "/" + strings.Repeat("x", 5000): Ask,
	} {
		for _, pattern := range []string{trusted + "/**", also + "/**", trusted + "/*", "trusted/**"} {
			if strings.HasSuffix(pattern, "/*") && strings.Contains(strings.TrimPrefix(strings.TrimPrefix(path, trusted+"/"), also+"/"), "/") {
				continue
			}
			if got := decide(t, call(read, `{"path":"`+path+`"}`, path), allowPath(read, pattern)); got != want {
				t.Errorf("%s by %s: %v, want %v", path, pattern, got, want)
			}
		}
	}
	for path, want := range map[string]Outcome{
		trusted + "/file": Denied, trusted + "/folder/secret": Denied, other + "/secret": Denied, trusted + "/nowhere": Ask, trusted + "/loop": Ask, trusted + "/a": Allowed,
	} {
		if got := decide(t, call(read, "", path), Rule{Action: Allow, Kind: read}, denyPath(other+"/**")); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	for path, want := range map[string]Outcome{trusted + "/settings": Denied, also + "/settings": Denied, trusted + "/folder/.env": Denied, trusted + "/inside": Allowed} {
		if got := decide(t, call(read, "", path), Rule{Action: Allow, Kind: read}, denyPath(".env*")); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if got := decide(t, call(read, "", trusted+"/a"), Rule{Action: Allow, Kind: read}, denyPath(also+"/**")); got != Denied {
		t.Errorf("denied under the name of a link: %v", got)
	}
}

func TestNoRuleAllowsACommandWithAnEnvironment(t *testing.T) {
	t.Parallel()
	status, all := Rule{Action: Allow, Command: []string{"git", "status"}}, Rule{Action: Allow}
	for _, env := range []string{
		`"env":{"XDG_CONFIG_HOME":"/w/x"}`, `"env":["GIT_DIR=/w/x"]`, `"env":[{"name":"HOME","value":"/w/x"}]`, `"environment":{"GIT_PAGER":"sh x"}`, `"envVars":{"A":"b"}`,
		`"environment_variables":{"A":"b"}`, `"ENV":{"A":"b"}`, `"variables":{"A":"b"}`, `"env":"A=b"`, `"env":[["A","b"]]`, `"env":{"A":{"b":"c"}}`, `"options":{"env":{"A":"b"}}`,
		`"env":{"PAGER":"cat x"}`, `"env":{"CI":"/x"}`, `"env":{"TERM":"../x"}`, `"env":[{"name":"CI"}]`, `"env":[7]`,
	} {
		for _, r := range []Rule{status, all, allowCommands} {
			if got := decide(t, call(execute, `{"command":"git status",`+env+`}`), r); got != Ask {
				t.Errorf("%s: %v by %+v", env, got, r)
			}
		}
	}
	for _, env := range []string{
		`"env":{}`, `"env":[]`, `"env":null`, `"env":[{"name":"CLAUDECODE","value":"1"}]`, `"env":["CI=true","NO_COLOR=1"]`, `"env":{"PAGER":"cat","GIT_PAGER":"cat","TERM":"dumb"}`, `"timeout":3`,
	} {
		if got := decide(t, call(execute, `{"command":"git status",`+env+`}`), status); got != Allowed {
			t.Errorf("%s: %v", env, got)
		}
	}
}

func TestNoRuleAllowsACommandInAFolderThatConfiguresGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, files := range map[string]string{
		"bare": "HEAD config objects/x refs/x", "bare/sub": "a", "commondir": "HEAD commondir", "plain": "a config", "plain/deep": "HEAD", "clone": ".git/HEAD HEAD config",
	} {
		for f := range strings.FieldsSeq(files) {
			path := filepath.Join(dir, name, f)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.WriteFile(path, nil, 0o644))
		}
	}
	must(t, os.Symlink("../bare", dir+"/plain/link"))
	for cwd, want := range map[string]Outcome{
		dir: Allowed, dir + "/plain": Allowed, dir + "/plain/deep": Allowed, dir + "/clone": Allowed, "": Allowed,
		dir + "/bare": Ask, dir + "/bare/sub": Ask, dir + "/bare/none": Ask, dir + "/commondir": Ask, dir + "/plain/link": Ask, "plain": Ask, dir + "/plain/../bare": Ask,
	} {
		for _, name := range []string{"cwd", "workdir", "working_directory", "workingDir", "directory", "dir_path", "cd"} {
			input := `{"command":"git status","` + name + `":"` + cwd + `"}`
			for _, r := range []Rule{{Action: Allow, Command: []string{"git"}}, allowCommands, {Action: Allow}} {
				if got := decide(t, call(execute, input), r); got != want {
					t.Errorf("%s: %v, want %v", input, got, want)
				}
			}
		}
	}
	if got := decide(t, call(execute, `{"command":"git status","cwd":"`+dir+`","workdir":"`+dir+`/plain"}`), allowCommands); got != Ask {
		t.Errorf("two folders: %v", got)
	}
}

func TestARuleNamesTheVariablesAndFoldersOfItsCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "a", "bare"), 0o755))
	must(t, os.Mkdir(filepath.Join(dir, "b"), 0o755))
	must(t, os.Mkdir(filepath.Join(dir, "ab"), 0o755))
	for _, name := range []string{"HEAD", "config"} {
		must(t, os.WriteFile(filepath.Join(dir, "a", "bare", name), nil, 0o644))
	}
	must(t, os.Symlink("a", filepath.Join(dir, "link")))
	git, err := exec.LookPath("git")
	must(t, err)
	must(t, gobuild.Write(filepath.Join(dir, "git"), ""))
	status := Rule{Action: Allow, Scope: Always, Command: []string{"git", "status"}}
	with := func(cwd string, env ...string) Rule {
		r := status
		r.Cwd, r.Env = cwd, env
		return r
	}
	input := func(cwd string, env ...string) string {
		return `{"command":"git status","program":"` + git + `","shell":false,"cwd":"` + cwd + `","env":["` + strings.Join(env, `","`) + `"]}`
	}
	a, b, link, bare := dir+"/a", dir+"/b", dir+"/link", dir+"/a/bare"
	for name, c := range map[string]struct {
		input string
		rule  Rule
		roots []string
		want  Outcome
	}{
		"named variables":            {input(a, "NODE_ENV=test", "CI=1"), with("", "NODE_ENV"), []string{a}, Allowed},
		"one that is not":            {input(a, "NODE_ENV=test", "HOME=/x"), with("", "NODE_ENV"), []string{a}, Ask},
		"in other letter case":       {input(a, "node_env=test"), with("", "NODE_ENV"), []string{a}, Ask},
		"in the root":                {input(a, "CI=1"), status, []string{a}, Allowed},
		"in the root by a link":      {input(link, "CI=1"), status, []string{a}, Allowed},
		"the root is a link":         {input(a, "CI=1"), status, []string{link}, Allowed},
		"in another root":            {input(b, "CI=1"), status, []string{a, b}, Allowed},
		"outside":                    {input(b, "CI=1"), status, []string{a}, Ask},
		"outside, beginning alike":   {input(dir+"/ab", "CI=1"), status, []string{a}, Ask},
		"below the root of all":      {input(b, "CI=1"), status, []string{"/"}, Allowed},
		"outside, named":             {input(b, "CI=1"), with(b), []string{a}, Allowed},
		"outside, named by link":     {input(a, "CI=1"), with(link + "/**"), []string{b}, Allowed},
		"another folder is named":    {input(a, "CI=1"), with(b), []string{a}, Ask},
		"bare":                       {input(bare, "CI=1"), status, []string{a}, Ask},
		"bare, named":                {input(bare, "CI=1"), with(a + "/**"), []string{a}, Allowed},
		"bare root, not named":       {`{"command":"git status"}`, status, []string{bare}, Ask},
		"a variable without name":    {input(b), Rule{Action: Allow, Scope: Always, Cwd: b}, []string{a}, Ask},
		"any command there":          {input(b, "CI=1"), Rule{Action: Allow, Scope: Always, Cwd: b}, []string{a}, Allowed},
		"no folder named":            {`{"command":"git status"}`, status, []string{a}, Allowed},
		"folder only in the rule":    {`{"command":"git status"}`, with(a), []string{a}, Allowed},
		"another folder in the rule": {`{"command":"git status"}`, with(b), []string{a}, Ask},
		"no folder named or known":   {`{"command":"git status"}`, with(a), nil, Ask},
		"as another argument":        {`{"command":"git status","path":"` + bare + `"}`, status, []string{a}, Ask},
		"another program":            {`{"command":"git status","program":"/w/evil"}`, status, []string{a}, Ask},
		"another one of that name":   {`{"command":"git status","program":"` + dir + `/git"}`, status, []string{a}, Ask},
		"words":                      {`{"command":"git","args":["status","-s"]}`, status, []string{a}, Allowed},
		"words for a shell":          {`{"command":"git","args":["status",";","rm"]}`, status, []string{a}, Ask},
		"words for a shell, in one":  {`{"command":"git","args":["status","&&rm"]}`, status, []string{a}, Ask},
		"a list for a shell":         {`{"command":["git","status","$(rm)"]}`, status, []string{a}, Ask},
	} {
		p, err := Open("")
		must(t, err)
		must(t, p.Add(t.Context(), c.rule))
		if got, _ := p.Decide(Request{Kind: read, Paths: []string{a}}); got != Ask {
			t.Errorf("%s: allows a read: %v", name, got)
		}
		q := Describe("agent", "s", call(execute, c.input))
		q.Roots = c.roots
		if got, _ := p.Decide(q); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestRulesThatDenyAreForFilesThatAreReadWithoutAsking(t *testing.T) {
	t.Parallel()
	p, err := Open("")
	must(t, err)
	must(t, p.Configure([]Rule{{Action: Allow}, denyPath(".env*"), {Action: Deny, Kind: edit, Agent: "a"}, denyCommand("rm")}))
	must(t, p.Add(t.Context(), Rule{Action: Deny, Scope: Once}))
	must(t, p.Add(t.Context(), Rule{Action: Deny, Scope: Session, Session: "s", Path: "/w/mine"}))
	for name, c := range map[string]struct {
		q    Request
		want string
	}{
		"denied path":     {Request{Kind: read, Paths: []string{"/w/a", "/w/.env.local"}}, "denied by a permission rule (path .env*)"},
		"another path":    {Request{Kind: read, Paths: []string{"/w/a"}}, ""},
		"denied kind":     {Request{Agent: "a", Kind: edit, Paths: []string{"/w/a"}}, "denied by a permission rule"},
		"another agent":   {Request{Agent: "b", Kind: edit, Paths: []string{"/w/a"}}, ""},
		"session":         {Request{Session: "s", Kind: read, Paths: []string{"/w/mine"}}, "denied by a permission rule (path /w/mine)"},
		"another session": {Request{Session: "t", Kind: read, Paths: []string{"/w/mine"}}, ""},
		"uncertain path":  {Request{Kind: read, Paths: []string{"a"}}, "denied by a permission rule (path .env*)"},
	} {
		err := p.Permit(c.q)
		if got := ""; err != nil {
			got = err.Error()
			if got != c.want || !errors.Is(err, ErrDenied) {
				t.Errorf("%s: %v", name, err)
			}
		} else if got != c.want {
			t.Errorf("%s is permitted", name)
		}
	}
	if n := len(p.Rules()); n != 6 {
		t.Errorf("a file has used up a rule for one question: %d left", n)
	}
}
