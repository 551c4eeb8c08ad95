package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

func TestAWriteKeepsTheLineEndingsOfTheFile(t *testing.T) {
	t.Parallel()
	for _, client := range []bool{true, false} {
		e := newEditor(t)
		if !client {
			e.can = func(c *acp.ClientCapabilities) { c.Fs = nil }
		}
		e.start()
		id := e.open()
		for _, test := range []struct{ name, old, content, want string }{
			{"unix", "a\nb\n", "a\nc\n", "a\nc\n"},
			{"windows", "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"},
			{"windows from windows", "a\r\n", "b\r\nc\r\n", "b\r\nc\r\n"},
			{"windows from both", "a\r\n", "b\nc\r\n", "b\r\nc\r\n"},
			{"unix from windows", "a\n", "b\r\nc\r\n", "b\nc\n"},
			{"no final newline", "a\r\nb", "a\nc", "a\r\nc"},
			{"a final newline is added", "a\r\nb", "a\nb\n", "a\r\nb\r\n"},
			{"a final newline is removed", "a\r\nb\r\n", "a\nb", "a\r\nb"},
			{"mixed", "a\r\nb\nc\n", "a\r\nb\nd\n", "a\r\nb\nd\n"},
			{"mixed becomes unix", "a\r\nb\n", "a\nb\n", "a\nb\n"},
			{"one line", "a", "b\r\nc\n", "b\r\nc\n"},
			{"empty", "", "a\r\nb\n", "a\r\nb\n"},
			{"new", "-", "a\r\nb\n", "a\r\nb\n"},
			{"to nothing", "a\r\n", "", ""},
		} {
			if test.old != "-" {
				e.file(test.name, test.old)
			}
			arguments, err := json.Marshal(map[string]string{"path": test.name, "content": test.content})
			if err != nil {
				t.Fatal(err)
			}
			shown := e.play(id, "CALL write "+string(arguments), acp.StopReasonEndTurn)
			if got := e.content(test.name); got != test.want {
				t.Errorf("%s: the file has %q, want %q", test.name, got, test.want)
			}
			diff, err := json.Marshal(test.want)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(shown, " "+string(diff)) {
				t.Errorf("%s: the diff is not that of the file:\n%s", test.name, shown)
			}
			if told := strings.Contains(shown, "with the line endings that the file had"); told != (test.want != test.content) {
				t.Errorf("%s: the model is told: %v\n%s", test.name, told, shown)
			}
		}
	}
}

// What clients say about a file that there is not: the code of the protocol, or that of an
// internal error with the words of their system, or with no words at all.
func TestNewFilesAreMadeThroughEveryClient(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]*acp.Error{
		"the protocol": {Code: acp.ErrorCodeResourceNotFound, Message: "Resource not found"}, "older acpx": {Code: acp.ErrorCodeInternalError, Message: "Internal error: ENOENT"},
		"the SDK with a plain handler": {Code: acp.ErrorCodeInternalError, Message: "Internal error", Data: []byte(`{"details":"ENOENT: no such file or directory, open '/x'"}`)},
		"no words":                     {Code: acp.ErrorCodeInternalError, Message: "Internal error"},
	} {
		e := newEditor(t)
		e.refuse = refuse
		e.start()
		id := e.open()
		shown := e.play(id, `CALL write {"path":"new.txt","content":"x"}`, acp.StopReasonEndTurn)
		if got := e.content("new.txt"); got != "x" {
			t.Errorf("%s: the file has %q\n%s", name, got, shown)
		}
		e.file("old.txt", "kept")
		e.play(id, `CALL write {"path":"old.txt","content":"y"}`, acp.StopReasonEndTurn)
		if got := e.content("old.txt"); got != "kept" && name != "the protocol" {
			t.Errorf("%s: a file that the client cannot read has %q", name, got)
		}
	}
}
