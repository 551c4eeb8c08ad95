package bench

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	coder "github.com/coder/acp-go-sdk"

	"github.com/hermes-nvim/hermes/acp"
)

// BenchmarkDecode goes from the params of a message to typed values.
func BenchmarkDecode(b *testing.B) { group(b, "Decode") }

// BenchmarkEncode goes from typed values to the text of the params.
func BenchmarkEncode(b *testing.B) { group(b, "Encode") }

func group(b *testing.B, name string) {
	ops, err := Wire()
	if err != nil {
		b.Fatal(err)
	}
	for _, op := range ops {
		if op.Group != name {
			continue
		}
		b.Run(strings.TrimPrefix(op.Name(), name+"/"), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(op.Bytes))
			for b.Loop() {
				if err := op.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestMessagesSurvive guards the comparison: everybody must understand every
// message, and what we write must be what we read.
func TestMessagesSurvive(t *testing.T) {
	for _, m := range Messages() {
		var ours acp.SessionNotification
		if err := ours.UnmarshalJSON(m.JSON); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if got := ours.AppendJSON(nil); !sameJSON(t, got, m.JSON) {
			t.Errorf("%s: encoded as %.200s ...\nwant %.200s ...", m.Name, got, m.JSON)
		}
		var theirs coder.SessionNotification
		if err := json.Unmarshal(m.JSON, &theirs); err != nil {
			t.Errorf("%s: coder: %v", m.Name, err)
		}
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

// TestAllocationsStayWithinTheirLimits is what the results page promises.
func TestAllocationsStayWithinTheirLimits(t *testing.T) {
	ops, err := Wire()
	if err != nil {
		t.Fatal(err)
	}
	limits := map[string]float64{"Decode/chunk/hermes": 5, "Decode/mix/hermes": 8, "Encode/mix/hermes": 0}
	for _, op := range ops {
		limit, ok := limits[op.Name()]
		if !ok {
			continue
		}
		delete(limits, op.Name())
		n := testing.AllocsPerRun(100, func() {
			if err := op.Run(); err != nil {
				t.Error(err)
			}
		}) / float64(op.Messages)
		if n > limit {
			t.Errorf("%s: %.1f allocations for a message, at most %.0f are allowed", op.Name(), n, limit)
		}
	}
	for name := range limits {
		t.Errorf("nothing is called %s", name)
	}
}
