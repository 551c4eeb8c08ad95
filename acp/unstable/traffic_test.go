package unstable

import (
	"testing"

	"github.com/hermes-nvim/hermes/acp/internal/acptest"
)

func TestRecordedTrafficSurvives(t *testing.T) {
	t.Parallel()
	acptest.Traffic(t, underTest, "../testdata/traffic.jsonl", nil)
}
