package calls

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/history"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// looks records the calls of its methods.
type looks struct{ done []string }

func (l *looks) Expect(paths ...string) {
	for _, p := range paths {
		l.done = append(l.done, "expect "+filepath.Base(p))
	}
}

func (l *looks) Look(a review.Author, told ...project.Told) {
	for _, f := range told {
		l.done = append(l.done, fmt.Sprintf("look %s %s %v", filepath.Base(f.Path), a.ToolCall, a.Inferred))
	}
}

func (l *looks) Scan(a review.Author) { l.done = append(l.done, "scan "+a.ToolCall) }

func TestAToolCallIsAReasonToLook(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	ws, err := files.Open([]string{dir}, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	in, out, link := filepath.Join(dir, "in"), filepath.Join(elsewhere, "out"), filepath.Join(dir, "link")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	diff := func(path string) string { return `"content":[{"type":"diff","path":"` + path + `","newText":"x"}]` }
	at := func(path string) string { return `"locations":[{"path":"` + path + `"}]` }
	over := func(rest string) string { return `"status":"completed"` + rest }
	for name, c := range map[string]struct {
		begins string
		then   []string
		want   []string
	}{
		"a command":                       {`"kind":"execute"`, []string{over("")}, []string{"scan c"}},
		"one of another kind":             {`"kind":"other"`, []string{over("")}, []string{"scan c"}},
		"one without a kind":              {`"status":"pending"`, []string{over("")}, []string{"scan c"}},
		"a command that fails":            {`"kind":"execute"`, []string{`"status":"failed"`}, []string{"scan c"}},
		"a command that names a file":     {`"kind":"execute",` + at(in), []string{over("")}, []string{"scan c"}},
		"a search":                        {`"kind":"search",` + at(in), []string{over("")}, nil},
		"an edit":                         {`"kind":"edit",` + at(in), []string{over("")}, []string{"expect in", "look in c false"}},
		"a deletion":                      {`"kind":"delete",` + at(in), []string{over("")}, []string{"expect in", "look in c false"}},
		"a move":                          {`"kind":"move",` + at(in), []string{over("")}, []string{"expect in", "look in c false"}},
		"a diff of any kind":              {`"kind":"think",` + diff(in), []string{over("")}, []string{"expect in", "look in c false"}},
		"a file that is named later":      {`"kind":"edit"`, []string{at(in), over("")}, []string{"expect in", "look in c false"}},
		"a file that is named at the end": {`"kind":"edit"`, []string{over("," + at(in))}, []string{"look in c false"}},
		"news of another thing":           {`"kind":"edit",` + at(in), []string{`"rawInput":{}`, over("")}, []string{"expect in", "look in c false"}},
		"the end, twice":                  {`"kind":"execute"`, []string{over(""), over("")}, []string{"scan c"}},
		"a file elsewhere":                {`"kind":"edit",` + at(out), []string{over("")}, nil},
		"a link to elsewhere":             {`"kind":"edit",` + at(filepath.Join(link, "out")), []string{over("")}, nil},
		"a diff elsewhere":                {`"kind":"edit",` + diff(out), []string{over("")}, nil},
		"a path that is not absolute":     {`"kind":"edit",` + at("in"), []string{over("")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls Calls
			var got looks
			state := history.New("s", history.Limits{})
			for i, members := range slices.Concat([]string{c.begins}, c.then) {
				kind := "tool_call"
				if i > 0 {
					kind = "tool_call_update"
				}
				u := update(t, fmt.Sprintf(`{"sessionUpdate":"%s","toolCallId":"c","title":"t",%s}`, kind, members))
				state.Apply(u)
				id, begins := Subject(u)
				if n := calls.Seen(state.ToolCall(id), begins); n != nil {
					n.Tell(&got, review.Author{Inferred: true}, ws)
				}
			}
			if !slices.Equal(got.done, c.want) {
				t.Errorf("%q, not %q", got.done, c.want)
			}
		})
	}
}

func update(t *testing.T, text string) acp.SessionUpdate {
	t.Helper()
	var n acp.SessionNotification
	if err := n.UnmarshalJSON([]byte(`{"sessionId":"s","update":` + text + `}`)); err != nil {
		t.Fatal(err)
	}
	return n.Update
}

func TestAFileIsOfTheToolCallThatIsAboutToChangeIt(t *testing.T) {
	t.Parallel()
	var calls Calls
	see := func(id acp.ToolCallID, status acp.ToolCallStatus, begins bool) {
		calls.Seen(&history.ToolCall{ToolCall: acp.ToolCall{
			ToolCallID: id, Kind: acp.Some(acp.ToolKindEdit), Status: acp.Some(status), Locations: []acp.ToolCallLocation{{Path: "/d/x/../f"}},
		}}, begins)
	}
	is := func(want acp.ToolCallID) {
		t.Helper()
		if got := calls.About("/d/f"); got != want {
			t.Errorf("it is of %q, not %q", got, want)
		}
	}
	is("")
	see("a", acp.ToolCallStatusPending, true)
	is("a")
	see("b", acp.ToolCallStatusPending, true)
	is("b")
	see("a", acp.ToolCallStatusCompleted, false)
	is("b")
	see("b", acp.ToolCallStatusFailed, false)
	is("")
	see("a", acp.ToolCallStatusPending, true) // the id is used again
	is("a")
	calls.Reset()
	is("")
}

func TestAFloodOfToolCallsIsBounded(t *testing.T) {
	t.Parallel()
	var calls Calls
	news := 0
	for i := range 3 * maxCalls {
		if calls.Seen(&history.ToolCall{ToolCall: acp.ToolCall{ToolCallID: acp.ToolCallID(fmt.Sprint(i))}}, true) != nil {
			news++
		}
	}
	if news != maxCalls || len(calls.seen) != maxCalls {
		t.Errorf("%d news, %d kept", news, len(calls.seen))
	}
	call := &history.ToolCall{ToolCall: acp.ToolCall{ToolCallID: "x", Kind: acp.Some(acp.ToolKindEdit)}}
	for i := range 3 * maxFiles {
		call.Locations = append(call.Locations, acp.ToolCallLocation{Path: fmt.Sprint("/f", i)})
	}
	calls.Reset()
	if n := calls.Seen(call, true); n == nil || len(n.files) != maxFiles {
		t.Errorf("%+v", n)
	}
}
