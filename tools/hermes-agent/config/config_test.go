package config

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
)

// load reads the settings with these variables and files.
func load(t *testing.T, env map[string]string, files map[string]string) (string, Config, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(func(name string) string {
		switch name {
		case "HERMES_AGENT_HOME":
			return dir
		case "XDG_STATE_HOME":
			return "/s"
		}
		return env[name]
	})
	return dir, c, err
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheEnvironmentIsEnough(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ url, key, want, err string }{
		{"http://127.0.0.1:8080/v1", "", "http://127.0.0.1:8080/v1", ""},
		{"", "k", "https://api.openai.com/v1", ""},
		{"", "", "", "no model"},
		{"localhost:8080", "", "", "not an http address"},
	} {
		_, c, err := load(t, map[string]string{"OPENAI_BASE_URL": test.url, "OPENAI_API_KEY": test.key}, nil)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || err == nil && c.Model.BaseURL != test.want {
			t.Errorf("%+v: %+v, %v", test, c, err)
		}
		if err == nil && (c.State != filepath.Join("/s", "hermes-agent") || !slices.Equal(c.Toolsets, []string{"core", "skills"}) || c.Requests != 60 || c.Terminal.Backend != "auto") {
			t.Errorf("the defaults are %+v", c)
		}
	}
}

func TestTheEnvironmentCountsMoreThanTheFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		fileName: "version: 1\nmodel:\n  base_url: http://file/v1\n  name: of-file\ncommand_allowlist:\n- rm -rf build\n- {rule: git-discard, dir: /w}\n",
		envName:  "# secrets\nexport OPENAI_API_KEY=\"of env\" \nOPENAI_MODEL='of-env' \nEMPTY=\nX=a # b\n",
	}
	_, c, err := load(t, nil, files)
	if err != nil || c.Model.BaseURL != "http://file/v1" || c.Key != "of env" || c.Model.Name != "of-env" {
		t.Errorf("%+v, %v", c, err)
	}
	if !slices.Equal(c.Allowed, []approval.Entry{{Command: "rm -rf build"}, {Rule: "git-discard", Dir: "/w"}}) {
		t.Errorf("allowed: %+v", c.Allowed)
	}
	if _, c, err = load(t, map[string]string{"OPENAI_MODEL": "mine", "OPENAI_BASE_URL": "http://x/v1"}, files); err != nil || c.Model.Name != "mine" || c.Model.BaseURL != "http://x/v1" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestABadFileIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]string{
		"model: [":                       fileName,
		"version: 99\n":                  "newer than this program",
		"max_requests: many\n":           fileName,
		"terminal:\n  backend: moon\n":   `"moon" is none of`,
		"terminal:\n  backend: docker\n": "needs an image",
		"terminal: {backend: ssh}\n":     "needs a host",
	} {
		if _, _, err := load(t, map[string]string{"OPENAI_API_KEY": "k"}, map[string]string{fileName: text}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, why := range map[string]string{"novalue\n": "line 1", "\nA=\"x\n": "line 2: the quotes"} {
		if _, _, err := load(t, nil, map[string]string{envName: text}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSecretsThatOthersCanReadAreRefused(t *testing.T) {
	t.Parallel()
	dir, _, _ := load(t, nil, nil)
	if err := SetSecret(dir, "OPENAI_API_KEY", `a "b" $c`); err != nil {
		t.Fatal(err)
	}
	if err := SetSecret(dir, "OTHER", "2"); err != nil {
		t.Fatal(err)
	}
	if err := SetSecret(dir, "OPENAI_API_KEY", `d "e" $f`); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, envName)
	secrets, err := readEnv(name)
	if info, _ := os.Stat(name); err != nil || secrets["OPENAI_API_KEY"] != `d "e" $f` || secrets["OTHER"] != "2" || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", secrets, err)
	}
	if names, _ := Secrets(dir); !slices.Equal(names, []string{"OPENAI_API_KEY", "OTHER"}) {
		t.Errorf("%v", names)
	}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readEnv(name); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
}

const old = `# my settings
model: # which
  name: mine # the best
  extra: kept

terminal: {backend: sandbox}
something_else:
  - 1 # one
`

func TestAMigrationAddsWhatIsMissingAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	dir, _, _ := load(t, nil, map[string]string{fileName: old})
	missing, err := Missing(dir)
	if err != nil || !slices.Contains(missing, "toolsets") || !slices.Contains(missing, "model.base_url") || slices.Contains(missing, "model.name") {
		t.Errorf("missing %v, %v", missing, err)
	}
	added, err := Migrate(dir)
	if err != nil || !slices.Equal(added, missing) {
		t.Fatalf("added %v, %v", added, err)
	}
	text := content(t, dir, fileName)
	for _, kept := range []string{"# my settings", "# which", "mine # the best", "extra: kept", "backend: sandbox", "- 1 # one"} {
		if !strings.Contains(text, kept) {
			t.Errorf("%q is lost in\n%s", kept, text)
		}
	}
	c, err := read(filepath.Join(dir, fileName))
	if err != nil || c.Version != Version || c.Model.Name != "mine" || c.Terminal.Backend != "sandbox" || c.Requests != 60 {
		t.Errorf("%+v, %v\n%s", c, err, text)
	}
	if added, err := Migrate(dir); err != nil || len(added) > 0 || content(t, dir, fileName) != text {
		t.Errorf("a second time: added %v, %v", added, err)
	}
	if err := Unknown(dir); err == nil || !strings.Contains(err.Error(), "extra") && !strings.Contains(err.Error(), "something_else") {
		t.Errorf("unknown: %v", err)
	}
}

func TestANewFileIsTheTemplate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := Migrate(dir); err != nil {
		t.Fatal(err)
	}
	var want, got Config
	if err := yaml.Unmarshal([]byte(Template), &want); err != nil {
		t.Fatal(err)
	}
	got, err := read(filepath.Join(dir, fileName))
	if err != nil || got.Requests != want.Requests || !strings.Contains(content(t, dir, fileName), "# How often") || Unknown(dir) != nil {
		t.Errorf("%+v, %v\n%s", got, err, content(t, dir, fileName))
	}
	if missing, err := Missing(dir); err != nil || len(missing) > 0 {
		t.Errorf("missing %v, %v", missing, err)
	}
}

func TestASettingIsChangedInPlace(t *testing.T) {
	t.Parallel()
	dir, _, _ := load(t, nil, map[string]string{fileName: old})
	for _, s := range [][2]string{{"model.name", "other"}, {"model.base_url", "http://h/v1"}, {"toolsets", "[core, process]"}, {"terminal.backend", "local"}} {
		if err := Set(dir, s[0], s[1]); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, e := range []approval.Entry{{Command: "rm -rf 'a b': #c", Dir: "/w"}, {Command: "git push --force\necho \"x\"", Dir: "/w"}} {
		if err := Allow(dir, e); err != nil {
			t.Error(err)
		}
	}
	c, err := read(filepath.Join(dir, fileName))
	if err != nil || c.Model.Name != "other" || c.Model.BaseURL != "http://h/v1" || len(c.Toolsets) != 2 || c.Terminal.Backend != "local" || len(c.Allowed) != 2 ||
		c.Allowed[0].Command != "rm -rf 'a b': #c" || c.Allowed[1].Command != "git push --force\necho \"x\"" || c.Allowed[1].Dir != "/w" {
		t.Errorf("%+v, %v\n%s", c, err, content(t, dir, fileName))
	}
	if !strings.Contains(content(t, dir, fileName), "# my settings") {
		t.Error("the comments are lost")
	}
	for path, value := range map[string]string{"no.such": "1", "max_requests": "many", "model": "[", "": "x"} {
		before := content(t, dir, fileName)
		if err := Set(dir, path, value); err == nil || content(t, dir, fileName) != before {
			t.Errorf("%s = %s: %v", path, value, err)
		}
	}
}

func TestSecretsOfHeadersAndOfOpenRouterAreInTheEnvironment(t *testing.T) {
	t.Parallel()
	files := map[string]string{"config.yaml": "model: {headers: {X-Team: 'blue ${TEAM_KEY}', X-None: '${NOBODY}'}}\n", ".env": "TEAM_KEY=\"s e\"  # why\nOPENROUTER_API_KEY='or' # from them\n"}
	_, c, err := load(t, nil, files)
	if err != nil || c.Model.Headers["X-Team"] != "blue s e" || c.Model.Headers["X-None"] != "" || c.Key != "or" || c.Model.BaseURL != "https://openrouter.ai/api/v1" {
		t.Errorf("%+v, %v", c, err)
	}
	for base, key := range map[string]string{"https://openrouter.ai/api/v1": "or", "http://127.0.0.1:8080/v1": "mine"} {
		if _, c, err := load(t, map[string]string{"OPENAI_BASE_URL": base, "OPENAI_API_KEY": "mine"}, files); err != nil || c.Key != key {
			t.Errorf("%s gets the key %q, %v", base, c.Key, err)
		}
	}
	for _, line := range []string{`A="x`, `A="x" y`, `A='x`, `A='x'y`} {
		if _, _, err := load(t, nil, map[string]string{".env": line}); err == nil || !strings.Contains(err.Error(), "quotes") {
			t.Errorf("%s: %v", line, err)
		}
	}
	dir := t.TempDir()
	if err := Set(dir, "model.name", "x"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, fileName)); err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// People write dollar signs behind a backslash because shells need that, and copy files that
// Docker, Node.js and Python read.
func TestSecretsAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`A="a\$b"`:                   `a$b`,
		`A="a\\b\"c"`:                `a\b"c`,
		`A="a\nb\tc\rd"`:             "a\nb\tc\rd",
		"A=\"a\\`b\"":                "a`b",
		`A="a\qb\"`:                  "",
		`A="a\qb"`:                   `a\qb`,
		`A="$b ${c}"`:                `$b ${c}`,
		`A='a\$b"c'`:                 `a\$b"c`,
		`A=a\$b`:                     `a\$b`,
		`A="\u00e9\x41"`:             "éA",
		`A="\u00"`:                   `\u00`,
		`A="x"`:                      "x",
		`A=""`:                       "",
		`A='it''s'`:                  "",
		`A="# no comment"`:           "# no comment",
		`A=a#b # c`:                  "a#b",
		`A="a" # "b"`:                "a",
		`A="é\` + "\U0001F600" + `"`: `é\` + "\U0001F600",
	} {
		name := filepath.Join(t.TempDir(), ".env")
		if err := os.WriteFile(name, []byte(line+"\r\nB=1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readEnv(name)
		fails := line == `A="a\qb\"` || line == `A='it''s'`
		if (err != nil) != fails || err != nil && !strings.Contains(err.Error(), "line 1: the quotes do not match") || err == nil && (got["A"] != want || got["B"] != "1") {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
	for _, secret := range []string{"", `a\$b"c'd`, "a\nb\x00\x7f\xffé\u2028", `\`, `\u00e9`, "$(x) `y` #z"} {
		dir := t.TempDir()
		if err := SetSecret(dir, "A", secret); err != nil {
			t.Fatal(err)
		}
		if got, err := readEnv(filepath.Join(dir, envName)); err != nil || got["A"] != secret {
			t.Errorf("%q is %q, %v", secret, got["A"], err)
		}
	}
}

func TestHeadersWithSecretsThatOthersCanReadAreFound(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	for _, test := range []struct {
		text  string
		mode  os.FileMode
		wants string // names of headers
	}{
		{"{X-Api-Key: abc}", 0o644, "X-Api-Key"},
		{"{X-Api-Key: abc}", 0o640, "X-Api-Key"},
		{"{X-Api-Key: abc}", 0o600, ""},
		{"{X-Api-Key: '${KEY}', authorization: 'Bearer ${KEY}'}", 0o644, ""},
		{"{authorization: Bearer abc, Cookie: a=b, X-Team: blue}", 0o644, "Cookie, authorization"},
		{"{Ocp-Apim-Subscription-Key: abc, cf-access-client-secret: x, X-Auth-Token: 'x${KEY}'}", 0o644, "Ocp-Apim-Subscription-Key, cf-access-client-secret"},
		{"{X-Team: blue, HTTP-Referer: 'https://x.y', X-Title: keyboard, api-key: ''}", 0o644, ""},
		{"{}", 0o644, ""},
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, fileName)
		if err := os.WriteFile(name, []byte("model: {headers: "+test.text+"}\n"), test.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, test.mode); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Exposed(dir), ", "); got != test.wants {
			t.Errorf("%s with the mode %o: %q", test.text, test.mode, got)
		}
	}
}

// The settings say which commands run without a question.
func TestSettingsThatEveryUserCanChangeAreRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	for _, name := range []string{"", fileName} {
		dir := t.TempDir()
		if err := Set(dir, "model.base_url", "http://127.0.0.1:1/v1"); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		get := func(variable string) string {
			return map[string]string{"HERMES_AGENT_HOME": dir, "HOME": dir}[variable]
		}
		if _, err := Load(get); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(get); err == nil || err.Error() != "every user of this machine can change "+path+": run chmod o-w "+path {
			t.Errorf("%q: %v", name, err)
		}
	}
}
