package wire

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/internal/testagent"
)

func TestWhatNeovimGetsAtATimeIsBounded(t *testing.T) {
	t.Parallel()
	for _, shape := range testagent.Shapes {
		want := map[string]json.RawMessage{} // of an update with everything that is small in the larger ones
		for _, n := range []int{1, 1000, soak.Of(t, 300_000, 100_000)} {
			in := testagent.Big(shape, n)
			if n <= 1000 {
				if err := json.Unmarshal([]byte(in), &want); err != nil {
					t.Fatal(err)
				}
			}
			q := NewQueue(QueueBytes, errEnded)
			q.Push(From([]byte(`{"agent":"a","update":` + in + `}`)).Item("Any"))
			batch, _ := q.Take()
			it := batch[0]
			if !json.Valid(it.JSON) {
				t.Fatalf("%s %d: not JSON: %.200s", shape, n, it.JSON)
			}
			if cost := costOf(it.JSON); cost > MaxCost+CostOfMore {
				t.Errorf("%s %d: costs %d", shape, n, cost)
			}
			var got struct {
				Update    map[string]json.RawMessage
				Truncated *struct{ Bytes, Entries int }
			}
			if err := json.Unmarshal(it.JSON, &got); err != nil {
				t.Fatal(err)
			}
			if missing := len(in) - len(it.JSON); (missing > 1000) != (got.Truncated != nil) {
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
	for _, shape := range testagent.Shapes {
		list, missing := Pieces([]byte(`{"sessionId":"s","update":` + testagent.Big(shape, 500_000) + `}`))
		for piece := range list {
			var n acp.SessionNotification
			if err := n.UnmarshalJSON(piece); err != nil {
				t.Errorf("%s: %v", shape, err)
			}
			if cost := costOf(piece); cost > MaxCost {
				t.Errorf("%s: a cost of %d", shape, cost)
			}
		}
		if whole := shape == "text"; whole != (missing == Lost{}) {
			t.Errorf("%s: %+v is missing", shape, missing)
		}
	}
}

func TestManySmallValuesAreNotDeliveredTogether(t *testing.T) {
	t.Parallel()
	q := NewQueue(QueueBytes, errEnded)
	costly := []byte("[" + strings.TrimSuffix(strings.Repeat("1,", 500), ",") + "]") // 1 KB
	for range 6 {
		q.Push(Item{Kind: KindNotice, JSON: costly, cost: costOf(costly)})
	}
	if batch, _ := q.Take(); len(batch) != 4 {
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
				list, missing := Pieces(slices.Concat([]byte(` { "update" : {"content":{"type":"text","text" : `), inside,
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
				if got.String() != want || missing != (Lost{}) {
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
		list, _ := Pieces([]byte(`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}`))
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
		list, missing := Pieces([]byte(params))
		if n := len(slices.Collect(list)); n != 1 || missing != (Lost{}) {
			t.Errorf("%s: %d pieces, %+v is missing", name, n, missing)
		}
	}
}

// FuzzShrink checks any JSON at any limit.
func FuzzShrink(f *testing.F) {
	for _, shape := range testagent.Shapes {
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
	for range soak.Of(t, 200, 20) {
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
