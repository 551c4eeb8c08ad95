package review_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Sources report to the record. It reads what they have written down, but does not
// contain them, so a source can change without it.
func TestTheRecordImportsNoSource(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "./...", "../../internal/review/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	const module = "github.com/hermes-nvim/hermes/"
	if !slices.Contains(deps, module+"internal/shim/journal") {
		t.Fatal("the journal of the shim is not among the imports")
	}
	for _, source := range []string{
		"internal/shim", "internal/confine", "runtime/launch", "internal/claudehooks", "runtime/codex", "runtime/rpc", "runtime/services", "runtime/terminal",
	} {
		if slices.Contains(deps, module+source) {
			t.Errorf("the record imports %s", source)
		}
	}
}
