package v2

import (
	"testing"

	"github.com/hermes-nvim/hermes/acp/internal/acptest"
)

func TestMessagesOfTheDocumentationSurvive(t *testing.T) {
	t.Parallel()
	acptest.Examples(t, underTest, "testdata/examples.jsonl", map[string]string{
		"authentication#0":   "written before info became required",
		"authentication#3":   "written before info became required",
		"extensibility#5":    "written before info became required",
		"migration#0":        "shows version 1",
		"migration#2":        "shows version 1",
		"migration#6":        "shows version 1",
		"migration#7":        "the answer to a prompt, written before messageId became required",
		"prompt-lifecycle#1": "written before messageId became required",
		"session-delete#0":   "written before info became required",
		"session-setup#12":   "written before info became required",
		"slash-commands#0":   "written before commands had a type; commands without one are dropped",
	})
}
