package httpstream

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

func TestSilenceIsNoticedWhereThereWereSigns(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	for _, test := range []struct {
		name  string
		does  []string // "comment", "data", "take" a message for a time, or "wait"
		times []time.Duration
		after time.Duration // the silence is noticed; 0: never
	}{
		{"no comments", []string{"data", "wait"}, []time.Duration{0, 100 * minute}, 0},
		{"comments", []string{"comment", "wait"}, []time.Duration{15 * time.Second, minute - 1}, 0},
		{"silence", []string{"comment", "wait"}, []time.Duration{15 * time.Second, 100 * minute}, 15*time.Second + minute},
		{"messages are signs", []string{"comment", "data", "wait"}, []time.Duration{0, 59 * time.Second, minute - 1}, 0},
		{"rare comments", []string{"comment", "wait"}, []time.Duration{10 * minute, 40*minute - 1}, 0},
		{"no more rare comments", []string{"comment", "wait"}, []time.Duration{10 * minute, 100 * minute}, 50 * minute},
		{"a message takes its time", []string{"comment", "take", "wait"}, []time.Duration{0, 100 * minute, minute - 1}, 0},
		{"silence after a message", []string{"comment", "take", "wait"}, []time.Duration{0, 100 * minute, 2 * minute}, 101 * minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, silent := time.Now(), time.Duration(0)
			l := &life{least: minSilence, silent: func() { silent = time.Since(began) }}
			l.listen()
			for i, what := range test.does {
				if what == "take" {
					l.stop()
				}
				time.Sleep(test.times[i])
				switch what {
				case "take":
					l.listen()
				case "comment", "data":
					l.heard(what == "comment")
				}
			}
			synctest.Wait()
			l.stop()
			if silent != test.after {
				t.Errorf("%s: noticed after %v, want %v", test.name, silent, test.after)
			}
		})
	}
}

// A stream whose server has fallen silent is opened again.
func TestASilentStreamIsOpenedAgain(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Acp-Connection-Id", "c")
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if opened.Add(1) == 1 {
			io.WriteString(w, ":\n\nid: 7\ndata: {}\n\n")
		} else {
			fmt.Fprintf(w, "id: 8\ndata: {\"after\":%q}\n\n", r.Header.Get("Last-Event-Id"))
		}
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	tr, err := Dial(server.URL, access.Client{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	tr.(*client).silence = 100 * time.Millisecond
	if err := tr.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 3)
	go func() {
		for {
			msg, err := tr.Read(nil)
			if err != nil {
				return
			}
			got <- string(msg)
		}
	}()
	all := ""
	for range 3 {
		all += patience.Value(t, "message", got)
	}
	for _, want := range []string{`"result"`, `{}`, `{"after":"7"}`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
}
