package golang

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/gen/emit"
	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
)

var update = flag.Bool("update", false, "write the golden files")

// generate makes a package from a small schema.
func generate(t *testing.T, name string, text []byte, o ir.Overlay) ([]emit.Output, error) {
	t.Helper()
	doc, err := schema.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ir.Lower(doc, o)
	if err != nil {
		return nil, err
	}
	return Package{
		Edition: "v1", Dir: "acp/shape", Module: "github.com/hermes-nvim/hermes", Shared: "acp",
		Header: "from " + name, Const: "V1", Version: 1, Channel: "stable", Names: &Names{}, Spec: s,
	}.Files()
}

// Each shape of the schema language alone, and the Go that it becomes.
func TestEachShapeBecomesThisGo(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/shapes/*.json")
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out, err := generate(t, name+".json", text, ir.Overlay{Patches: map[string]bool{"Update.title": true, "Update.count": name == "patch"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := typeCheck(out); err != nil {
				t.Error(err)
			}
			golden := strings.TrimSuffix(file, ".json") + ".golden"
			got := essence(name, out)
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the Go for %s changed; run go test ./gen/emit/golang -update and read the diff", file)
			}
		})
	}
}

// essence joins the files that depend on the shape of types or, for methods, on
// methods. It leaves out the lines that all files have.
func essence(name string, out []emit.Output) []byte {
	show := []string{"types_gen.go", "enums_gen.go", "unions_gen.go", "codec_gen.go", "unioncodec_gen.go", "check_gen.go"}
	if name == "method" {
		show = []string{"methods_gen.go", "handlers_gen.go", "dispatch_gen.go", "callers_gen.go", "protocol_gen.go"}
	}
	var b bytes.Buffer
	for _, f := range out {
		if !slices.Contains(show, path.Base(f.Path)) {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, f.Path, f.Data, parser.ImportsOnly)
		if err != nil {
			panic(err)
		}
		end := parsed.Name.End()
		if n := len(parsed.Decls); n > 0 {
			end = parsed.Decls[n-1].End()
		}
		body := strings.TrimSpace(string(f.Data[fset.Position(end).Offset:]))
		if body != "" {
			fmt.Fprintf(&b, "-- %s --\n%s\n", path.Base(f.Path), body)
		}
	}
	return b.Bytes()
}

// exports finds the compiled packages that generated code imports.
var exports = sync.OnceValues(func() (map[string]string, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "github.com/hermes-nvim/hermes/acp")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		pkg, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[pkg] = file
	}
	return files, nil
})

// typeCheck compiles generated files, except tests, without writing them.
func typeCheck(out []emit.Output) error {
	compiled, err := exports()
	if err != nil {
		return err
	}
	checkFset := token.NewFileSet()
	var files []*ast.File
	for _, f := range out {
		if strings.HasSuffix(f.Path, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(checkFset, f.Path, f.Data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, parsed)
	}
	conf := types.Config{Importer: importer.ForCompiler(checkFset, "gc", func(pkg string) (io.ReadCloser, error) {
		return os.Open(compiled[pkg])
	})}
	_, err = conf.Check("github.com/hermes-nvim/hermes/acp/shape", checkFset, files, nil)
	return err
}

func TestCollidingNamesAreErrorsThatSayWhatToEdit(t *testing.T) {
	t.Parallel()
	const choose = "; choose a name for one of them in schema/overlay/quirks.json, names"
	const tell = "; tell them apart in fieldName, gen/emit/golang/names.go"
	object := func(members string) string { return `{"type":"object","properties":{` + members + `},"required":[]}` }
	for name, test := range map[string]struct{ defs, want string }{
		"two definitions":                {`"a_b":` + object("") + `,"AB":` + object(""), "a_b and AB would both be called AB" + choose},
		"a definition and a value":       {`"Red":{"oneOf":[{"type":"string","const":"dark"}]},"RedDark":` + object(""), "would both be called RedDark" + choose},
		"a definition and a constructor": {`"A":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]},"NewA":` + object(""), "NewA and A, as its constructor, would both be called NewA" + choose},
		"two members":                    {`"A":` + object(`"fooBar":{"type":"string"},"foo_bar":{"type":"string"}`), `A: the member "fooBar" and the member "foo_bar" would both be called FooBar` + tell},
		"a member and what is always":    {`"A":` + object(`"extra":{"type":"string"}`), `A: the field that every such type has and the member "extra" would both be called Extra` + tell},
		"a member and the session": {
			`"A":{"type":"object","properties":{"sessionId":{"type":"string"},"session":{"type":"string"}},"x-method":"a","x-side":"client"},
			"AgentNotification":{"type":"object","properties":{"params":{"anyOf":[{"allOf":[{"$ref":"#/$defs/A"}]}]}},"x-docs-ignore":true}`,
			`A: the method that returns the session and the member "session" would both be called Session` + tell,
		},
	} {
		_, err := generate(t, "collision.json", []byte(`{"$defs":{`+test.defs+`}}`), ir.Overlay{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v\nwant %s", name, err, test.want)
		}
	}
}

func TestArticles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Plan": "a Plan", "AgentPlan": "an AgentPlan", "MCPServer": "an MCPServer", "HTTPHeader": "an HTTPHeader",
		"URLMode": "a URLMode", "UserMessage": "a UserMessage", "Session": "a Session", "": "",
	} {
		if got := a(name); got != want {
			t.Errorf("a(%q) = %q, want %q", name, got, want)
		}
	}
}

type hostileWords struct{ text string }

func (w hostileWords) Definition(string) string       { return w.text }
func (w hostileWords) Member(string, string) string   { return w.text }
func (w hostileWords) Value(string, string) string    { return w.text }
func (w hostileWords) Variant(string, string) string  { return w.text }
func (w hostileWords) Method(string) (string, string) { return w.text, w.text }

// Any text of a schema or of the words stays in its literal or comment.
func TestSchemaTextNeverBecomesCode(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		"*/ func init() { panic(1) } /*",
		"\nfunc init() { panic(1) }\n",
		"\r\nfunc init() { panic(1) }",
		"\u2028func init() {}", "\ufeffbom", "\x00nul",
		"`+func() string { panic(1) }()+`",
		`"+func() string { panic(1) }()+"`,
		`\`, `"`, "`", "%s%d%!", "' json:\"x\"", "//line x.go:1", "go:build ignore", "   - \nfunc init() {}",
	} {
		q := quoteJSON(hostile)
		text := `{"$defs":{
			"Color":{"anyOf":[{"type":"string","const":` + q + `},{"type":"string","const":"red"},{"title":` + q + `,"type":"string"}]},
			"Shape":{"type":"object","properties":{` + quoteJSON("s"+hostile) + `:{"type":"string","default":` + q + `}},"oneOf":[
				{"type":"object","properties":{` + quoteJSON("t"+hostile) + `:{"type":"string","const":` + quoteJSON("v"+hostile) + `}},"required":[` + quoteJSON("t"+hostile) + `]},
				{"type":"object","properties":{` + quoteJSON("t"+hostile) + `:{"type":"string","const":"b"}},"required":[` + quoteJSON("t"+hostile) + `]}]},
			"Object":{"type":"object","properties":{` + quoteJSON("m"+hostile) + `:{"type":"string","minLength":1}},"required":[` + quoteJSON("m"+hostile) + `]}}}`
		out, err := generate(t, "hostile.json", []byte(text), ir.Overlay{Words: hostileWords{hostile}})
		if err != nil {
			if !strings.Contains(err.Error(), "names") {
				t.Errorf("%q: %v", hostile, err)
			}
			continue // no Go name can be made: a clear error
		}
		for _, f := range out {
			parsed, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Data, parser.ParseComments)
			if err != nil {
				t.Errorf("%q: %v", hostile, err)
				continue
			}
			for _, d := range parsed.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "init" {
					t.Errorf("%q became code in %s", hostile, f.Path)
				}
			}
			for _, c := range parsed.Comments {
				for _, line := range c.List {
					if strings.HasPrefix(line.Text, "//line") || strings.HasPrefix(line.Text, "//go:") || strings.HasPrefix(line.Text, "/*") {
						t.Errorf("%q became the directive %q in %s", hostile, line.Text, f.Path)
					}
				}
			}
		}
		if err := typeCheck(out); err != nil {
			t.Errorf("%q: %v", hostile, err)
		}
	}
}

func quoteJSON(s string) string { return jsonText(s) }

func TestNamesFollowGo(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]string{
		"sessionId": "SessionID", "mcpServers": "MCPServers", "_meta": "Meta", "agent_message_chunk": "AgentMessageChunk",
		"ElicitationUrlMode": "ElicitationURLMode", "HttpHeader": "HTTPHeader", "session/set_mode": "SessionSetMode", "date-time": "DateTime",
		"3d": "X3d", "": "", "/": "", "JSONValue": "JSONValue",
	} {
		if got := goName(wire); got != want {
			t.Errorf("goName(%q) = %q, want %q", wire, got, want)
		}
	}
	for wire, want := range map[string]string{
		"sessionId": "sessionID", "mcpServers": "mcpServers", "uri": "uri", "type": "kind", "newText": "newText", "toolCallId": "toolCallID", "v": "v_",
	} {
		if got := paramName(wire); got != want {
			t.Errorf("paramName(%q) = %q, want %q", wire, got, want)
		}
	}
}
