package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// The limits are for all captures of a page, so those before count.
func TestTheSizeOfAPageIsBounded(t *testing.T) {
	t.Parallel()
	text := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("word ", 150) + `"}}}}`)
	for _, c := range []struct {
		name       string
		used       Recorder
		rows, long int // rows that are kept, and how many of them are not cut
	}{
		{"nothing", Recorder{}, 300, 300},
		{"many lines", Recorder{rows: maxRows - 100}, 100, 100},
		{"all lines", Recorder{rows: maxRows}, 0, 0},
		{"much text", Recorder{text: maxTexts - 10*len(text)}, 300, 10},
		{"both", Recorder{rows: maxRows - 100, text: maxTexts}, 100, 0},
	} {
		v := c.used.Conversation()
		l := lint.New(lint.Options{Rules: []*lint.Rule{}, Watch: v.Watch})
		for i := range 300 {
			l.Add(lint.Record{From: lint.Agent, Bytes: text, Line: i + 1})
		}
		long := 0
		for _, r := range v.Rows {
			if r.Left == 0 {
				long++
			} else if r.Left != len(text)-shortText || len(r.Text) > 2*shortText {
				t.Errorf("%s: a row has %d bytes and counts %d", c.name, len(r.Text), r.Left)
			}
		}
		if len(v.Rows) != c.rows || v.Dropped != 300-c.rows || long != c.long {
			t.Errorf("%s: %d rows, %d of them whole, %d dropped", c.name, len(v.Rows), long, v.Dropped)
		}
		var out bytes.Buffer
		if err := HTML(&out, Sum([]File{{Name: "a", Report: l.Report(), Conversation: v}}, lint.Error)); err != nil {
			t.Fatal(err)
		}
		if c.used.rows > maxRows || c.used.text > maxTexts+len(text)+300*2*shortText {
			t.Errorf("%s: %+v were used", c.name, c.used)
		}
	}
}
