package host

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/announced"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

var update = flag.Bool("update", false, "rewrite what is made of the messages between Neovim and the host")

const root = "../.."

// messages are the messages of the host, apart from events.
var messages = []wire.Message{
	hello{}, say.Done{}, say.Notice{}, ask.Asked{}, ask.Withdrawn{}, announced.LoginTerminal{},
	reviews.Hold{}, reviews.Look{}, reviews.Release{}, reviews.Hunks{}, reviews.Apply{}, reviews.Barrier{},
}

// The Go types describe the messages. The types in Lua and the tables of docs/design.md are
// made of them.
func TestTheBorderIsWrittenOnce(t *testing.T) {
	t.Parallel()
	b := border{t: t, docs: make(map[string]map[string]documented), classes: make(map[reflect.Type]string)}
	ops := new(Host).operations()
	var operations, told strings.Builder
	operations.WriteString("| op | json | ends with |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(ops)) {
		o := ops[name]
		b.class("hermes.op."+camel(name), reflect.TypeOf(o.Takes))
		ends := ""
		if o.Gives != nil {
			b.class("hermes.result."+camel(name), reflect.TypeOf(o.Gives))
			ends = "`" + b.members(reflect.TypeOf(o.Gives)) + "`"
		}
		fmt.Fprintf(&operations, "| `%s` | `%s`: %s | %s |\n", name, b.members(reflect.TypeOf(o.Takes)), b.doc(reflect.TypeOf(o.Takes)), ends)
	}
	told.WriteString("| kind | json |\n|---|---|\n")
	slices.SortFunc(messages, func(a, b wire.Message) int { return cmp.Compare(a.Kind(), b.Kind()) })
	for _, m := range messages {
		typ := reflect.TypeOf(m)
		b.class("hermes.item."+camel(m.Kind()), typ)
		fmt.Fprintf(&told, "| `%s` | `%s`: %s |\n", m.Kind(), b.members(typ), b.doc(typ))
	}
	b.rest()
	b.is("lua/hermes/core/border_gen.lua", strings.TrimSuffix(`-- Made of the Go types of the host by: go test ./plugin/host -run Border -update
---@meta _

-- The messages between Neovim and the host: what operations take (hermes.op) and end with
-- (hermes.result), and what the host sends besides events (hermes.item).

`+b.lua.String(), "\n"))
	page := b.read("docs/design.md")
	page = between(t, page, "operations", operations.String())
	page = between(t, page, "items", told.String())
	b.is("docs/design.md", page)
}

// Every type that is a message is in the list above.
func TestAllKindsOfMessagesAreKnown(t *testing.T) {
	t.Parallel()
	found := 0
	for _, path := range sources(t, filepath.Join(root, "plugin"), ".go") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(path, "_test.go") {
			found += len(regexp.MustCompile(`(?m)^func \(\w+\) Kind\(\) string `).FindAll(text, -1))
		}
	}
	if found != len(messages) {
		t.Errorf("the host has %d kinds of messages, this test knows %d", found, len(messages))
	}
}

// An operation that Lua never names is not needed.
func TestLuaNamesEveryOperation(t *testing.T) {
	t.Parallel()
	var lua strings.Builder
	for _, path := range sources(t, filepath.Join(root, "lua"), ".lua") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lua.Write(text)
	}
	for name := range new(Host).operations() {
		if word := strings.TrimPrefix(name, "review."); !strings.Contains(lua.String(), `"`+name+`"`) && !strings.Contains(lua.String(), `"`+word+`"`) {
			t.Errorf("no Lua names the operation %q", name)
		}
	}
}

// Every operation reports a member that the host does not know, so that no setting of the user
// is left out in silence.
func TestAnUnknownMemberIsAnError(t *testing.T) {
	t.Parallel()
	for name, o := range new(Host).operations() {
		err := o.Do("1", `{"surprise": 1}`)
		if want := `the host does not know the argument "surprise"; rebuild it to match the plugin`; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func sources(t *testing.T, folder, end string) (list []string) {
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, end) {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// between replaces what a page has between two marks.
func between(t *testing.T, page, mark, text string) string {
	begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->"
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("docs/design.md has no %s", begin)
	}
	return before + begin + text + end + after
}

// border describes types for Lua.
type border struct {
	t       *testing.T
	lua     strings.Builder
	docs    map[string]map[string]documented // by package, by type
	classes map[reflect.Type]string          // of types that other types have
	later   []reflect.Type
}

// documented is a type with its comments.
type documented struct {
	text   string
	fields map[string]string
}

func (b *border) read(path string) string {
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil && !*update {
		b.t.Fatal(err)
	}
	return string(text)
}

func (b *border) is(path, want string) {
	if b.read(path) == want {
		return
	}
	if !*update {
		b.t.Errorf("%s is stale: go test ./plugin/host -run Border -update", path)
	} else if err := os.WriteFile(filepath.Join(root, path), []byte(want), 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// each calls f for the members of the JSON object that a struct is.
func each(typ reflect.Type, f func(name string, optional bool, in reflect.Type, field reflect.StructField)) {
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			each(field.Type, f)
		case name != "" && name != "-":
			f(name, options != "", typ, field)
		}
	}
}

func (b *border) members(typ reflect.Type) string {
	var list []string
	each(typ, func(name string, optional bool, _ reflect.Type, _ reflect.StructField) {
		if optional {
			name += "?"
		}
		list = append(list, name)
	})
	return "{" + strings.Join(list, ", ") + "}"
}

func (b *border) class(name string, typ reflect.Type) {
	if text := b.doc(typ); text != "" {
		fmt.Fprintf(&b.lua, "---%s\n", text)
	}
	fmt.Fprintf(&b.lua, "---@class %s\n", name)
	each(typ, func(name string, optional bool, in reflect.Type, field reflect.StructField) {
		if optional {
			name += "?"
		}
		fmt.Fprintf(&b.lua, "---@field %s %s", name, b.luaType(field.Type))
		if text := b.of(in).fields[field.Name]; text != "" {
			fmt.Fprintf(&b.lua, " # %s", text)
		}
		b.lua.WriteByte('\n')
	})
	b.lua.WriteByte('\n')
}

// rest writes the classes that others have named.
func (b *border) rest() {
	for len(b.later) > 0 {
		typ := b.later[0]
		b.later = b.later[1:]
		b.class(b.classes[typ], typ)
	}
}

var readsItself = reflect.TypeFor[json.Unmarshaler]()

func (b *border) luaType(typ reflect.Type) string {
	switch typ {
	case reflect.TypeFor[acp.Error]():
		return "hermes.acp.Error"
	case reflect.TypeFor[*wire.Object]():
		return "table<string, any>"
	case reflect.TypeFor[[][]byte]():
		return "string[]"
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return b.luaType(typ.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Map:
		return "table<string, " + b.luaType(typ.Elem()) + ">"
	}
	if reflect.PointerTo(typ).Implements(readsItself) || typ.Kind() == reflect.Interface {
		return "any"
	}
	switch typ.Kind() {
	case reflect.Slice:
		return b.luaType(typ.Elem()) + "[]"
	case reflect.Struct:
		if b.classes[typ] == "" {
			b.classes[typ] = "hermes.border." + camel(strings.TrimSuffix(typ.Name(), "JSON"))
			b.later = append(b.later, typ)
		}
		return b.classes[typ]
	}
	return "integer"
}

func camel(name string) string {
	var out strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '.' || r == '_' }) {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// doc is what a type is, as a sentence without its name.
func (b *border) doc(typ reflect.Type) string {
	text := strings.TrimPrefix(b.of(typ).text, typ.Name()+" ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "is "), "are ")
	if text == "" {
		return ""
	}
	return string(unicode.ToUpper(rune(text[0]))) + text[1:]
}

// of finds the comments of a type in its source.
func (b *border) of(typ reflect.Type) documented {
	folder, ours := strings.CutPrefix(typ.PkgPath(), "github.com/hermes-nvim/hermes/")
	if !ours {
		return documented{}
	}
	if b.docs[folder] == nil {
		b.docs[folder] = make(map[string]documented)
		files := token.NewFileSet()
		for _, path := range sources(b.t, filepath.Join(root, folder), ".go") {
			if filepath.Dir(path) != filepath.Join(root, folder) || strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				b.t.Fatal(err)
			}
			for _, d := range file.Decls {
				b.note(folder, d)
			}
		}
	}
	return b.docs[folder][typ.Name()]
}

func (b *border) note(folder string, d ast.Decl) {
	types, ok := d.(*ast.GenDecl)
	if !ok || types.Tok != token.TYPE {
		return
	}
	for _, s := range types.Specs {
		spec := s.(*ast.TypeSpec)
		fields := make(map[string]string)
		if st, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range st.Fields.List {
				for _, name := range f.Names {
					fields[name.Name] = strings.TrimPrefix(cmp.Or(oneLine(f.Comment), oneLine(f.Doc)), name.Name+" is ")
				}
			}
		}
		doc := spec.Doc
		if len(types.Specs) == 1 {
			doc = types.Doc
		}
		b.docs[folder][spec.Name.Name] = documented{oneLine(doc), fields}
	}
}

func oneLine(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
