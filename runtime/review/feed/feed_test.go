package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

const hashOfA = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"

func ptr[T any](v T) *T { return &v }

func notification(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

func TestReportsAreReadFromTheirMessages(t *testing.T) {
	t.Parallel()
	a, err := store.ParseHash(hashOfA)
	if err != nil {
		t.Fatal(err)
	}
	socketed := review.Author{Source: "socket"}
	for line, want := range map[string]Report{
		notification("fs/write_text_file", `{"path":"/w/a","content":"a"}`):                     {Kind: Write, Path: "/w/a", Phase: Post, Author: socketed, After: &Version{Hash: a, Size: 1, Text: ptr("a")}},
		notification("fs/write_text_file", `{"path":"/w/./b/../a"}`):                            {Kind: Write, Path: "/w/a", Phase: Post, Author: socketed},
		notification("fs/write_text_file", `{"path":"/w/a\nb\u001b\"'$(x)"}`):                   {Kind: Write, Path: "/w/a\nb\x1b\"'$(x)", Phase: Post, Author: socketed},
		notification("fs/remove", `{"path":"/a","unknown":[{}],"_meta":{"other":{"phase":1}}}`): {Kind: Remove, Path: "/a", Phase: Post, Author: socketed},
		notification("fs/rename", `{"oldPath":"/a","newPath":"/b"}`):                            {Kind: Rename, Path: "/b", From: "/a", Phase: Post, Author: socketed},
		notification("fs/read_text_file", `{"path":"/a","sessionId":"s"}`):                      {Kind: Read, Path: "/a", Phase: Post, Author: review.Author{Source: "socket", Session: "s"}},
		notification("fs/write_text_file", `{"path":"/a","_meta":{"hermes":{"phase":"pre","source":"hook","fidelity":"inferred","agent":"claude","sessionId":"s","turnId":"t","toolCallId":"c","pid":7,"producer":"p","seq":3,"before":{"exists":false},"after":{"hash":"`+hashOfA+`","size":1,"mode":"755"}}}}`): {
			Kind: Write, Path: "/a", Phase: Pre, Agent: "claude", PID: 7, Producer: "p", Seq: 3,
			Author: review.Author{Session: "s", Turn: "t", ToolCall: "c", Source: "hook", Inferred: true},
			Before: &Version{Absent: true, Size: -1}, After: &Version{Hash: a, Size: 1, Mode: ptr(fs.FileMode(0o755))},
		},
		strings.Replace(notification("_hermes/connect", `{"host":"192.0.2.1:443","_meta":{"hermes":{"phase":"ask"}}}`), "{", `{"id":1,`, 1): {Kind: Connect, Host: "192.0.2.1:443", Phase: Ask, Author: socketed},
		strings.Replace(notification("_hermes/connect", `{"path":"/run/s","_meta":{"hermes":{"phase":"ask"}}}`), "{", `{"id":1,`, 1):        {Kind: Connect, Path: "/run/s", Phase: Ask, Author: socketed},
		strings.Replace(notification("_hermes/accept", `{"host":"0.0.0.0:80","_meta":{"hermes":{"phase":"ask"}}}`), "{", `{"id":1,`, 1):     {Kind: Accept, Host: "0.0.0.0:80", Phase: Ask, Author: socketed},
		strings.Replace(notification("fs/remove", `{"path":"/a","reason":"why","_meta":{"hermes":{"phase":"ask"}}}`), "{", `{"id":1,`, 1):   {Kind: Remove, Path: "/a", Phase: Ask, Reason: "why", Author: socketed},
		notification("_hermes/unseen", `{"reason":"compared","whole":true}`):                                                                {Kind: Unseen, Reason: "compared", Whole: true, Phase: Post, Author: socketed},
		notification("_hermes/unseen", `{"reason":"full","_meta":{"hermes":{"producer":"p","seq":1}}}`):                                     {Kind: Unseen, Reason: "full", Phase: Post, Producer: "p", Seq: 1, Author: socketed},
	} {
		m, err := decode([]byte(line))
		if err != nil || (m.id != nil) != (want.Phase == Ask) || !reflect.DeepEqual(*m.report, want) {
			t.Errorf("%s: %v\n%+v, want\n%+v", line, err, m.report, want)
		}
	}
}

func TestTheMessagesOfTheGuideAreUnderstood(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/review.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for text := range strings.Lines(string(page)) {
		if !strings.HasPrefix(text, `{"jsonrpc":"2.0"`) || !strings.Contains(text, `"method"`) {
			continue
		}
		m, err := decode([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if m.report != nil {
			seen[string(m.report.Kind)] = true
		} else if m.flushed != nil {
			seen[flushed] = true
		} else {
			seen[resume] = true
		}
	}
	if len(seen) != 6 {
		t.Errorf("%v, there must be six", seen)
	}
}

func TestWhatIsWrongAndWhereIsSaid(t *testing.T) {
	t.Parallel()
	write := func(params string) string { return notification("fs/write_text_file", params) }
	meta := func(members string) string {
		return write(`{"path":"/a","_meta":{"hermes":{` + members + `}}}`)
	}
	for line, want := range map[string]string{
		"nonsense":                 "-32700  invalid JSON at byte 0",
		`{"jsonrpc":"2.0"`:         "-32700  invalid JSON at byte",
		"{\"a\":\"\xff\"}":         "-32700  invalid JSON at byte 5: string is not UTF-8",
		strings.Repeat("[", 10000): "-32700  invalid JSON at byte",
		`[]`:                       "-32600  JSON-RPC batches",
		`1`:                        "-32600  not an object",
		`{"jsonrpc":"2.0","id":1}`: "-32600 /method /method: missing",
		`{"method":"fs/remove"}`:   `-32600 /jsonrpc /jsonrpc: want "2.0"`,
		`{"jsonrpc":"2.0","method":"fs/remove","params":{},"id":{}}`:                                     "-32600 /id /id: want a string or a number",
		`{"jsonrpc":"2.0","method":"fs/remove"}`:                                                         "-32602 /params /params: missing",
		notification("fs/write_file", `{}`):                                                              `-32601 /method /method: "fs/write_file" is not one of`,
		notification("fs/remove", `[]`):                                                                  "-32602 /params /params: want object, got array",
		notification("fs/remove", `{}`):                                                                  "-32602 /params /params: path is missing",
		notification("fs/remove", `{"path":7}`):                                                          "-32602 /params/path /params/path: want string, got number",
		notification("fs/remove", `{"path":"a"}`):                                                        "-32602 /params/path /params/path: is not an absolute path",
		notification("fs/remove", `{"path":"/a\u0000"}`):                                                 "-32602 /params/path /params/path: has a NUL",
		notification("fs/remove", `{"path":"/\ud800"}`):                                                  "-32600  a string has half of a surrogate pair",
		notification("fs/remove", `{"path":"/a","path":"/b"}`):                                           "-32700 /params/path /params/path: duplicate member",
		notification("fs/remove", `{"path":"/`+strings.Repeat("a", maxPath)+`"}`):                        "-32602 /params/path /params/path: has 32769 bytes",
		notification("fs/rename", `{"path":"/a","newPath":"/b"}`):                                        "-32602 /params /params: oldPath is missing",
		notification("fs/rename", `{"oldPath":"/b"}`):                                                    "-32602 /params /params: newPath is missing",
		meta(`"phase":"now"`):                                                                            `-32602 /params/_meta/hermes/phase /params/_meta/hermes/phase: want "pre", "post", "failed" or "ask"`,
		meta(`"fidelity":"so so"`):                                                                       `-32602 /params/_meta/hermes/fidelity /params/_meta/hermes/fidelity: want "exact" or`,
		meta(`"source":""`):                                                                              `-32602 /params/_meta/hermes/source /params/_meta/hermes/source: is empty`,
		meta(`"pid":-1`):                                                                                 `-32602 /params/_meta/hermes/pid /params/_meta/hermes/pid: `,
		meta(`"seq":1`):                                                                                  `-32602 /params/_meta/hermes /params/_meta/hermes: producer and seq go together`,
		meta(`"seq":0,"producer":"p"`):                                                                   `-32602 /params/_meta/hermes/seq /params/_meta/hermes/seq: `,
		meta(`"before":{"hash":"abc"}`):                                                                  `-32602 /params/_meta/hermes/before/hash /params/_meta/hermes/before/hash: want a SHA-256`,
		meta(`"before":{"exists":false,"mode":"644"}`):                                                   `-32602 /params/_meta/hermes/before /params/_meta/hermes/before: says that the file does not exist`,
		meta(`"before":{"mode":"7777"}`):                                                                 `-32602 /params/_meta/hermes/before/mode /params/_meta/hermes/before/mode: want permissions in octal`,
		meta(`"before":{"mode":"rwx"}`):                                                                  `-32602 /params/_meta/hermes/before/mode /params/_meta/hermes/before/mode: want permissions in octal`,
		meta(`"before":{"exists":false,"content":""}`):                                                   `-32602 /params/_meta/hermes/before /params/_meta/hermes/before: says that the file does not exist`,
		meta(`"before":{"content":"ab","hash":"` + hashOfA + `"}`):                                       `-32602 /params/_meta/hermes/before /params/_meta/hermes/before: content does not have the hash`,
		meta(`"before":{"content":"ab","size":1}`):                                                       `-32602 /params/_meta/hermes/before /params/_meta/hermes/before: content has 2 bytes, and size says 1`,
		write(`{"path":"/a","content":"ab","_meta":{"hermes":{"after":{"size":1}}}}`):                    `-32602 /params /params: content has 2 bytes`,
		notification("_hermes/unseen", `{"path":"/a"}`):                                                  `-32602 /params /params: reason is missing or empty`,
		notification("fs/remove", `{"path":"/a","reason":"x"}`):                                          `-32602 /params /params: only what was not seen, and a question, has a reason`,
		notification("_hermes/unseen", `{"reason":"x","_meta":{"hermes":{"phase":"pre"}}}`):              `-32602 /params /params: what has no path has the phase post`,
		notification("_hermes/yield", `{"program":"p","pid":1}`):                                         `-32600 /id /id: missing, so the question cannot be answered`,
		`{"jsonrpc":"2.0","id":1,"method":"_hermes/yield","params":{"program":"p"}}`:                     `-32602 /params /params: program or pid is missing`,
		notification("_hermes/connect", `{"host":"h:1"}`):                                                `-32602 /params /params: a connection is always a question`,
		notification("_hermes/connect", `{"_meta":{"hermes":{"phase":"ask"}}}`):                          `-32602 /params /params: want host or path`,
		notification("_hermes/accept", `{"path":"/s","_meta":{"hermes":{"phase":"ask"}}}`):               `-32602 /params /params: want host and no path`,
		notification("_hermes/connect", `{"host":"h:1","path":"/s","_meta":{"hermes":{"phase":"ask"}}}`): `-32602 /params /params: want host or path`,
		notification("_hermes/scan", `{"_meta":{"hermes":{"phase":"ask"}}}`):                             `-32602 /params /params: what has no path has the phase post`,
		notification("_hermes/flushed", `{}`):                                                            `-32602 /params /params: flush is missing`,
		notification("_hermes/flushed", `{"flush":-1}`):                                                  `-32602 /params/flush /params/flush: `,
		notification("_hermes/resume", `{"producer":""}`):                                                `-32602 /params /params: producer is missing or empty`,
	} {
		_, err := decode([]byte(line))
		e := (*Error)(nil)
		if !errors.As(err, &e) {
			t.Errorf("%.200s: %v", line, err)
		} else if got := fmt.Sprintf("%d %s %s", e.Code, e.Pointer, e.Message); !strings.HasPrefix(got, want) {
			t.Errorf("%.200s:\n%s, want\n%s", line, got, want)
		}
	}
}

// A listening server and what it handled.
type running struct {
	*Server
	path string
	stop func()

	mu      sync.Mutex
	reports []Report
}

func (r *running) got() []Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Report(nil), r.reports...)
}

func serve(t *testing.T, path string, positions []Position) *running {
	t.Helper()
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{path: path}
	r.Server = &Server{Positions: positions, Handle: func(_ context.Context, report Report) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.reports = append(r.reports, report)
		if strings.HasSuffix(report.Path, "refused") {
			return errors.New("no such project")
		}
		return nil
	}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Serve(ctx, l) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

func dial(t *testing.T, path string) *Client {
	t.Helper()
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// raw is a connection of a program that is not ours.
func raw(t *testing.T, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience.Soon))
	return c
}

func line(t *testing.T, c net.Conn) string {
	t.Helper()
	var out []byte
	for b := make([]byte, 1); ; {
		if _, err := c.Read(b); err != nil {
			t.Fatalf("%v after %q", err, out)
		}
		if b[0] == '\n' {
			return string(out)
		}
		out = append(out, b[0])
	}
}

func TestOnlyTheUserReachesTheSocket(t *testing.T) {
	t.Parallel()
	r := serve(t, Path(filepath.Join(sockdir.New(t), "state")), nil)
	for path, want := range map[string]os.FileMode{r.path: 0o600, filepath.Dir(r.path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if _, err := Listen(r.path); err == nil {
		t.Error("two servers listen at one socket")
	}
	open := sockdir.New(t)
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if l, err := Listen(filepath.Join(open, "s")); err == nil {
		l.Close()
		t.Error("the folder of the socket is open to others")
	}
}

func TestASocketHasAnAddressThatEverySystemTakes(t *testing.T) {
	short := filepath.Join(sockdir.New(t), "p")
	long := "/home/" + strings.Repeat("long/", 40)
	for name, temp := range map[string]string{"short": sockdir.New(t), "long": filepath.Join(sockdir.New(t), strings.Repeat("x", 80))} {
		t.Setenv("TMPDIR", temp)
		if got := Path(short); got != filepath.Join(short, "feed.sock") {
			t.Error(got)
		}
		got := Path(long)
		if len(got) > socket.MaxPath || got == Path(long+"er") || got != Path(strings.TrimSuffix(long, "/")) {
			t.Error(name, got)
		}
		if below := strings.HasPrefix(got, temp); below != (name == "short") {
			t.Error(name, got)
		}
	}
}

// The path of the temporary folder may be too long for a socket, and so may the
// path of the project.
func TestAFolderOfSocketsGoesWithTheLastOne(t *testing.T) {
	for _, temp := range []string{sockdir.New(t), filepath.Join(sockdir.New(t), strings.Repeat("x", 80))} {
		t.Setenv("TMPDIR", temp)
		first, second := Path(filepath.Join(temp, "1", strings.Repeat("p", 80))), Path(filepath.Join(temp, "2", strings.Repeat("p", 80)))
		var open []net.Listener
		for _, path := range []string{first, second} {
			l, err := Listen(path)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, l)
		}
		for i, l := range open {
			l.Close()
			c, err := net.Dial("unix", second)
			if err == nil {
				c.Close()
			}
			if listens := err == nil; listens != (i == 0) {
				t.Errorf("%s listens: %v", second, listens)
			}
		}
		if list, err := os.ReadDir(temp); err == nil && len(list) > 0 {
			t.Errorf("%s is left", list[0].Name())
		}
	}
}

// Servers come and go at the same time.
func TestListenersInOneFolderDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(sockdir.New(t), "d")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 50 {
				l, err := Listen(filepath.Join(dir, strconv.Itoa(i)))
				if err != nil {
					t.Error(err)
					return
				}
				l.Close()
			}
		})
	}
	group.Wait()
}

func TestRequestsAreAnsweredWhenTheyAreHandledAndNotificationsNot(t *testing.T) {
	t.Parallel()
	r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
	c := raw(t, r.path)
	io.WriteString(c, notification("fs/remove", `{"path":"/1"}`)+"\r\n\n"+
		`{"jsonrpc":"2.0","id":"x","method":"fs/remove","params":{"path":"/2"}}`+"\n")
	if got := line(t, c); got != `{"jsonrpc":"2.0","id":"x","result":{}}` {
		t.Error(got)
	}
	io.WriteString(c, `{"jsonrpc":"2.0","id":-1,"method":"fs/remove","params":{"path":"/refused"}}`+"\n")
	if got := line(t, c); got != `{"jsonrpc":"2.0","id":-1,"error":{"code":-32603,"message":"no such project"}}` {
		t.Error(got)
	}
	if got := r.got(); len(got) != 3 || got[0].Path != "/1" || got[1].Path != "/2" {
		t.Errorf("%+v", got)
	}
}

func TestALastLineNeedsNoEndIfItIsWhole(t *testing.T) {
	t.Parallel()
	r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
	for _, last := range []string{notification("fs/remove", `{"path":"/whole"}`), notification("fs/remove", `{"path":"/cut"}`)[:50]} {
		c := raw(t, r.path)
		io.WriteString(c, last)
		c.(*net.UnixConn).CloseWrite()
		if rest, err := io.ReadAll(c); err != nil || len(rest) > 0 {
			t.Errorf("%s, %v", rest, err)
		}
	}
	if got := r.got(); len(got) != 1 || got[0].Path != "/whole" {
		t.Errorf("%+v", got)
	}
}

func TestABadLineIsAnsweredAndTheNextOneIsRead(t *testing.T) {
	t.Parallel()
	r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
	c := raw(t, r.path)
	for _, bad := range []struct{ line, want string }{
		{"GET / HTTP/1.1", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"invalid JSON at byte 0: expected a value"}}`},
		{`{"jsonrpc":"2.0","id":4,"method":"fs/remove","params":{"path":"a"}}`, `{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"/params/path: is not an absolute path","data":{"pointer":"/params/path"}}}`},
		{notification("fs/remove", `{"path":"a"}`), `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"/params/path: is not an absolute path","data":{"pointer":"/params/path"}}}`},
		{notification("fs/remove", `{"path":"/`+strings.Repeat("x", MaxMessage)+`"}`), `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message has more than 16777216 bytes"}}`},
	} {
		go io.WriteString(c, bad.line+"\n")
		if got := line(t, c); got != bad.want {
			t.Errorf("%.80s: %s", bad.line, got)
		}
	}
	io.WriteString(c, `{"jsonrpc":"2.0","id":5,"method":"fs/remove","params":{"path":"/a"}}`+"\n")
	if got := line(t, c); got != `{"jsonrpc":"2.0","id":5,"result":{}}` || len(r.got()) != 1 {
		t.Errorf("%s, %+v", got, r.got())
	}
}

func TestAProducerThatDoesNotReadDelaysNobody(t *testing.T) {
	t.Parallel()
	r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
	deaf := raw(t, r.path)
	go func() {
		for {
			if _, err := io.WriteString(deaf, strings.Repeat("nonsense\n", 1000)); err != nil {
				return
			}
		}
	}()
	defer deaf.Close()
	for range 20 {
		if err := dial(t, r.path).Tell(t.Context(), Report{Kind: Remove, Path: "/a"}); err != nil {
			t.Fatal(err)
		}
	}
}

// A program gets the review from the one that has it, or an error that says why not. The
// review is given up after the answer.
func TestAReviewIsGivenToAnotherProgram(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sockdir.New(t), "d", "s")
	r := serve(t, path, nil)
	c, to := dial(t, path), Program{Name: "another", PID: 7}
	asked := func(want string) {
		t.Helper()
		err := c.Yield(t.Context(), to)
		if e := (*Error)(nil); want == "" && err != nil || want != "" && (!errors.As(err, &e) || e.Message != want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	asked("this program keeps the review")
	r.Yield = func(Program) (func(), error) { return nil, errors.New("an agent works there") }
	asked("an agent works there")
	given := make(chan Program, 1)
	r.Yield = func(to Program) (func(), error) { return func() { given <- to }, nil }
	asked("")
	if got := patience.Value(t, "the end", given); got != to {
		t.Errorf("it was given to %+v", got)
	}
}

// Who decides waits for what producers have not reported yet, and for no more.
func TestProducersAreAskedForWhatTheyHaveNotReported(t *testing.T) {
	t.Parallel()
	late := Report{Kind: Remove, Path: "/late"}
	joins := func(t *testing.T, r *running, report func(c *Client)) *Client {
		var c *Client
		ready := make(chan struct{})
		c, err := Join(t.Context(), r.path, func() { <-ready; report(c) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close(); <-c.Done() })
		if err := c.Tell(t.Context(), Report{Kind: Remove, Path: "/early"}); err != nil { // it has joined then
			t.Fatal(err)
		}
		close(ready)
		return c
	}
	raws := func(t *testing.T, r *running) net.Conn {
		c := raw(t, r.path)
		io.WriteString(c, notification("_hermes/flushed", `{"flush":0}`)+"\n"+`{"jsonrpc":"2.0","id":1,"method":"fs/remove","params":{"path":"/early"}}`+"\n")
		line(t, c)
		return c
	}
	tells := func(c *Client) { c.Tell(context.Background(), late) }
	for name, test := range map[string]struct {
		begin func(t *testing.T, r *running)
		late  int
		err   error
	}{
		"nobody": {begin: func(*testing.T, *running) {}},
		"one who only told": {begin: func(t *testing.T, r *running) {
			dial(t, r.path).Tell(t.Context(), Report{Kind: Remove, Path: "/early"})
		}},
		"one": {begin: func(t *testing.T, r *running) { joins(t, r, tells) }, late: 1},
		"two": {begin: func(t *testing.T, r *running) {
			joins(t, r, tells)
			joins(t, r, tells)
		}, late: 2},
		"one who has nothing": {begin: func(t *testing.T, r *running) { joins(t, r, func(*Client) {}) }},
		"one who ends":        {begin: func(t *testing.T, r *running) { joins(t, r, func(c *Client) { c.Close() }) }},
		"one who has ended": {begin: func(t *testing.T, r *running) {
			c := joins(t, r, tells)
			c.Close()
			<-c.Done()
		}},
		"one who reports and is silent": {begin: func(t *testing.T, r *running) {
			c := raws(t, r)
			go func() {
				c.Read(make([]byte, 1))
				io.WriteString(c, notification("fs/remove", `{"path":"/late"}`)+"\n"+notification("_hermes/flushed", `{"flush":0}`)+"\n"+notification("_hermes/flushed", `{"flush":7}`)+"\n")
			}()
		}, late: 1, err: context.DeadlineExceeded},
		"one who is silent, and another": {begin: func(t *testing.T, r *running) {
			raws(t, r)
			joins(t, r, tells)
		}, late: 1, err: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
			test.begin(t, r)
			limit := patience.Soon
			if test.err != nil {
				limit = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			for round := 1; round <= 2 && (round == 1 || test.err == nil && test.late > 0); round++ {
				if err := r.Flush(ctx); !errors.Is(err, test.err) {
					t.Errorf("flush: %v, want %v", err, test.err)
				}
				n := 0
				for _, report := range r.got() {
					if report.Path == "/late" {
						n++
					}
				}
				if n != test.late*round {
					t.Errorf("%d reports were late, want %d", n, test.late*round)
				}
			}
		})
	}
}

// Lines that nobody has asked for end the connection of a program that is asked for more, and
// nothing hangs.
func TestALineThatNobodyAskedForEndsAConnection(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sockdir.New(t), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if s, err := l.Accept(); err == nil {
			defer s.Close()
			io.WriteString(s, strings.Repeat(`{"jsonrpc":"2.0","id":1,"result":{}}`+"\n", 3))
			io.Copy(io.Discard, s)
		}
	}()
	c, err := Join(t.Context(), path, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	patience.Value(t, "the end of the connection", c.Done())
	for range 2 { // the first answer was there
		err = c.Tell(t.Context(), Report{Kind: Remove, Path: "/a"})
	}
	if err == nil || errors.As(err, new(*Error)) {
		t.Errorf("told after the end: %v", err)
	}
}

func TestReportsThatAreSentAgainCountOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sockdir.New(t), "d", "s")
	r := serve(t, path, nil)
	tell := func(c *Client, seqs ...uint64) {
		t.Helper()
		for _, seq := range seqs {
			if err := c.Tell(t.Context(), Report{Kind: Write, Path: fmt.Sprintf("/%d", seq), Producer: "p", Seq: seq}); err != nil {
				t.Fatal(err)
			}
		}
	}
	from := func(c *Client, producer string, want uint64) {
		t.Helper()
		if seq, err := c.Resume(t.Context(), producer); err != nil || seq != want {
			t.Errorf("%d, %v, want %d", seq, err, want)
		}
	}
	c := dial(t, path)
	from(c, "p", 0)
	tell(c, 1, 2, 2, 1, 3)
	c.Close()
	c = dial(t, path) // the connection broke
	from(c, "p", 3)
	from(c, "q", 0)
	tell(c, 2, 3, 4)
	c.Close()
	positions := r.Handled()
	r.stop() // the editor was restarted
	if _, err := Dial(t.Context(), path); err == nil {
		t.Error("the socket remains")
	}
	again := serve(t, path, positions)
	c = dial(t, path)
	from(c, "p", 4)
	tell(c, 3, 4, 5, 9)
	var seqs []string
	for _, report := range append(r.got(), again.got()...) {
		seqs = append(seqs, fmt.Sprint(report.Seq, report.Missed))
	}
	if got := strings.Join(seqs, " "); got != "1 false 2 false 3 false 4 false 5 false 9 true" {
		t.Error(got)
	}
}

func TestARefusedReportMayBeSentAgain(t *testing.T) {
	t.Parallel()
	r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
	c := dial(t, r.path)
	for range 2 {
		e := (*Error)(nil)
		if err := c.Tell(t.Context(), Report{Kind: Write, Path: "/refused", Producer: "p", Seq: 1}); !errors.As(err, &e) || e.Message != "no such project" {
			t.Error(err)
		}
	}
	if len(r.got()) != 2 {
		t.Errorf("%+v", r.got())
	}
}

func TestReportsOnTheirWayAreAnsweredInTheirOrder(t *testing.T) {
	t.Parallel()
	r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
	c := dial(t, r.path)
	for i, path := range []string{"/a", "/refused", "/a", "/b"} {
		if err := c.Send(t.Context(), Report{Kind: Write, Path: path, Producer: "p", Seq: uint64(i + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		if err := c.Answer(t.Context()); (i == 1) != errors.As(err, new(*Error)) || i != 1 && err != nil {
			t.Errorf("report %d: %v", i+1, err)
		}
	}
	if at, err := c.Resume(t.Context(), "p"); err != nil || at != 4 || len(r.got()) != 4 {
		t.Errorf("%d, %v, %+v", at, err, r.got())
	}
	if err := c.Send(t.Context(), Report{Kind: Write, Path: "/a"}); err != nil {
		t.Fatal(err)
	}
	r.stop()
	patience.Ends(t, "the answers", func() error { // the editor has gone
		for c.Answer(t.Context()) == nil {
		}
		return nil
	})
}

func TestOnlyTheLastProducersAreRemembered(t *testing.T) {
	t.Parallel()
	r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
	c := dial(t, r.path)
	for i := range maxProducers + 10 {
		for _, p := range []string{"steady", fmt.Sprint("p", i)} {
			if err := c.Tell(t.Context(), Report{Kind: Write, Path: "/a", Producer: p, Seq: uint64(i) + 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := r.Handled(); len(got) != maxProducers || r.position("steady") != maxProducers+10 || r.position("p0") != 0 {
		t.Errorf("%d: %+v", len(got), got[len(got)-2:])
	}
}

func TestOneConnectionTooManyIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
	for range maxConnections {
		if err := dial(t, r.path).Tell(t.Context(), Report{Kind: Write, Path: "/a"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := line(t, raw(t, r.path)); !strings.Contains(got, "32 programs are connected already") {
		t.Error(got)
	}
}

// Content that a message cannot hold as text is reported by hash and size.
func TestBinaryAndLargeContentIsToldByHashAndSize(t *testing.T) {
	t.Parallel()
	r := serve(t, filepath.Join(sockdir.New(t), "d", "s"), nil)
	c := dial(t, r.path)
	for _, text := range []string{"plain\n", "bin\xff\x00", strings.Repeat("\x01", maxContent+1), ""} {
		v := Version{Hash: store.HashOf([]byte(text)), Size: int64(len(text)), Text: &text}
		if err := c.Tell(t.Context(), Report{Kind: Write, Path: "/a", Before: &v, After: &v}); err != nil {
			t.Fatal(err)
		}
		got := r.got()[len(r.got())-1]
		whole := text == "plain\n" || text == ""
		for _, got := range []*Version{got.Before, got.After} {
			if got.Hash != v.Hash || got.Size != v.Size || whole && (got.Text == nil || *got.Text != text) || !whole && got.Text != nil {
				t.Errorf("%.10q: %+v", text, got)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		notification("fs/write_text_file", `{"path":"/a","content":"a","_meta":{"hermes":{"phase":"pre","producer":"p","seq":1,"pid":3,"fidelity":"inferred","toolCallId":"c","turnId":"t","agent":"g","before":{"exists":false},"after":{"hash":"`+hashOfA+`","size":1,"mode":"755"}}}}`),
		notification("fs/rename", `{"oldPath":"/a","newPath":"/b/../c","sessionId":"s"}`),
		notification("_hermes/resume", `{"producer":"p"}`),
		notification("_hermes/unseen", `{"reason":"r","whole":true}`),
		notification("_hermes/scan", `{"sessionId":"s"}`),
		`{"jsonrpc":"2.0","id":1,"method":"_hermes/yield","params":{"program":"p","pid":1}}`,
		notification("fs/write_text_file", `{"path":"/a","_meta":{"hermes":{"user":true}}}`),
		notification("fs/remove", `{"path":"/\ud800\u0000"}`),
		`{"jsonrpc":"2.0","id":"\u0001","method":"fs/remove","params":{"path":"a"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decode(text)
		if err != nil {
			e := (*Error)(nil)
			if !errors.As(err, &e) || e.Message == "" || e.Code >= 0 {
				t.Fatalf("%#v", err)
			}
			return
		}
		if m.report == nil {
			if m.resume == "" && m.yield == nil {
				t.Fatal("neither a report nor a question")
			}
			return
		}
		r := *m.report
		if r.Host != "" && (!r.reaches() || r.Path != "") || !r.pathless() && r.Host == "" && !filepath.IsAbs(r.Path) || r.pathless() && r.Path != "" || r.Path != "" && r.Path != filepath.Clean(r.Path) || strings.ContainsRune(r.Path, 0) || r.Author.Source == "" || (r.Kind == Rename) != (r.From != "") {
			t.Fatalf("%+v", r)
		}
		line, err := encode(1, r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(line)
		if err != nil || !reflect.DeepEqual(*again.report, r) {
			t.Fatalf("%v\n%+v\n%+v\n%s", err, r, again.report, line)
		}
	})
}
