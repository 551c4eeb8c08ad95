package acp

import (
	"testing"

	"github.com/hermes-nvim/hermes/acp/internal/acptest"
)

func TestRecordedTrafficSurvives(t *testing.T) {
	t.Parallel()
	acptest.Traffic(t, underTest, "testdata/traffic.jsonl", map[string]string{
		"zedclaude-0.16.2/sessions#64": "session/fork is unstable",
		"zedclaude-0.16.2/sessions#65": "session/fork is unstable",
	})
}
