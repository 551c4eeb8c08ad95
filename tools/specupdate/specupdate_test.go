package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/schema"
)

// sdk is the published package of the test's dependencies, or empty.
func sdk(t *testing.T) string {
	t.Helper()
	agents := os.Getenv("HERMES_AGENTS")
	if agents == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("HERMES_AGENTS is not set: run make test")
		}
		t.Skip("HERMES_AGENTS is not set: make test compares with the published package")
	}
	return filepath.Join(agents, "node_modules", filepath.FromSlash(packageName))
}

// fakePackage writes an unpacked package with the schemas of this repository
// and returns its folder.
func fakePackage(t *testing.T, version string, edit func(name, text string) string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"package.json": `{"name": "` + packageName + `", "version": "` + version + `", "license": "Apache-2.0", "author": {"name": "Someone"}}`}
	for _, e := range schema.Editions {
		files[origin(e)] = string(e.Bytes())
	}
	for name, text := range files {
		if edit != nil {
			text = edit(name, text)
		}
		if text == "" {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fakeRepository copies schema/ to a new root, and what generating needs beside
// it.
func fakeRepository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "schema"), os.DirFS("../../schema")); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

// contents reads every file below root.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func specupdate(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, &out, &out)
	return out.String(), err
}

func TestTheTreeMatchesThePublishedPackage(t *testing.T) {
	t.Parallel()
	out, err := specupdate(t, "-root", "../..", "-check", sdk(t))
	if err != nil || !strings.Contains(out, "schema/ matches "+packageName+"@") {
		t.Errorf("%s%v", out, err)
	}
}

func TestProseOfThePublishedPackage(t *testing.T) {
	t.Parallel()
	p, err := openPackage(t.Context(), sdk(t))
	if err != nil {
		t.Fatal(err)
	}
	// One member for each wording of the prose, as a person reads it. All others that
	// are found must be in the tree.
	known := map[schema.Edition][]string{
		schema.V1:         {"SessionInfoUpdate.title", "SessionInfoUpdate.updatedAt"},
		schema.V2:         {"SessionInfoUpdate.title", "ToolCallUpdate.rawInput"},
		schema.V2Unstable: {"SessionInfoUpdate.title", "ToolCallUpdate.rawInput"},
	}
	patches, err := schema.ReadPatches(schema.Tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range schema.Editions {
		d, err := schema.Parse(string(e), p.originals[e])
		if err != nil {
			t.Fatal(err)
		}
		got := threeStates(d)
		for _, m := range known[e] {
			if !slices.Contains(got, m) {
				t.Errorf("%s: %s is not found: %v", e, m, got)
			}
		}
		if !slices.Equal(got, patches[e]) {
			t.Errorf("%s: found %v, the tree has %v", e, got, patches[e])
		}
	}
}

func TestThreeStatesAreFoundInTheProse(t *testing.T) {
	t.Parallel()
	d, err := schema.Parse("t.json", []byte(`{"$defs": {
		"Whole": {"description": "Other fields have patch semantics.", "properties": {
			"id": {"type": "string"}, "a": {"type": ["string", "null"]}, "b": {"anyOf": [{"$ref": "#/$defs/X"}, {"type": "null"}]},
			"any": {"description": "raw"}, "never": {"type": "string"}, "c": {"allOf": [{"$ref": "#/$defs/X"}]}}, "required": ["id"]},
		"Asked": {"description": "Omitted\nfields leave things alone.", "x-method": "m", "properties": {"a": {"type": ["string", "null"]}}},
		"Some": {"properties": {
			"a": {"type": ["string", "null"], "description": "The name. Set to null\nto clear."},
			"b": {"type": ["string", "null"], "description": "Omitted means unchanged."},
			"c": {"type": ["string", "null"], "description": "Omission leaves it."},
			"d": {"type": ["string", "null"], "description": "Omitted and null are equivalent."},
			"e": {"type": "string", "description": "Set to null to clear."}}},
		"X": {"type": "string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Some.a", "Some.b", "Some.c", "Whole.a", "Whole.any", "Whole.b"}
	if got := threeStates(d); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDefaultValuesAreFoundInTheProse(t *testing.T) {
	t.Parallel()
	parse := func(second string) *schema.Document {
		d, err := schema.Parse("t.json", []byte(`{"$defs": {"E": {"oneOf": [
			{"const": "a", "type": "string", "description": "Other things (default)."},
			{"const": "b", "type": "string", "description": "`+second+`"}]}}}`))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if got, err := defaultValues(parse("The default is a.")); err != nil || got["E"] != "a" || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := defaultValues(parse("This is the default.")); err == nil || !strings.Contains(err.Error(), `"a" and "b"`) {
		t.Errorf("two defaults: %v", err)
	}
}

func TestPagesAreFoundInTheProse(t *testing.T) {
	t.Parallel()
	d, err := schema.Parse("t.json", []byte(`{"$defs": {
		"A": {"type": "string", "description": "See [Meta](https://agentclientprotocol.com/protocol/v1/extensibility) and\n[A](https://agentclientprotocol.com/protocol/v1/a#b-c)."},
		"B": {"type": "string", "description": "See https://agentclientprotocol.com/rfds/b and https://agentclientprotocol.com/rfds/c"},
		"C": {"type": "string", "description": "See https://example.com/protocol/v1/c"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"A": "protocol/v1/a#b-c", "B": "rfds/b"}
	if got := pagesOf(d); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestUpdateWritesTheTreeAndAReport(t *testing.T) {
	t.Parallel()
	root := fakeRepository(t)
	pkg := fakePackage(t, "9.0.0", func(name, text string) string {
		if name == "schema/v1/schema.json" {
			text = strings.Replace(text, `"$defs": {`, `"$defs": { "Brand": {"type": "string", "description": "secret prose"},`, 1)
		}
		return text
	})
	out, err := specupdate(t, "-root", root, pkg)
	if err != nil {
		t.Fatal(err)
	}
	// The fake package has no prose, so every member with three states loses one
	// and every enum its default value.
	patches, err := schema.ReadPatches(schema.Tree)
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := schema.ReadDefaults(schema.Tree)
	if err != nil {
		t.Fatal(err)
	}
	lost := fmt.Sprintf("| v1 | %d | 0 | 0 | 1 |", len(patches.Of(schema.V1))+len(defaults[schema.V1]))
	for _, want := range []string{lost, "wrote docs/spec-changes/", "go generate ./..."} {
		if !strings.Contains(out, want) {
			t.Errorf("output has no %q:\n%s", want, out)
		}
	}
	prev, err := schema.ReadOverlay[schema.Sources](schema.Tree, schema.SourcesFile)
	if err != nil {
		t.Fatal(err)
	}
	report, err := os.ReadFile(filepath.Join(root, reportPath(prev.Version, "9.0.0")))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"- `type Brand`: new, string newtype", "new and without words\n", "\"Brand\": {\"\": \"\"}\n"} {
		if !strings.Contains(string(report), want) {
			t.Errorf("report has no %q:\n%s", want, report)
		}
	}
	for name, text := range contents(t, root) {
		if strings.Contains(text, "secret prose") {
			t.Errorf("%s has upstream's prose", name)
		}
	}
	if out, err := specupdate(t, "-root", root, "-check", pkg); err != nil {
		t.Errorf("check after update: %s%v", out, err)
	}
	if out, err := specupdate(t, "-root", root, pkg); err != nil || !strings.Contains(out, "already matches") {
		t.Errorf("second update: %s%v", out, err)
	}
}

func TestABrokenPackageLeavesTheTreeUntouched(t *testing.T) {
	t.Parallel()
	root := fakeRepository(t)
	before := contents(t, root)
	last := origin(schema.V2Unstable)
	for name, c := range map[string]struct {
		edit func(name, text string) string
		want string
	}{
		"a missing schema": {func(n, s string) string {
			if n == last {
				return ""
			}
			return s
		}, last + ": no such file or directory: the package has moved its schemas"},
		"a cut schema": {func(n, s string) string {
			if n == last {
				return s[:len(s)/2]
			}
			return s
		}, "unexpected EOF"},
		"a new keyword": {func(n, s string) string {
			if n == last {
				return strings.Replace(s, `"type": "string"`, `"type": "string", "maxLength": 3`, 1)
			}
			return s
		}, `unknown keyword "maxLength": decide what it means, then add it to schema/keywords.go`},
		"a new shape": {func(n, s string) string {
			if n == last {
				return strings.Replace(s, `"$defs": {`, `"$defs": { "Pair": {"type": "array", "items": {"type": "string"}},`, 1)
			}
			return s
		}, "Pair"},
		"another package": {func(n, s string) string { return strings.Replace(s, packageName, "left-pad", 1) }, `name is "left-pad"`},
		"another licence": {func(n, s string) string { return strings.Replace(s, "Apache-2.0", "MIT", 1) }, `license is "MIT", was Apache-2.0`},
		"no package.json": {func(n, s string) string {
			if n == "package.json" {
				return ""
			}
			return s
		}, "want an unpacked npm package"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := specupdate(t, "-root", root, fakePackage(t, "9.0.0", c.edit))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q\n%s", err, c.want, out)
			}
			if after := contents(t, root); !maps.Equal(before, after) {
				t.Errorf("the tree has changed: %v", slices.Sorted(maps.Keys(after)))
			}
		})
	}
}

func TestAFailedWriteIsUndone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	// c cannot be replaced: it is a folder with something in it.
	if err := os.MkdirAll(filepath.Join(root, "c", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := replace(root, map[string][]byte{"a": []byte("new"), "b": []byte("new"), "c": []byte("new")}); err == nil {
		t.Fatal("no error")
	}
	// d cannot be staged: its folder is a file.
	if _, err := replace(root, map[string][]byte{"a": []byte("new"), "a/d": []byte("new")}); err == nil {
		t.Fatal("no error")
	}
	if got := contents(t, root); len(got) != 1 || got[filepath.Join(root, "a")] != "old" {
		t.Errorf("left behind: %v", got)
	}
}

func TestRestoreUndoesMoves(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"was", "new"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("moved"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := restore(root, []string{"was", "new"}, map[string][]byte{"was": []byte("old"), "new": nil}); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, root); len(got) != 1 || got[filepath.Join(root, "was")] != "old" {
		t.Errorf("got %v", got)
	}
}

func TestCheckNamesWhatDiffers(t *testing.T) {
	t.Parallel()
	root := fakeRepository(t)
	path := filepath.Join(root, "schema", "v2", "schema.json")
	if err := os.WriteFile(path, bytes.Replace(schema.V2.Bytes(), []byte(`"2.0"`), []byte(`"2.1"`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "schema", "prose.json")); err != nil {
		t.Fatal(err)
	}
	_, err := specupdate(t, "-root", root, "-check", fakePackage(t, "2.4.0", nil))
	for _, want := range []string{"run specupdate 2.4.0", "schema/v2/schema.json: differs at line", "2.1", "schema/prose.json: missing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error has no %q: %v", want, err)
		}
	}
}

func TestReportFromAFolderOfSchemas(t *testing.T) {
	t.Parallel()
	root := fakeRepository(t)
	old := filepath.Join(root, "schema")
	out, err := specupdate(t, "-root", root, "-report", "before="+old)
	if err != nil || !strings.Contains(out, "before-to-") {
		t.Errorf("%s%v", out, err)
	}
	if _, err := specupdate(t, "-root", root, "before="+old); err == nil || !strings.Contains(err.Error(), "an update needs a published package") {
		t.Errorf("update from a folder of schemas: %v", err)
	}
}

func TestErrorsOfWrongArgumentsSayWhatIsWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{}, "help requested"},
		{[]string{"-check", "a", "b"}, "help requested"},
		{[]string{"-check", "-report", "a"}, "help requested"},
		{[]string{"-report"}, "help requested"},
		{[]string{"-root", "../..", "newest"}, "newest: neither a folder nor a version like 2.4.0"},
		{[]string{"-root", "../..", "-report", "../x=."}, "the label becomes part of a file name"},
		{[]string{"-root", "../..", "-report", "x=."}, "want a folder with the schemas of all editions"},
		{[]string{"-root", t.TempDir(), "2.4.0"}, "run this at the root of the repository"},
	} {
		if _, err := specupdate(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want an error with %q", c.args, err, c.want)
		}
	}
}

func TestWithoutNpmTheErrorSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := specupdate(t, "-root", "../..", "2.4.0")
	if err == nil || !strings.Contains(err.Error(), "npm is not installed: install Node.js, or give specupdate the folder") {
		t.Errorf("got %v", err)
	}
}

func TestAFailingNpmIsQuoted(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\necho 'npm error code ENOTFOUND' >&2\nexit 1\n"
	if err := gobuild.Write(filepath.Join(bin, "npm"), script); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	_, err := specupdate(t, "-root", "../..", "-check")
	for _, want := range []string{"npm error code ENOTFOUND", "is this machine online"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error has no %q: %v", want, err)
		}
	}
}

func TestArchiveIsUnpackedBelowItsFolder(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{"package/package.json": "{}", "package/schema/v1/schema.json": "[]", "package/x.js": "x"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := unpack(bytes.NewReader(b.Bytes()))
	if err != nil || len(files) != 2 || string(files["schema/v1/schema.json"]) != "[]" {
		t.Errorf("got %v, %v", files, err)
	}
	if _, err := unpack(bytes.NewReader(b.Bytes()[:b.Len()/2])); err == nil {
		t.Error("a cut archive: no error")
	}
	if _, err := unpack(strings.NewReader("not an archive")); err == nil {
		t.Error("no archive: no error")
	}
}

func TestAuthorInBothForms(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{`"Zed"`: "Zed", `{"name": "Zed", "url": "x"}`: "Zed", `3`: ""} {
		if got := author(json.RawMessage(in)); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}
