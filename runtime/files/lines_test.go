package files

import (
	"math"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

func lines(line, limit int64) (r Range) {
	if line >= 0 {
		r.Line = acp.Some(uint32(line))
	}
	if limit >= 0 {
		r.Limit = acp.Some(uint32(limit))
	}
	return r
}

// C124, FS04, FS06. Values that do not fit 32 bits never get here: the request
// does not decode.
func TestRangesSelectWholeLines(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\r\n\nfour"
	for _, c := range []struct {
		line, limit int64
		want        string
	}{
		{-1, -1, text},
		{0, -1, text}, {1, -1, text}, {2, -1, "two\r\n\nfour"}, {3, -1, "\nfour"}, {4, -1, "four"}, {5, -1, ""}, {math.MaxUint32, -1, ""},
		{-1, 0, ""}, {-1, 1, "one\n"}, {-1, 3, "one\ntwo\r\n\n"}, {-1, 4, text}, {-1, math.MaxUint32, text},
		{0, 1, "one\n"}, {1, 1, "one\n"}, {2, 1, "two\r\n"}, {3, 1, "\n"}, {4, 1, "four"}, {5, 1, ""}, {2, 2, "two\r\n\n"}, {4, 0, ""},
		{math.MaxUint32, math.MaxUint32, ""},
	} {
		if got := lines(c.line, c.limit).Of(text); got != c.want {
			t.Errorf("line %d, limit %d: %q, want %q", c.line, c.limit, got, c.want)
		}
	}
	if got := lines(1, 1).Of(""); got != "" {
		t.Errorf("%q", got)
	}
}

func TestConsecutiveRangesMakeUpTheText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "a", "a\n", "a\nb", "\n\n\r\nx\n", strings.Repeat("äöü\n", 7) + "end"} {
		var b strings.Builder
		for line := int64(1); line < 20; line += 3 {
			b.WriteString(lines(line, 3).Of(text))
		}
		if b.String() != text {
			t.Errorf("%q from parts of %q", b.String(), text)
		}
	}
}
