package jtree

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/jx"
)

func parse(t testing.TB, text string) (*Tree, Value) {
	t.Helper()
	var tree Tree
	if err := tree.Parse([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return &tree, tree.Root()
}

func TestEveryValueHasItsPointerAndText(t *testing.T) {
	t.Parallel()
	_, root := parse(t, ` {"a" : [ 1, {"b/c":true,"d~":null} ,"x"], "":{}, "\u0065":-1.5e3 , "s":"q\"\u00e9"} `)
	var got []string
	for v := range root.Below() {
		got = append(got, v.Pointer()+" "+v.Kind().String()+" "+string(v.Text()))
	}
	want := []string{
		` object {"a" : [ 1, {"b/c":true,"d~":null} ,"x"], "":{}, "\u0065":-1.5e3 , "s":"q\"\u00e9"}`,
		`/a array [ 1, {"b/c":true,"d~":null} ,"x"]`,
		`/a/0 number 1`,
		`/a/1 object {"b/c":true,"d~":null}`,
		`/a/1/b~1c boolean true`,
		`/a/1/d~0 null null`,
		`/a/2 string "x"`,
		`/ object {}`,
		`/e number -1.5e3`,
		`/s string "q\"\u00e9"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := root.Get("s").Str(); got != `q"é` {
		t.Errorf("the string is %q", got)
	}
	if n, ok := root.Get("e").Int(); n != -1500 || !ok {
		t.Errorf("the integer is %d, %v", n, ok)
	}
	if root.Get("a", "b").Exists() || root.Get("e", "x").Exists() || (Value{}).Get("a").Exists() {
		t.Error("something is there that is not")
	}
	if n := root.Get("a").Len(); n != 3 {
		t.Errorf("the list has %d elements", n)
	}
	if n := root.Len(); n != 4 {
		t.Errorf("the object has %d members", n)
	}
}

func TestDuplicateMembersAreFoundHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf(`"m%d":0`, i)
	}
	for text, want := range map[string]string{
		`{"a":1,"b":2}`:                              "",
		`{"a":1,"a":2}`:                              "/a=2",
		`{"a":1,"\u0061":2}`:                         "/a=2",
		`{"x":[{"a":{},"b":1,"a":[]}]}`:              "/x/0/a=[]",
		`{` + strings.Join(many, ",") + `}`:          "",
		`{` + strings.Join(many, ",") + `,"m7":[7]}`: "/m7=[7]",
		`{"a":{"a":1},"b":{"a":1}}`:                  "",
	} {
		tree, _ := parse(t, text)
		var got []string
		for _, v := range tree.Duplicates() {
			got = append(got, v.Pointer()+"="+string(v.Text()))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestTextThatIsNotOneValueIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"a"}`, `{"a":1,}`, `[1 2]`, `{}{}`, "\"\xff\"", `nul`, `{"":"","":[12345678901234567890]`, strings.Repeat("[", 600) + strings.Repeat("]", 600)} {
		var tree Tree
		err := tree.Parse([]byte(text))
		var why *jx.Error
		if !errors.As(err, &why) {
			t.Errorf("%.20q: the error is %v", text, err)
		}
		if tree.Root().Exists() || tree.Depth() > 0 || tree.Odd() || tree.Duplicates() != nil {
			t.Errorf("%.20q: something is left in the tree", text)
		}
	}
}

func TestMemoryOfATreeIsBounded(t *testing.T) {
	t.Parallel()
	var tree Tree
	text := []byte("[" + strings.Repeat("0,", MaxValues) + "0]")
	if err := tree.Parse(text); !errors.Is(err, ErrValues) {
		t.Fatalf("the error is %v", err)
	}
	if n := cap(tree.nodes); n > 2*MaxValues {
		t.Errorf("room for %d nodes", n)
	}
	if err := tree.Parse([]byte("1")); err != nil || cap(tree.nodes) > 64<<10 {
		t.Errorf("afterwards %v, room for %d nodes", err, cap(tree.nodes))
	}
}

// FuzzTree compares trees with encoding/json.
func FuzzTree(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":"\u00e9"}],"a":null}`, `[[],{}]`, `"x"`, " 1 ", `{"a`, "\"\xc3\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var tree Tree
		if tree.Parse([]byte(text)) != nil {
			return
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("%q is not JSON", text)
		}
		for v := range tree.Root().Below() {
			if !json.Valid(v.Text()) {
				t.Errorf("%q: %s is %q", text, v.Pointer(), v.Text())
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	files, _ := filepath.Glob("../../acp/testdata/traffic.jsonl")
	var lines [][]byte
	size := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			lines = append(lines, []byte(strings.TrimSpace(line)))
			size += len(line)
		}
	}
	if size == 0 {
		lines = [][]byte{[]byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello from the model. Streaming works."}}}}`)}
		size = len(lines[0])
	}
	var tree Tree
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, line := range lines {
			_ = tree.Parse(line)
		}
	}
}
