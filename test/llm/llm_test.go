package llm

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestATurnContinuesAfterTheCallsItMade(t *testing.T) {
	t.Parallel()
	const script = "SAY one\nCALL read {\"a\":1}\nSAY two\nCALL write {}\nSAY three"
	for _, test := range []struct {
		made []event
		want string
	}{
		{nil, `SAY one, CALL read {"a":1}`},
		{[]event{{"call", canonical("read", []byte(`{ "a" : 1 }`))}, {"result", "r1"}}, "SAY two, CALL write {}"},
		{[]event{{"call", `read {"a":1}`}, {"result", "r1"}, {"call", "write {}"}, {"result", "r2"}}, "SAY three, SAY Done. r2"},
	} {
		conversation := append([]event{{"user", "context"}, {"user", script}}, test.made...)
		var got []string
		for _, s := range turn(conversation, 1) {
			got = append(got, s.word+" "+s.arg)
		}
		if g := strings.Join(got, ", "); g != test.want {
			t.Errorf("after %v: got %s, want %s", test.made, g, test.want)
		}
	}
}

func TestServerStreamsEveryShape(t *testing.T) {
	t.Parallel()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"m","stream":true,"tools":[{}],"messages":[{"role":"user","content":"SAY hello"}]}`,
		"/v1/messages":         `{"model":"m","stream":true,"tools":[{}],"messages":[{"role":"user","content":[{"type":"text","text":"SAY hello"}]}]}`,
		"/v1beta/models/m:streamGenerateContent?alt=sse": `{"tools":[{}],"contents":[{"role":"user","parts":[{"text":"SAY hello"}]}]}`,
	} {
		r, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if !strings.Contains(string(b), `"text":"hello"`) && !strings.Contains(string(b), `"content":"hello"`) {
			t.Errorf("%s: no text in %s", path, b)
		}
	}
}
