package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/gen"
	"github.com/hermes-nvim/hermes/schema"
)

// everyday is what most versions of the protocol bring: a new value, variant and method,
// a rename, and a removal.
func everyday(t *testing.T, text string) string {
	t.Helper()
	for _, edit := range [][2]string{
		{`"ToolKind": {
      "oneOf": [`, `"ToolKind": {
      "oneOf": [
        { "type": "string", "const": "debug" },`},
		{`"SessionUpdate": {
      "oneOf": [`, `"SessionUpdate": {
      "oneOf": [
        { "type": "object", "properties": { "sessionUpdate": { "type": "string", "const": "weather_update" } },
          "required": ["sessionUpdate"], "allOf": [{ "$ref": "#/$defs/WeatherUpdate" }] },`},
		{`"ToolKind": {`, `"WeatherUpdate": { "type": "object", "required": ["sky"], "properties": { "sky": { "type": "string" } } },
    "PingRequest": { "type": "object", "x-side": "agent", "x-method": "session/ping", "required": ["sessionId"],
      "properties": { "sessionId": { "allOf": [{ "$ref": "#/$defs/SessionId" }] } } },
    "PingResponse": { "type": "object", "x-side": "agent", "x-method": "session/ping", "properties": {} },
    "ToolKind": {`},
		{`{ "title": "LogoutRequest", "allOf": [{ "$ref": "#/$defs/LogoutRequest" }] },`,
			`{ "title": "LogoutRequest", "allOf": [{ "$ref": "#/$defs/LogoutRequest" }] },
                { "title": "PingRequest", "allOf": [{ "$ref": "#/$defs/PingRequest" }] },`},
		{`"title": "InitializeResponse",
                  "allOf": [{ "$ref": "#/$defs/InitializeResponse" }]
                },`, `"title": "InitializeResponse",
                  "allOf": [{ "$ref": "#/$defs/InitializeResponse" }]
                },
                { "title": "PingResponse", "allOf": [{ "$ref": "#/$defs/PingResponse" }] },`},
	} {
		if !strings.Contains(text, edit[0]) {
			t.Fatalf("the schema has no %s", edit[0])
		}
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	return text
}

func TestAnEverydayUpdateAsksForItsRowsAndGoesThrough(t *testing.T) {
	t.Parallel()
	root := fakeRepository(t)
	pkg := fakePackage(t, "9.1.0", func(name, text string) string {
		if name == origin(schema.V1) {
			text = everyday(t, text)
		}
		return strings.ReplaceAll(text, "AvailableCommandInput", "CommandInput")
	})
	before := contents(t, root)

	// A strict member that does not exist, so that two files need an edit.
	quirks := filepath.Join(root, "schema", "overlay", "quirks.json")
	good := replaceIn(t, quirks, `"Diff.path"`, `"Diff.pth"`)
	_, err := specupdate(t, "-root", root, pkg)
	if err == nil {
		t.Fatal("rows are missing, but nothing was asked for")
	}
	for _, want := range []string{
		"nothing was written", "strict: Diff.pth",
		`updates: no row for sessionUpdate "weather_update": add "weather_update": {"name": "WeatherUpdate", "when": ""}`,
		`replies: no row for the reply to session/ping: add "session/ping": {"name": "SessionPing", "when": ""}`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error has no %s:\n%v", want, err)
		}
	}
	if err := os.WriteFile(quirks, good, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, text := range contents(t, root) {
		if before[name] != text {
			t.Errorf("%s was changed", name)
		}
	}

	// The rows of the error, pasted into their sections.
	rows := regexp.MustCompile(`(?m)^\s*(\w+): no row for .*: add (".*})$`).FindAllStringSubmatch(err.Error(), -1)
	for _, r := range rows {
		row := strings.Replace(r[2], `"when": ""`, `"when": "Something new happened."`, 1)
		replaceIn(t, filepath.Join(root, "schema", "overlay", "events.json"), `"`+r[1]+`": {`, `"`+r[1]+`": {`+"\n    "+row+",")
	}
	out, err := specupdate(t, "-root", root, pkg)
	if err != nil {
		t.Fatal(err)
	}
	if want := "moved the words of AvailableCommandInput to CommandInput"; !strings.Contains(out, want) {
		t.Errorf("the output has no %q:\n%s", want, out)
	}
	was, err := schema.ReadOverlay[schema.Sources](schema.Tree, schema.SourcesFile)
	if err != nil {
		t.Fatal(err)
	}
	report, err := os.ReadFile(filepath.Join(root, reportPath(was.Version, "9.1.0")))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- `method agent session/ping`: new request PingRequest -> PingResponse", "- `SessionUpdate variant weather_update`: new, WeatherUpdate",
		"- `ToolKind value debug`: new", `"WeatherUpdate": {"": "", "members": {"sky": ""}}`,
		"- `type AvailableCommandInput`: removed; CommandInput is new and has the same shape",
	} {
		if !strings.Contains(string(report), want) {
			t.Errorf("the report has no %s", want)
		}
	}
	files, err := gen.Files(root)
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range files {
		all.Write(f.Data)
	}
	for _, want := range []string{"ToolKindDebug", "type WeatherUpdate struct", "Ping(ctx context.Context, p *PingRequest) (*PingResponse, error)", "SessionPing", "session_ping"} {
		if !bytes.Contains(all.Bytes(), []byte(want)) {
			t.Errorf("nothing that is generated has %s", want)
		}
	}
}

// replaceIn changes a file and returns what it held.
func replaceIn(t *testing.T, name, old, with string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(old)) {
		t.Fatalf("%s has no %s", name, old)
	}
	if err := os.WriteFile(name, bytes.Replace(b, []byte(old), []byte(with), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	return b
}
