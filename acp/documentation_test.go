package acp

import (
	"testing"

	"github.com/hermes-nvim/hermes/acp/internal/acptest"
)

func TestMessagesOfTheDocumentationSurvive(t *testing.T) {
	t.Parallel()
	acptest.Examples(t, underTest, "testdata/examples.jsonl", map[string]string{
		"session-modes#2": "the page calls the member modeId, the schema currentModeId",
	})
}
