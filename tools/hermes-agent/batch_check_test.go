//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/test/llm"
)

func TestABatchChecksWhatTheAgentDidAndKeepsThePatch(t *testing.T) {
	server, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	dir := scene(t, server.URL+"/v1", map[string]string{
		"p/a.txt": "one\ntwo\n", "p/old.txt": "x\n", "p/.git/HEAD": "x", "p/run.sh": "#!/bin/sh\necho hi\n", "pixel.png": "\x89PNG\r\n\x1a\n",
		"d.jsonl": `{"id":"good","prompt":"CALL edit {\"path\":\"a.txt\",\"old\":\"two\",\"new\":\"2\"}\nCALL write {\"path\":\"n/b.txt\",\"content\":\"new\\n\"}\nCALL terminal {\"command\":\"rm old.txt\"}","dir":"p","label":5}
{"id":"bad","prompt":"SAY nothing","dir":"p"}
{"id":"own","prompt":"SAY nothing","dir":"p","check":"test -x run.sh && test -L link && test ! -e fifo"}
{"id":"seen","prompt":"SAY nothing","image":"pixel.png","check":"true"}
`,
	})
	project := filepath.Join(dir, "p")
	if err := errors.Join(os.Chmod(filepath.Join(project, "run.sh"), 0o555), os.Symlink("a.txt", filepath.Join(project, "link")), syscall.Mkfifo(filepath.Join(project, "fifo"), 0o600)); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	left := filepath.Join(os.TempDir(), workPrefix(out)+"dead")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := play(t, "", "batch", "--dataset", filepath.Join(dir, "d.jsonl"), "--out", out, "--check", "grep -q 2 a.txt", "--samples", "2", "--distribution", "core")
	if err != nil || !strings.Contains(text, "8 prompts: 8 completed, 0 failed, 6 of 8 checks passed, ") || !strings.Contains(text, "[--------------------] 0/8\n") {
		t.Errorf("%v: %s", err, text)
	}
	want := "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n--- /dev/null\n+++ b/n/b.txt\n@@ -0,0 +1 @@\n+new\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
	for i, r := range records(t, filepath.Join(out, "trajectories.jsonl")) {
		passed, patched := r.ID != "bad", ""
		if r.ID == "good" {
			patched = want
		}
		if r.Check == nil || r.Check.Passed != passed || r.Patch != patched || r.Sample != i%2 || r.Model != "scripted" || r.Requests == 0 || r.Tokens.Input == 0 || (r.ID == "good") != (string(r.Row) == `{"label":5}`) {
			t.Errorf("%+v", r)
		}
		if seen := strings.Contains(r.Conversations[1].Value, "[image]"); seen != (r.ID == "seen") {
			t.Errorf("%s: a picture: %v", r.ID, seen)
		}
	}
	if names, _ := os.ReadDir(os.TempDir()); len(names) > 0 {
		t.Errorf("folders are left: %v", names)
	}
}
