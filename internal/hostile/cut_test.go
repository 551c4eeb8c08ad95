//go:build unix

package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// reported is what a handler received, in order.
type reported struct {
	mu   sync.Mutex
	msgs []string
}

func (r *reported) add(method string, params json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.msgs = append(r.msgs, method+" "+string(params))
}

func (*reported) Side() acp.Side { return acp.SideClient }

func (r *reported) HandleRequest(_ context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	r.add(method, params)
	return acp.Raw(`{}`), nil
}

func (r *reported) HandleNotification(_ context.Context, method string, params json.RawMessage) error {
	r.add(method, params)
	return nil
}

// hearing returns what a client reads from some input.
func hearing(t *testing.T, input string) ([]string, rpc.Stats, error) {
	t.Helper()
	r := new(reported)
	c := rpc.NewConn(transport.NewStream(strings.NewReader(input), io.Discard), r, rpc.Options{Limits: rpc.Limits{Grace: patience.Soon}})
	receive(t, "end of the connection", c.Done())
	return r.msgs, c.Stats(), c.Err()
}

// messages returns the messages to cut: the messages of a turn, and one with every way
// to write a character.
func messages(t *testing.T, round int) []string {
	t.Helper()
	_, _, lines := turn(t)
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, `"result"`) })
	lines = append(lines,
		`{"jsonrpc":"2.0","method":"_x","params":{"1":"é☃😀","2":"\u00e9\ud83d\ude00","3":"\"\\\/\b\f\n\r\t"}}`,
		`{"jsonrpc":"2.0","method":"_x","params":[-1.5e-7,true,false,null,{},[],""]}`,
		` { "jsonrpc" : "2.0" , "method" : "_x" } `)
	for rnd := rand.New(rand.NewPCG(uint64(round), 1)); round > 0 && len(lines) < 100; {
		text, err := json.Marshal(map[string]any{"x": randomText(rnd), randomText(rnd): rnd.Float64()})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, `{"jsonrpc":"2.0","method":"_x","params":`+string(text)+`}`)
	}
	return lines
}

func randomText(rnd *rand.Rand) string {
	var b strings.Builder
	for range rnd.IntN(20) {
		b.WriteRune([]rune("ab\"\\/\n\téλ☃😀\u2028\u0000")[rnd.IntN(13)])
	}
	return b.String()
}

// F2: a message that is cut, in a character, an escape or anywhere else, is never
// delivered. The messages before it are delivered, and so is one that lacks only its
// line end.
func TestAMessageCutAtAnyByteIsNeverDelivered(t *testing.T) {
	const first = `{"jsonrpc":"2.0","method":"_first","params":{}}`
	soak.Repeat(t, func(t *testing.T, round int) {
		lines := messages(t, round)
		workers(len(lines), func(i int) {
			line := lines[i]
			for n := range len(line) + 1 {
				got, _, err := hearing(t, first+"\n"+line[:n])
				want := 1
				if json.Valid([]byte(line[:n])) {
					want = 2 // in either order, when it is of a session
				}
				if len(got) != want || !slices.Contains(got, "_first {}") {
					t.Errorf("cut at %d of %s: delivered %q", n, line, got)
				}
				if !errors.Is(err, io.EOF) {
					t.Errorf("cut at %d of %s: ended with %v", n, line, err)
				}
			}
		})
	})
}

// F2: if the sender continues after a cut line, the next lines are delivered.
func TestACutLineCostsOnlyItself(t *testing.T) {
	const next = `{"jsonrpc":"2.0","method":"_next","params":{}}`
	soak.Repeat(t, func(t *testing.T, round int) {
		lines := messages(t, round)
		workers(len(lines), func(i int) {
			line := strings.TrimSpace(lines[i])
			for n := 1; n < len(line); n++ {
				for _, rest := range []string{"\n", "\n" + line[n:] + "\n"} { // cut, or broken in two
					got, stats, _ := hearing(t, line[:n]+rest+next)
					if len(got) != 1 || got[0] != "_next {}" {
						t.Errorf("cut at %d of %s: delivered %q", n, line, got)
					}
					if faults := stats.Count(rpc.FaultParse) + stats.Count(rpc.FaultNoise); faults == 0 {
						t.Errorf("cut at %d of %s: no fault counted", n, line)
					}
				}
			}
		})
	})
}

// fragments passes its input on in odd pieces.
type fragments struct {
	io.Reader
	io.Writer
	rnd *rand.Rand
}

func (f fragments) Read(b []byte) (int, error) {
	if f.rnd.IntN(10) == 0 {
		return 0, nil // allowed, if discouraged
	}
	return f.Reader.Read(b[:min(len(b), 1+f.rnd.IntN(64))])
}

func (f fragments) Write(b []byte) (int, error) {
	for done := 0; ; {
		n, err := f.Writer.Write(b[done:min(len(b), done+1+f.rnd.IntN(64))])
		if done += n; err != nil || done == len(b) {
			return done, err
		}
	}
}

// F8: reads and writes in odd pieces change nothing of what arrives.
func TestShortReadsAndWritesChangeNothing(t *testing.T) {
	soak.Repeat(t, func(t *testing.T, round int) {
		plain := conversation(t, nil)
		pieces := conversation(t, rand.New(rand.NewPCG(uint64(round), 2)))
		if plain == "" || plain != pieces {
			t.Errorf("%d bytes arrived, in pieces %d", len(plain), len(pieces))
		}
	})
}

// conversation returns what the client of 1,000 turns hears.
func conversation(t *testing.T, rnd *rand.Rand) string {
	t.Helper()
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	ends := []fragments{{Reader: r1, Writer: w2}, {Reader: r2, Writer: w1}}
	var ts [2]transport.Transport
	for i, e := range ends {
		ts[i] = transport.NewStream(e.Reader, e.Writer)
		if rnd != nil {
			in, out := rand.New(rand.NewPCG(rnd.Uint64(), 0)), rand.New(rand.NewPCG(rnd.Uint64(), 0))
			ts[i] = transport.NewStream(fragments{Reader: e.Reader, rnd: in}, fragments{Writer: e.Writer, rnd: out})
		}
	}
	_, _, lines := turn(t)
	updates := paramsOf(t, lines)
	agent := rpc.Connect(ts[1], func(c *rpc.Conn) acp.Handler { return talker{c, updates} }, rpc.Options{Server: true})
	var heard bytes.Buffer
	client := rpc.NewConn(ts[0], new(reported), rpc.Options{Tap: func(d rpc.Direction, msg []byte) {
		if d == rpc.Inbound {
			heard.Write(msg)
			heard.WriteByte('\n')
		}
	}})
	for range 1000 {
		if err := receive(t, "answer", prompt(t.Context(), client)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []io.Closer{w1, w2} {
		c.Close()
	}
	agent.Close()
	client.Close()
	return heard.String()
}

// talker is an agent that says one update a turn.
type talker struct {
	conn    *rpc.Conn
	updates []string
}

func (talker) Side() acp.Side { return 0 } // serves before initialize

func (a talker) HandleRequest(ctx context.Context, _ string, _ json.RawMessage) (acp.Appender, error) {
	if err := a.conn.Notify(ctx, acp.MethodSessionUpdate, acp.Raw(a.updates[int(a.conn.Stats().Received)%len(a.updates)])); err != nil {
		return nil, err
	}
	return acp.Raw(`{"stopReason":"end_turn"}`), nil
}

func (a talker) HandleNotification(context.Context, string, json.RawMessage) error { return nil }
