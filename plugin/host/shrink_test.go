package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neovim/go-client/nvim"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/test/editors"
)

// shapes are all that makes an update large.
var shapes = []string{"text", "thought", "plan", "commands", "diff", "unknown", "rawInput", "rawOutput", "_meta", "content", "locations"}

func TestWhatNeovimGetsAtATimeIsBounded(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes {
		want := map[string]json.RawMessage{} // of an update with everything that is small in the larger ones
		for _, n := range []int{1, 1000, 100_000, 300_000} {
			in := testagent.Big(shape, n)
			if n <= 1000 {
				if err := json.Unmarshal([]byte(in), &want); err != nil {
					t.Fatal(err)
				}
			}
			q := newQueue(queueBytes)
			q.push(event("Any", from([]byte(`{"agent":"a","update":`+in+`}`))))
			batch, _ := q.take()
			it := batch[0]
			if !json.Valid(it.json) {
				t.Fatalf("%s %d: not JSON: %.200s", shape, n, it.json)
			}
			if cost := costOf(it.json); cost > maxCost+costOfMore {
				t.Errorf("%s %d: costs %d", shape, n, cost)
			}
			var got struct {
				Update    map[string]json.RawMessage
				Truncated *struct{ Bytes, Entries int }
			}
			if err := json.Unmarshal(it.json, &got); err != nil {
				t.Fatal(err)
			}
			if missing := len(in) - len(it.json); (missing > 1000) != (got.Truncated != nil) {
				t.Errorf("%s %d: %d bytes are missing, and it says %v", shape, n, missing, got.Truncated)
			} else if got.Truncated != nil && (got.Truncated.Bytes < missing*9/10 || got.Truncated.Bytes > len(in)) {
				t.Errorf("%s %d: %d bytes are missing, and it says %d", shape, n, missing, got.Truncated.Bytes)
			}
			for name, value := range want {
				if small := len(value) < 100; small && !bytes.Equal(value, got.Update[name]) || got.Update[name] == nil {
					t.Errorf("%s %d: %s is %.50s, was %.50s", shape, n, name, got.Update[name], value)
				}
			}
		}
	}
}

func TestAnUpdateThatWasMadeSmallerStillDecodes(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes {
		list, missing := pieces([]byte(`{"sessionId":"s","update":` + testagent.Big(shape, 500_000) + `}`))
		for piece := range list {
			var n acp.SessionNotification
			if err := n.UnmarshalJSON(piece); err != nil {
				t.Errorf("%s: %v", shape, err)
			}
			if cost := costOf(piece); cost > maxCost {
				t.Errorf("%s: a cost of %d", shape, cost)
			}
		}
		if whole := shape == "text"; whole != (missing == lost{}) {
			t.Errorf("%s: %+v is missing", shape, missing)
		}
	}
}

func TestManySmallValuesAreNotDeliveredTogether(t *testing.T) {
	t.Parallel()
	q := newQueue(queueBytes)
	costly := []byte("[" + strings.TrimSuffix(strings.Repeat("1,", 500), ",") + "]") // 1 KB
	for range 6 {
		q.push(item{kind: kindNotice, json: costly, cost: costOf(costly)})
	}
	if batch, _ := q.take(); len(batch) != 4 {
		t.Errorf("%d items in a batch, want 4", len(batch))
	}
}

func TestPiecesOfATextAreTheText(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"user_message_chunk", "agent_message_chunk", "agent_thought_chunk"} {
		for _, text := range []string{
			"x", strings.Repeat("x", textPiece), strings.Repeat("x", textPiece+1), strings.Repeat("€", textPiece),
			strings.Repeat("x😀", textPiece), "a" + strings.Repeat("é\n", 3*textPiece), strings.Repeat("\x01\\\"", textPiece),
		} {
			for _, ascii := range []bool{false, true} {
				inside, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				if ascii {
					inside = []byte(strconv.QuoteToASCII(strings.NewReplacer("\x01", "", "😀", "").Replace(text)))
				}
				var want string
				if err := json.Unmarshal(inside, &want); err != nil {
					t.Fatal(err)
				}
				list, missing := pieces(slices.Concat([]byte(` { "update" : {"content":{"type":"text","text" : `), inside,
					[]byte(` }, "messageId":"m","sessionUpdate":"`+tag+`"}, "sessionId":"s"}`)))
				var got strings.Builder
				for piece := range list {
					var n acp.SessionNotification
					if err := n.UnmarshalJSON(piece); err != nil {
						t.Fatal(err)
					}
					var c *acp.ContentChunk
					switch u := n.Update.(type) {
					case *acp.UserMessageChunk:
						c = (*acp.ContentChunk)(u)
					case *acp.AgentMessageChunk:
						c = (*acp.ContentChunk)(u)
					case *acp.AgentThoughtChunk:
						c = (*acp.ContentChunk)(u)
					}
					part := c.Content.(*acp.TextContent).Text
					if len(part) > textPiece || c.MessageID.Or("") != "m" || n.SessionID != "s" {
						t.Errorf("%s: a piece of %d bytes of message %q in %q", tag, len(part), c.MessageID.Or(""), n.SessionID)
					}
					got.WriteString(part)
				}
				if got.String() != want || missing != (lost{}) {
					t.Errorf("%s: %d bytes became %d", tag, len(want), got.Len())
				}
			}
		}
	}
}

func TestASurrogatePairIsNotDivided(t *testing.T) {
	t.Parallel()
	for shift := range 12 {
		text := strings.Repeat("x", shift) + strings.Repeat(`\ud83d\ude00`, 3*textPiece/12)
		list, _ := pieces([]byte(`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}`))
		n := 0
		for piece := range list {
			if bytes.Contains(piece, []byte(`"\ude00`)) || bytes.Contains(piece, []byte(`\ud83d"`)) {
				t.Error("a pair was divided")
			}
			n++
		}
		if n < 3 {
			t.Errorf("%d pieces", n)
		}
	}
}

func TestWhatIsLargeIsNotRepeatedInEveryPiece(t *testing.T) {
	t.Parallel()
	meta, text := `"_meta":{"m":"`+strings.Repeat("x", 10_000)+`"}`, strings.Repeat("x", 3*textPiece)
	for name, params := range map[string]string{
		"of the notification": `{"sessionId":"s",` + meta + `,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}`,
		"of the chunk":        `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk",` + meta + `,"content":{"type":"text","text":"` + text + `"}}}`,
		"of the text":         `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `",` + meta + `}}}`,
	} {
		list, missing := pieces([]byte(params))
		if n := len(slices.Collect(list)); n != 1 || missing != (lost{}) {
			t.Errorf("%s: %d pieces, %+v is missing", name, n, missing)
		}
	}
}

// FuzzShrink checks any JSON at any limit.
func FuzzShrink(f *testing.F) {
	for _, shape := range shapes {
		f.Add([]byte(testagent.Big(shape, 300)), 3000)
	}
	f.Add([]byte(` { "a" : [ 1 , { } , "\ud83d\ude00\ud800\\\"" ] , "`+strings.Repeat("n", 5000)+`" : null } `), 20_000)
	f.Add([]byte(strings.Repeat("[", 200)+strings.Repeat("]", 200)), 5000)
	f.Add([]byte("-"+strings.Repeat("1", 30_000)), 3000)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		limit = max(limit, 3000)
		if limit > 1<<20 || !json.Valid(in) {
			return
		}
		d := jx.New(in)
		p := next(d)
		if d.End(); d.Failed() {
			return // not for Neovim: nested too deeply, or no UTF-8
		}
		cost := p.cost()
		var s shrinker
		s.value(p, limit, 0)
		if !json.Valid(s.dst) {
			t.Fatalf("%q became %q", in, s.dst)
		}
		if now := costOf(s.dst); now > limit {
			t.Errorf("%q costs %d of %d", s.dst, now, limit)
		}
		if cost > limit && bytes.Equal(s.dst, in) {
			t.Errorf("nothing is said to be missing of %q in %q", in, s.dst)
		}
	})
}

func TestAnyJSONFitsAfterwards(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var value func(depth int) any
	value = func(depth int) any {
		switch kind := random.IntN(8); {
		case kind < 3 && depth < 4:
			list := make([]any, random.IntN(12))
			for i := range list {
				list[i] = value(depth + 1)
			}
			return list
		case kind < 6 && depth < 4:
			object := map[string]any{}
			for range random.IntN(12) {
				object[strings.Repeat("k", random.IntN(300))+strconv.Itoa(random.IntN(99))] = value(depth + 1)
			}
			return object
		case kind == 6:
			return random.Int()
		}
		return strings.Repeat(string(rune(random.IntN(0x2fff))), random.IntN(4000))
	}
	for range 100 {
		in, err := json.Marshal(value(0))
		if err != nil {
			t.Fatal(err)
		}
		p := next(jx.New(in))
		cost := p.cost()
		for _, limit := range []int{3000, 10_000, 200_000} {
			var s shrinker
			s.value(p, limit, 0)
			if now := costOf(s.dst); now > limit || !json.Valid(s.dst) {
				t.Fatalf("%d of %d, valid %v", now, limit, json.Valid(s.dst))
			}
			if whole := cost <= limit; whole != bytes.Equal(in, s.dst) || whole && s.entries > 0 {
				t.Fatalf("of %d for %d: %d entries are missing", cost, limit, s.entries)
			}
		}
	}
}

// probe records what reaches Lua at a time: bytes and values.
const probe = `
_G.most = { bytes = 0, values = 0 }
local rpc = require("hermes.rpc")
local deliver = rpc.deliver
local function count(v)
  local n = 1
  if type(v) == "table" then for _, m in pairs(v) do n = n + count(m) end end
  return n
end
rpc.deliver = function(text)
  local values, items = 0, vim.json.decode(text, { luanil = { object = true } })
  for i = 2, #items, 2 do
    values = values + count(items[i])
  end
  most.bytes, most.values = math.max(most.bytes, #text), math.max(most.values, values)
  return deliver(text)
end`

func TestAHugeUpdateReachesNeovimInBoundedParts(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.patience = 5 * time.Minute // with the race detector this is work for seconds a turn
		e.open()
		e.lua(probe)
		for _, shape := range slices.DeleteFunc(slices.Clone(shapes), func(s string) bool { return s == "text" }) {
			e.lua(`_G.seen = {}`)
			e.prompt("BIG " + shape + " 400000\nSAY after")
			e.is(`#vim.tbl_filter(function(e) return e.update and e.truncated and e.truncated.bytes > 100000 end, seen)`, 1)
			e.is(`said()`, "after")
		}
		e.is(`vim.iter(of("AgentToolCall")):any(function(e) return e.update.status ~= "pending" end)`, false)
		e.lua(`_G.seen = {}`)
		e.prompt("SAY before\nBIG text 1200000\nSAY after")
		e.is(`said() == "before" .. ("aä€😀\n"):rep(100000) .. "after"`, true)
		e.is(`vim.iter(seen):any(function(e) return e.truncated end)`, false)
		e.is(`most.bytes <= `+strconv.Itoa(maxCost+costOfMore), true)
		e.is(`most.values <= `+strconv.Itoa(maxCost/valueCost), true)
	})
}

func TestAQuestionThatIsCutCannotBeAllowed(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(probe)
		e.lua(`hermes.on_request("PermissionRequest", function(data) cut = data.truncated ~= nil return choice end)`)
		for _, c := range []struct {
			bytes        int
			choice, want string
			cut          bool
		}{
			{1 << 20, "yes", `"optionId":"yes"`, false},
			{5 << 20, "yes", `"outcome":"cancelled"`, true},
			{5 << 20, "no", `"optionId":"no"`, true},
		} {
			e.lua(`_G.seen, choice = {}, ...`, c.choice)
			e.prompt("BIGASK " + strconv.Itoa(c.bytes))
			e.is(`cut`, c.cut)
			e.is(`said():find('`+c.want+`', 1, true) ~= nil or said()`, true)
		}
		e.is(`most.bytes <= `+strconv.Itoa(maxCost+costOfMore), true)
	})
}

func TestAFileTooLargeForTheEditorIsNotWrittenInPart(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		dir, _ := e.lua("return vim.uv.fs_realpath(vim.fn.getcwd())").(string)
		e.prompt("BIGWRITE " + dir + "/a " + strconv.Itoa(9<<20))
		e.is(`vim.fn.getfsize(vim.fn.getcwd() .. "/a")`, 9<<20)

		// The host writes what is larger, unless somebody in Neovim would have to
		// see it.
		e.prompt("BIGWRITE " + dir + "/b " + strconv.Itoa(12<<20))
		e.is(`vim.fn.getfsize(vim.fn.getcwd() .. "/b")`, 12<<20)
		e.lua(`vim.fn.writefile({ "mine" }, "c"); vim.cmd.edit("c")`)
		e.prompt("BIGWRITE " + dir + "/c " + strconv.Itoa(11<<20))
		e.is(`vim.fn.getfsize(vim.fn.getcwd() .. "/c")`, 5)
		e.is(`said():find("too large for the editor", 1, true) ~= nil`, true)
		e.lua(`hermes.on_request("WriteTextFile", function() return true end)`)
		e.prompt("BIGWRITE " + dir + "/d " + strconv.Itoa(11<<20))
		e.is(`vim.fn.getfsize(vim.fn.getcwd() .. "/d")`, -1)
	})
}

// BenchmarkDelivery reports how long the largest item of each shape keeps
// Neovim busy: with a listener for everything, and a tool call that holds as
// much as it can from earlier updates.
func BenchmarkDelivery(b *testing.B) {
	for _, program := range editors.All(b) {
		v, err := nvim.NewChildProcess(nvim.ChildProcessCommand(program.Path),
			nvim.ChildProcessArgs("--clean", "--embed", "--headless", "-n", "--cmd", "set rtp^="+root(b)))
		if err != nil {
			b.Fatal(err)
		}
		defer v.Close()
		deliver := func(name, json string) (ms float64) {
			it := event(name, from([]byte(json))).fitted()
			err := v.ExecLua(`
local start = os.clock() -- of the processor, so that other programs do not count
require("hermes.rpc").deliver(...)
return (os.clock() - start) * 1e3`, &ms, fmt.Sprintf("[%q,%s]", it.kind, it.json))
			if err != nil {
				b.Fatal(err)
			}
			return ms
		}
		if err := v.ExecLua(`vim.api.nvim_create_autocmd("User", { pattern = "*", callback = function(args) return args.data == nil end })`, nil); err != nil {
			b.Fatal(err)
		}
		deliver(eventStateChanged, `{"agent":"a","from":"starting","to":"ready"}`)
		deliver("SessionCreated", `{"agent":"a","sessionId":"s"}`)
		for _, shape := range shapes {
			b.Run(program.Version+"/"+shape, func(b *testing.B) {
				raw := []byte(testagent.Big(shape, 500_000))
				u, err := acp.DecodeSessionUpdate(raw)
				if err != nil {
					b.Fatal(err)
				}
				worst, sum := 0.0, 0.0
				for range b.N {
					ms := deliver(eventOf(u), `{"agent":"a","sessionId":"s","update":`+string(raw)+`}`)
					worst, sum = max(worst, ms), sum+ms
				}
				b.ReportMetric(worst, "ms/worst")
				b.ReportMetric(sum/float64(b.N), "ms/op")
			})
		}
	}
}
