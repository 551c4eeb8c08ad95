package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// A caller without a connection is an error that says so.
func TestACallerWithoutAConnectionFails(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"session/update: the caller has no connection": Client{}.SessionUpdate(t.Context(), &SessionNotification{}),
		"session/cancel: the caller has no connection": Agent{}.Session("s").Cancel(t.Context()),
		"session/new: the caller has no connection":    second(Agent{}.NewSession(t.Context(), &NewSessionRequest{})),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A Protocol prints as what it is, such as the one that both sides agreed on.
func TestAProtocolPrintsItsVersion(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprint(V1); got != "version 1 (stable)" {
		t.Errorf("got %s", got)
	}
}

func second[T any](_ T, err error) error { return err }

func TestTheTextOfAnErrorHasItsCause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ message, data, want string }{
		{"Internal error", ``, "Internal error"},
		{"Internal error", `null`, "Internal error"},
		{"Internal error", `"out of credit"`, "Internal error: out of credit"},
		{"Internal error", `{"details":"out of credit"}`, "Internal error: out of credit"},
		{"Internal error", `{"message":"out of credit"}`, "Internal error: out of credit"},
		{"Internal error", `{"details":null,"message":"out of credit"}`, "Internal error: out of credit"},
		{"Internal error", `{"details":"","message":"out of credit"}`, "Internal error: out of credit"},
		{"Internal error", `{"details":{"status":402},"hint":"pay"}`, "Internal error"},
		{"Internal error", `[402]`, "Internal error"},
		{"out of credit (402)", `{"details":"out of credit"}`, "out of credit (402)"},
		{"out of credit", `"out of credit: pay"`, "out of credit: pay"},
		{"", `"out of credit"`, "out of credit"},
		{"", ``, "error -32603"},
		{"two\r\nlines\n", `"three\n\tfour"`, "two | lines: three |  four"},
		{"a\x1b[31m", `"b\u202ec\ud800\u0007"`, `a\x1b[31m: b\u202ec` + "\ufffd" + `\a`},
	} {
		e := &Error{Code: ErrorCodeInternalError, Message: c.message, Data: json.RawMessage(c.data)}
		if got := e.Error(); got != c.want {
			t.Errorf("%q, %s: %q, want %q", c.message, c.data, got, c.want)
		}
	}
}

func TestTheTextOfAnErrorIsOneShortPrintableLine(t *testing.T) {
	t.Parallel()
	for _, long := range []string{strings.Repeat("x", 1<<20), strings.Repeat("\x00", 1<<20), strings.Repeat("\U000e0041", 1<<20), strings.Repeat("\n ", 1<<20)} {
		data, err := json.Marshal(long)
		if err != nil {
			t.Fatal(err)
		}
		got := (&Error{Message: long + "1", Data: data}).Error()
		if len(got) > 3*maxShown || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%d bytes: %.40q", len(got), got)
		}
	}
}
